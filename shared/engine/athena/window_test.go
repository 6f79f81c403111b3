package athena_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// The records of the fixture are ten an hour over six hours.
func TestLogsAreSearchedInTheNewestHoursFirst(t *testing.T) {
	for _, c := range []struct {
		rule   string
		limit  int
		starts int
	}{
		{"the newest hour is enough", 3, 1},
		{"four further hours are enough", 25, 2},
		{"all hours have too few records", 100, 3},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := newFixture(t, fixtureOptions{})
			q := bind(t, hours, query.Logs{Limit: c.limit}).Clamp(s.states.state.Extent)
			s.backend.bytes = 20_000_000
			answer, cost, err := s.engine.Run(t.Context(), q)
			s.checkAnswer(t, q, answer, err)
			if n := len(s.server.States()); n != c.starts {
				t.Errorf("%d statements were started, want %d", n, c.starts)
			}
			if want := int64(c.starts) * 20_000_000; cost.BytesScanned != want {
				t.Errorf("%d bytes scanned, want %d of all statements", cost.BytesScanned, want)
			}
		})
	}
}

func TestLogsAcrossAMoveOfTheWatermark(t *testing.T) {
	r := startLongRun(t, query.Logs{Limit: 100})
	r.finish(t)
	r.compact()
	r.answer(t)
}

func TestLostObjectsOfAllSearchedHoursAreReported(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	extent := s.states.state.Extent
	for p := lake.PartitionOf(extent.MinTsMs); p <= lake.PartitionOf(extent.MaxTsMs); p++ {
		s.states.state.Lost = append(s.states.state.Lost, engine.LostObject{Name: p.String(), Partition: p})
	}
	for limit, want := range map[int]int{3: 1, 25: 5, 100: len(s.states.state.Lost)} {
		q := bind(t, hours, query.Logs{Limit: limit}).Clamp(extent)
		_, cost, err := s.engine.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(cost.Skipped) != want {
			t.Errorf("limit %d: skipped %v, want the objects of %d hours", limit, cost.Skipped, want)
		}
	}
}

// An execution that an earlier version started is one statement for the whole period.
func TestExecutionOfTheWholePeriod(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	q := bind(t, hours, query.Logs{Limit: 100})
	q.Scope.Watermark = s.states.state.Watermark
	whole := q
	whole.Shape = query.Stats{SegmentSeconds: 3600} // has one statement
	s.engine.register(whole)
	x, err := s.engine.Start(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(x), "windows") {
		t.Fatalf("the execution %s is of windows", x)
	}
	for progress := (engine.Progress{}); !progress.Done; {
		if x, progress, err = s.engine.Poll(t.Context(), x, q); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.server.States()); n != 1 {
		t.Errorf("%d statements were started, want no further one", n)
	}
}
