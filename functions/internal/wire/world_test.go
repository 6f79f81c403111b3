//go:build !noparquet

package wire

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/dir"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/cloudtest"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/sqlite"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/queriestest"
)

// at is when the events happen.
func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// exampleKey is the key that the events carry.
const exampleKey = "orr_example"

// worldFunction is a function as the events meet it: the real handlers and the real client of Athena, over servers and
// stores of this process. What goes wrong in some events is done to the world before.
func worldFunction(t *testing.T, f lambdas.Function, event string) *Function {
	t.Helper()
	e, err := lookupIn(whole()).read(f)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if f.Serves == nil {
		return keeperFunction(t, f, e, log)
	}
	parts := api.Config{Keys: api.OneKey(exampleKey), Now: at}
	table := tableServer(t)
	checks := tableChecks(table, e, at)
	switch {
	case f.Name == "not-found":
		parts.Page, checks = page.Files, nil
	case strings.HasPrefix(f.Name, "planet-"):
		parts.Planets = planets(t)
	case f.Name != "parse" && f.Name != "fields":
		service, client, states := searching(t, e, event)
		parts.Search, parts.Queries = service, service
		checks = append(checks, queryChecks(client, states, e, at)...)
		if strings.HasSuffix(event, "-engine-down") {
			parts.Search = down{}
		}
	}
	return answering(f, e, log, parts, checks)
}

// down is a read path whose engine cannot be reached.
type down struct{}

func (down) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, fault.Wrap(fault.Unavailable, io.ErrUnexpectedEOF, "Athena cannot be reached")
}

// tableServer is a DynamoDB that has the table, and nothing in it.
func tableServer(t *testing.T) *dynamodb.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", at().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		body := `{}`
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			body = `{"Items":[],"Count":0}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")})
}

func planets(t *testing.T) planet.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "planets.db"), at())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// told is an engine whose backend is told of every query before it is asked.
type told struct {
	*athena.Engine
	backend *athenatest.Reference
	state   engine.State
}

func (e told) know(q query.Query) {
	q.Scope.Watermark = e.state.Watermark
	e.backend.Know(q)
}

func (e told) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	e.know(q)
	return e.Engine.Start(ctx, q)
}

type fixed engine.State

func (s fixed) State(context.Context) (engine.State, error) { return engine.State(s), nil }

// searching is the read path over Athena's protocol, with the records of testdata/records.ndjson behind it. In events
// of queries that take long, they never leave Athena's queue.
func searching(t *testing.T, e environment, event string) (*search.Service, *awsathena.Client, engine.States) {
	t.Helper()
	rows := records(t)
	state := engine.State{Extent: lake.Extent{MinTsMs: rows[0].TsMs, MaxTsMs: rows[len(rows)-1].TsMs, Rows: int64(len(rows))}, Watermark: lake.PartitionOf(rows[1].TsMs), Version: 7}
	backend := athenatest.NewReference(rows)
	config := athenatest.Config{
		Backend: backend, Now: at,
		Workgroups: map[string]athenatest.Workgroup{e.workgroup: {Output: e.results, CutoffBytes: 100_000_000_000}},
	}
	if strings.HasSuffix(event, "-asynchronous") {
		config.Queue = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	}
	for _, name := range lake.TableNames {
		config.Tables = append(config.Tables, lake.Table{Schema: e.database, Name: name, Location: lake.TableLocation("s3://"+e.lakeBucket+"/lake/", name), FromYear: e.projectionFrom})
	}
	handler, err := athenatest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := awsathena.New(awsathena.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), Retryer: aws.NopRetryer{},
	})
	asked, err := athena.New(athena.Config{Client: client, States: fixed(state), Workgroup: e.workgroup, Database: e.database, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	service, err := search.New(told{asked, backend, state}, search.Options{
		Queries: queriestest.NewMemory(), Now: at, NewID: func() search.QueryID { return "3f1c0a9be2d84c57a6f0d1e2b3c4a596" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, client, fixed(state)
}

func records(t *testing.T) []lake.Row {
	t.Helper()
	text, err := os.ReadFile("testdata/records.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var rows []lake.Row
	decoder := record.NewDecoder()
	for line := range strings.Lines(string(text)) {
		row := lake.Row{Source: "events", Line: int64(len(rows) + 1)}
		if _, err := decoder.Decode([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// keeperFunction is a function that keeps the lake, over folders and a table in memory.
func keeperFunction(t *testing.T, f lambdas.Function, e environment, log *slog.Logger) *Function {
	t.Helper()
	raw, objects := bucket(t), bucket(t)
	text, err := os.ReadFile("testdata/records.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"raw/2026/01/01/edge 1.ndjson": string(text), "raw/poisoned.ndjson": strings.Repeat("\x00\x01 no log at all\n", 1000)} {
		if err := raw.Put(t.Context(), name, strings.NewReader(body), blob.Always); err != nil {
			t.Fatal(err)
		}
	}
	c, err := cloud.New(cloud.Config{Raw: raw, Lake: objects, Table: &cloudtest.Table{}, Scratch: filepath.Join(t.TempDir(), "work"), FromYear: e.projectionFrom, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	table := tableServer(t)
	k := &keeper{row: f, environment: e, log: log, cloud: c, checks: keeperChecks(table, raw, objects, e, at)}
	if f.Name == "compact" {
		return k.function(handlerOf(k.compact))
	}
	return k.function(handlerOf(queue.New(c, e.rawBucket, log, at).Handle))
}

func bucket(t *testing.T) blob.Store {
	t.Helper()
	store, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}
