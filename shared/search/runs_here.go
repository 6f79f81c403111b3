package search

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// here runs queries in this process: each in the background, so that it can outlive its request. A query that nobody
// was told the id of ends with the last who waits for it.
type here struct {
	engine  engine.Engine
	line    *Line
	longest time.Duration // that a query may run
	keep    time.Duration // that an answer is kept for who was told of it
	now     func() time.Time

	mu    sync.Mutex
	byID  map[QueryID]*job
	byKey map[string]*job
}

// mostKept is how many answers are kept for those told of them. One may have some tens of megabytes.
const mostKept = 16

// job is one query. Its answer is there when done is closed; what is above is guarded by the lock of here.
type job struct {
	Pending
	waiting int  // requests that wait
	told    bool // somebody was told the id
	cancel  context.CancelFunc

	done   chan struct{}
	ended  time.Time
	answer query.Answer
	cost   engine.Cost
	err    error
}

func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func newHere(e engine.Engine, o Options) *here {
	return &here{engine: e, line: o.Line, longest: o.Longest, keep: o.Keep, now: o.Now, byID: map[QueryID]*job{}, byKey: map[string]*job{}}
}

// version: data is only ever added, so its extent, rows included, names it.
func (h *here) version(_ context.Context, e lake.Extent) (string, error) {
	return fmt.Sprint(e.MinTsMs, e.MaxTsMs, e.Rows), nil
}

func (h *here) begin(ctx context.Context, p Pending, q query.Query) (Pending, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgetOld()
	if j := h.byKey[p.Key]; j != nil {
		j.waiting++
		return j.Pending, true, nil
	}
	j := &job{Pending: p, waiting: 1, done: make(chan struct{})}
	ctx, j.cancel = context.WithTimeout(context.WithoutCancel(ctx), h.longest)
	h.byID[p.ID], h.byKey[p.Key] = j, j
	go h.run(ctx, j, q)
	return p, false, nil
}

// run answers the query in the background, where nobody else would catch a panic.
func (h *here) run(ctx context.Context, j *job, q query.Query) {
	defer func() {
		if cause := recover(); cause != nil {
			j.err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if j.ended = h.now(); j.err != nil && h.byKey[j.Key] == j {
			delete(h.byKey, j.Key) // the same request begins anew
		}
		j.cancel()
		close(j.done)
	}()
	leave, err := h.line.Enter(ctx)
	if err != nil {
		j.err = err
		return
	}
	defer leave()
	began := h.now()
	j.answer, j.cost, j.err = h.engine.Run(ctx, q)
	if j.cost.Engine == 0 {
		j.cost.Engine = h.now().Sub(began)
	}
}

func (h *here) wait(ctx context.Context, p Pending, _ query.Query) (query.Answer, engine.Cost, error) {
	j, err := h.find(p.ID)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	select {
	case <-j.done:
		return j.answer, j.cost, j.err
	default:
	}
	select {
	case <-j.done:
		return j.answer, j.cost, j.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return query.Answer{}, engine.Cost{}, fault.Wrap(fault.Timeout, ctx.Err(), "the query took longer than the time allowed; narrow the period or the filter")
		}
		return query.Answer{}, engine.Cost{}, fault.Wrap(fault.Canceled, ctx.Err(), "the request was cancelled")
	}
}

func (h *here) look(ctx context.Context, p Pending, q query.Query) (query.Answer, engine.Cost, bool, error) {
	j, err := h.find(p.ID)
	if err != nil || !j.over() {
		return query.Answer{}, engine.Cost{}, false, err
	}
	answer, cost, err := h.wait(ctx, p, q)
	return answer, cost, err == nil, err
}

func (h *here) find(id QueryID) (*job, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.byID[id]
	if j == nil {
		return nil, ErrNoQuery
	}
	return j, nil
}

func (h *here) tell(_ context.Context, p Pending) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.byID[p.ID]; j != nil {
		j.told = true
	}
	return nil
}

// leave: the last one out ends what nobody will ask for.
func (h *here) leave(p Pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.byID[p.ID]
	if j == nil {
		return
	}
	if j.waiting--; j.waiting == 0 && !j.told {
		h.remove(j)
		j.cancel()
	}
}

func (h *here) get(_ context.Context, id QueryID) (Pending, error) {
	h.mu.Lock()
	h.forgetOld()
	h.mu.Unlock()
	j, err := h.find(id)
	if err != nil {
		return Pending{}, err
	}
	return j.Pending, nil
}

// drop: a query that fails is found by its id only, from that moment on.
func (h *here) drop(context.Context, Pending) error { return nil }

func (h *here) cancel(_ context.Context, p Pending) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.byID[p.ID]; j != nil {
		h.remove(j)
		j.cancel()
	}
	return nil
}

// remove is called with the lock held.
func (h *here) remove(j *job) {
	delete(h.byID, j.ID)
	if h.byKey[j.Key] == j {
		delete(h.byKey, j.Key)
	}
}

// forgetOld forgets answers that are kept for long enough, and the oldest where they are many. It is called with the
// lock held.
func (h *here) forgetOld() {
	for kept := 0; ; kept = 0 {
		var oldest *job
		for _, j := range h.byID {
			if !j.over() || j.waiting > 0 {
				continue
			}
			kept++
			if oldest == nil || j.ended.Before(oldest.ended) {
				oldest = j
			}
		}
		if oldest == nil || kept <= mostKept && h.now().Sub(oldest.ended) < h.keep {
			return
		}
		h.remove(oldest)
	}
}
