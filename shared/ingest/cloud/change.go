package cloud

import (
	"context"

	"github.com/orrery/orrery/shared/lakestate"
)

// changeState changes the state of the lake with a function. The function may be called several times, and reports
// whether it has changed the state. changeState returns the resulting state.
func (c *Store) changeState(ctx context.Context, alter func(*lakestate.State) bool) (lakestate.State, error) {
	return lakestate.Update(ctx, c.table, alter, nil, c.pause)
}
