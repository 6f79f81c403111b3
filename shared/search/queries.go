package search

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search/pending"
)

// QueryID identifies a query that may outlive its request.
type QueryID = pending.ID

// StillRunning is the error of Search when the time is over before the query is.
type StillRunning = pending.StillRunning

// ErrNoQuery is of kind fault.NotFound.
var ErrNoQuery = pending.ErrNoQuery

// Asker is the caller who asks about a query. Only the one who began it may.
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

// Begin begins the request, or finds the same one of the same caller running, and does not wait for it. Errors are
// those of Search.
func (s *Service) Begin(ctx context.Context, r Request) (QueryID, error) {
	q, err := bind(r)
	if err != nil {
		return "", err
	}
	id, err := s.queries.Start(ctx, pendingRequest(r, q))
	if err != nil {
		return "", failed(r, q, err)
	}
	return id, nil
}

// Status returns how a query is doing; when it is done, with the result that Search would have returned.
//
// Errors: fault.NotFound for an id that is not known, or not to this asker; else how the query has failed, with the
// request.
func (s *Service) Status(ctx context.Context, id QueryID, by Asker) (Status, error) {
	run, r, err := s.find(ctx, id, by)
	if err != nil {
		return Status{}, err
	}
	status := Status{Request: r, Began: run.Query().Began}
	q, err := bind(r)
	if err != nil {
		return status, err
	}
	answer, cost, done, err := s.queries.Poll(ctx, run, oneMore(q))
	if err != nil {
		return status, failed(r, q, err)
	}
	if status.Done = done; done {
		status.Result = resultOf(q, answer, s.metaOf(q, cost))
		status.Result.Meta.ElapsedMS = milliseconds(cost.Engine + cost.Queue)
	}
	return status, nil
}

// Cancel stops a query and forgets it. Errors: fault.NotFound as for Status.
func (s *Service) Cancel(ctx context.Context, id QueryID, by Asker) error {
	run, _, err := s.find(ctx, id, by)
	if err != nil {
		return err
	}
	return run.Cancel(ctx)
}

// RetryAfter is when to ask again about a query that is not done.
func (s *Service) RetryAfter(status Status) time.Duration { return s.queries.RetryAfter(status.Began) }

// find returns a query to the caller who began it. To other callers it does not exist.
func (s *Service) find(ctx context.Context, id QueryID, by Asker) (pending.Run, Request, error) {
	run, err := s.queries.Find(ctx, id)
	if err != nil {
		return nil, Request{}, err
	}
	r, err := parseRequest(run.Query().Request)
	if err != nil {
		return nil, Request{}, fmt.Errorf("read query %s: %w", id, err)
	}
	if r.Caller != by.Caller || !slices.Equal(r.Branches, by.Branches) {
		return nil, Request{}, ErrNoQuery
	}
	return run, r, nil
}

// pendingRequest is the query of a request.
func pendingRequest(r Request, q query.Query) pending.Request {
	return pending.Request{Key: keyOf(r, q), Text: printRequest(r), Query: oneMore(q)}
}

// keyOf is equal for requests of one caller that mean the same.
func keyOf(r Request, q query.Query) string {
	return fmt.Sprintf("%q %q %q %T%+v %s", r.Caller, r.Branches, r.Route, q.Shape, q.Shape, filter.FormatJSON(q.Filter))
}

// printRequest prints a request to keep with its query: the parameters as JSON in one line, and the filter as it is,
// because JSON would not keep every byte.
func printRequest(r Request) []byte {
	filters := r.Filters
	r.Filters = ""
	line, err := json.Marshal(r)
	if err != nil {
		panic("search: a request cannot be printed: " + err.Error()) // texts and numbers can
	}
	return append(append(line, '\n'), filters...)
}

func parseRequest(text []byte) (Request, error) {
	var r Request
	line, filters, _ := bytes.Cut(text, []byte{'\n'})
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	r.Filters = string(filters)
	return r, nil
}
