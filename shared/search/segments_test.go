package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
)

func TestEachSegment(t *testing.T) {
	nothing := func(int64) bool { return false }
	all := func(int64) bool { return true }
	tests := map[string]struct {
		period  query.Period
		seconds int64
		found   func(int64) bool
		want    []int64
	}{
		"the first segment starts before the period": {
			query.Period{FromMs: 61_000, ToMs: 130_000}, 60, nothing, []int64{60, 120},
		},
		"an end on a boundary without records adds no segment": {
			query.Period{FromMs: 0, ToMs: 120_000}, 60, nothing, []int64{0, 60},
		},
		"an end on a boundary with records adds a segment": {
			query.Period{FromMs: 0, ToMs: 120_000}, 60, all, []int64{0, 60, 120},
		},
		"an end one millisecond later always adds a segment": {
			query.Period{FromMs: 0, ToMs: 120_001}, 60, nothing, []int64{0, 60, 120},
		},
		"a period of one instant on a boundary has one segment": {
			query.Period{FromMs: 60_000, ToMs: 60_000}, 60, nothing, []int64{60},
		},
		"segments before 1970 are aligned downwards": {
			query.Period{FromMs: -1, ToMs: 1}, 60, nothing, []int64{-60, 0},
		},
		"a period within one segment has that whole segment": {
			query.Period{FromMs: 61_000, ToMs: 62_000}, 3600, nothing, []int64{0},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int64
			eachSegment(test.period, test.seconds, test.found, func(start int64) { got = append(got, start) })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}
