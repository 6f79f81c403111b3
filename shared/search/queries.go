package search

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// QueryID names a query that may outlive its request: 128 random bits in hexadecimal, so that nobody guesses it.
type QueryID string

func newQueryID() QueryID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return QueryID(hex.EncodeToString(b[:]))
}

// Pending is a query that has begun, and everything to go on with it in another process.
type Pending struct {
	ID        QueryID
	Key       string // the same for equal requests of one caller over equal data
	Request   Request
	Execution engine.Execution
	Began     time.Time
}

// Queries remembers pending queries, where every instance of the service finds them. It may forget those that are
// older than their results.
type Queries interface {
	// Keep remembers a query, unless one with its key is kept already; it returns the one that is kept.
	Keep(ctx context.Context, p Pending) (Pending, error)
	// Find gives the query with a key, Get the one with an id. Errors: kind fault.NotFound.
	Find(ctx context.Context, key string) (Pending, error)
	Get(ctx context.Context, id QueryID) (Pending, error)
	// Move notes that the query goes on as another execution. Errors: kind fault.NotFound when the query is not kept
	// any more.
	Move(ctx context.Context, id QueryID, to engine.Execution) error
	// Forget forgets a query; one that is not kept is none to complain about.
	Forget(ctx context.Context, p Pending) error
}

// Asker is who asks about a query: the one who began it, or nobody.
type Asker struct {
	Caller   string
	Branches []string
}

// Status is how a query is doing.
type Status struct {
	Request Request // as it was asked
	Began   time.Time
	Done    bool
	Result  Result // when it is done
}

// StillRunning is what a caller hears whose time is over before the query's: it runs on under its id.
type StillRunning struct {
	ID         QueryID
	RetryAfter time.Duration
}

func (e *StillRunning) Error() string { return fmt.Sprintf("query %.8s… runs on", e.ID) }

// Unwrap gives the failure its kind.
func (e *StillRunning) Unwrap() error {
	return &fault.Error{Kind: fault.Timeout, Message: "the query takes longer than an answer may", RetryAfter: e.RetryAfter}
}

// Begin begins the request, or finds the same one of the same caller running, and does not wait for it. Errors are
// those of Search.
func (s *Service) Begin(ctx context.Context, r Request) (QueryID, error) {
	q, err := bind(r)
	if err != nil {
		return "", err
	}
	p, q, err := s.pending(ctx, r, q)
	if err != nil {
		return "", err
	}
	p, _, err = s.runs.begin(ctx, p, q)
	if err != nil {
		return "", failed(r, q, err)
	}
	defer s.runs.leave(p)
	return p.ID, s.runs.tell(ctx, p)
}

// Status tells how a query is doing; when it is done, with the result that Search would have given.
//
// Errors: fault.NotFound for an id that is not known, or not to this asker; else how the query has failed, with the
// request.
func (s *Service) Status(ctx context.Context, id QueryID, by Asker) (Status, error) {
	p, err := s.own(ctx, id, by)
	if err != nil {
		return Status{}, err
	}
	status := Status{Request: p.Request, Began: p.Began}
	q, err := bind(p.Request)
	if err != nil {
		return status, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	answer, cost, done, err := s.runs.look(ctx, p, oneMore(q))
	if err != nil {
		return status, failed(p.Request, q, err)
	}
	if status.Done = done; done {
		meta := metaOf(q, cmp.Or(cost.By, s.engine.Name()), cost)
		meta.ElapsedMS = milliseconds(cost.Engine + cost.Queue)
		status.Result = resultOf(q, answer, meta)
	}
	return status, nil
}

// Cancel stops a query and forgets it. Errors: fault.NotFound as for Status.
func (s *Service) Cancel(ctx context.Context, id QueryID, by Asker) error {
	p, err := s.own(ctx, id, by)
	if err != nil {
		return err
	}
	return s.runs.cancel(ctx, p)
}

// own gives a query to who began it. What nobody else may know of does not exist for them.
func (s *Service) own(ctx context.Context, id QueryID, by Asker) (Pending, error) {
	p, err := s.runs.get(ctx, id)
	if err == nil && (p.Request.Caller != by.Caller || !slices.Equal(p.Request.Branches, by.Branches)) {
		return Pending{}, ErrNoQuery
	}
	return p, err
}

// ErrNoQuery is of kind fault.NotFound.
var ErrNoQuery = fault.New(fault.NotFound, "there is no such query: it was cancelled, its answer is kept no longer, or it belongs to another key")

// pending is a request about to begin, and its query as the engine is asked: narrowed to the data there is, for one
// record more than was asked for.
func (s *Service) pending(ctx context.Context, r Request, q query.Query) (Pending, query.Query, error) {
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return Pending{}, q, fmt.Errorf("read the extent of the data: %w", err)
	}
	version, err := s.runs.version(ctx, extent)
	if err != nil {
		return Pending{}, q, err
	}
	return Pending{ID: s.newID(), Key: keyOf(r, q, version), Request: r, Began: s.now()}, oneMore(q.Clamp(extent)), nil
}

// keyOf is equal for requests of one caller that mean the same over the same data.
func keyOf(r Request, q query.Query, version string) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%q %q %q %q %T%+v %s", r.Caller, r.Branches, r.Route, version, q.Shape, q.Shape, filter.FormatJSON(q.Filter))
	return hex.EncodeToString(hash.Sum(nil))
}

// runs is how queries run: each in this process, or by an engine of their own.
type runs interface {
	// version names the data, of which the extent is known.
	version(ctx context.Context, e lake.Extent) (string, error)
	// begin finds the pending query with the same key (joined), or begins this one. Every begin has its leave.
	begin(ctx context.Context, p Pending, q query.Query) (begun Pending, joined bool, err error)
	// wait waits until the query has ended, or ctx has: by its deadline, when the query may run on, or because the
	// caller went away. The query is not narrowed: one that begins anew meanwhile may find more data.
	wait(ctx context.Context, p Pending, q query.Query) (query.Answer, engine.Cost, error)
	// look is wait without waiting.
	look(ctx context.Context, p Pending, q query.Query) (query.Answer, engine.Cost, bool, error)
	// tell makes the query outlive those who wait for it: somebody will ask for it by its id.
	tell(ctx context.Context, p Pending) error
	// leave ends the wait of one who began or joined.
	leave(p Pending)
	get(ctx context.Context, id QueryID) (Pending, error)
	// drop forgets a query that has failed, so that the same request begins anew.
	drop(ctx context.Context, p Pending) error
	cancel(ctx context.Context, p Pending) error
}

// answer is the query's answer. A query that was joined, or that somebody else has stopped, may fail for reasons that
// are not this caller's; then it is begun anew.
func (s *Service) answer(caller context.Context, r Request, q query.Query) (query.Answer, engine.Cost, error) {
	ctx, cancel := s.bounded(caller)
	defer cancel()
	for begun := 1; ; begun++ {
		answer, cost, again, err := s.attempt(caller, ctx, r, q)
		if err == nil || !again || begun == mostBegun {
			return answer, cost, err
		}
	}
}

// mostBegun is how often one request begins its query.
const mostBegun = 3

// attempt begins or joins the query, and waits for it until ctx ends, or the caller goes away.
func (s *Service) attempt(
	caller, ctx context.Context, r Request, q query.Query,
) (_ query.Answer, _ engine.Cost, again bool, err error) {
	p, narrowed, err := s.pending(ctx, r, q)
	if err != nil {
		return query.Answer{}, engine.Cost{}, false, err
	}
	p, joined, err := s.runs.begin(ctx, p, narrowed)
	if err != nil {
		return query.Answer{}, engine.Cost{}, false, err
	}
	defer s.runs.leave(p)
	answer, cost, err := s.runs.wait(ctx, p, oneMore(q))
	switch {
	case err == nil:
		return answer, cost, false, nil
	case errors.Is(caller.Err(), context.Canceled):
		return query.Answer{}, engine.Cost{}, false, err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		running := &StillRunning{ID: p.ID, RetryAfter: s.comeBack(p.Began)}
		return query.Answer{}, engine.Cost{}, false, errors.Join(running, s.runs.tell(caller, p))
	}
	again = joined || fault.KindOf(err) == fault.Canceled
	return query.Answer{}, engine.Cost{}, again, errors.Join(err, s.runs.drop(caller, p))
}

// comeBack is when to ask again about a query: the longer it has run, the longer it may yet.
func (s *Service) comeBack(began time.Time) time.Duration {
	return min(max(s.now().Sub(began)/4, time.Second), 15*time.Second)
}

// RetryAfter is when to ask again about a query that is not done.
func (s *Service) RetryAfter(status Status) time.Duration { return s.comeBack(status.Began) }
