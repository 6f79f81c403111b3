package lakestate

import (
	"context"
	"errors"
	"fmt"
)

// MaxConflicts is how often a change of the state is repeated after a conflict. Every conflict means that another
// writer made progress.
const MaxConflicts = 100

// Update changes the state of the lake with a function, and returns the resulting state. The function may be called
// several times, and reports whether it has changed the state. The same transaction has the change that beside returns,
// unless beside is nil. pause waits after a conflict, with its number.
func Update(
	ctx context.Context, table Table, alter func(*State) bool,
	beside func(State) (Change, error), pause func(ctx context.Context, n int) error,
) (State, error) {
	for conflicts := 0; ; conflicts++ {
		s, item, err := Load(ctx, table)
		if err != nil {
			return State{}, err
		}
		if !alter(&s) {
			return s, nil
		}
		change, err := ChangeOf(item, s)
		changes := []Change{change}
		if err == nil && beside != nil {
			change, err = beside(s)
			changes = append(changes, change)
		}
		if err == nil {
			err = table.Write(ctx, changes...)
		}
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, ErrConflict) || conflicts == MaxConflicts {
			return State{}, fmt.Errorf("change state of the lake: %w", err)
		}
		if err := pause(ctx, conflicts); err != nil {
			return State{}, err
		}
	}
}
