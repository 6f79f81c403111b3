// Package publication publishes objects to the readers of a lake: it stages them, and copies them to their final names
// when they are committed, with the lists of their values.
package publication

import (
	"context"
	randv2 "math/rand/v2"
	"time"

	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lakestate"
)

// Publisher publishes the objects of imports to the readers of a lake.
type Publisher struct {
	Lake    bucket.Lake // the bucket of the lake
	Table   lakestate.Table
	Scratch string // local directory for temporary files
	Copies  int    // objects copied at a time

	// Unlisted is called for objects that get no lists of their values, with the reason. Several goroutines call it at
	// the same time.
	Unlisted func(ctx context.Context, object string, err error)
	Now      func() time.Time
	// Pause waits before an attempt is repeated.
	Pause func(ctx context.Context, d time.Duration) error
}

// ChangeState changes the state of the lake with a function. The function may be called several times, and reports
// whether it has changed the state. ChangeState returns the resulting state.
func (p *Publisher) ChangeState(ctx context.Context, alter func(*lakestate.State) bool) (lakestate.State, error) {
	return lakestate.Update(ctx, p.Table, alter, nil, p.Wait)
}

// Wait waits before repetition n, from 0: for a random time of about 10 ms at first and of about one second at most.
func (p *Publisher) Wait(ctx context.Context, n int) error {
	most := 20 * time.Millisecond << min(n, 6)
	return p.Pause(ctx, most/2+randv2.N(most/2))
}
