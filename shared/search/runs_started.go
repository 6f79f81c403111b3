package search

import (
	"context"
	"errors"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// started runs queries on an engine whose executions outlive this process; Queries remembers which is which.
type started struct {
	engine  engine.Starter
	queries Queries
}

func (s started) version(ctx context.Context, _ lake.Extent) (string, error) {
	return s.engine.Version(ctx)
}

func (s started) begin(ctx context.Context, p Pending, q query.Query) (Pending, bool, error) {
	known, err := s.queries.Find(ctx, p.Key)
	if err == nil {
		return known, true, nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return Pending{}, false, err
	}
	if p.Execution, err = s.engine.Start(ctx, q); err != nil {
		return Pending{}, false, err
	}
	kept, err := s.queries.Keep(ctx, p)
	switch {
	case err != nil:
		return Pending{}, false, errors.Join(err, s.stop(ctx, p.Execution)) // nobody would find it
	case kept.ID == p.ID:
		return kept, false, nil
	case kept.Execution != p.Execution:
		err = s.stop(ctx, p.Execution)
	}
	return kept, true, err
}

func (s started) wait(ctx context.Context, p Pending, q query.Query) (query.Answer, engine.Cost, error) {
	x, err := s.engine.Wait(ctx, p.Execution, q)
	switch {
	case err == nil:
		return s.engine.Result(ctx, x, q)
	case errors.Is(ctx.Err(), context.Canceled): // the caller went away; should others wait, they begin it anew
		err = errors.Join(err, s.stop(ctx, x))
	case ctx.Err() != nil && x != p.Execution:
		err = errors.Join(err, s.move(ctx, p, x))
	}
	return query.Answer{}, engine.Cost{}, err
}

// look begins a query anew that somebody else has stopped: another caller's may be the same execution.
func (s started) look(ctx context.Context, p Pending, q query.Query) (query.Answer, engine.Cost, bool, error) {
	x, done, err := s.engine.Poll(ctx, p.Execution, q)
	if fault.KindOf(err) == fault.Canceled && ctx.Err() == nil {
		x, err = s.startAnew(ctx, q)
		done = false
	}
	switch {
	case err != nil:
		return query.Answer{}, engine.Cost{}, false, err
	case done:
		answer, cost, err := s.engine.Result(ctx, x, q)
		return answer, cost, err == nil, err
	case x != p.Execution:
		err = s.move(ctx, p, x)
	}
	return query.Answer{}, engine.Cost{}, false, err
}

func (s started) startAnew(ctx context.Context, q query.Query) (engine.Execution, error) {
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return "", err
	}
	return s.engine.Start(ctx, q.Clamp(extent))
}

// move notes the execution that a query goes on as. When the query was cancelled meanwhile, so is the execution.
func (s started) move(ctx context.Context, p Pending, x engine.Execution) error {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	err := s.queries.Move(ctx, p.ID, x)
	if fault.KindOf(err) == fault.NotFound {
		err = errors.Join(err, s.engine.Stop(ctx, x))
	}
	return err
}

// tell: every query is remembered from its beginning.
func (s started) tell(context.Context, Pending) error { return nil }

// leave: an execution goes on by itself.
func (s started) leave(Pending) {}

func (s started) get(ctx context.Context, id QueryID) (Pending, error) {
	p, err := s.queries.Get(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return Pending{}, ErrNoQuery
	}
	return p, err
}

func (s started) drop(ctx context.Context, p Pending) error { return s.queries.Forget(ctx, p) }

// cancel forgets first: who asks from then on does not find what is being stopped.
func (s started) cancel(ctx context.Context, p Pending) error {
	if err := s.queries.Forget(ctx, p); err != nil {
		return err
	}
	return s.stop(ctx, p.Execution)
}

func (s started) stop(ctx context.Context, x engine.Execution) error {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	return s.engine.Stop(ctx, x)
}

// afterwards is a context for what must be done although the caller's time may be over.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
