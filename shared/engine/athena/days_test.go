package athena_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// writtenLake is a lake into which logs are imported while the engine answers queries about it. The emulator evaluates
// a statement over the objects that it would read.
type writtenLake struct {
	t       *testing.T
	time    time.Time
	raw     *blobtest.Memory
	objects *blobtest.Memory
	table   lakestate.Table
	writer  *cloud.Store
	states  engine.States
	server  *emulator.Server
	engine  *athena.Engine
	asked   []query.Query
	written int // logs

	mu         sync.Mutex
	statements []string
}

func newWrittenLake(t *testing.T) *writtenLake {
	l := &writtenLake{t: t, time: now(), table: lakestate.Over(&tabletest.Memory{})}
	clock := func() time.Time { return l.time }
	l.raw, l.objects = &blobtest.Memory{Now: clock}, &blobtest.Memory{Now: clock}
	l.states = lakestate.NewStates(l.table, clock)
	var err error
	l.writer, err = cloud.New(cloud.Config{
		Raw: l.raw, Lake: l.objects, Table: l.table, Now: clock, Scratch: t.TempDir(),
		Pause:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Options: ingest.Options{Format: "orrery"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server, client := serve(t, emulator.Config{Backend: l, Now: clock}, nil)
	l.server = server
	l.engine = newEngine(t, client, l.states, func(c *athena.Config) { c.ReuseFor, c.Now = time.Hour, clock })
	return l
}

// Run implements emulator.Backend.
func (l *writtenLake) Run(
	ctx context.Context, s emulator.Statement, scanned func(int64),
) (emulator.Result, error) {
	l.mu.Lock()
	l.statements = append(l.statements, s.SQL)
	l.mu.Unlock()
	rows, err := l.rows(ctx)
	if err != nil {
		return emulator.Result{}, err
	}
	evaluated := athenatest.NewReference(rows)
	for _, q := range l.asked {
		evaluated.Register(q)
	}
	return evaluated.Run(ctx, s, scanned)
}

// rows returns the rows of the objects that readers read.
func (l *writtenLake) rows(ctx context.Context) (rows []lake.Row, _ error) {
	state, _, err := lakestate.Load(ctx, l.table)
	if err != nil {
		return nil, err
	}
	for info, err := range lakestate.NewListing(l.objects).Objects(
		ctx, state.Watermark, lake.PartitionOf(state.Extent.MinTsMs), lake.PartitionOf(state.Extent.MaxTsMs),
	) {
		if err != nil {
			return nil, err
		}
		body, err := blob.Open(ctx, l.objects, info.Name, "")
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			return nil, err
		}
		found, err := parquettest.Rows(content)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// write imports a log of five records, a minute apart.
func (l *writtenLake) write(at time.Time) {
	l.t.Helper()
	var text strings.Builder
	for range 5 {
		fmt.Fprintf(&text, `{"processing_stage":6,"timestamp":%q,"request_id":"r%d-%d","host":"shop.example"}`+"\n",
			at.Format(time.RFC3339), l.written, text.Len())
		at = at.Add(time.Minute)
	}
	l.written++
	key := fmt.Sprintf("raw/%d", l.written)
	if err := l.raw.Put(l.t.Context(), key, strings.NewReader(text.String()), blob.Always); err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.writer.Import(l.t.Context(), rawlog.Log{Key: key}); err != nil {
		l.t.Fatal(err)
	}
}

// clamp clamps a query to the data of now, so that statements of it can be evaluated.
func (l *writtenLake) clamp(q query.Query) query.Query {
	l.t.Helper()
	l.time = l.time.Add(2 * engine.StateAge)
	state, err := l.states.State(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	q = q.Clamp(state.Extent)
	evaluated := q
	evaluated.Scope.Watermark = state.Watermark
	l.asked = append(l.asked, evaluated)
	return q
}

// ask answers a query, and checks the number of statements that it starts. Without any, the answer must be free.
func (l *writtenLake) ask(what string, q query.Query, started int) query.Answer {
	l.t.Helper()
	before := len(l.server.States())
	answer, cost, err := l.engine.Run(l.t.Context(), l.clamp(q))
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
	if n := len(l.server.States()) - before; n != started {
		l.t.Errorf("%s: %d statements were started, want %d", what, n, started)
	}
	if isFree := cost.Cached != nil && *cost.USD == 0; isFree != (started == 0) {
		l.t.Errorf("%s: cost %+v after %d statements", what, cost, started)
	}
	return answer
}

// expectRequests checks the sum of the requests of an answer.
func (l *writtenLake) expectRequests(what string, answer query.Answer, want int64) {
	l.t.Helper()
	var sum int64
	for _, segment := range answer.Stats {
		sum += segment.Requests
	}
	if sum != want {
		l.t.Errorf("%s: %d requests, want %d", what, sum, want)
	}
}

// TestWriterKeepsAnswersAboutOtherDays asks again and again about yesterday, and about a period that ends today, while
// logs of today are imported and compacted. Only the latter starts a statement each time, until late records of
// yesterday arrive.
func TestWriterKeepsAnswersAboutOtherDays(t *testing.T) {
	l := newWrittenLake(t)
	l.time = time.Date(2026, 1, 3, 12, 0, 0, 0, time.UTC)
	yesterday := bind(t, "timestamp between 2026-01-02 and 2026-01-02 23:59:59", stats)
	both := bind(t, "timestamp between 2026-01-02 and 2026-01-03 23:59:59", stats)
	newest := bind(t, "timestamp between 2026-01-01 and 2026-01-03 23:59:59", query.Logs{Limit: 200})
	for _, ago := range []time.Duration{47, 30, 13, 1} { // hours
		l.write(l.time.Add(-ago * time.Hour))
	}
	l.expectRequests("yesterday", l.ask("yesterday", yesterday, 1), 10)
	l.expectRequests("both days", l.ask("both days", both, 1), 15)
	l.ask("logs", newest, 4)
	requests := int64(15)
	for n := range 4 {
		if n == 2 {
			l.time = l.time.Add(2 * time.Hour)
			report, err := l.writer.Compact(t.Context(), time.Time{})
			if err != nil || report.Hours == 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			l.ask("yesterday, compacted", yesterday, 1)
		}
		l.write(l.time.Add(-10 * time.Minute))
		requests += 5
		l.expectRequests("yesterday", l.ask("yesterday", yesterday, 0), 10)
		l.expectRequests("both days", l.ask("both days", both, 1), requests)
	}
	l.ask("logs", newest, 4)
	l.write(l.time.Add(-9 * time.Minute))
	if answer := l.ask("logs, the last window about yesterday", newest, 3); len(answer.Logs) != int(requests)+10 {
		t.Errorf("%d logs", len(answer.Logs))
	}
	l.write(l.time.Add(-20 * time.Hour))
	l.expectRequests("yesterday with late records", l.ask("yesterday with late records", yesterday, 1), 15)
	l.expectRequests("both days with late records", l.ask("both days with late records", both, 1), requests+10)
	l.expectRequests("yesterday again", l.ask("yesterday again", yesterday, 0), 15)
}

// TestExecutionOfAnEarlierVersion continues an execution that lacks the versions of days. Its windows have the version
// of the lake.
func TestExecutionOfAnEarlierVersion(t *testing.T) {
	l := newWrittenLake(t)
	l.write(now().Add(-30 * time.Hour))
	l.write(now().Add(-time.Hour))
	q := l.clamp(bind(t, "timestamp between 2026-01-01 and 2026-01-03", query.Logs{Limit: 200}))
	x, err := l.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(x), &fields); err != nil || fields["days"] == nil {
		t.Fatalf("the execution is %s, %v", x, err)
	}
	delete(fields, "days")
	fields["version"] = json.RawMessage("77")
	earlier, err := json.Marshal(fields)
	if err == nil {
		x, err = l.engine.Wait(t.Context(), engine.Execution(earlier), q)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer, _, err := l.engine.Result(t.Context(), x, q)
	if err != nil || len(answer.Logs) != 5 {
		t.Errorf("%d logs, %v", len(answer.Logs), err)
	}
	for i, sql := range l.statements {
		if want := "-- data version 77\n"; strings.HasPrefix(sql, want) != (i > 0) {
			t.Errorf("statement %d: %s", i, sql)
		}
	}
	if len(l.statements) < 3 {
		t.Errorf("%d statements", len(l.statements))
	}
}
