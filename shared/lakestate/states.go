package lakestate

import (
	"context"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
)

// States provides engines with the state of the lake.
type States struct {
	table Table
	now   func() time.Time

	mu   sync.Mutex
	last engine.State
	read time.Time // when last was read; zero before the first read
}

var _ engine.States = (*States)(nil)

// NewStates returns States that reads the state from a table. now is the clock by which the state ages.
func NewStates(table Table, now func() time.Time) *States { return &States{table: table, now: now} }

// State returns the state of the lake. It is at most five seconds old.
func (s *States) State(ctx context.Context) (engine.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.read); !s.read.IsZero() && age >= 0 && age < engine.StateAge {
		return s.last, nil
	}
	st, _, err := Load(ctx, s.table)
	if err != nil {
		return engine.State{}, err
	}
	s.read = now
	s.last = st.OfEngines()
	return s.last, nil
}

// OfEngines returns what engines need of a state.
func (s State) OfEngines() engine.State {
	of := engine.State{
		Extent:    s.Extent,
		Watermark: s.Watermark,
		Version:   s.Version,
		Days:      s.Days,

		CompleteThrough: s.CompleteThrough(),
	}
	for _, o := range s.Lost {
		of.Lost = append(of.Lost, engine.LostObject{
			Name: o.Name, Partition: o.Hour, Rebuilt: o.Rebuilt, Reason: o.Reason,
		})
	}
	return of
}
