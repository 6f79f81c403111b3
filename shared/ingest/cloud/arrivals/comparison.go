package arrivals

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/lakestate"
)

// comparison is a comparison of all logs with those that have arrived. It goes through the keys once: from a key to the
// last one, and then from the first one to that key. Runs that are cut off by their deadline carry it on.
//
// It proves the following, however many runs it takes, and whether or not the queue is ever empty. A log that was put
// before the comparison began, and is still there, was listed when its key was reached, which was later. It either had
// arrived by then, and a log that has arrived stays so: it is visible to readers, or was refused, or its import is open
// in the state of the lake. Or it is one of the logs that were missing, in whatever place its message was: in the
// queue, with a function, among the dead letters, or nowhere. So every log has arrived that was put before the
// comparison began and before the oldest log that was missing.
type comparison struct {
	Began   time.Time `json:"began"`
	From    string    `json:"from,omitempty"`    // the key after which it began
	Wrapped bool      `json:"wrapped,omitempty"` // it has reached the last key, and goes on from the first one
	Missing time.Time `json:"missing,omitzero"`  // when the oldest log was put that had not arrived; zero without one
	Lost    time.Time `json:"lost,omitzero"`     // the same of those that should have arrived
	Left    *string   `json:"left,omitempty"`    // the key before the first lost log that was not sent; nil without one
}

// isMissing notes a log that has not arrived. lost is set if it should have.
func (r *reconcileRun) isMissing(put time.Time, lost bool) {
	for _, c := range r.open {
		c.Missing = earliest(c.Missing, put)
		if lost {
			c.Lost = earliest(c.Lost, put)
		}
	}
}

// leave notes that the log that is being compared was not sent because of the limit.
func (r *reconcileRun) leave() {
	for _, c := range r.open {
		if c.Left == nil {
			c.Left = new(r.previous)
		}
	}
}

// reachedEnd notes that all logs after the place where the run began are compared.
func (r *reconcileRun) reachedEnd(ctx context.Context) error {
	return r.complete(ctx, func(c *comparison) bool {
		if c.Wrapped || c.From == "" {
			return true
		}
		c.Wrapped = true
		return false
	})
}

// reachedFrom completes the comparisons that have come to the key after which they began, if all logs up to a key are
// compared.
func (r *reconcileRun) reachedFrom(ctx context.Context, key string) error {
	return r.complete(ctx, func(c *comparison) bool { return c.Wrapped && key >= c.From })
}

// complete records in the state of the lake that comparisons are complete.
func (r *reconcileRun) complete(ctx context.Context, isComplete func(*comparison) bool) error {
	var open []*comparison
	for _, c := range r.open {
		if !isComplete(c) {
			open = append(open, c)
			continue
		}
		through := c.Began.Add(-clockMargin).UTC()
		if !c.Missing.IsZero() && c.Missing.Before(through) {
			through = c.Missing
		}
		judged := c.Began.Add(-max(0, r.MinAge))
		err := r.changeBacklog(ctx, func(b *lakestate.Backlog) bool { return b.Compared(through, c.Lost, judged) })
		if err != nil {
			return err
		}
		r.compared = c.Began
		if c.Left != nil {
			r.left = c.Left
		}
	}
	r.open = open
	return nil
}

// foundLost records in the state of the lake what a run that is cut off has found.
func (r *reconcileRun) foundLost(ctx context.Context) error {
	lost := time.Time{}
	for _, c := range r.open {
		if !c.Lost.IsZero() {
			lost = earliest(lost, c.Lost)
		}
	}
	if lost.IsZero() {
		return nil
	}
	return r.changeBacklog(ctx, func(b *lakestate.Backlog) bool { return b.FoundLost(lost) })
}

func (r *reconcileRun) changeBacklog(ctx context.Context, change func(*lakestate.Backlog) bool) error {
	atOnce := func(context.Context, int) error { return nil } // no other writer waits for this one
	_, err := lakestate.Update(
		ctx, r.Table, func(s *lakestate.State) bool { return change(&s.Backlog) }, nil, atOnce,
	)
	return err
}

// next returns the key after which the next run begins, and the comparison that it continues there. If lost logs were
// left, the next run begins with these as soon as a comparison is complete, so that each of them has its turn.
func (r *reconcileRun) next() (after string, carried *comparison) {
	switch {
	case r.left != nil:
		return *r.left, nil
	case len(r.open) == 0:
		return "", nil
	}
	return r.previous, r.open[0]
}
