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
// anew after a while; a topx that exhausted the engine's resources is begun anew in parts. A part that is begun anew
// reads by the present watermark; if that has moved, every part is begun anew.
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
	var failed error
	switch x.Status.State {
	case types.QueryExecutionStateQueued, types.QueryExecutionStateRunning, types.QueryExecutionStateSucceeded:
		outlived, err := e.outlived(ctx, x, *w)
		if err != nil {
			return err
		}
		if !outlived {
			p.Done = x.Status.State == types.QueryExecutionStateSucceeded
			return nil
		}
		failed = errOutlived(x)
	default:
		failed = failureOf(x, w.question(q, i))
	}
	if fault.KindOf(failed) != fault.Unavailable || p.Attempt+1 >= maxAttempts {
		return failed
	}
	if err := e.Sleep(ctx, e.backOff(p.Attempt)); err != nil {
		return ended(ctx, err)
	}
	p.Attempt++
	return e.again(ctx, w, i, q)
}

// outlived reports whether objects may have been removed while the execution read them. See engine.KeepSuperseded.
func (e *Engine) outlived(ctx context.Context, x *types.QueryExecution, w work) (bool, error) {
	until := e.Now()
	if completed := x.Status.CompletionDateTime; completed != nil {
		until = *completed
	}
	if until.Sub(aws.ToTime(x.Status.SubmissionDateTime)) < engine.LongestExecution {
		return false, nil
	}
	state, err := e.state(ctx)
	return state.Watermark > w.Scope.Watermark, err
}

// again begins part i once more; or every part, if the watermark has moved: the parts of an answer read by one state.
func (e *Engine) again(ctx context.Context, w *work, i int, q query.Query) error {
	moved, err := e.renew(ctx, w, q)
	if err != nil {
		return err
	}
	if !moved {
		return e.begin(ctx, w, i, q)
	}
	return e.beginAll(ctx, w, q)
}

// renew reports whether the watermark has moved since the parts of w were begun. If so, it stops them and makes w one
// of the present state, of which no part has begun: objects that they read may be gone, or go before they end.
func (e *Engine) renew(ctx context.Context, w *work, q query.Query) (moved bool, err error) {
	state, err := e.state(ctx)
	if err != nil || state.Watermark <= w.Scope.Watermark {
		return false, err // it never goes back: a smaller one is some seconds old
	}
	if err := e.Stop(ctx, w.execution()); err != nil {
		return false, err
	}
	w.read(q.Clamp(state.Extent), state)
	for i := range w.Parts {
		w.Parts[i] = part{Attempt: w.Parts[i].Attempt}
	}
	return true, nil
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
