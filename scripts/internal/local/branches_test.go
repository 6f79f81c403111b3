package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// recordsOf generates records of a branch within a period.
func recordsOf(t *testing.T, branch string, n int, seed uint64, from, to time.Time) string {
	t.Helper()
	var text bytes.Buffer
	records := gen.New(gen.Options{Records: n, Seed: seed, From: from, To: to})
	for {
		line, more := records.Next(nil)
		if !more {
			return text.String()
		}
		var record map[string]json.RawMessage
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		record["branch"] = json.RawMessage(`"` + branch + `"`)
		if branch != "own" { // what must not be in an answer
			record["host"], record["hostname"] = json.RawMessage(`"other.example"`), json.RawMessage(`"other.example"`)
		}
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
}

// installation is the API over a folder, with a key that is limited to branch own.
type installation struct {
	handler http.Handler
	key     string
}

// callers are keys of several installations: one that is limited to branch own and one that is not. Their tokens are
// sealed alike everywhere.
type callers struct {
	known           local.Keys
	own, everything string
}

func newCallers(t *testing.T) callers {
	t.Helper()
	c := callers{known: local.OpenTestKeys(t, filepath.Join(t.TempDir(), "data"))}
	grant := keys.Grant{Name: "team", Scopes: []keys.Scope{keys.DataRead}, Branches: []string{"own"}}
	var err error
	if c.own, _, err = keys.Issue(t.Context(), c.known, grant, time.Now()); err != nil {
		t.Fatal(err)
	}
	grant.Branches = nil
	if c.everything, _, err = keys.Issue(t.Context(), c.known, grant, time.Now()); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c callers) newInstallation(t *testing.T, logs ...string) installation {
	t.Helper()
	product := openProduct(t, filepath.Join(t.TempDir(), "data"))
	for i, log := range logs {
		_, err := product.Store.Import(t.Context(), fmt.Sprintf("%d.log", i), strings.NewReader(log), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
	}
	access := &local.Access{Address: "127.0.0.1:8080", Keys: c.known}
	handler, err := product.Handler(local.ServeOptions{Access: access, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return installation{handler, c.own}
}

// changing are the parts of answers that differ from request to request: times and ids.
var changing = regexp.MustCompile(`"(elapsed_ms|engine_ms|complete_through|request_id)": ?("[^"]*"|[^,}]*)` +
	`|"wait_ms":(null|\{[^}]*\})|request id: [0-9a-f]+|the slowest\s+took [0-9.]+ m?s` +
	`|omplete through[^A-Z]*[A-Z][a-z]{2} \d+ [A-Za-z]+ \d{4} [0-9:]+` +
	`|(?m)^(Date|X-Request-Id|X-Orrery-Complete-Through|Content-Length): .*$`)

// sentRequest is a request of the key that is limited to a branch.
type sentRequest struct {
	path   string
	body   string // of a POST
	header string // "Name: value"
}

// ask returns an answer without what changes from request to request.
func (i installation) ask(t *testing.T, q sentRequest) string {
	t.Helper()
	method := http.MethodGet
	if q.body != "" {
		method = http.MethodPost
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/api/v4.0"+q.path, strings.NewReader(q.body))
	r.Header.Set("Authorization", "Bearer "+i.key)
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if name, value, ok := strings.Cut(q.header, ": "); ok {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	i.handler.ServeHTTP(w, r)
	var head bytes.Buffer
	if err := w.Header().Write(&head); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d\n%s\n%s", w.Code, changing.ReplaceAllString(head.String(), ""),
		changing.ReplaceAllString(w.Body.String(), ""))
}

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// othersOf generates records of another branch. They begin before the records of the own branch and end after them. The
// last one is at a random time of the minute in which the data ends, because this minute is known to all.
func othersOf(t *testing.T, seed uint64) string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	from := day.Add(-time.Duration(random.Int64N(int64(72 * time.Hour))))
	last := day.Add(5*time.Hour + time.Duration(random.Int64N(int64(time.Minute))))
	return recordsOf(t, "other", 1+random.IntN(1200), seed, from, day.Add(5*time.Hour)) +
		recordsOf(t, "other", 1, seed, last, last.Add(time.Millisecond))
}

// TestAnswersDoNotDependOnOtherBranches: a key that is limited to a branch gets the same bytes from two installations
// that differ only in the records of another branch. That holds for every route, form, limit and error, for pages,
// estimates and the status. Only times differ, to when the data is complete, and which values are found in a moment.
func TestAnswersDoNotDependOnOtherBranches(t *testing.T) {
	of := newCallers(t)
	for seed := range testlevel.Of[uint64](1, 1, 2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			own := recordsOf(t, "own", 300, 10*seed, day, day.Add(time.Hour)) +
				recordsOf(t, "own", 50, 10*seed+1, day.Add(3*time.Hour), day.Add(4*time.Hour))
			one := of.newInstallation(t, own, othersOf(t, 10*seed+2))
			another := of.newInstallation(t, own, othersOf(t, 10*seed+3))
			testSameAnswers(t, one, another)
			t.Run("links to records of others", func(t *testing.T) {
				link := regexp.MustCompile(`"record_ref":"([^"]*)"`)
				all := installation{one.handler, of.everything}.ask(t, sentRequest{path: "/data/logs?limit=5&fields=record_ref" +
					"&filters=" + url.QueryEscape(`timestamp between 2025-12-01 and 2026-02-01, branch="other"`)})
				found := link.FindAllStringSubmatch(all, -1)
				if len(found) < 2 {
					t.Fatal(all)
				}
				for _, ref := range found {
					for _, route := range []string{"logs", "stats", "facets?by=host", "topx"} {
						path, parameters, _ := strings.Cut(route, "?")
						same(t, one, another, sentRequest{path: "/data/" + path + "?" + parameters + "&filters=record_ref=" + ref[1]})
					}
				}
			})
			t.Run("a key without branches sees a difference", func(t *testing.T) {
				q := sentRequest{path: "/data/stats?segment=1d&filters=" + url.QueryEscape(wide)}
				if (installation{one.handler, of.everything}).ask(t, q) == (installation{another.handler, of.everything}).ask(t, q) {
					t.Error("it does not")
				}
			})
		})
	}
}

// foundInAMoment are the values of an answer, and whether there are more.
var foundInAMoment = regexp.MustCompile(`"results":\[.*\]\},"meta":|"truncated":\{[^}]*\},|"exact":(true|false)` +
	`|(?m)^X-Orrery-(Exact|Truncated): .*$`)

// same compares the answers of two installations, and returns the one.
func same(t *testing.T, one, another installation, q sentRequest) string {
	t.Helper()
	answer, other := one.ask(t, q), another.ask(t, q)
	if strings.HasPrefix(q.path, "/data/values") && !strings.Contains(q.path, "counts=true") {
		// Values without counts are those that are found in a moment.
		answer, other = foundInAMoment.ReplaceAllString(answer, ""), foundInAMoment.ReplaceAllString(other, "")
	}
	if diff := cmp.Diff(answer, other); diff != "" {
		t.Errorf("%+v (-one set of others +another):\n%s", q, diff)
	}
	if strings.Contains(answer, "other.example") {
		t.Errorf("%+v has a value of the other branch:\n%s", q, answer)
	}
	return answer
}

// wide is a period with all records.
const wide = "timestamp between 2025-12-01 and 2026-02-01"

func testSameAnswers(t *testing.T, one, another installation) {
	filters := []string{
		"timestamp between 2026-01-01 and 2026-01-02",
		"timestamp between 2026-01-01 01:10 and 2026-01-01 02:50", // only the other branch has records
		`timestamp between 2026-01-01 and 2026-01-02, branch!="own"`,
		wide + `, headers["user-agent"]~"o"`, // DuckDB answers
	}
	const fields = "country,host,path,status,tags,asn"
	questions := map[string][]string{
		"topx":     {"", "limit=2", "figures=percentiles", "format=csv", "format=ndjson", "limit=81"},
		"stats":    {"group_by=hostname&segment=6h", "segment=6h&figures=percentiles", "format=csv", "segment=1m", "group_by=ip&segment=1m"},
		"timeline": {"segment=1h", "tz=Europe/Berlin&segment=1d&format=ndjson", "segment=7m"},
		"facets":   {"by=" + fields, "by=branch", "by=" + fields + "&order=blocked&limit=2", "by=ip&format=csv", "by=timestamp"},
		"histogram": {
			"by=host&segment=1h", "by=country&measure=blocked&limit=2&segment=1h", "measure=bytes_sent&segment=6h&format=csv",
			"by=host&segment=1m",
		},
		"diff": {
			"select=status>=400&by=" + fields + "&least=1", "against=6h&by=" + fields + "&least=1",
			"against=previous", "select=blocked%20is%20true&format=csv", "against=2026-01-01..2026-01-03&select=x",
		},
		"logs": {
			"", "limit=7", "limit=2500&fields=timestamp,host,branch,record_ref", "format=csv", "format=ndjson&limit=3", "limit=2501",
			"cursor=x", "since=x", "format=xml", "unknown=1",
		},
		"report": {"format=json", "format=csv", "format=text", "dry_run=true&format=json"},
		"values": {
			"field=host", "field=host&counts=true", "field=country&counts=true&limit=2", "field=branch", "field=path&prefix=/",
			"field=user_agent&contains=o", "field=headers%5B%22accept%22%5D", "field=country&limit=3", "field=x",
		},
	}
	sent, answered := 0, 0
	ask := func(t *testing.T, q sentRequest) string {
		t.Helper()
		answer := same(t, one, another, q)
		if sent++; strings.HasPrefix(answer, "200\n") {
			answered++
		}
		return answer
	}
	for route, list := range questions {
		for _, parameters := range list {
			t.Run(strings.TrimSpace(route+" "+parameters), func(t *testing.T) {
				for _, f := range filters {
					if route == "values" && strings.Contains(f, ",") || route == "report" && f != filters[0] {
						continue // the filter of values is only a period, and a report asks the questions of the others
					}
					path := "/data/" + route + "?" + parameters + "&filters=" + url.QueryEscape(f)
					ask(t, sentRequest{path: path})
					if !strings.Contains(parameters, "format") {
						ask(t, sentRequest{path: path + "&dry_run=true"})
					}
					if f == filters[0] {
						ask(t, sentRequest{path: path, header: "Accept: text/plain"})
					}
				}
			})
		}
	}
	required := map[string]string{
		"stats": "segment=1m", "facets": "by=host", "histogram": "by=host", "diff": "select=status>=400", "values": "field=host",
	}
	t.Run("filters with mistakes", func(t *testing.T) {
		for _, f := range []string{"", "x", "timestamp between 1970-01-01 and 2100-01-01", wide + ", host~\"(\"", "hots=a", "record_ref=A"} {
			for route := range questions {
				ask(t, sentRequest{path: "/data/" + route + "?" + required[route] + "&filters=" + url.QueryEscape(f)})
			}
		}
	})
	t.Run("routes of the document", func(t *testing.T) {
		var document struct {
			Paths map[string]map[string]json.RawMessage `json:"paths"`
		}
		w := httptest.NewRecorder()
		one.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/openapi.json", nil))
		if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		placeholder := regexp.MustCompile(`\{[a-z_]+\}`)
		for path, methods := range document.Paths {
			path = placeholder.ReplaceAllString(path, "own")
			if methods["get"] != nil {
				ask(t, sentRequest{path: path})
			}
			if methods["post"] != nil {
				for _, body := range []string{`{}`, `{"filters":"` + filters[0] + `"}`} {
					ask(t, sentRequest{path: path, body: body})
				}
			}
		}
		if len(document.Paths) < 20 {
			t.Errorf("only %d paths", len(document.Paths))
		}
	})
	t.Run("all pages", func(t *testing.T) {
		next := regexp.MustCompile(`"next":"([^"]*)"`)
		head := regexp.MustCompile(`"head":"([^"]*)"`)
		for pages, cursor := 0, ""; ; pages++ {
			answer := ask(t, sentRequest{path: "/data/logs?limit=40&filters=" + url.QueryEscape(filters[0]) + cursor})
			meta := answer[strings.LastIndex(answer, `"meta":`):]
			if since := head.FindStringSubmatch(meta); pages == 0 && since != nil {
				ask(t, sentRequest{path: "/data/logs?filters=" + url.QueryEscape(filters[0]) + "&since=" + url.QueryEscape(since[1])})
			} else if pages == 0 {
				t.Error("the first page has no head")
			}
			found := next.FindStringSubmatch(meta)
			if found == nil {
				if pages != 8 {
					t.Errorf("%d pages have a next one", pages)
				}
				break
			}
			cursor = "&cursor=" + url.QueryEscape(found[1])
		}
	})
	t.Run("the newest values, the status and the fields", func(t *testing.T) {
		for _, path := range []string{"/data/values?field=host", "/status", "/data/fields"} {
			ask(t, sentRequest{path: path})
		}
	})
	if answered < sent/3 {
		t.Errorf("only %d of %d requests were answered", answered, sent)
	}
}
