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

func TestVersionOfTheDaysThatAQueryReads(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	of := func(day int) lake.Day { return lake.PartitionOf(at(day).UnixMilli()).Day() }
	days := lake.DayVersions{Others: 3, Latest: map[lake.Day]int64{of(2): 5, of(3): 9, of(5): 7}}
	state := engine.State{
		Version: 9, Days: days,
		Extent: lake.Extent{MinTsMs: at(1).UnixMilli(), MaxTsMs: at(6).UnixMilli() - 1, Rows: 1},
	}
	back := query.Against{Kind: query.AgainstEarlier, BackMs: (3 * 24 * time.Hour).Milliseconds()}
	for _, test := range []struct {
		text  string
		shape query.Shape
		want  int64
	}{
		{"timestamp between 2026-01-01 and 2026-01-01 23:59", query.Stats{}, 3},
		{"timestamp between 2026-01-02 and 2026-01-02 23:59", query.Stats{}, 5},
		{"timestamp between 2026-01-02 and 2026-01-03 00:00", query.Stats{}, 9},
		{"timestamp between 2026-01-04 and 2026-01-09", query.Stats{}, 7},
		{"timestamp between 2026-01-01 and 2026-01-09, timestamp between 2026-01-04 and 2026-01-05", query.Stats{}, 7},
		{"timestamp between 2026-01-04 and 2026-01-04 23:59", query.Diff{Against: back}, 3}, // and 2026-01-01
		{"timestamp between 2026-01-07 and 2026-01-09", query.Stats{}, 9},                   // nothing is there
	} {
		q, err := query.Bind(filter.Parse(test.text), test.shape)
		if err != nil {
			t.Fatal(err)
		}
		if got := state.VersionOf(q); got != test.want {
			t.Errorf("%s: version %d, want %d", test.text, got, test.want)
		}
		earlier := state
		earlier.Days = lake.DayVersions{}
		if got := earlier.VersionOf(q); got != state.Version {
			t.Errorf("%s: version %d of a state without versions of days", test.text, got)
		}
	}
}
