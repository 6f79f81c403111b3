package enginetest

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// testDiffPeriods compares periods that adjoin and periods with a gap between them. The plan must not have the hours of
// the gap. With -short or -suite.every, the period is clamped only with a condition, and otherwise only without one.
func testDiffPeriods(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	rows := Records(t, 900, 31)
	edge := Start.Add(2 * time.Hour) // where two of the periods meet
	for i, offset := range []time.Duration{-time.Millisecond, 0, time.Millisecond} {
		at := edge.Add(offset)
		rows[i].TsMs, rows[i].TimePeriod = at.UnixMilli(), at.Unix()
	}
	e, all := open(rows), pointers(rows)
	extent, err := e.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := querytest.Dimensions(`status,blocked,tags,path,headers["user-agent"]`)
	for _, c := range []struct {
		name, filter, against string
		hours                 []int // from Start
	}{
		{"the period before", "2026-01-01 23:00 and 2026-01-02 00:59", "previous", []int{0, 1, 2, 3}},
		{"the period after", "2026-01-01 22:00 and 2026-01-01 23:00", "2026-01-01 23:00..2026-01-01 23:59", []int{1, 2}},
		{"an earlier period", "2026-01-02 02:00 and 2026-01-02 02:30", "5h", []int{0, 5}},
		{"a later period", "2026-01-01 21:10 and 2026-01-01 22:10", "2026-01-02 00:30..2026-01-02 01:30", []int{0, 1, 3, 4}},
		{"a gap within an hour", "2026-01-01 22:40 and 2026-01-01 22:50", "30m", []int{1}},
		{"a period without records", "2026-01-01 22:00 and 2026-01-01 22:59", "1d", []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			against, err := query.ParseAgainst(c.against, query.Clock{})
			if err != nil {
				t.Fatal(err)
			}
			for i, conditions := range []string{"", ", status<400"} {
				text := "timestamp between " + c.filter + conditions
				q := bind(t, text, query.Diff{By: by, Least: 2, Against: against})
				if i == 0 || !few() {
					check(t, e, q, all)
				}
				if i == 1 || !few() {
					check(t, e, q.Clamp(extent), all)
				}
				if sides := reference.Evaluate(&q, all).Diff.Requests; sides.Selected == 0 {
					t.Errorf("%s has no records", text)
				}
			}
			plan, err := e.Explain(t.Context(), bind(t, "timestamp between "+c.filter, query.Diff{By: by, Against: against}))
			if err != nil {
				t.Fatal(err)
			}
			var want []lake.Partition
			for _, hour := range c.hours {
				want = append(want, lake.PartitionOf(Start.UnixMilli())+lake.Partition(hour))
			}
			if !slices.Equal(plan.Partitions, want) {
				t.Errorf("the plan has partitions %v, want %v", plan.Partitions, want)
			}
		})
	}
}
