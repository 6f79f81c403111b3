package pending

import (
	"context"
	"errors"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// remote runs queries on an engine that continues them without this process. The store maps queries to executions.
type remote struct {
	engine engine.Starter
	store  Store
}

// version returns the version of all data, not of the days of a query: the request that is stored with a query has
// what was known about the data when it began, such as the time to which it is complete. The engine may find the
// execution of an earlier query over equal days nevertheless.
func (r *remote) version(ctx context.Context, _ lake.Extent) (string, error) {
	return r.engine.Version(ctx)
}

func (r *remote) start(ctx context.Context, _ string, p Query, clamped query.Query) (Run, bool, error) {
	known, err := r.store.Find(ctx, p.Key)
	if err == nil {
		return &execution{remote: r, query: known}, true, nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return nil, false, err
	}
	if p.Execution, err = r.engine.Start(ctx, clamped); err != nil {
		return nil, false, err
	}
	kept, err := r.store.Keep(ctx, p)
	switch {
	case err != nil:
		return nil, false, errors.Join(err, r.stop(ctx, p.Execution)) // nothing refers to the execution
	case kept.ID == p.ID:
		return &execution{remote: r, query: kept}, false, nil
	case kept.Execution != p.Execution:
		if err := r.stop(ctx, p.Execution); err != nil {
			return nil, false, err
		}
	}
	return &execution{remote: r, query: kept}, true, nil
}

func (r *remote) find(ctx context.Context, id ID) (Run, error) {
	p, err := r.store.Get(ctx, id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, ErrNoQuery
	case err != nil:
		return nil, err
	}
	return &execution{remote: r, query: p}, nil
}

func (r *remote) stop(ctx context.Context, x engine.Execution) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	return r.engine.Stop(ctx, x)
}

// detached returns a context for work that must be done even if ctx has ended.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// execution is a query on the engine.
type execution struct {
	*remote
	query Query
	moved bool // it continues as another execution than the stored one
}

func (x *execution) Query() Query { return x.query }

// Cancel removes the query from the store before it stops the execution, so that no caller joins a query that is being
// stopped.
func (x *execution) Cancel(ctx context.Context) error {
	if err := x.store.Forget(ctx, x.query); err != nil {
		return err
	}
	return x.stop(ctx, x.query.Execution)
}

func (x *execution) wait(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	next, err := x.engine.Wait(ctx, x.query.Execution, q)
	x.setExecution(next)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	return x.engine.Result(ctx, next, q)
}

// poll restarts the query if another caller has stopped its execution, because the queries of two callers may share one
// execution, and if the result was removed.
func (x *execution) poll(ctx context.Context, q query.Query) (query.Answer, engine.Cost, engine.Progress, error) {
	next, progress, err := x.engine.Poll(ctx, x.query.Execution, q)
	if err == nil && progress.Done {
		x.setExecution(next)
		var answer query.Answer
		var cost engine.Cost
		if answer, cost, err = x.engine.Result(ctx, next, q); err == nil {
			return answer, cost, progress, nil
		}
		progress.Done = false // the result can be read again
	}
	if fault.KindOf(err) == fault.Canceled && ctx.Err() == nil {
		next, err = x.restart(ctx, q)
		progress = engine.Progress{}
	}
	if err != nil {
		if progress.Done {
			err = errors.Join(err, x.store.Detach(ctx, x.query))
		}
		return query.Answer{}, engine.Cost{}, engine.Progress{Done: progress.Done}, err
	}
	x.setExecution(next)
	return query.Answer{}, engine.Cost{}, progress, x.move(ctx)
}

// restart starts the query over the current data.
func (x *execution) restart(ctx context.Context, q query.Query) (engine.Execution, error) {
	extent, err := x.engine.Extent(ctx)
	if err != nil {
		return "", err
	}
	return x.engine.Start(ctx, q.Clamp(extent))
}

// setExecution records that the query continues as another execution, if next is one.
func (x *execution) setExecution(next engine.Execution) {
	if next != "" && next != x.query.Execution {
		x.query.Execution, x.moved = next, true
	}
}

// move stores the execution as which the query continues. If the query was cancelled meanwhile, move stops the
// execution.
func (x *execution) move(ctx context.Context) error {
	if !x.moved {
		return nil
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	err := x.store.Move(ctx, x.query.ID, x.query.Execution)
	if fault.KindOf(err) == fault.NotFound {
		err = errors.Join(err, x.engine.Stop(ctx, x.query.Execution))
	}
	return err
}

// release keeps an answered query in the store, where equal requests find it. It stops the execution of an abandoned
// query. Other callers that wait for this execution restart the query.
func (x *execution) release(ctx context.Context, reason outcome) error {
	switch reason {
	case failed:
		return x.store.Detach(ctx, x.query) // a caller may have the ID
	case deferred:
		return x.move(ctx)
	case abandoned:
		return x.stop(ctx, x.query.Execution)
	}
	return nil
}
