package cloud

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/lakestate"
)

// maxConflicts is how often a change of the state is repeated after a conflict. Every conflict means that another
// writer made progress.
const maxConflicts = 100

// changeState changes the state of the lake with a function. The function may be called several times, and reports
// whether it has changed the state. changeState returns the resulting state.
func (c *Store) changeState(ctx context.Context, alter func(*lakestate.State) bool) (lakestate.State, error) {
	return changeState(ctx, c.table, alter, nil, c.pause)
}

// changeState is Store.changeState with a table and a function that waits after the conflict n. The transaction also
// has the changes of beside, unless it is nil.
func changeState(
	ctx context.Context, table lakestate.Table, alter func(*lakestate.State) bool,
	beside func(lakestate.State) (lakestate.Change, error), pause func(ctx context.Context, n int) error,
) (lakestate.State, error) {
	for conflicts := 0; ; conflicts++ {
		s, item, err := lakestate.Load(ctx, table)
		if err != nil {
			return lakestate.State{}, err
		}
		if !alter(&s) {
			return s, nil
		}
		change, err := lakestate.ChangeOf(item, s)
		changes := []lakestate.Change{change}
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
		if !errors.Is(err, lakestate.ErrConflict) || conflicts == maxConflicts {
			return lakestate.State{}, fmt.Errorf("change state of the lake: %w", err)
		}
		if err := pause(ctx, conflicts); err != nil {
			return lakestate.State{}, err
		}
	}
}
