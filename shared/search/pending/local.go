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

// local runs queries in this process: each in the background, so that it can outlive its request. A query whose ID no
// caller has ends with the last caller who waits for it.
type local struct {
	engine  engine.Engine
	limiter *Limiter
	longest time.Duration // that a query may run
	keep    time.Duration // that an answer is kept for a caller who has the ID
	now     func() time.Time

	mu    sync.Mutex
	byID  map[ID]*job
	byKey map[string]*job
}

// maxKept is how many answers are kept. One may have some tens of megabytes.
const maxKept = 16

// job is one query. The fields before done are guarded by the lock of local; those after it are set when done is
// closed.
type job struct {
	local *local
	query Query

	waiting  int  // callers that wait
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

// version is made of the extent: data is only ever added, and the extent counts the rows.
func (l *local) version(_ context.Context, e lake.Extent) (string, error) {
	return fmt.Sprint(e.MinTsMs, e.MaxTsMs, e.Rows), nil
}

func (l *local) start(ctx context.Context, p Query, narrowed query.Query) (Run, bool, error) {
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
	go l.run(ctx, j, narrowed)
	return j, false, nil
}

// run answers the query in the background, where a panic would end the program.
func (l *local) run(ctx context.Context, j *job, narrowed query.Query) {
	defer func() {
		if cause := recover(); cause != nil {
			j.err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if j.ended = l.now(); j.err != nil && l.byKey[j.query.Key] == j {
			delete(l.byKey, j.query.Key) // the same request starts anew
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
	j.answer, j.cost, j.err = l.engine.Run(ctx, narrowed)
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

// remove is called with the lock held.
func (l *local) remove(j *job) {
	if l.byID[j.query.ID] == j {
		delete(l.byID, j.query.ID)
	}
	if l.byKey[j.query.Key] == j {
		delete(l.byKey, j.query.Key)
	}
}

// forgetOld forgets answers that have been kept for long enough, and the oldest where they are many. It is called with
// the lock held.
func (l *local) forgetOld() {
	for kept := 0; ; kept = 0 {
		var oldest *job
		for _, j := range l.byID {
			if !j.over() || j.waiting > 0 {
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

func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func (j *job) wait(ctx context.Context, _ query.Query) (query.Answer, engine.Cost, error) {
	if j.over() {
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
	if !j.over() {
		return query.Answer{}, engine.Cost{}, false, nil
	}
	return j.answer, j.cost, j.err == nil, j.err
}

// release stops the query if the caller was the last who waits and no caller has the ID.
func (j *job) release(_ context.Context, how outcome) error {
	j.local.mu.Lock()
	defer j.local.mu.Unlock()
	j.deferred = j.deferred || how == deferred
	if j.waiting--; j.waiting == 0 && !j.deferred {
		j.local.remove(j)
		j.cancel()
	}
	return nil
}
