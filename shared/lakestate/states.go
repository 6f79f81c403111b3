package lakestate

import (
	"context"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
)

// stateAge is how old an answer of States may be. It counts against the time that engine.KeepSuperseded has to spare.
const stateAge = 5 * time.Second

// States tells engines the state of the lake.
type States struct {
	table Table
	now   func() time.Time

	mu   sync.Mutex
	last engine.State
	read time.Time // zero: never
}

var _ engine.States = (*States)(nil)

// NewStates reads the state from a table; now tells how old an answer is.
func NewStates(table Table, now func() time.Time) *States { return &States{table: table, now: now} }

// State is the state of at most five seconds ago.
func (s *States) State(ctx context.Context) (engine.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.read); !s.read.IsZero() && age >= 0 && age < stateAge {
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
	}
	return s.last, nil
}
