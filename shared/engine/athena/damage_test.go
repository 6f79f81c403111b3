package athena_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// suspects records the names of reported objects.
type suspects struct {
	names []string
	err   error
}

func (s *suspects) Report(_ context.Context, e *engine.DamageError) error {
	s.names = append(s.names, e.Object)
	return s.err
}

func TestDamagedObjectIsReported(t *testing.T) {
	const object = "fresh/2026/01/02/00/1f2e3d4c5b6a7988-0.parquet"
	failing := func(reason string, times int) []error {
		return slices.Repeat([]error{&emulator.Failure{Category: 3, Type: 1500, Retryable: true, Reason: reason}}, times)
	}
	for name, test := range map[string]struct {
		errors     []error
		unrecorded error // the error of recording the suspect
		want       fault.Kind
		executions int
		reported   []string
	}{
		"a damaged object": {
			errors: failing("HIVE_BAD_DATA: Malformed Parquet file. Expected magic number: PAR1 got:  all [s3://b/lake/"+
				object+"]", 1),
			want: fault.Damaged, executions: 1, reported: []string{object},
		},
		"a damaged page": {
			errors: failing("GENERIC_INTERNAL_ERROR: Unknown error occurred during decompression: Data corruption detected", 1),
			want:   fault.Damaged, executions: 1, reported: []string{""},
		},
		"a damaged object that cannot be recorded": {
			errors:     failing("HIVE_BAD_DATA: Malformed Parquet file. s3://b/lake/"+object+" is not a valid Parquet File", 1),
			unrecorded: errors.New("the table is down"),
			want:       fault.Damaged, executions: 1, reported: []string{object},
		},
		"an object that is never readable": {
			errors: failing("HIVE_CURSOR_ERROR: Failed to read Parquet file: s3://b/lake/"+object, 4),
			want:   fault.Unavailable, executions: 4, reported: []string{object},
		},
		"an object that is readable at the second attempt": {
			errors: failing("HIVE_CURSOR_ERROR: Failed to read Parquet file: s3://b/lake/"+object, 1), executions: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := &suspects{err: test.unrecorded}
			s := newFixture(t, fixtureOptions{engine: func(c *athena.Config) { c.DamageReports = recorded }})
			s.backend.errors = test.errors
			_, _, err := s.engine.Run(t.Context(), bind(t, hours, stats))
			if test.want != fault.KindOf(err) || (err == nil) != (test.reported == nil) {
				t.Errorf("error %v of kind %d, want kind %d", err, fault.KindOf(err), test.want)
			}
			if states := s.server.States(); len(states) != test.executions || !slices.Equal(recorded.names, test.reported) {
				t.Errorf("executions %v, reported %q", states, recorded.names)
			}
			if test.unrecorded != nil && !strings.Contains(err.Error(), "the table is down") {
				t.Errorf("error %v does not say that the suspect is not recorded", err)
			}
		})
	}
}

func TestAnswerNamesLostObjects(t *testing.T) {
	submitted := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	s := newFixture(t, withClock(func() time.Time { return submitted }))
	s.register(t, hours, stats)
	q := bind(t, hours, stats).Clamp(s.states.state.Extent)
	lost := engine.LostObject{Name: "compact/a.parquet", Partition: lake.PartitionOf(q.Scope.FromMs)}
	x, err := s.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	s.states.state.Lost = []engine.LostObject{lost, {Name: "later", Partition: lost.Partition + 100}} // while the query runs
	if x, err = s.engine.Wait(t.Context(), x, q); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		rebuilt time.Time
		want    []string
	}{
		"it is lost":                       {time.Time{}, []string{lost.Name}},
		"it was rebuilt while q ran":       {submitted.Add(time.Minute), []string{lost.Name}},
		"it was rebuilt long before q ran": {submitted.Add(-time.Hour), nil},
	} {
		s.states.state.Lost[0].Rebuilt = test.rebuilt
		_, cost, err := s.engine.Result(t.Context(), x, q)
		if err != nil || !slices.Equal(cost.Skipped, test.want) {
			t.Errorf("%s: skipped %q, %v; want %q", name, cost.Skipped, err, test.want)
		}
	}
}
