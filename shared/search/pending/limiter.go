package pending

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Limits are the limits of a Limiter.
type Limits struct {
	AtOnce     int           // queries that use the engine at the same time; at least 1
	PerCaller  int           // of one caller; 0: AtOnce
	Waiting    int           // queries that wait; a caller with n of them needs more than n free places for another
	RetryAfter time.Duration // of the error of a refused query

	// Preparing is the number of requests of one caller that are parsed at the same time; one more can be of another
	// caller. 0: no limit. MorePreparing is the number that waits, as Waiting is.
	Preparing     int
	MorePreparing int
}

// Limiter limits the number of queries that use the engine at the same time. Further queries wait, and are refused if
// too many wait. Callers with waiting queries get released slots in turn, so that one caller's queries do not delay the
// queries of all others. No caller can have more waiting queries than places are free, so the first caller gets half of
// the places, the next one half of the rest, and a few callers never leave no place for another. A nil Limiter has no
// limit.
type Limiter struct {
	limits    Limits
	preparing *Limiter // of requests that are parsed; nil: no limit

	mu      sync.Mutex
	inUse   int
	running map[string]int // by caller
	lines   []*line        // one for each caller with waiting queries; the first gets the next slot
}

// line holds the waiting queries of one caller in the order of their arrival. A query gets its slot when its channel is
// closed.
type line struct {
	caller  string
	queries []chan struct{}
}

// NewLimiter returns a Limiter.
func NewLimiter(l Limits) *Limiter {
	l.AtOnce = max(1, l.AtOnce)
	if l.PerCaller <= 0 || l.PerCaller > l.AtOnce {
		l.PerCaller = l.AtOnce
	}
	limiter := &Limiter{limits: l, running: map[string]int{}}
	if l.Preparing > 0 {
		limiter.preparing = NewLimiter(Limits{
			AtOnce: l.Preparing + 1, PerCaller: l.Preparing, Waiting: l.MorePreparing, RetryAfter: l.RetryAfter,
		})
	}
	return limiter
}

// Prepare is Acquire for the time in which a request of the caller is parsed, before it is a query. This time has a
// limit of its own, because it is short: a request need not wait until long queries have ended, only to learn that it
// is wrong or that it joins one of them.
func (l *Limiter) Prepare(ctx context.Context, caller string) (release func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	return l.preparing.Acquire(ctx, caller)
}

// Place is a slot, or a place in the line of a caller.
type Place struct {
	limiter *Limiter // nil: no limit
	caller  string
	slot    chan struct{} // closed when the query has its slot; nil: it has had one since the beginning
	leave   func()        // releases the slot
}

// Enter takes a slot for a query of the caller or, if none is free, a place in the caller's line. The caller of Enter
// calls Wait. Errors: fault.TooMany if too many queries of the caller wait, fault.Unavailable if too many of all
// callers do.
func (l *Limiter) Enter(caller string) (*Place, error) {
	if l == nil {
		return &Place{leave: func() {}}, nil
	}
	slot, err := l.enter(caller)
	if err != nil {
		return nil, err
	}
	return &Place{l, caller, slot, sync.OnceFunc(func() { l.leave(caller) })}, nil
}

// Waits reports whether the query had to enter a line.
func (p *Place) Waits() bool { return p.slot != nil }

// Wait waits for the slot and returns the function that releases it. Errors: fault.Timeout or fault.Canceled if ctx
// ends first. The place is then given up.
func (p *Place) Wait(ctx context.Context) (release func(), err error) {
	if !p.Waits() {
		return p.leave, nil
	}
	select {
	case <-p.slot:
		return p.leave, nil
	case <-ctx.Done():
		if !p.limiter.giveUp(p.caller, p.slot) {
			p.leave() // the slot came at the same time
		}
		return nil, p.limiter.contextError(ctx.Err())
	}
}

// Acquire is Enter and Wait.
func (l *Limiter) Acquire(ctx context.Context, caller string) (release func(), err error) {
	place, err := l.Enter(caller)
	if err != nil {
		return nil, err
	}
	return place.Wait(ctx)
}

// take takes a slot if one is free for the caller. The caller of take holds the lock.
func (l *Limiter) take(caller string) bool {
	if l.inUse >= l.limits.AtOnce || l.running[caller] >= l.limits.PerCaller {
		return false
	}
	l.inUse++
	l.running[caller]++
	return true
}

// enter takes a slot and returns nil, or takes a place in the caller's line and returns the channel to wait for.
func (l *Limiter) enter(caller string) (chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.take(caller) {
		return nil, nil
	}
	i, own := l.lineOf(caller), 0
	if i >= 0 {
		own = len(l.lines[i].queries)
	}
	switch free := l.limits.Waiting - l.waiting(); {
	case free <= 0:
		return nil, l.refusal(fault.Unavailable, "too many queries are running; try again shortly")
	case own >= free:
		return nil, l.refusal(fault.TooMany,
			"too many of your queries are running; wait for their answers or cancel some")
	}
	slot := make(chan struct{})
	if i < 0 {
		i = len(l.lines)
		l.lines = append(l.lines, &line{caller: caller})
	}
	l.lines[i].queries = append(l.lines[i].queries, slot)
	return slot, nil
}

// leave releases a slot and gives free slots to waiting queries.
func (l *Limiter) leave(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inUse--
	if l.running[caller]--; l.running[caller] == 0 {
		delete(l.running, caller)
	}
	for l.inUse < l.limits.AtOnce {
		i := slices.IndexFunc(l.lines, func(w *line) bool { return l.running[w.caller] < l.limits.PerCaller })
		if i < 0 {
			return
		}
		next := l.lines[i]
		l.lines = slices.Delete(l.lines, i, i+1)
		close(next.queries[0])
		if next.queries = next.queries[1:]; len(next.queries) > 0 {
			l.lines = append(l.lines, next) // behind the other callers
		}
		l.inUse++
		l.running[next.caller]++
	}
}

// giveUp removes a waiting query. It returns false if the query has its slot already.
func (l *Limiter) giveUp(caller string, slot chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.lineOf(caller)
	if i < 0 {
		return false
	}
	own := l.lines[i]
	place := slices.Index(own.queries, slot)
	if place < 0 {
		return false
	}
	if own.queries = slices.Delete(own.queries, place, place+1); len(own.queries) == 0 {
		l.lines = slices.Delete(l.lines, i, i+1)
	}
	return true
}

// lineOf returns the index of the caller's line, or -1. The caller of lineOf holds the lock.
func (l *Limiter) lineOf(caller string) int {
	return slices.IndexFunc(l.lines, func(w *line) bool { return w.caller == caller })
}

// waiting returns the number of waiting queries. The caller of waiting holds the lock.
func (l *Limiter) waiting() (n int) {
	for _, w := range l.lines {
		n += len(w.queries)
	}
	return n
}

// Load returns the number of queries that use the engine and of those that wait.
func (l *Limiter) Load() (running, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inUse, l.waiting()
}

func (l *Limiter) refusal(kind fault.Kind, message string) error {
	return &fault.Error{Kind: kind, Message: message, RetryAfter: l.limits.RetryAfter}
}

// contextError returns the error for a context that ended while the query waited.
func (l *Limiter) contextError(err error) error {
	if errors.Is(err, context.Canceled) {
		return &fault.Error{Kind: fault.Canceled, Message: "the request was cancelled", Err: err}
	}
	return &fault.Error{
		Kind:       fault.Timeout,
		Message:    "time ran out while the query waited to start",
		RetryAfter: l.limits.RetryAfter,
		Err:        err,
	}
}
