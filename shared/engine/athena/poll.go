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

// pollPauses are the pauses between polls. The last one is repeated. Most queries end within three seconds, and a
// caller should not wait long for an answer that is ready. Polls are free, but AWS limits their rate for an account.
var pollPauses = []time.Duration{
	150 * time.Millisecond, 250 * time.Millisecond, 400 * time.Millisecond,
	600 * time.Millisecond, 600 * time.Millisecond, 600 * time.Millisecond,
	time.Second, 1500 * time.Millisecond, 2 * time.Second,
}

// Wait polls until the execution has ended.
func (e *Engine) Wait(ctx context.Context, x engine.Execution, q query.Query) (engine.Execution, error) {
	for polls := 0; ; polls++ {
		next, progress, err := e.Poll(ctx, x, q)
		if next != "" {
			x = next
		}
		if progress.Done || err != nil {
			return x, err
		}
		if err := e.Sleep(ctx, pollPauses[min(polls, len(pollPauses)-1)]); err != nil {
			return x, contextError(ctx, err)
		}
	}
}

// Poll gets the states of the parts that have not succeeded yet. It restarts a part, after a pause, if the part failed
// for a reason other than the query, and it splits a topx query that exhausted the engine's resources. A restarted part
// uses the current watermark. If the watermark has moved, Poll restarts every part. If all windows of a query for logs
// that were searched have too few records, Poll starts the search of the next one. The progress has the longest time in
// the queue among the parts that Poll got.
func (e *Engine) Poll(
	ctx context.Context, x engine.Execution, q query.Query,
) (engine.Execution, engine.Progress, error) {
	w, err := readWork(x)
	if err != nil {
		return "", engine.Progress{}, err
	}
	var queue time.Duration
	for i := range w.Parts {
		if w.Parts[i].Done {
			continue
		}
		waited, err := e.update(ctx, &w, i, q)
		queue = max(queue, waited)
		if canSplit(err, w, q) {
			err = e.split(ctx, &w, q)
			if err == nil {
				return w.execution(), w.progress(0), nil
			}
		}
		if err != nil {
			return "", failed(err), errors.Join(err, e.reportDamage(ctx, err), e.stopRemaining(ctx, w))
		}
	}
	for w.done() {
		more, err := e.startNextWindow(ctx, &w, q)
		if err != nil {
			return "", failed(err), errors.Join(err, e.reportDamage(ctx, err))
		}
		if !more {
			break
		}
	}
	return w.execution(), w.progress(queue), nil
}

// update records whether part i has succeeded, or restarts it if it has failed for a temporary reason. It returns how
// long the part has been in Athena's queue.
func (e *Engine) update(ctx context.Context, w *work, i int, q query.Query) (queue time.Duration, _ error) {
	p := &w.Parts[i]
	x, err := e.get(ctx, p.ID)
	if err != nil {
		return 0, err
	}
	var failure error
	switch x.Status.State {
	case types.QueryExecutionStateQueued, types.QueryExecutionStateRunning, types.QueryExecutionStateSucceeded:
		stale, err := e.stale(ctx, x, *w)
		if err != nil {
			return 0, err
		}
		if !stale {
			p.Done = x.Status.State == types.QueryExecutionStateSucceeded
			return e.queueOf(x), nil
		}
		failure = staleError(x)
	default:
		failure = failureOf(x, w.query(q, i))
	}
	if fault.KindOf(failure) != fault.Unavailable || p.Attempt+1 >= maxAttempts {
		return 0, &failedError{failure}
	}
	if err := e.Sleep(ctx, e.backOff(p.Attempt)); err != nil {
		return 0, contextError(ctx, err)
	}
	p.Attempt++
	return 0, e.restart(ctx, w, i, q)
}

// queueOf returns how long an execution has been in Athena's queue. While it is still there, its statistics may lack
// that time.
func (e *Engine) queueOf(x *types.QueryExecution) time.Duration {
	if submitted := x.Status.SubmissionDateTime; x.Status.State == types.QueryExecutionStateQueued && submitted != nil {
		return max(0, e.Now().Sub(*submitted))
	}
	if x.Statistics == nil {
		return 0
	}
	return milliseconds(x.Statistics.QueryQueueTimeInMillis)
}

// stale reports whether objects may have been removed while the execution read them. See engine.KeepSuperseded.
func (e *Engine) stale(ctx context.Context, x *types.QueryExecution, w work) (bool, error) {
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

// restart starts part i again. If the watermark has moved, it restarts every part, because all parts of an answer must
// use the same state of the lake.
func (e *Engine) restart(ctx context.Context, w *work, i int, q query.Query) error {
	moved, err := e.refresh(ctx, w, q)
	if err != nil {
		return err
	}
	if !moved {
		return e.startPart(ctx, w, i, q)
	}
	return e.startParts(ctx, w, q)
}

// refresh reports whether the watermark has moved since the parts of w were started. If so, objects that the parts read
// may be missing now or before the parts end. Then refresh stops all parts and resets w to the current state of the
// lake, with no part started.
func (e *Engine) refresh(ctx context.Context, w *work, q query.Query) (moved bool, err error) {
	state, err := e.state(ctx)
	if err != nil || state.Watermark <= w.Scope.Watermark {
		return false, err // the watermark never decreases, so a smaller one is some seconds old
	}
	if err := e.Stop(ctx, w.execution()); err != nil {
		return false, err
	}
	q = q.Clamp(state.Extent)
	if err := e.checkFirstYear(q); err != nil {
		return false, err
	}
	w.setState(q, state)
	if w.Windows {
		w.Parts = w.Parts[:1] // the windows depend on the extent
	}
	for i := range w.Parts {
		w.Parts[i] = part{Attempt: w.Parts[i].Attempt}
	}
	return true, nil
}

// get returns an execution. Its Status is never nil.
func (e *Engine) get(ctx context.Context, id string) (*types.QueryExecution, error) {
	var x *types.QueryExecution
	in := &athena.GetQueryExecutionInput{QueryExecutionId: &id}
	err := e.call(ctx, "get the state of query "+id, func() error {
		out, err := e.Client.GetQueryExecution(ctx, in, noRetries)
		if err != nil {
			return err
		}
		if out.QueryExecution == nil || out.QueryExecution.Status == nil {
			return errors.New("the response has no status")
		}
		x = out.QueryExecution
		return nil
	})
	return x, err
}

// Stop stops the parts that have not succeeded yet.
func (e *Engine) Stop(ctx context.Context, x engine.Execution) error {
	w, err := readWork(x)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range w.Parts {
		if p.ID == "" || p.Done {
			continue
		}
		in := &athena.StopQueryExecutionInput{QueryExecutionId: aws.String(p.ID)}
		errs = append(errs, e.call(ctx, "stop query "+p.ID, func() error {
			_, err := e.Client.StopQueryExecution(ctx, in, noRetries)
			return err
		}))
	}
	return errors.Join(errs...)
}

// stopRemaining stops the parts that still run after one has failed permanently. If ctx has ended, it stops nothing,
// because the caller decides whether the query continues.
func (e *Engine) stopRemaining(ctx context.Context, w work) error {
	if ctx.Err() == nil && w.Split {
		return e.Stop(ctx, w.execution())
	}
	return nil
}
