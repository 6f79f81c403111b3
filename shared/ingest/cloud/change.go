package cloud

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/lakestate"
)

// maxConflicts is how often a change of the state is tried again. Every conflict means that somebody else got on.
const maxConflicts = 100

// changeState alters the state by a function, which may be called several times and says whether there is anything to
// alter. It returns the state as it is then.
func (c *Store) changeState(ctx context.Context, alter func(*lakestate.State) bool) (lakestate.State, error) {
	for conflicts := 0; ; conflicts++ {
		s, item, err := lakestate.Load(ctx, c.table)
		if err != nil {
			return lakestate.State{}, err
		}
		if !alter(&s) {
			return s, nil
		}
		written, err := lakestate.ChangeOf(item, s)
		if err == nil {
			err = c.table.Write(ctx, written)
		}
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, lakestate.ErrConflict) || conflicts == maxConflicts {
			return lakestate.State{}, fmt.Errorf("change state of the lake: %w", err)
		}
		if err := c.pause(ctx, conflicts); err != nil {
			return lakestate.State{}, err
		}
	}
}
