package cloud_test

import (
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// TestEachChangeIsOfItsDays checks which of three days have another version after each change of the lake.
func TestEachChangeIsOfItsDays(t *testing.T) {
	w := newWorld(t)
	day := lake.PartitionOf(testTime.UnixMilli()).Day()
	importing := func(key string, from, to int) func() {
		return func() { w.importLog(key, records(from, to, time.Hour)) }
	}
	compactingAt := func(after time.Duration) func() {
		return func() {
			w.time = testTime.Add(after)
			if report := w.compact(); report.Hours == 0 {
				t.Errorf("%+v", report)
			}
		}
	}
	versions := func() (list [3]int64) {
		s := w.state()
		for i := range list {
			hour := (day + lake.Day(i)).First()
			list[i] = s.Days.Of(hour, hour)
		}
		return list
	}
	before := versions()
	for _, change := range []struct {
		what string
		make func()
		days []int
	}{
		{"records of one day", importing("raw/a", 0, 3), []int{0}},
		{"records around midnight", importing("raw/b", 13, 15), []int{0, 1}},
		{"no new records", importing("raw/b", 13, 15), nil},
		{"the first compaction", compactingAt(17 * time.Hour), []int{0, 1, 2}},
		{"records of the second day", importing("raw/c", 16, 18), []int{1}},
		{"compaction of the second day", compactingAt(25 * time.Hour), []int{1}},
		{"late records of the first day", importing("raw/d", 1, 2), []int{0}},
		{"records of the third day", importing("raw/e", 38, 39), []int{2}},
		{"a suspect of the second day that is whole", func() {
			name := w.names("lake/compact/" + (day + 1).First().String())[0]
			w.report(lake.NameOf(name), (day + 1).First())
			w.compact()
		}, []int{1}},
		{"the removal of the first hour", func() {
			hour := lake.PartitionOf(testTime.UnixMilli())
			if err := w.lake.Delete(t.Context(), w.names("lake/compact/"+hour.String())...); err != nil {
				t.Fatal(err)
			}
			w.compact()
		}, []int{0, 1, 2}},
	} {
		change.make()
		now := versions()
		var changed []int
		for i := range now {
			if now[i] != before[i] {
				changed = append(changed, i)
			}
		}
		if !slices.Equal(changed, change.days) {
			t.Errorf("%s: the versions %v became %v, so that the days %v changed, want %v",
				change.what, before, now, changed, change.days)
		}
		before = now
	}
}
