package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

func TestSkippedNamesTheLostObjectsOfThePeriod(t *testing.T) {
	hour := lake.PartitionOf(time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC).UnixMilli())
	state := engine.State{Lost: []engine.LostObject{
		{Name: "compact/b", Partition: hour},
		{Name: "fresh/c", Partition: hour + 2},
		{Name: "compact/a", Partition: hour},
	}}
	for text, want := range map[string][]string{
		"timestamp between 2026-01-02 10:59 and 2026-01-02 11:59":                                              {"compact/a", "compact/b"},
		"timestamp between 2026-01-02 11:00 and 2026-01-02 11:59":                                              nil,
		"timestamp between 2026-01-02 09:00 and 2026-01-02 12:00":                                              {"compact/a", "compact/b", "fresh/c"},
		"timestamp between 2026-01-02 and 2026-01-03, timestamp between 2026-01-02 12:10 and 2026-01-02 13:00": {"fresh/c"},
	} {
		q, err := query.Bind(filter.Parse(text), query.Stats{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, state.Skipped(q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
