package pending

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// local runs queries in this process, each in the background, so that it can continue after its request. When the last
// waiting caller is gone, the query is stopped, unless a caller has its ID.
type local struct {
	engine  engine.Engine
	limiter *Limiter
	longest time.Duration // the longest time that a query may run
	keep    time.Duration // the time for which an answer is kept for a caller who has the ID
	now     func() time.Time

	mu    sync.Mutex
	byID  map[ID]*job
	byKey map[string]*job
}

// maxKept is the number of answers that are kept. One answer may have some tens of megabytes.
const maxKept = 16

// job is one query. The lock of local guards the fields before done. The fields after it are set before done is closed.
type job struct {
	local *local
	query Query

	waiting  int  // the number of waiting callers
	deferred bool // a caller has the ID
	cancel   context.CancelFunc

	done   chan struct{}
	ended  time.Time
	answer query.Answer
	cost   engine.Cost
	err    error
}

func newLocal(e engine.Engine, o Options) *local {
	return &local{
		engine: e, limiter: o.Limiter, longest: o.Longest, keep: o.Keep, now: o.Now,
		byID: map[ID]*job{}, byKey: map[string]*job{},
	}
}

// version returns a text made from the extent. This identifies the data, because rows are only added and the extent has
// their number.
func (l *local) version(_ context.Context, e lake.Extent) (string, error) {
	return fmt.Sprint(e.MinTsMs, e.MaxTsMs, e.Rows), nil
}

func (l *local) start(ctx context.Context, p Query, clamped query.Query) (Run, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetOld()
	if j := l.byKey[p.Key]; j != nil {
		j.waiting++
		return j, true, nil
	}
	j := &job{local: l, query: p, waiting: 1, done: make(chan struct{})}
	ctx, j.cancel = context.WithTimeout(context.WithoutCancel(ctx), l.longest)
	l.byID[p.ID], l.byKey[p.Key] = j, j
	go l.run(ctx, j, clamped)
	return j, false, nil
}

// run answers the query in the background. It recovers from panics, which would end the program there.
func (l *local) run(ctx context.Context, j *job, clamped query.Query) {
	defer func() {
		if cause := recover(); cause != nil {
			j.err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if j.ended = l.now(); j.err != nil && l.byKey[j.query.Key] == j {
			delete(l.byKey, j.query.Key) // the next equal request starts a new query
		}
		j.cancel()
		close(j.done)
	}()
	release, err := l.limiter.Acquire(ctx)
	if err != nil {
		j.err = err
		return
	}
	defer release()
	began := l.now()
	j.answer, j.cost, j.err = l.engine.Run(ctx, clamped)
	if j.cost.Engine == 0 {
		j.cost.Engine = l.now().Sub(began)
	}
}

func (l *local) find(_ context.Context, id ID) (Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetOld()
	j := l.byID[id]
	if j == nil {
		return nil, ErrNoQuery
	}
	return j, nil
}

// remove removes a query. The caller holds the lock.
func (l *local) remove(j *job) {
	if l.byID[j.query.ID] == j {
		delete(l.byID, j.query.ID)
	}
	if l.byKey[j.query.Key] == j {
		delete(l.byKey, j.query.Key)
	}
}

// forgetOld removes answers that are older than l.keep, and the oldest ones if there are more than maxKept. The caller
// holds the lock.
func (l *local) forgetOld() {
	for kept := 0; ; kept = 0 {
		var oldest *job
		for _, j := range l.byID {
			if !j.finished() || j.waiting > 0 {
				continue
			}
			kept++
			if oldest == nil || j.ended.Before(oldest.ended) {
				oldest = j
			}
		}
		if oldest == nil || kept <= maxKept && l.now().Sub(oldest.ended) < l.keep {
			return
		}
		l.remove(oldest)
	}
}

func (j *job) Query() Query { return j.query }

func (j *job) Cancel(context.Context) error {
	j.local.mu.Lock()
	defer j.local.mu.Unlock()
	j.local.remove(j)
	j.cancel()
	return nil
}

func (j *job) finished() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func (j *job) wait(ctx context.Context, _ query.Query) (query.Answer, engine.Cost, error) {
	if j.finished() {
		return j.answer, j.cost, j.err
	}
	select {
	case <-j.done:
		return j.answer, j.cost, j.err
	case <-ctx.Done():
		return query.Answer{}, engine.Cost{}, engine.ContextError(ctx, ctx.Err())
	}
}

func (j *job) poll(context.Context, query.Query) (query.Answer, engine.Cost, bool, error) {
	if !j.finished() {
		return query.Answer{}, engine.Cost{}, false, nil
	}
	return j.answer, j.cost, j.err == nil, j.err
}

// release stops the query if no other caller waits and no caller has the ID.
func (j *job) release(_ context.Context, reason outcome) error {
	j.local.mu.Lock()
	defer j.local.mu.Unlock()
	j.deferred = j.deferred || reason == deferred
	if j.waiting--; j.waiting == 0 && !j.deferred {
		j.local.remove(j)
		j.cancel()
	}
	return nil
}
