package trino_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var stats = query.Stats{SegmentSeconds: 3600}

func TestRun_reads_page_by_page(t *testing.T) {
	c := play(t, queued, found("NEXT", []any{60, "a", 9007199254740993, 2, 3, 4}), found("NEXT"), found("", []any{120, "", 1, 0, 0, 0}))
	got, cost, err := c.count(t.Context(), t, stats)
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
	if want := (engine.Cost{BytesScanned: 1234, RowsConsidered: 7, Queue: 100 * time.Millisecond, Engine: 250 * time.Millisecond}); !reflect.DeepEqual(cost, want) {
		t.Errorf("cost is %+v, want %+v", cost, want)
	}
	if len(c.asked) != 4 || !strings.HasPrefix(c.asked[0], "POST SELECT") || c.asked[3] != "GET" {
		t.Errorf("asked %q", c.asked)
	}
	for name, want := range map[string]string{"X-Trino-User": "tester", "X-Trino-Catalog": "hive", "X-Trino-Schema": "traffic", "X-Trino-Source": "orrery", "Authorization": ""} {
		if got := c.headers[0].Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestRun_repeats_requests: a coordinator that has no time is asked again, a little later each time.
func TestRun_repeats_requests(t *testing.T) {
	c := play(t, 503, queued, 502, 504, 429, found(""))
	if _, _, err := c.count(t.Context(), t, stats); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{50 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}
	if !slices.Equal(c.waits, want) {
		t.Errorf("waited %v, want %v", c.waits, want)
	}
}

func TestRun_gives_up_on_a_cluster_that_is_not_there(t *testing.T) {
	c := play(t, 503, 503, 503, 503, 503, 503, 503)
	_, _, err := c.count(t.Context(), t, stats)
	if fault.KindOf(err) != fault.Unavailable || len(c.asked) != 6 {
		t.Errorf("after %d requests: %v", len(c.asked), err)
	}
	c.Close()
	if _, _, err := c.count(t.Context(), t, stats); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("no one listens: %v", err)
	}
}

// TestRun_repeats_statements: in the seconds after its start a cluster has no nodes.
func TestRun_repeats_statements(t *testing.T) {
	c := play(t, broken("NO_NODES_AVAILABLE", "INTERNAL_ERROR"), queued, broken("HIVE_FILE_NOT_FOUND", "EXTERNAL"), found("", []any{60, "a", 1, 0, 0, 0}))
	got, _, err := c.count(t.Context(), t, stats)
	if err != nil || len(got.Stats) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRun_failures(t *testing.T) {
	for _, f := range []struct {
		name, kind string
		want       fault.Kind
	}{
		{"INVALID_FUNCTION_ARGUMENT", "USER_ERROR", fault.RegexRefused},
		{"NUMERIC_VALUE_OUT_OF_RANGE", "USER_ERROR", fault.EngineLimit},
		{"QUERY_EXCEEDED_COMPILER_LIMIT", "USER_ERROR", fault.EngineLimit},
		{"QUERY_TEXT_TOO_LARGE", "USER_ERROR", fault.EngineLimit},
		{"EXCEEDED_LOCAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES", fault.EngineLimit},
		{"EXCEEDED_CPU_LIMIT", "INSUFFICIENT_RESOURCES", fault.EngineLimit},
		{"EXCEEDED_TIME_LIMIT", "INSUFFICIENT_RESOURCES", fault.Timeout},
		{"QUERY_QUEUE_FULL", "INSUFFICIENT_RESOURCES", fault.Unavailable},
		{"HIVE_FILESYSTEM_ERROR", "EXTERNAL", fault.Unavailable},
		{"TABLE_NOT_FOUND", "USER_ERROR", fault.Internal},
	} {
		t.Run(f.name, func(t *testing.T) {
			_, _, err := play(t, queued, broken(f.name, f.kind)).count(t.Context(), t, stats)
			if fault.KindOf(err) != f.want || !strings.Contains(err.Error(), f.name) {
				t.Errorf("%v is of kind %v, want %v and the cause", err, fault.KindOf(err), f.want)
			}
		})
	}
}

// TestRun_splits_topx: what is too much for the cluster at once is asked label by label, and comes in one order.
func TestRun_splits_topx(t *testing.T) {
	script := []any{broken("EXCEEDED_GLOBAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES")}
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
	c := play(t, script...)
	got, cost, err := c.count(t.Context(), t, query.TopX{Limit: 5})
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

// TestRun_splits_topx_once: parts that are too much as well are an error.
func TestRun_splits_topx_once(t *testing.T) {
	full := broken("EXCEEDED_GLOBAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES")
	c := play(t, full, full)
	if _, _, err := c.count(t.Context(), t, query.TopX{Limit: 5}); fault.KindOf(err) != fault.EngineLimit || len(c.asked) != 2 {
		t.Errorf("after %d requests: %v", len(c.asked), err)
	}
}

// TestRun_cancels: when the caller goes, so does the query on the cluster.
func TestRun_cancels(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := play(t, queued, queued, queued)
	c.onAnswer = func(n int) {
		if n == 2 {
			cancel()
		}
	}
	_, _, err := c.count(ctx, t, stats)
	if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if last := c.asked[len(c.asked)-1]; last != http.MethodDelete {
		t.Errorf("asked %q, the last should cancel", c.asked)
	}
}

// TestRun_tells_the_cluster_its_deadline: should the cancellation be lost, the cluster ends the query itself.
func TestRun_tells_the_cluster_its_deadline(t *testing.T) {
	c := play(t, found(""))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	deadline, _ := ctx.Deadline()
	c.now = deadline.Add(-26500 * time.Millisecond)
	if _, _, err := c.count(ctx, t, stats); err != nil {
		t.Fatal(err)
	}
	if got := c.headers[0].Get("X-Trino-Session"); got != "query_max_run_time=27s" {
		t.Errorf("session is %q", got)
	}
}

// TestRun_waits_for_the_cut_off: without it all rows of logs would be read before the cut-off is known.
func TestRun_waits_for_the_cut_off(t *testing.T) {
	c := play(t, found(""))
	if _, _, err := c.count(t.Context(), t, query.Logs{Limit: 5}); err != nil {
		t.Fatal(err)
	}
	if got := c.headers[0].Values("X-Trino-Session"); !slices.Equal(got, []string{"hive.dynamic_filtering_wait_timeout=20s"}) {
		t.Errorf("session is %q", got)
	}
}

// TestRun_refuses_what_would_run_for_ever: the cluster's regular expressions backtrack.
func TestRun_refuses_what_would_run_for_ever(t *testing.T) {
	c := play(t)
	q := bind(t, `timestamp between 2026-01-01 and 2026-01-02, path~"^(?:a|a[b-d]?)*$"`, stats)
	_, _, err := trino.New(c.client(t), always(0)).Run(t.Context(), q)
	if fault.KindOf(err) != fault.RegexRefused || len(c.asked) > 0 {
		t.Errorf("%v after %q", err, c.asked)
	}
}

// TestRun_stays_with_its_cluster: credentials go to no other host.
func TestRun_stays_with_its_cluster(t *testing.T) {
	c := play(t, `{"id":"q1","nextUri":"http://elsewhere.example/v1/statement/q1"}`)
	if _, _, err := c.count(t.Context(), t, stats); err == nil || !strings.Contains(err.Error(), "http-server.process-forwarded") {
		t.Errorf("error is %v", err)
	}
}

func TestRun_tells_the_log_what_the_cluster_said(t *testing.T) {
	for script, want := range map[any]string{
		401:                 "401 Unauthorized",
		"<html>":            "trino's answer",
		found("", []any{1}): "1 cells for 6 columns",
	} {
		_, _, err := play(t, script).count(t.Context(), t, stats)
		if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", script, err, want)
		}
	}
}

func TestConnect_tells_every_mistake(t *testing.T) {
	_, err := trino.Connect(trino.Config{URL: "trino:8080"})
	for _, want := range []string{"Catalog", "Schema", "User", "Now", "no URL"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell of %s", err, want)
		}
	}
	for address, want := range map[string]string{"http://trino.example": "https only", "https://u:p@trino.example": "places of their own"} {
		_, err := trino.Connect(trino.Config{URL: address, Catalog: "c", Schema: "s", User: "u", Password: "p", Now: time.Now})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestExtent_without_states: the cluster is asked for everything once, and then for the newest hours.
func TestExtent_without_states(t *testing.T) {
	const page = `{"id":"q1","columns":[{"name":"a"},{"name":"b"},{"name":"c"}],"data":[[%s]]}`
	answer := func(figures string) string { return strings.Replace(page, "%s", figures, 1) }
	c := play(t, answer("null,null,0"), answer("1767308400000,1767308400001,2"), answer("1767308400000,1767312000000,3"), answer("null,null,0"), answer("5,1767312000000,9"))
	e := trino.New(c.client(t), nil)
	for i, step := range []struct {
		after time.Duration
		want  lake.Extent
		asked string
	}{
		{0, lake.Extent{}, "POST SELECT min(ts_ms), max(ts_ms), count(*) FROM traffic_fresh"},
		{time.Second, lake.Extent{}, ""},
		{11 * time.Second, lake.Extent{MinTsMs: 1767308400000, MaxTsMs: 1767308400001, Rows: 2}, "WHERE datehour >= '2026/01/01/22'"},
		{11 * time.Second, lake.Extent{MinTsMs: 1767308400000, MaxTsMs: 1767312000000, Rows: 3}, "WHERE datehour >= '2026/01/01/22'"},
		{11 * time.Second, lake.Extent{MinTsMs: 1767308400000, MaxTsMs: 1767312000000, Rows: 3}, "WHERE datehour >= '2026/01/01/22'"},
	} {
		c.now = c.now.Add(step.after)
		before := len(c.asked)
		got, err := e.Extent(t.Context())
		if err != nil || got != step.want {
			t.Errorf("step %d: %+v, %v; want %+v", i, got, err, step.want)
		}
		if asked := strings.Join(c.asked[before:], " "); !strings.HasSuffix(asked, step.asked) || step.asked == "" && asked != "" {
			t.Errorf("step %d asked %q, want %q", i, asked, step.asked)
		}
	}
}

func TestExplain(t *testing.T) {
	c := play(t, `{"id":"q1","columns":[{"name":"Query Plan"}],"data":[["{\"inputTableColumnInfos\":[{\"constraint\":{\"columnConstraints\":[{\"columnName\":\"datehour\",\"domain\":{\"ranges\":[{\"low\":{\"value\":\"2026/01/01/23\"},\"high\":{\"value\":\"2026/01/01/23\"}},{\"low\":{\"value\":\"2026/01/02/00\"},\"high\":{\"value\":\"2026/01/02/01\"}}]}}]}}]}"]]}`)
	plan, err := trino.New(c.client(t), always(0)).Explain(t.Context(), bind(t, "timestamp between 2026-01-01 23:00 and 2026-01-02 01:00", stats))
	if err != nil {
		t.Fatal(err)
	}
	first := lake.PartitionOf(time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC).UnixMilli())
	if want := []lake.Partition{first, first + 1, first + 2}; !slices.Equal(plan.Partitions, want) {
		t.Errorf("hours are %v, want %v", plan.Partitions, want)
	}
	if len(plan.SQL) != 1 || !strings.HasPrefix(c.asked[0], "POST EXPLAIN (TYPE IO, FORMAT JSON) SELECT") {
		t.Errorf("asked %q for %+v", c.asked, plan)
	}
}
