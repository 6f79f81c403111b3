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

// TimeoutError is the error of Search if the query takes longer than a caller waits. The query continues.
type TimeoutError = pending.TimeoutError

// ErrNoQuery is of kind fault.NotFound.
var ErrNoQuery = pending.ErrNoQuery

// Asker is a caller who asks about a query. Only the caller who started the query may do so.
type Asker struct {
	Caller   string
	Branches []string
}

// Status is the status of a query.
type Status struct {
	Request Request // the request that started the query
	Began   time.Time
	Queue   time.Duration // how long it has waited in a queue so far, as far as that is known
	Done    bool          // the query has ended: it has a result, or Status returns its failure
	Result  Result
}

// Begin starts the query of a request, or joins an equal query of the same caller that is running. It does not wait for
// the answer. It returns the errors of Search.
func (s *Service) Begin(ctx context.Context, r Request) (QueryID, error) {
	r, q, err := s.bind(ctx, s.at(r, s.now()))
	if err != nil {
		return "", err
	}
	data, err := s.freshness(ctx)
	if err != nil {
		return "", queryError(r, q, err)
	}
	_, estimate, err := s.estimateWithin(ctx, r, q, true)
	if err != nil {
		return "", queryError(r, q, err)
	}
	id, err := s.queries.Start(ctx, pendingRequest(r, q, data, estimate))
	if err != nil {
		return "", queryError(r, q, err)
	}
	return id, nil
}

// Status returns the status of a query. If the query is done, the status has the result that Search would have
// returned.
//
// Errors: fault.NotFound if the id is unknown or the query belongs to another caller. Otherwise it is the error with
// which the query failed, or one that does not concern the query; then the status has the request. In the first case,
// it is Done, and asking again does not help.
func (s *Service) Status(ctx context.Context, id QueryID, by Asker) (Status, error) {
	run, stored, err := s.find(ctx, id, by)
	if err != nil {
		return Status{}, err
	}
	r := stored.Request
	status := Status{Request: r, Began: run.Query().Began}
	r, q, err := s.bind(ctx, r)
	if err != nil {
		return status, err
	}
	answer, cost, progress, err := s.queries.Poll(ctx, run, oneMore(q))
	status.Done = progress.Done
	if err != nil {
		return status, queryError(r, q, err)
	}
	if err := checkSize(q, answer); err != nil {
		return status, queryError(r, q, err)
	}
	status.Queue = progress.Queue
	if status.Done {
		status.Result = resultOf(r, q, answer, s.metaOf(r, q, cost, stored.freshness, stored.Estimate))
		if _, err := s.addArrivals(ctx, r, q, stored.freshness, &status.Result); err != nil {
			return status, queryError(r, q, err)
		}
		status.Result.Meta.ElapsedMS = milliseconds(cost.Engine + cost.Queue)
	}
	return status, nil
}

// Cancel stops a query and removes it. Errors: fault.NotFound as for Status.
func (s *Service) Cancel(ctx context.Context, id QueryID, by Asker) error {
	run, _, err := s.find(ctx, id, by)
	if err != nil {
		return err
	}
	return run.Cancel(ctx)
}

// RetryAfter returns the time after which a caller should ask again about a query that is not done.
func (s *Service) RetryAfter(status Status) time.Duration { return s.queries.RetryAfter(status.Began) }

// find returns a query if the caller has started it, and ErrNoQuery otherwise.
func (s *Service) find(ctx context.Context, id QueryID, by Asker) (pending.Run, storedRequest, error) {
	run, err := s.queries.Find(ctx, id)
	if err != nil {
		return nil, storedRequest{}, err
	}
	r, err := parseRequest(run.Query().Request)
	if err != nil {
		return nil, storedRequest{}, fmt.Errorf("read query %s: %w", id, err)
	}
	if r.Caller != by.Caller || !slices.Equal(r.Branches, by.Branches) {
		return nil, storedRequest{}, ErrNoQuery
	}
	return run, r, nil
}

// pendingRequest returns a request for package pending.
func pendingRequest(r Request, q query.Query, data freshness, e *Estimate) pending.Request {
	return pending.Request{Caller: r.Caller, Key: keyOf(r, q), Text: printRequest(storedRequest{r, data, e}), Query: oneMore(q)}
}

// storedRequest is a request as it is stored with its query.
type storedRequest struct {
	Request
	freshness           // of the data when the query began
	Estimate  *Estimate `json:",omitempty"` // nil if an earlier version stored the request
}

// keyOf returns a key that is equal for requests of one caller with the same meaning. The zone is part of the meta of
// every answer, also of those without segments. A shape without a zone prints as one with UTC, but its segments may
// begin at other times, and cursors of relative times keep the time of the request. Tokens have more than the places in
// the shape: the change since which late records are counted, and the head of the first page.
func keyOf(r Request, q query.Query) string {
	return fmt.Sprintf("%q %q %q %T%+v %q %q %q %q %t %s", r.Caller, r.Branches, r.Route, q.Shape, q.Shape, r.AnyOf, r.Since,
		r.Cursor, r.TZ, q.Relative != nil, filter.FormatJSON(q.Filter))
}

// printRequest encodes a request to store it with its query: the parameters as one line of JSON, followed by the filter
// unchanged, because JSON would not preserve every byte.
func printRequest(r storedRequest) []byte {
	filters := r.Filters
	r.Filters = ""
	line, err := json.Marshal(r)
	if err != nil {
		panic("search: encode a request: " + err.Error()) // strings and numbers can always be encoded
	}
	return append(append(line, '\n'), filters...)
}

// parseRequest decodes the text of printRequest.
func parseRequest(text []byte) (storedRequest, error) {
	var r storedRequest
	line, filters, _ := bytes.Cut(text, []byte{'\n'})
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	r.Filters = string(filters)
	return r, nil
}
