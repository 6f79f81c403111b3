package cloud

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/lakestate"
)

// Queue is a queue of messages about raw logs.
type Queue interface {
	// Waiting returns about how many messages the queue has, hidden ones included. It may be up to a minute behind.
	Waiting(ctx context.Context) (int, error)
}

// ObserveQueues records in the state of the lake whether all queues of messages about raw logs are empty. The time to
// which the lake is complete follows from that, see lakestate.Backlog. The queues are the queue of Import and its
// queue of dead letters.
func (c *Store) ObserveQueues(ctx context.Context, queues ...Queue) error {
	at := c.Now().UTC()
	for _, q := range queues {
		n, err := q.Waiting(ctx)
		if err != nil {
			return fmt.Errorf("look at the queues: %w", err)
		}
		if n > 0 {
			return nil
		}
	}
	_, err := c.ChangeState(ctx, func(s *lakestate.State) bool { return s.Backlog.SawEmpty(at) })
	if err != nil {
		return fmt.Errorf("look at the queues: %w", err)
	}
	return nil
}

// Resend records in the state of the lake that a message is about to be replaced by another one with the same logs.
func (c *Store) Resend(ctx context.Context) error {
	at := c.Now().UTC()
	_, err := c.ChangeState(ctx, func(s *lakestate.State) bool {
		if !s.Backlog.Resent.Before(at) {
			return false
		}
		s.Backlog.Resent = at
		return true
	})
	return err
}
