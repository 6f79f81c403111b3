package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/api/importing"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/savedfilter"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/valuelist"
)

var update = flag.Bool("update", false, "rewrite the answers of the examples; read the diff before you commit it")

// TestExamples sends the request of every example to a server and compares the whole response.
func TestExamples(t *testing.T) {
	for _, e := range examples.All() {
		t.Run(e.File, func(t *testing.T) {
			s := newTestServer(t, e.Setup...)
			got := s.show(t, s.send(t, e.Request))
			if *update {
				writeExample(t, e, got)
				return
			}
			if diff := cmp.Diff(e.Response.Head+"\n\n"+e.Response.Body, got); diff != "" {
				t.Errorf("answer (-example +server); if the server is right, run with -update and read the diff:\n%s",
					diff)
			}
			if !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.1 %d ", e.Status)) {
				t.Errorf("the name of the file has status %d, the answer is %s", e.Status, got)
			}
		})
	}
}

// TestEveryRouteAndErrorHasAnExample: every route has an example of each of its answers, and every error status in the
// document has an example of some route.
func TestEveryRouteAndErrorHasAnExample(t *testing.T) {
	routes := slices.Concat(everyRoute(), routesWithMetrics(), importing.Routes(someImports{}))
	for i := range routes {
		if routes[i].Tag == "" {
			continue
		}
		for _, a := range routes[i].Answers {
			if len(examples.Of(routes[i].ID, a.Status)) == 0 {
				t.Errorf("route %s has no example of status %d", routes[i].ID, a.Status)
			}
		}
		for _, status := range routes[i].AllErrors() {
			if len(examples.Of("", status)) == 0 {
				t.Errorf("route %s has an error %d, which no example shows", routes[i].ID, status)
			}
		}
	}
	for _, e := range examples.All() {
		i := slices.IndexFunc(routes, func(r route.Route) bool { return r.ID == e.Operation })
		if i < 0 {
			t.Errorf("%s is of no route", e.File)
			continue
		}
		if r := routes[i]; e.Status >= 400 && !slices.Contains(r.AllErrors(), e.Status) {
			t.Errorf("%s shows a status that the document does not name", e.File)
		}
	}
}

func writeExample(t *testing.T, e *examples.Example, response string) {
	t.Helper()
	path := filepath.Join("examples", e.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "--- response\n")
	if err := os.WriteFile(path, []byte(before+"--- response\n"+response+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// testServer is the API over a few records and a new store, with a fixed clock.
type testServer struct {
	*httptest.Server
	log *bytes.Buffer
}

const requestID = "0f5a2c417d9be386"

// testKeys are the keys of a server with keys.
var testKeys = keys.Static{
	keys.HashOf("full-key"):   {Name: "console", Scopes: keys.Scopes()},
	keys.HashOf("read-key"):   {Name: "report", Scopes: []keys.Scope{keys.DataRead}},
	keys.HashOf("branch-key"): {Name: "shop team", Scopes: keys.Scopes(), Branches: []string{"staging"}},
	keys.HashOf("guest-key"): {
		Name: "guest", Scopes: []keys.Scope{keys.DataRead}, Branches: []string{"staging"},
		Expires: time.Date(2999, 1, 31, 0, 0, 0, 0, time.UTC),
	},
}

// newTestServer returns a server with the named settings, which are keys of specials.
func newTestServer(t testing.TB, setup ...string) *testServer {
	t.Helper()
	return newServer(t, func(c *Config) {
		for _, one := range setup {
			special, known := specials[one]
			if !known {
				t.Fatalf("unknown setting %q", one)
			}
			special(t, c)
		}
	})
}

var specials = map[string]func(testing.TB, *Config){
	"metrics":      func(t testing.TB, c *Config) { c.Metrics = someMetrics(t) },
	"keys":         func(_ testing.TB, c *Config) { c.Keys = testKeys },
	"guessed keys": func(_ testing.TB, c *Config) { c.Keys = guessedKeys{} },
	"full disk":    func(_ testing.TB, c *Config) { c.Documents = unwritable{c.Documents, fault.Full} },
	"read-only":    func(_ testing.TB, c *Config) { c.Documents = unwritable{c.Documents, fault.ReadOnly} },
	"many records": func(t testing.TB, c *Config) {
		o := newOracle(t)
		few := o.rows
		for range 39 {
			o.rows = append(o.rows, few...)
		}
		service := newSearch(t, o, 0)
		c.Search, c.Queries = service, service
	},
	"records without times": func(t testing.TB, c *Config) {
		o := newOracle(t)
		for _, r := range o.rows {
			r.TotalUs = nil
		}
		c.Search = newSearch(t, o, 0)
	},
	"cluster":         func(_ testing.TB, c *Config) { c.Status = cluster() },
	"deployment":      func(_ testing.TB, c *Config) { c.Status = deployment() },
	"empty":           func(_ testing.TB, c *Config) { c.Status = emptyFolder() },
	"broken state":    func(_ testing.TB, c *Config) { c.Status = brokenState{} },
	"maintenance":     func(_ testing.TB, c *Config) { c.Maintenance = func() bool { return true } },
	"precondition":    func(_ testing.TB, c *Config) { c.RequirePrecondition = true },
	"two versions":    func(t testing.TB, c *Config) { put(t, c.Planets, planet.FirstConfig, "planet of the shop") },
	"saved filters":   func(t testing.TB, c *Config) { saveFilters(t, c.Documents, planet.FirstConfig) },
	"lists of values": func(t testing.TB, c *Config) { saveLists(t, c, planet.FirstConfig) },
	"deleted list": func(t testing.TB, c *Config) {
		saveLists(t, c, planet.FirstConfig)
		change := document.Change{By: "console", At: planettest.At}
		if err := document.Delete(t.Context(), c.Documents, valuelist.DocumentOf(planet.FirstConfig, "tor"), change); err != nil {
			t.Fatal(err)
		}
	},
	"scheduled reports": func(_ testing.TB, c *Config) {
		c.Definitions = &definition.Rules{Domains: []string{"example.com"}, Destinations: []string{"archive", "chat"}}
		c.Runs = runs.Over(&tabletest.Memory{}, nil)
	},
	"imports":         func(_ testing.TB, c *Config) { c.Importer = someImports{} },
	"deleted filter":  func(t testing.TB, c *Config) { deleteFilter(t, c.Documents) },
	"query that ends": func(t testing.TB, c *Config) { ended(t, pending(t, c)) },
	"query of records that ends": func(t testing.TB, c *Config) {
		begin(t, c, search.Request{
			Route: search.Logs, Filters: "timestamp between 2026-01-01 10:00 and 2026-01-01 10:01:59",
			Fields: "timestamp,ip",
		})
		ended(t, c.Queries)
	},
	"query that runs": func(t testing.TB, c *Config) {
		engine := newBlockingEngine(t)
		service := newSearch(t, engine, 0)
		c.Search, c.Queries = service, service
		pending(t, c)
	},
	"query that waits": func(_ testing.TB, c *Config) { c.Queries = inQueue{c.Queries} },
	"slow query": func(t testing.TB, c *Config) {
		service := newSearch(t, newBlockingEngine(t), time.Nanosecond)
		c.Search, c.Queries = service, service
	},
	"busy engine": func(_ testing.TB, c *Config) {
		c.Search = errorSearch{&fault.Error{
			Kind: fault.Unavailable, Message: "12 queries wait already", RetryAfter: 1500 * time.Millisecond,
		}}
	},
	"damaged data": func(_ testing.TB, c *Config) {
		c.Search = errorSearch{fault.New(fault.Damaged, "an object with records between 2026-01-01 10:00:00 and "+
			"2026-01-01 11:00:00 cannot be read, because it is damaged; compaction will set it aside; "+
			"until then, ask for a period without this hour")}
	},
	"unreadable objects": func(_ testing.TB, c *Config) { c.Search = withGaps{c.Search} },
	"slow engine": func(_ testing.TB, c *Config) {
		c.Search = errorSearch{fault.New(fault.Timeout, "25 s have passed")}
	},
	"broken engine": func(_ testing.TB, c *Config) {
		c.Search = errorSearch{errors.New("read fresh/2026/01/01/10/a.parquet: page checksum differs")}
	},
	"small engine": func(_ testing.TB, c *Config) {
		c.Search = errorSearch{fault.New(fault.EngineLimit,
			"the filter has 201 groups of conditions, and athena takes 200 at most")}
	},
	"backtracking engine": func(_ testing.TB, c *Config) {
		c.Search = errorSearch{fault.New(fault.RegexRefused, "athena cannot run (a|a)*b safely: write a*b")}
	},
}

// guessedKeys refuses callers as if unknown keys had come from their address.
type guessedKeys struct{}

func (guessedKeys) Find(ctx context.Context, _ keys.Hash) (keys.Caller, bool, error) {
	a := access.New(access.Config{Keys: keys.Static{}, Now: func() time.Time { return planettest.At }})
	for {
		_, err := a.Authenticate(ctx, http.Header{"X-Api-Key": {"guess"}}, "192.0.2.1", keys.DataRead)
		if fault.KindOf(err) == fault.TooMany {
			return keys.Caller{}, false, err
		}
	}
}

// unwritable is a store that can only be read.
type unwritable struct {
	document.Store
	kind fault.Kind
}

func (u unwritable) Append(context.Context, document.ID, document.Version) error {
	return fault.New(u.kind, "the data folder is read-only, so nothing was written")
}

// newServer returns a server; special may change its Config.
func newServer(t testing.TB, special func(*Config)) *testServer {
	t.Helper()
	now := func() time.Time { return planettest.At }
	service := newSearch(t, newOracle(t), 0)
	s := &testServer{log: &bytes.Buffer{}}
	documents := document.Over(&tabletest.Memory{})
	c := Config{
		Search: service, Queries: service, Planets: planet.Over(documents, now), Documents: documents, Now: now,
		Console: console.Files, Page: page.Files, Status: oneMachine(),
		Log:   slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{ReplaceAttr: withoutTime})),
		NewID: func() string { return requestID },
	}
	c.Lists = valuelist.In(&blobtest.Memory{})
	service.UseLists(valuelist.NewFinder(documents, c.Lists))
	special(&c)
	s.Server = httptest.NewServer(newHandler(t, c))
	t.Cleanup(s.Close)
	return s
}

func newHandler(t testing.TB, c Config) http.Handler {
	t.Helper()
	handler, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

const queryID = "3f1c0a9be2d84c57a6f0d1e2b3c4a596"

// newSearch returns a search with a fixed clock and a fixed query id.
func newSearch(t testing.TB, e engine.Engine, timeout time.Duration) *search.Service {
	t.Helper()
	s, err := search.New(e, search.Options{
		Now:     func() time.Time { return planettest.At },
		Timeout: timeout,
		NewID:   func() search.QueryID { return queryID },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pending starts a query of a caller without a key.
func pending(t testing.TB, c *Config) answering.Queries {
	t.Helper()
	const filters = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:01:59"
	begin(t, c, search.Request{Route: search.Stats, Filters: filters})
	return c.Queries
}

func begin(t testing.TB, c *Config, r search.Request) {
	t.Helper()
	if _, err := c.Queries.Begin(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func ended(t testing.TB, q answering.Queries) {
	t.Helper()
	for {
		status, err := q.Status(t.Context(), queryID, search.Asker{})
		if err != nil {
			t.Fatal(err)
		}
		if status.Done {
			return
		}
	}
}

// blockingEngine is an engine whose queries end only by cancellation.
type blockingEngine struct{ *oracle }

func newBlockingEngine(t testing.TB) blockingEngine { return blockingEngine{newOracle(t)} }

func (blockingEngine) Run(ctx context.Context, _ query.Query) (query.Answer, engine.Cost, error) {
	<-ctx.Done()
	return query.Answer{}, engine.Cost{}, fault.Wrap(fault.Canceled, ctx.Err(), "stopped")
}

// saveFilters saves two filters, one of them in two versions.
func saveFilters(t testing.TB, store document.Store, config string) {
	t.Helper()
	for _, one := range []struct{ name, text, title string }{
		{"server-errors", "status>=500", ""},
		{"server-errors", "status>=500, host!=\"test.example\"", "Server errors"},
		{"bots", `tags~"^bot:"`, "Bots"},
	} {
		f, err := savedfilter.New(filter.Parse(one.text), one.title, "")
		if err != nil {
			t.Fatal(err)
		}
		change := document.Change{Text: f.Text(), By: "console", At: planettest.At}
		if _, err := document.Put(t.Context(), store, savedfilter.DocumentOf(config, one.name), change); err != nil {
			t.Fatal(err)
		}
	}
}

// saveLists saves two versions of a list, and another list.
func saveLists(t testing.TB, c *Config, config string) {
	t.Helper()
	for _, one := range []struct{ name, text string }{
		{"tor", "203.0.113.7"}, {"tor", "203.0.113.7\n2001:db8::/32\n"}, {"ours", "Germany\nFrance\n"},
	} {
		d, values, err := valuelist.Parse([]byte(one.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Lists.Put(t.Context(), d.Digest, values); err != nil {
			t.Fatal(err)
		}
		change := document.Change{Text: d.Text(), By: "console", At: planettest.At}
		if _, err := document.Put(t.Context(), c.Documents, valuelist.DocumentOf(config, one.name), change); err != nil {
			t.Fatal(err)
		}
	}
}

// deleteFilter saves the filters and deletes one.
func deleteFilter(t testing.TB, store document.Store) {
	t.Helper()
	saveFilters(t, store, planet.FirstConfig)
	change := document.Change{By: "console", At: planettest.At}
	id := savedfilter.DocumentOf(planet.FirstConfig, "server-errors")
	if err := document.Delete(t.Context(), store, id, change); err != nil {
		t.Fatal(err)
	}
}

// put writes a planet.
func put(t testing.TB, store document.Store, config, name string) {
	t.Helper()
	if _, err := document.Put(t.Context(), store, planet.DocumentOf(config), planettest.Change(t, name, "console")); err != nil {
		t.Fatal(err)
	}
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// reply is a response with its body.
type reply struct {
	*http.Response
	body []byte
}

// send sends a request as written, plus Content-Length if it has a body, and reads the response.
func (s *testServer) send(t testing.TB, m examples.Message) reply {
	t.Helper()
	head := strings.ReplaceAll(m.Head, "\n", "\r\n")
	if m.Body != "" {
		head += fmt.Sprintf("\r\nContent-Length: %d", len(m.Body))
	}
	method, _, _ := strings.Cut(m.Head, " ")
	return s.sendRaw(t, method, head+"\r\nConnection: close\r\n\r\n"+m.Body)
}

func (s *testServer) sendRaw(t testing.TB, method, request string) reply {
	t.Helper()
	connection, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close(), connection.Close()); err != nil {
		t.Fatal(err)
	}
	return reply{response, body}
}

// shownHeaders are the headers that differ between responses. The others have their own test.
var shownHeaders = []string{
	"Content-Type", "Content-Encoding", "ETag", "Cache-Control", "Allow", "Location", "Preference-Applied",
	"Retry-After", "WWW-Authenticate", "Content-Disposition", "X-Orrery-Complete-Through", "X-Orrery-Skipped",
	"X-Orrery-Truncated", "X-Orrery-Saturated", "X-Orrery-Next", "X-Orrery-Head", "X-Orrery-Late",
	"X-Orrery-Num-Of-Requests", "X-Orrery-Exact", "X-Orrery-Percentiles-Error", "X-Orrery-Cached-Age",
	"X-Orrery-Bytes-Scanned", "X-Orrery-Cost-USD", "X-Orrery-Estimated-Bytes", "X-Orrery-Estimated-Cost-USD",
	"X-Orrery-Relative-Times",
}

// show formats a response as in the examples, with indented JSON.
func (s *testServer) show(t testing.TB, r reply) string {
	t.Helper()
	body := r.body
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %s\n", r.Status)
	for _, name := range shownHeaders {
		for _, value := range r.Header.Values(name) {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	b.WriteString("\n")
	if r.Header.Get("Content-Type") == content.JSON && len(body) > 0 {
		var laidOut bytes.Buffer
		if err := json.Indent(&laidOut, body, "", "  "); err != nil {
			t.Fatalf("the body is not JSON: %v\n%s", err, body)
		}
		body = laidOut.Bytes()
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")) // of CSV
	b.Write(bytes.TrimRight(body, "\n"))
	return b.String()
}

// oracle is an engine over records in memory.
type oracle struct{ rows []*lake.Row }

var _ engine.Engine = (*oracle)(nil)

func newOracle(t testing.TB) *oracle {
	t.Helper()
	text, err := os.ReadFile("testdata/records.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	o, decoder := &oracle{}, record.NewDecoder()
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		row := &lake.Row{Source: "test", Line: int64(i + 1)}
		if _, err := decoder.Decode(line, row); err != nil {
			t.Fatal(err)
		}
		o.rows = append(o.rows, row)
	}
	return o
}

func (o *oracle) Name() string { return "oracle" }

func (o *oracle) CompleteThrough(context.Context) (time.Time, error) {
	return planettest.At.Add(-20 * time.Minute), nil
}

func (o *oracle) Extent(context.Context) (lake.Extent, error) {
	return lake.Extent{MinTsMs: o.rows[0].TsMs, MaxTsMs: o.rows[len(o.rows)-1].TsMs, Rows: int64(len(o.rows))}, nil
}

func (o *oracle) Run(_ context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	objects, rows := 1, int64(len(o.rows))
	cost := engine.Cost{By: "scan", Objects: &objects, BytesScanned: 4096, RowsConsidered: &rows}
	if _, logs := q.Shape.(query.Logs); logs {
		cost.By = "rows"
	}
	return reference.Evaluate(&q, o.rows), cost, nil
}

func (o *oracle) FindValues(
	_ context.Context, q query.Query, _ func() bool,
) (engine.FoundValues, engine.Cost, error) {
	objects, rows := 1, int64(len(o.rows))
	cost := engine.Cost{By: "scan", Objects: &objects, BytesScanned: 128, RowsConsidered: &rows}
	found := engine.FoundValues{ValuesAnswer: reference.Evaluate(&q, o.rows).Values, Exact: true, Looked: 1, Of: 1}
	return found, cost, nil
}

func (o *oracle) Explain(context.Context, query.Query) (engine.Plan, error) {
	return engine.Plan{}, errors.New("nothing to explain")
}

// withGaps is a search that could not read two objects.
type withGaps struct{ answering.Searcher }

func (g withGaps) Search(ctx context.Context, r search.Request) (search.Result, error) {
	result, err := g.Searcher.Search(ctx, r)
	result.Meta.Skipped = []string{"fresh/2026/01/01/10/a.parquet", "fresh/2026/01/01/11/b.parquet"}
	result.Meta.Exact = new(bool)
	return result, err
}

// Estimate returns what Run reports.
func (o *oracle) Estimate(_ context.Context, q query.Query) (engine.Estimate, error) {
	objects, rows, bytes := 1, int64(len(o.rows)), int64(4096)
	e := engine.Estimate{
		By: "scan", Partitions: []lake.Partition{lake.PartitionOf(o.rows[0].TsMs)}, Objects: &objects, Rows: &rows,
		Bytes: &engine.Bytes{Low: bytes, High: bytes},
	}
	for _, name := range q.Columns() {
		size := int64(len(name)) * 100
		e.Columns = append(e.Columns, engine.ColumnSize{Name: name, Bytes: &size})
	}
	return e, nil
}

// errorSearch is a search that always fails.
type errorSearch struct{ err error }

func (f errorSearch) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, f.err
}
