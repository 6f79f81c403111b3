package pending

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
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

// Limits of the answers that are kept. An answer of logs may have some tens of megabytes, other answers have less than
// one. A query that runs counts with what its answer may well have.
const (
	maxPromised      = 64        // queries of one caller who has their IDs and has not got their answers yet
	maxPromisedBytes = 128 << 20 // their answers
	maxAllPromised   = 512 << 20 // bytes of the answers of all callers
	maxKept          = 64        // other answers, which equal requests get
	maxKeptBytes     = 128 << 20

	recordBytes = 4 << 10 // of a record of logs
	otherBytes  = 1 << 20 // of another answer
)

// job is one query. The lock of local guards the fields before done. The fields after it are set before done is closed.
type job struct {
	local  *local
	query  Query
	caller string

	expected int64 // bytes of the answer

	queued time.Duration // how long it waited for its slot
	queues time.Time     // since when it waits for it; zero: it does not

	waiting   int  // the number of waiting callers
	deferred  bool // a caller has the ID
	collected bool // a caller with the ID has got the answer
	cancel    context.CancelFunc

	done   chan struct{}
	ended  time.Time
	answer query.Answer
	cost   engine.Cost
	err    error

	sized chan struct{} // closed after done, when bytes is set
	bytes int64         // of the answer in memory, about
}

func newLocal(e engine.Engine, o Options) *local {
	return &local{
		engine: e, limiter: o.Limiter, longest: o.Longest, keep: o.Keep, now: o.Now,
		byID: map[ID]*job{}, byKey: map[string]*job{},
	}
}

// lock locks l.mu at a time at which the sizes of all answers are known. It does not hold the lock while a size is
// determined, so that other queries can end and be cancelled meanwhile.
func (l *local) lock() {
	for {
		l.mu.Lock()
		j := l.unsized()
		if j == nil {
			return
		}
		l.mu.Unlock()
		<-j.sized
	}
}

// unsized returns a query that has ended and whose answer has no known size yet, or nil. The caller holds the lock.
func (l *local) unsized() *job {
	for _, j := range l.byID {
		if !j.finished() {
			continue
		}
		select {
		case <-j.sized:
		default:
			return j
		}
	}
	return nil
}

// version returns the version of an engine.Versioned. For other engines it returns a text made from the extent, which
// identifies the data as long as rows are only added.
func (l *local) version(ctx context.Context, e lake.Extent) (string, error) {
	if v, ok := l.engine.(engine.Versioned); ok {
		return v.Version(ctx)
	}
	return fmt.Sprint(e.MinTsMs, e.MaxTsMs, e.Rows), nil
}

func (l *local) start(ctx context.Context, caller string, p Query, clamped query.Query) (Run, bool, error) {
	l.lock()
	defer l.mu.Unlock()
	l.forgetOld()
	if j := l.byKey[p.Key]; j != nil {
		j.waiting++
		return j, true, nil
	}
	place, err := l.limiter.Enter(caller) // before the caller gets the ID, so that a query with an ID runs
	if err != nil {
		return nil, false, err
	}
	j := &job{
		local: l, query: p, caller: caller, expected: expectedBytes(clamped), waiting: 1,
		done: make(chan struct{}), sized: make(chan struct{}),
	}
	if place.Waits() {
		j.queues = l.now()
	}
	ctx = engine.WithCaller(context.WithoutCancel(ctx), caller)
	ctx, j.cancel = context.WithTimeout(ctx, l.longest)
	l.byID[p.ID], l.byKey[p.Key] = j, j
	go l.run(ctx, j, clamped, place)
	return j, false, nil
}

// run answers the query in the background. The callers get the answer before its size is known, which takes time. run
// recovers from panics, which would end the program there.
func (l *local) run(ctx context.Context, j *job, clamped query.Query, place *Place) {
	defer func() {
		j.bytes = memoryOf(j.answer)
		close(j.sized)
	}()
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
	release, err := place.Wait(ctx)
	if err != nil {
		j.err = err
		return
	}
	defer release()
	if place.Waits() {
		j.unqueue(l.now())
	}
	began := l.now()
	j.answer, j.cost, j.err = l.engine.Run(ctx, clamped)
	if j.cost.Engine == 0 {
		j.cost.Engine = l.now().Sub(began)
	}
}

// unqueue records that the job has its slot.
func (j *job) unqueue(now time.Time) {
	j.local.mu.Lock()
	defer j.local.mu.Unlock()
	j.queued, j.queues = now.Sub(j.queues), time.Time{}
}

func (l *local) find(_ context.Context, id ID) (Run, error) {
	l.lock()
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

// forgetOld removes answers that are older than l.keep, and the oldest ones of those that are not promised if there are
// too many. The caller holds the lock.
func (l *local) forgetOld() {
	var others []*job // answers that are not promised
	for _, j := range l.byID {
		switch {
		case !j.finished() || j.waiting > 0:
		case l.now().Sub(j.ended) >= l.keep:
			l.remove(j)
		case !j.promised():
			others = append(others, j)
		}
	}
	slices.SortFunc(others, func(a, b *job) int { return b.ended.Compare(a.ended) }) // newest first
	var bytes int64
	for i, j := range others {
		if bytes += j.size(); i >= maxKept || bytes > maxKeptBytes {
			l.remove(j)
		}
	}
}

// promise checks that the caller of a job may get its ID: that with its answer, those which the caller has not got yet
// do not take too much. So an answer with an ID is kept for as long as the documentation says. The caller of promise
// holds the lock.
func (l *local) promise(next *job) error {
	queries, own, all := 0, next.size(), next.size()
	for _, j := range l.byID {
		if !j.promised() {
			continue
		}
		bytes := j.size()
		all += bytes
		if j.caller == next.caller {
			queries++
			own += bytes
		}
	}
	switch {
	case queries >= maxPromised || queries > 0 && own > maxPromisedBytes:
		return &fault.Error{
			Kind: fault.TooMany,
			Message: "too many answers wait for you: get the answers of your earlier queries or cancel them, " +
				"then send this one again",
			RetryAfter: time.Minute,
		}
	case all > maxAllPromised:
		return &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "too many answers wait for their callers; try again shortly",
			RetryAfter: time.Minute,
		}
	}
	return nil
}

// size returns how many bytes the answer takes, or may take if that is not known yet. The caller of size holds the
// lock.
func (j *job) size() int64 {
	select {
	case <-j.sized:
		return j.bytes
	default:
		return j.expected
	}
}

// expectedBytes returns how many bytes the answer to a query may well have.
func expectedBytes(q query.Query) int64 {
	if logs, ok := q.Shape.(query.Logs); ok {
		return int64(logs.Limit) * recordBytes
	}
	return otherBytes
}

// promised reports whether a caller has the ID and has not got the answer. The caller of promised holds the lock.
func (j *job) promised() bool { return j.deferred && !j.collected }

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

func (j *job) poll(context.Context, query.Query) (query.Answer, engine.Cost, engine.Progress, error) {
	j.local.mu.Lock()
	defer j.local.mu.Unlock()
	switch {
	case j.finished():
		j.collected = true // the caller may ask again, but other answers are more important now
		return j.answer, j.cost, engine.Progress{Done: true}, j.err
	case j.queues.IsZero():
		return query.Answer{}, engine.Cost{}, engine.Progress{Queue: j.queued}, nil
	}
	return query.Answer{}, engine.Cost{}, engine.Progress{Queue: j.local.now().Sub(j.queues)}, nil
}

// release stops the query if no other caller waits and no caller has the ID. It returns an error of kind fault.TooMany
// or fault.Unavailable if the caller may not get the ID. Only a caller who asks for the ID waits for the sizes of answers.
func (j *job) release(_ context.Context, reason outcome) (err error) {
	if reason == deferred {
		j.local.lock()
	} else {
		j.local.mu.Lock()
	}
	defer j.local.mu.Unlock()
	j.collected = j.collected || reason == answered // by asking again
	if reason == deferred && !j.promised() {
		if err = j.local.promise(j); err == nil {
			j.deferred, j.collected = true, false
		}
	}
	if j.waiting--; j.waiting == 0 && !j.deferred {
		j.local.remove(j)
		j.cancel()
	}
	return err
}
