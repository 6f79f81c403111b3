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

func TestSkippedNamesRebuiltObjectsThatAQueryMayHaveMissed(t *testing.T) {
	rebuilt := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	hour := lake.PartitionOf(rebuilt.UnixMilli()) - 2
	state := engine.State{Lost: []engine.LostObject{{Name: "compact/a", Partition: hour, Rebuilt: rebuilt}}}
	q, err := query.Bind(filter.Parse("timestamp between 2026-01-02 and 2026-01-03"), query.Stats{})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration][]string{
		-time.Hour:       {"compact/a"},
		0:                {"compact/a"},
		2 * time.Minute:  nil,
		-2 * time.Minute: {"compact/a"},
	} {
		if diff := cmp.Diff(want, state.Skipped(q, rebuilt.Add(after))); diff != "" {
			t.Errorf("a query that began %s after the object was rebuilt (-want +got):\n%s", after, diff)
		}
	}
	state.Lost = append(state.Lost, engine.LostObject{Name: "compact/a", Partition: hour})
	if got := state.Skipped(q, rebuilt); len(got) != 1 {
		t.Errorf("an object that is lost again is named %d times: %q", len(got), got)
	}
}

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
		if diff := cmp.Diff(want, state.Skipped(q, time.Now())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
