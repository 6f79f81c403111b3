package athena

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
)

// pollWaits is how long to wait before asking again; the last holds from then on. Most queries end within three seconds,
// and nobody should wait long for an answer that is there; asking is free, but an account may ask only so often.
var pollWaits = []time.Duration{
	150 * time.Millisecond, 250 * time.Millisecond, 400 * time.Millisecond,
	600 * time.Millisecond, 600 * time.Millisecond, 600 * time.Millisecond,
	time.Second, 1500 * time.Millisecond, 2 * time.Second,
}

// Wait polls until the execution has ended.
func (e *Engine) Wait(ctx context.Context, x engine.Execution, q query.Query) (engine.Execution, error) {
	for asked := 0; ; asked++ {
		next, done, err := e.Poll(ctx, x, q)
		if next != "" {
			x = next
		}
		if done || err != nil {
			return x, err
		}
		if err := e.Sleep(ctx, pollWaits[min(asked, len(pollWaits)-1)]); err != nil {
			return x, ended(ctx, err)
		}
	}
}

// Poll asks how the parts that have not ended are doing. One that failed through no fault of the query is begun
// anew after a while; a topx that exhausted the engine's resources is begun anew in parts.
func (e *Engine) Poll(ctx context.Context, x engine.Execution, q query.Query) (engine.Execution, bool, error) {
	w, err := readWork(x)
	if err != nil {
		return "", false, err
	}
	for i := range w.Parts {
		if w.Parts[i].Done {
			continue
		}
		err := e.advance(ctx, &w, i, q)
		if splits(err, w, q) {
			err = e.split(ctx, &w, q)
			if err == nil {
				return w.execution(), w.done(), nil
			}
		}
		if err != nil {
			return "", false, errors.Join(err, e.stopOthers(ctx, w))
		}
	}
	return w.execution(), w.done(), nil
}

// advance notes how part i has come along.
func (e *Engine) advance(ctx context.Context, w *work, i int, q query.Query) error {
	p := &w.Parts[i]
	x, err := e.look(ctx, p.ID)
	if err != nil {
		return err
	}
	switch x.Status.State {
	case types.QueryExecutionStateQueued, types.QueryExecutionStateRunning:
		return nil
	case types.QueryExecutionStateSucceeded:
		p.Done = true
		return nil
	}
	failed := failureOf(x, w.question(q, i))
	if fault.KindOf(failed) != fault.Unavailable || p.Attempt+1 >= mostAttempts {
		return failed
	}
	if err := e.Sleep(ctx, e.backOff(p.Attempt)); err != nil {
		return ended(ctx, err)
	}
	p.Attempt++
	return e.begin(ctx, w, i, q)
}

// look reads an execution, which always has a status.
func (e *Engine) look(ctx context.Context, id string) (*types.QueryExecution, error) {
	var x *types.QueryExecution
	err := e.call(ctx, "look after query "+id, func() error {
		out, err := e.Client.GetQueryExecution(ctx, &athena.GetQueryExecutionInput{QueryExecutionId: &id}, oneTry)
		if err != nil {
			return err
		}
		if out.QueryExecution == nil || out.QueryExecution.Status == nil {
			return errors.New("athena answers without a status")
		}
		x = out.QueryExecution
		return nil
	})
	return x, err
}

// Stop ends the parts that have not ended.
func (e *Engine) Stop(ctx context.Context, x engine.Execution) error {
	w, err := readWork(x)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range w.Parts {
		if p.ID == "" || p.Done {
			continue
		}
		failed = append(failed, e.call(ctx, "stop query "+p.ID, func() error {
			_, err := e.Client.StopQueryExecution(ctx, &athena.StopQueryExecutionInput{QueryExecutionId: aws.String(p.ID)}, oneTry)
			return err
		}))
	}
	return errors.Join(failed...)
}

// stopOthers stops the parts that would go on although one has failed for good. When only the caller's time is over,
// that is for the caller to decide.
func (e *Engine) stopOthers(ctx context.Context, w work) error {
	if alive := ctx.Err() == nil; alive && w.Split {
		return e.Stop(ctx, w.execution())
	}
	return nil
}
