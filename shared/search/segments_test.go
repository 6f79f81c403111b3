package search

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
)

func TestEachSegment(t *testing.T) {
	nothing := func(int64) bool { return false }
	all := func(int64) bool { return true }
	berlin, err := zoneOf("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	berlinDays := query.Period{FromMs: 1729933200_000, ToMs: 1730106000_000} // 2024-10-26 11:00 to 2024-10-28 10:00
	tests := map[string]struct {
		period  query.Period
		seconds int64
		found   func(int64) bool
		zone    *time.Location
		want    []int64
	}{
		"the first segment starts before the period": {
			query.Period{FromMs: 61_000, ToMs: 130_000}, 60, nothing, nil, []int64{60, 120},
		},
		"an end on a boundary without records adds no segment": {
			query.Period{FromMs: 0, ToMs: 120_000}, 60, nothing, nil, []int64{0, 60},
		},
		"an end on a boundary with records adds a segment": {
			query.Period{FromMs: 0, ToMs: 120_000}, 60, all, nil, []int64{0, 60, 120},
		},
		"an end one millisecond later always adds a segment": {
			query.Period{FromMs: 0, ToMs: 120_001}, 60, nothing, nil, []int64{0, 60, 120},
		},
		"a period of one instant on a boundary has one segment": {
			query.Period{FromMs: 60_000, ToMs: 60_000}, 60, nothing, nil, []int64{60},
		},
		"segments before 1970 are aligned downwards": {
			query.Period{FromMs: -1, ToMs: 1}, 60, nothing, nil, []int64{-60, 0},
		},
		"a period within one segment has that whole segment": {
			query.Period{FromMs: 61_000, ToMs: 62_000}, 3600, nothing, nil, []int64{0},
		},
		"days of a zone end with its midnight, though one has 25 hours": {
			berlinDays, 86_400, nothing, berlin, []int64{1729893600, 1729980000, 1730070000},
		},
		"an end at midnight of a zone without records adds no segment": {
			query.Period{FromMs: berlinDays.FromMs, ToMs: 1730070000_000}, 86_400, nothing, berlin,
			[]int64{1729893600, 1729980000},
		},
		"an end at midnight of a zone with records adds a segment": {
			query.Period{FromMs: berlinDays.FromMs, ToMs: 1730070000_000}, 86_400, all, berlin,
			[]int64{1729893600, 1729980000, 1730070000},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int64
			q := query.Query{Period: test.period, Shape: query.Timeline{SegmentSeconds: test.seconds, Zone: test.zone}}
			eachSegment(q, test.found, func(start int64) { got = append(got, start) })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}
