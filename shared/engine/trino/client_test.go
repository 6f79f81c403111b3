package trino_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/rows"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var stats = query.Stats{SegmentSeconds: 3600}

func TestRunReadsPages(t *testing.T) {
	c := newCluster(t,
		queued,
		statsPage("NEXT", []any{60, "a", 9007199254740993, 2, 3, 4}),
		statsPage("NEXT"),
		statsPage("", []any{120, "", 1, 0, 0, 0}),
	)
	got, cost, err := c.run(t.Context(), t, stats)
	if err != nil {
		t.Fatal(err)
	}
	want := query.Answer{Stats: []query.StatsRow{
		{Segment: 60, Hostname: "a", Requests: 9007199254740993, Bandwidth: 2, TimeUs: 3, Timed: 4},
		{Segment: 120, Requests: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantCost := engine.Cost{
		BytesScanned: 1234, Queue: 100 * time.Millisecond, Engine: 250 * time.Millisecond,
	}
	if !reflect.DeepEqual(cost, wantCost) {
		t.Errorf("cost is %+v, want %+v", cost, wantCost)
	}
	if len(c.requests) != 4 || !strings.HasPrefix(c.requests[0], "POST SELECT") || c.requests[3] != "GET" {
		t.Errorf("requests %q", c.requests)
	}
	for name, want := range map[string]string{
		"X-Trino-User":    "tester",
		"X-Trino-Catalog": "hive",
		"X-Trino-Schema":  "traffic",
		"X-Trino-Source":  "orrery",
		"Authorization":   "",
	} {
		if got := c.headers[0].Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestRunRetriesRequests checks that requests to a busy coordinator are repeated with growing pauses.
func TestRunRetriesRequests(t *testing.T) {
	c := newCluster(t, 503, queued, 502, 504, 429, statsPage(""))
	if _, _, err := c.run(t.Context(), t, stats); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	if want := []time.Duration{50 * ms, 50 * ms, 100 * ms, 200 * ms}; !slices.Equal(c.pauses, want) {
		t.Errorf("pauses %v, want %v", c.pauses, want)
	}
}

func TestRunFailsIfClusterIsUnavailable(t *testing.T) {
	c := newCluster(t, 503, 503, 503, 503, 503, 503, 503)
	_, _, err := c.run(t.Context(), t, stats)
	if fault.KindOf(err) != fault.Unavailable || len(c.requests) != 6 {
		t.Errorf("after %d requests: %v", len(c.requests), err)
	}
	c.Close()
	if _, _, err := c.run(t.Context(), t, stats); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("closed server: %v", err)
	}
}

// TestRunRetriesStatements checks that a statement is repeated after a temporary failure. For example, a cluster has no
// nodes in the first seconds after its start.
func TestRunRetriesStatements(t *testing.T) {
	c := newCluster(t,
		errorPage("NO_NODES_AVAILABLE", "INTERNAL_ERROR"),
		queued,
		errorPage("HIVE_FILE_NOT_FOUND", "EXTERNAL"),
		statsPage("", []any{60, "a", 1, 0, 0, 0}),
	)
	got, _, err := c.run(t.Context(), t, stats)
	if err != nil || len(got.Stats) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunFailures(t *testing.T) {
	for _, f := range []struct {
		name, kind string
		want       fault.Kind
	}{
		{"INVALID_FUNCTION_ARGUMENT", "USER_ERROR", fault.RegexRefused},
		{"QUERY_EXCEEDED_COMPILER_LIMIT", "USER_ERROR", fault.EngineLimit},
		{"QUERY_TEXT_TOO_LARGE", "USER_ERROR", fault.EngineLimit},
		{"EXCEEDED_LOCAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES", fault.EngineLimit},
		{"EXCEEDED_CPU_LIMIT", "INSUFFICIENT_RESOURCES", fault.EngineLimit},
		{"EXCEEDED_TIME_LIMIT", "INSUFFICIENT_RESOURCES", fault.Timeout},
		{"QUERY_QUEUE_FULL", "INSUFFICIENT_RESOURCES", fault.Unavailable},
		{"HIVE_FILESYSTEM_ERROR", "EXTERNAL", fault.Unavailable},
		{"HIVE_BAD_DATA", "EXTERNAL", fault.Damaged},
		{"TABLE_NOT_FOUND", "USER_ERROR", fault.Internal},
	} {
		t.Run(strings.ToLower(strings.ReplaceAll(f.name, "_", " ")), func(t *testing.T) {
			_, _, err := newCluster(t, queued, errorPage(f.name, f.kind)).run(t.Context(), t, stats)
			if fault.KindOf(err) != f.want || !strings.Contains(err.Error(), f.name) {
				t.Errorf("%v is of kind %v, want %v and the cause", err, fault.KindOf(err), f.want)
			}
		})
	}
}

// TestRunSplitsTopX checks that a topx query that exhausts the cluster is answered in parts, in the usual order.
func TestRunSplitsTopX(t *testing.T) {
	script := []any{errorPage("EXCEEDED_GLOBAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES")}
	for _, part := range query.TopXParts {
		var rows [][]any
		for _, label := range part.Labels {
			row := make([]any, len(topXColumns))
			for i := range row {
				row[i] = i
			}
			row[0], row[1], row[22], row[23], row[24] = label, "key", "", "", ""
			rows = append(rows, row)
		}
		script = append(script, page(topXColumns, "", rows))
	}
	c := newCluster(t, script...)
	got, cost, err := c.run(t.Context(), t, query.TopX{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, row := range got.TopX {
		labels = append(labels, row.Label)
	}
	if !slices.Equal(labels, query.Labels) {
		t.Errorf("labels are %q, want %q", labels, query.Labels)
	}
	if !cost.Split || cost.BytesScanned != 9*1234 {
		t.Errorf("cost is %+v", cost)
	}
}

// TestRunSplitsTopXOnce checks that a part that exhausts the cluster, too, is an error.
func TestRunSplitsTopXOnce(t *testing.T) {
	full := errorPage("EXCEEDED_GLOBAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES")
	c := newCluster(t, full, full)
	_, _, err := c.run(t.Context(), t, query.TopX{Limit: 5})
	if fault.KindOf(err) != fault.EngineLimit || len(c.requests) != 2 {
		t.Errorf("after %d requests: %v", len(c.requests), err)
	}
}

// TestRunCancels checks that the query is cancelled on the cluster when its context is cancelled.
func TestRunCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newCluster(t, queued, queued, queued)
	c.onAnswer = func(n int) {
		if n == 2 {
			cancel()
		}
	}
	_, _, err := c.run(ctx, t, stats)
	if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if last := c.requests[len(c.requests)-1]; last != http.MethodDelete {
		t.Errorf("requests %q, want DELETE as the last", c.requests)
	}
}

// TestRunSendsDeadline checks that the cluster gets the deadline, so that it ends the query itself if the cancellation
// is lost.
func TestRunSendsDeadline(t *testing.T) {
	c := newCluster(t, statsPage(""))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	deadline, _ := ctx.Deadline()
	c.now = deadline.Add(-26500 * time.Millisecond)
	if _, _, err := c.run(ctx, t, stats); err != nil {
		t.Fatal(err)
	}
	if got := c.headers[0].Get("X-Trino-Session"); got != "query_max_run_time=27s" {
		t.Errorf("session is %q", got)
	}
}

// TestLogsWaitForDynamicFilter checks the session setting without which the cluster reads all rows of logs before it
// knows the oldest time among the newest rows.
func TestLogsWaitForDynamicFilter(t *testing.T) {
	c := newCluster(t, logsPage(), logsPage())
	if _, _, err := c.run(t.Context(), t, query.Logs{Limit: 5}); err != nil {
		t.Fatal(err)
	}
	want := []string{"hive.dynamic_filtering_wait_timeout=20s"}
	if got := c.headers[0].Values("X-Trino-Session"); !slices.Equal(got, want) {
		t.Errorf("session is %q, want %q", got, want)
	}
}

// TestRunRefusesBacktracking uses a pattern that would run very long, because the cluster's regular expressions
// backtrack.
func TestRunRefusesBacktracking(t *testing.T) {
	c := newCluster(t)
	q := bind(t, `timestamp between 2026-01-01 and 2026-01-02, path~"^(?:a|a[b-d]?)*$"`, stats)
	_, _, err := trino.New(c.client(t), fixedWatermark(0)).Run(t.Context(), q)
	if fault.KindOf(err) != fault.RegexRefused || len(c.requests) > 0 {
		t.Errorf("%v after %q", err, c.requests)
	}
}

// TestRunRefusesLists: the cluster does not have the values of lists.
func TestRunRefusesLists(t *testing.T) {
	c := newCluster(t)
	tor := query.List{Name: "tor", Version: 3, Values: query.NewListValues("digest", []string{"192.0.2.1"})}
	q, err := query.Bind(filter.Parse("timestamp between 2026-01-01 and 2026-01-02, ip in @tor"), stats,
		query.WithLists(map[string]query.List{"tor": tor}))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = trino.New(c.client(t), fixedWatermark(0)).Run(t.Context(), q)
	if fault.KindOf(err) != fault.EngineLimit || !strings.Contains(err.Error(), `lists of values such as "tor:3"`) || len(c.requests) > 0 {
		t.Errorf("%v after %q", err, c.requests)
	}
}

// TestRunRefusesOtherHosts checks that credentials are not sent to another host.
func TestRunRefusesOtherHosts(t *testing.T) {
	c := newCluster(t, `{"id":"q1","nextUri":"http://elsewhere.example/v1/statement/q1"}`)
	_, _, err := c.run(t.Context(), t, stats)
	if err == nil || !strings.Contains(err.Error(), "http-server.process-forwarded") {
		t.Errorf("error is %v", err)
	}
}

func TestRunReportsUnexpectedResponses(t *testing.T) {
	for script, want := range map[any]string{
		401:                     "401 Unauthorized",
		"<html>":                "trino's response",
		statsPage("", []any{1}): "1 cells for 6 columns",
	} {
		_, _, err := newCluster(t, script).run(t.Context(), t, stats)
		if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", script, err, want)
		}
	}
}

func TestConnectReportsEveryMistake(t *testing.T) {
	_, err := trino.Connect(trino.Config{URL: "trino:8080"})
	for _, want := range []string{"Catalog", "Schema", "User", "Now", "not a URL"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not mention %s", err, want)
		}
	}
	for address, want := range map[string]string{
		"http://trino.example":      "https only",
		"https://u:p@trino.example": "set them separately",
	} {
		_, err := trino.Connect(trino.Config{
			URL: address, Catalog: "c", Schema: "s", User: "u", Password: "p", Now: time.Now,
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestExtentWithoutStates checks that the engine queries the extent of all hours once, and then of the newest hours.
func TestExtentWithoutStates(t *testing.T) {
	const page = `{"id":"q1","columns":[{"name":"a"},{"name":"b"},{"name":"c"}],"data":[[%s]]}`
	answer := func(figures string) string { return strings.Replace(page, "%s", figures, 1) }
	c := newCluster(t,
		answer("null,null,0"),
		answer("1767308400000,1767308400001,2"),
		answer("1767308400000,1767312000000,3"),
		answer("null,null,0"),
		answer("5,1767312000000,9"),
	)
	e := trino.New(c.client(t), nil)
	const newest = "WHERE datehour >= '2026/01/01/22'"
	for i, step := range []struct {
		after   time.Duration
		want    lake.Extent
		request string
	}{
		{0, lake.Extent{}, "POST SELECT min(ts_ms), max(ts_ms), count(*) FROM traffic_fresh"},
		{time.Second, lake.Extent{}, ""},
		{11 * time.Second, lake.Extent{MinTsMs: 1767308400000, MaxTsMs: 1767308400001, Rows: 2}, newest},
		{11 * time.Second, lake.Extent{MinTsMs: 1767308400000, MaxTsMs: 1767312000000, Rows: 3}, newest},
		{11 * time.Second, lake.Extent{MinTsMs: 1767308400000, MaxTsMs: 1767312000000, Rows: 3}, newest},
	} {
		c.now = c.now.Add(step.after)
		before := len(c.requests)
		got, err := e.Extent(t.Context())
		if err != nil || got != step.want {
			t.Errorf("step %d: %+v, %v; want %+v", i, got, err, step.want)
		}
		request := strings.Join(c.requests[before:], " ")
		if !strings.HasSuffix(request, step.request) || step.request == "" && request != "" {
			t.Errorf("step %d: request %q, want %q", i, request, step.request)
		}
	}
}

func TestExplain(t *testing.T) {
	c := newCluster(t, `{"id":"q1","columns":[{"name":"Query Plan"}],"data":[["`+
		`{\"inputTableColumnInfos\":[{\"constraint\":{\"columnConstraints\":[`+
		`{\"columnName\":\"datehour\",\"domain\":{\"ranges\":[`+
		`{\"low\":{\"value\":\"2026/01/01/23\"},\"high\":{\"value\":\"2026/01/01/23\"}},`+
		`{\"low\":{\"value\":\"2026/01/02/00\"},\"high\":{\"value\":\"2026/01/02/01\"}}`+
		`]}}]}}]}"]]}`)
	plan, err := trino.New(c.client(t), fixedWatermark(0)).Explain(t.Context(), bind(t, threeHours, stats))
	if err != nil {
		t.Fatal(err)
	}
	first := lake.PartitionOf(time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC).UnixMilli())
	if want := []lake.Partition{first, first + 1, first + 2}; !slices.Equal(plan.Partitions, want) {
		t.Errorf("hours are %v, want %v", plan.Partitions, want)
	}
	if len(plan.SQL) != 1 || !strings.HasPrefix(c.requests[0], "POST EXPLAIN (TYPE IO, FORMAT JSON) SELECT") {
		t.Errorf("requests %q for %+v", c.requests, plan)
	}
}

func TestLargeLogsCancelTheQuery(t *testing.T) {
	record := func(bytes int) []any {
		return []any{fmt.Sprintf(`{"ts_ms":1,"ts_nanos":1,"source":"s","line":1,"query":%q}`, strings.Repeat("x", bytes))}
	}
	const half = rows.MaxLogsMemory/2 - 4096
	c := newCluster(t,
		page([]string{"record"}, "NEXT", [][]any{record(half), record(half)}),
		page([]string{"record"}, "NEXT", [][]any{record(half), record(half)}),
	)
	got, _, err := c.run(t.Context(), t, query.Logs{Limit: 100})
	if err != nil || len(got.Logs) != 2 || !got.Truncated {
		t.Fatalf("%d records, truncated %t, %v; want 2 and true", len(got.Logs), got.Truncated, err)
	}
	if len(c.requests) != 3 || c.requests[1] != "GET" || c.requests[2] != "DELETE" {
		t.Errorf("%d requests, the last %q; want POST, GET, DELETE", len(c.requests), c.requests[len(c.requests)-1])
	}
}

// TestDamagedObjectIsNamedWithTheRemedy checks the error over a lake without a record of suspects.
func TestDamagedObjectIsNamedWithTheRemedy(t *testing.T) {
	const object = "fresh/2026/01/02/00/1f2e3d4c5b6a7988-0.parquet"
	const failed = `{"id":"q1","error":{"message":"Malformed Parquet file. Expected magic number: PAR1 got: all%s",` +
		`"errorName":"HIVE_BAD_DATA","errorType":"EXTERNAL"}}`
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	extent := page([]string{"a", "b", "c"}, "", [][]any{{at, at + 1, 2}})
	for name, test := range map[string]struct {
		place  string
		states engine.States
		want   []string
		not    string
	}{
		"the cluster names the object": {
			place: " [s3://b/lake/" + object + "]",
			want:  []string{object, "between 2026-01-02 00:00:00 and 2026-01-02 01:00:00", "copy it again from the data directory"},
			not:   "compaction",
		},
		"the cluster does not name the object": {
			want: []string{"between 2026-01-01 23:00:00 and 2026-01-02 02:00:00", "to find its hour"},
			not:  "compaction",
		},
		"compaction sets damaged objects aside": {
			place: " [s3://b/lake/" + object + "]", states: fixedWatermark(0),
			want: []string{"compaction will set it aside"},
			not:  object,
		},
	} {
		t.Run(name, func(t *testing.T) {
			script := []any{queued, fmt.Sprintf(failed, test.place)}
			if test.states == nil {
				script = append([]any{extent}, script...)
			}
			c := newCluster(t, script...)
			_, _, err := trino.New(c.client(t), test.states).Run(t.Context(), bind(t, threeHours, stats))
			var known *fault.Error
			if !errors.As(err, &known) || known.Kind != fault.Damaged {
				t.Fatal(err)
			}
			for _, part := range test.want {
				if !strings.Contains(known.Message, part) {
					t.Errorf("message %q lacks %q", known.Message, part)
				}
			}
			if strings.Contains(known.Message, test.not) {
				t.Errorf("message %q has %q", known.Message, test.not)
			}
		})
	}
}
