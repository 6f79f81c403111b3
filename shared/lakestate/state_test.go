package lakestate_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

func TestAges(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	ms := func(ago time.Duration) int64 { return now.Add(-ago).UnixMilli() }
	for name, test := range map[string]struct {
		state             lakestate.State
		newestAge, behind time.Duration
	}{
		"compaction keeps up": {
			lakestate.State{
				Watermark: lake.PartitionOf(ms(3 * time.Hour)),
				Extent:    lake.Extent{MinTsMs: ms(100 * time.Hour), MaxTsMs: ms(time.Minute)},
			},
			time.Minute, 3*time.Hour - time.Minute,
		},
		"no records arrive": {
			lakestate.State{
				Watermark: lake.PartitionOf(ms(49 * time.Hour)),
				Extent:    lake.Extent{MinTsMs: ms(100 * time.Hour), MaxTsMs: ms(50 * time.Hour)},
			},
			50 * time.Hour, 0,
		},
		"nothing is compacted": {
			lakestate.State{Extent: lake.Extent{MinTsMs: ms(9 * time.Hour), MaxTsMs: ms(time.Hour)}},
			time.Hour, 8 * time.Hour,
		},
		"a record is from the future": {
			lakestate.State{
				Watermark: lake.PartitionOf(ms(3 * time.Hour)),
				Extent:    lake.Extent{MinTsMs: ms(9 * time.Hour), MaxTsMs: ms(-20 * time.Hour)},
			},
			0, 3 * time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.state.NewestAge(now); got != test.newestAge {
				t.Errorf("the newest record is %v old, want %v", got, test.newestAge)
			}
			if got := test.state.Behind(now); got != test.behind {
				t.Errorf("compaction is %v behind, want %v", got, test.behind)
			}
		})
	}
}
