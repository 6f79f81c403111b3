package lakestate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// olderState is what an earlier version of the program reads of the state, and writes.
type olderState struct {
	Version int64       `json:"version"`
	Extent  lake.Extent `json:"extent"`
}

// changingLake is a lake of some days whose state programs of two versions change.
type changingLake struct {
	t       *testing.T
	table   lakestate.Table
	time    time.Time
	states  *lakestate.States
	random  *rand.Rand
	first   lake.Day
	changes []int // of each day
}

func newChangingLake(t *testing.T, seed uint64) *changingLake {
	l := &changingLake{
		t: t, table: lakestate.Over(&tabletest.Memory{}), time: noon, random: rand.New(rand.NewPCG(seed, 1)),
		first: lake.PartitionOf(noon.UnixMilli()).Day(), changes: make([]int, 40),
	}
	l.states = lakestate.NewStates(l.table, func() time.Time { return l.time })
	l.update(func(s *lakestate.State) {
		s.Extent = lake.Extent{MinTsMs: l.first.First().Start(), MaxTsMs: l.day(len(l.changes)).First().Start() - 1, Rows: 1}
	})
	return l
}

func (l *changingLake) day(n int) lake.Day { return l.first + lake.Day(n) }

func (l *changingLake) update(alter func(*lakestate.State)) {
	l.t.Helper()
	_, err := lakestate.Update(l.t.Context(), l.table, func(s *lakestate.State) bool { alter(s); return true }, nil, nil)
	if err != nil {
		l.t.Fatal(err)
	}
}

// change makes one change of the records of some days.
func (l *changingLake) change() {
	l.t.Helper()
	one := l.random.IntN(len(l.changes))
	switch n := l.random.IntN(20); {
	case n == 0:
		l.update(func(s *lakestate.State) { s.ChangedAll() })
		for i := range l.changes {
			l.changes[i]++
		}
		return
	case n <= 2:
		l.olderChange()
	case n <= 4:
		l.update(func(s *lakestate.State) {
			s.Lost = []lakestate.LostObject{{Name: "a", Hour: l.day(one).First() + 7}}
			s.MarkRebuilt("a", l.time)
		})
	case n <= 6:
		next := l.random.IntN(len(l.changes))
		l.update(func(s *lakestate.State) { s.Changed(l.day(one), l.day(next)) })
		l.changes[next]++
	default:
		l.update(func(s *lakestate.State) { s.Changed(l.day(one)) })
	}
	l.changes[one]++
}

// olderChange makes a change by an earlier version of the program.
func (l *changingLake) olderChange() {
	l.t.Helper()
	s, item, err := lakestate.Get[olderState](l.t.Context(), l.table, lakestate.Key{Partition: "lake", Sort: "state"})
	if err == nil {
		s.Version++
		err = lakestate.Replace(l.t.Context(), l.table, item, s)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// state returns the state that readers see after all changes.
func (l *changingLake) state() engine.State {
	l.t.Helper()
	l.time = l.time.Add(2 * engine.StateAge)
	s, err := l.states.State(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// reading returns a query of the days from a first one to a last one, and the changes of these days so far.
func (l *changingLake) reading(from, to int) (q query.Query, changes int) {
	l.t.Helper()
	period := fmt.Sprintf("timestamp between %s 05:00 and %s 19:00", l.day(from), l.day(to))
	q, err := query.Bind(filter.ParseQueryString(period), query.Stats{})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, n := range l.changes[from : to+1] {
		changes += n
	}
	return q, changes
}

// TestEqualVersionsOfDaysMeanEqualRecords changes days in a random order, also by a program that knows no versions of
// days. Whenever the version of some days is that of before, the days must not have changed.
func TestEqualVersionsOfDaysMeanEqualRecords(t *testing.T) {
	kept := 0
	for seed := range uint64(4) {
		l := newChangingLake(t, seed)
		type reading struct {
			from, to int
			version  int64
		}
		known := map[reading]int{}
		for range 300 {
			l.change()
			s := l.state()
			for range 30 {
				from := l.random.IntN(len(l.changes))
				to := min(from+l.random.IntN(3), len(l.changes)-1)
				q, changes := l.reading(from, to)
				at := reading{from, to, s.VersionOf(q)}
				before, found := known[at]
				if found && before != changes {
					t.Fatalf("seed %d: the days %d to %d have changed at version %d", seed, from, to, at.version)
				}
				if found && at.version < s.Version {
					kept++
				}
				known[at] = changes
			}
		}
	}
	if kept < 1000 {
		t.Errorf("only %d readings found the version of before", kept)
	}
}

// TestChangesOfOtherDaysKeepTheVersion has a writer of today.
func TestChangesOfOtherDaysKeepTheVersion(t *testing.T) {
	l := newChangingLake(t, 1)
	yesterday, _ := l.reading(10, 10)
	both, _ := l.reading(10, 11)
	write := func(n int) { l.update(func(s *lakestate.State) { s.Changed(l.day(n)) }) }
	write(10)
	before := l.state()
	write(11)
	write(11)
	if now := l.state(); now.VersionOf(yesterday) != before.VersionOf(yesterday) {
		t.Errorf("yesterday has the version %d after %d", now.VersionOf(yesterday), before.VersionOf(yesterday))
	} else if now.VersionOf(both) <= before.VersionOf(both) {
		t.Errorf("both days have the version %d after %d", now.VersionOf(both), before.VersionOf(both))
	}
	l.olderChange()
	before = l.state()
	if got := before.VersionOf(yesterday); got != before.Version {
		t.Errorf("yesterday has the version %d after a change at version %d of any day", got, before.Version)
	}
	write(11)
	if now := l.state(); now.VersionOf(yesterday) != before.Version {
		t.Errorf("yesterday has the version %d after %d", now.VersionOf(yesterday), before.Version)
	}
}
