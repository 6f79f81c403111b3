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
	s.last = engine.State{
		Extent:    st.Extent,
		Watermark: st.Watermark,
		Version:   st.Version,
		Days:      st.Days,

		CompleteThrough: st.CompleteThrough(),
	}
	for _, o := range st.Lost {
		s.last.Lost = append(s.last.Lost, engine.LostObject{
			Name: o.Name, Partition: o.Hour, Rebuilt: o.Rebuilt, Reason: o.Reason,
		})
	}
	return s.last, nil
}
