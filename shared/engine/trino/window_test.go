package trino_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// logsPage returns the last page of a result with the records of these times.
func logsPage(times ...int64) string {
	var rows [][]any
	for i, ms := range times {
		rows = append(rows, []any{fmt.Sprintf(`{"ts_ms":%d,"ts_nanos":0,"source":"s","line":%d}`, ms, i+1)})
	}
	return page([]string{"record"}, "", rows)
}

// lostStates is the state of a lake that lacks an object of an hour.
type lostStates struct{ hour lake.Partition }

func (s lostStates) State(context.Context) (engine.State, error) {
	return engine.State{Version: 1, Lost: []engine.LostObject{{Name: "lost", Partition: s.hour}}}, nil
}

// TestLogsSearchTheNewestHoursFirst: a query for logs of a day searches its last hour, then four times as many hours
// before it, and so on, until it has enough records. Its cost covers all statements.
func TestLogsSearchTheNewestHoursFirst(t *testing.T) {
	const (
		day    = "timestamp between 2026-01-01 00:00 and 2026-01-01 23:59:59.999"
		newest = "datehour BETWEEN '2026/01/01/23' AND '2026/01/01/23'"
		second = "datehour BETWEEN '2026/01/01/19' AND '2026/01/01/22'"
		third  = "datehour BETWEEN '2026/01/01/03' AND '2026/01/01/18'"
		oldest = "datehour BETWEEN '2026/01/01/00' AND '2026/01/01/02'"
	)
	last := time.Date(2026, 1, 1, 23, 30, 0, 0, time.UTC).UnixMilli()
	hours := func(n int64) int64 { return last - n*time.Hour.Milliseconds() }
	for _, c := range []struct {
		rule   string
		script []any
		asked  []string
		found  []int64
	}{
		{"the last hour is enough", []any{logsPage(last, last-1)}, []string{newest}, []int64{last, last - 1}},
		{
			"earlier hours have the others", []any{logsPage(last), logsPage(hours(2), hours(3))},
			[]string{newest, second}, []int64{last, hours(2)},
		},
		{
			"all hours have too few", []any{logsPage(), logsPage(hours(2)), logsPage(), logsPage()},
			[]string{newest, second, third, oldest}, []int64{hours(2)},
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			cluster := newCluster(t, c.script...)
			e := trino.New(cluster.client(t), fixedWatermark(0))
			answer, cost, err := e.Run(t.Context(), bind(t, day, query.Logs{Limit: 2}))
			if err != nil {
				t.Fatal(err)
			}
			var found []int64
			for _, r := range answer.Logs {
				found = append(found, r.TsMs)
			}
			if !slices.Equal(found, c.found) {
				t.Errorf("records of %v, want %v", found, c.found)
			}
			if n := int64(len(c.asked)); cost.BytesScanned != 1234*n || cost.Queue != time.Duration(n)*100*time.Millisecond {
				t.Errorf("the cost of %d statements is %+v", n, cost)
			}
			for i, request := range cluster.requests {
				if i >= len(c.asked) || !strings.Contains(request, c.asked[i]) {
					t.Errorf("statement %d is %s", i, request)
				}
			}
		})
	}
	t.Run("lost objects of hours that are not searched are not missing", func(t *testing.T) {
		cluster := newCluster(t, logsPage(last, last-1))
		lost := lostStates{hour: lake.PartitionOf(hours(5))}
		_, cost, err := trino.New(cluster.client(t), lost).Run(t.Context(), bind(t, day, query.Logs{Limit: 2}))
		if err != nil || len(cost.Skipped) > 0 {
			t.Errorf("%v, %v", cost.Skipped, err)
		}
		cluster = newCluster(t, logsPage(last), logsPage(), logsPage(), logsPage())
		_, cost, err = trino.New(cluster.client(t), lost).Run(t.Context(), bind(t, day, query.Logs{Limit: 2}))
		if err != nil || !slices.Equal(cost.Skipped, []string{"lost"}) {
			t.Errorf("all hours are searched: %v, %v", cost.Skipped, err)
		}
	})
	t.Run("explain lists all statements", func(t *testing.T) {
		const plan = `{"id":"q1","columns":[{"name":"Query Plan"}],"data":[["{}"]]}`
		cluster := newCluster(t, plan, plan, plan, plan)
		e := trino.New(cluster.client(t), fixedWatermark(0))
		got, err := e.Explain(t.Context(), bind(t, day, query.Logs{Limit: 2}))
		if err != nil || len(got.SQL) != 4 || strings.HasSuffix(got.SQL[0].Title, engine.EarlierHours) ||
			!strings.HasSuffix(got.SQL[1].Title, engine.EarlierHours) {
			t.Errorf("%v: %d statements", err, len(got.SQL))
		}
	})
}
