package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/search"
)

// Queries runs queries that outlive their requests: *search.Service.
type Queries interface {
	Begin(ctx context.Context, r search.Request) (search.QueryID, error)
	Status(ctx context.Context, id search.QueryID, by search.Asker) (search.Status, error)
	Cancel(ctx context.Context, id search.QueryID, by search.Asker) error
	RetryAfter(s search.Status) time.Duration
}

// Running is the answer while a query is running.
type Running struct {
	ID        search.QueryID `json:"id" doc:"Usable with the same key only" example:"3f1c0a9be2d84c57a6f0d1e2b3c4a596"`
	Status    string         `json:"status" enum:"running"`
	ElapsedMS float64        `json:"elapsed_ms" doc:"Milliseconds since the query began"`
	QueueMS   float64        `json:"queue_ms,omitempty" doc:"Milliseconds in a queue so far"`
}

// asynchronously starts the query of a data request and answers with the location of its result, which has a query.
func (s *dataServer) asynchronously(c *call, r search.Request, query string) error {
	id, err := s.Queries.Begin(c.r.Context(), r)
	if err != nil {
		return err
	}
	c.w.Header().Set("Preference-Applied", respondAsync)
	c.w.Header().Set("Location", locationOf(id)+query)
	return sendRunning(c, Running{ID: id, Status: "running"}, time.Second)
}

// sendRunning answers that a query is running, and when to ask again.
func sendRunning(c *call, body Running, wait time.Duration) error {
	c.w.Header().Set("Retry-After", wholeSeconds(wait))
	c.sendJSON(http.StatusAccepted, body)
	return nil
}

func wholeSeconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// locationOf returns the location of a query, relative to a data route, so that it is correct behind any gateway and
// stage.
func locationOf(id search.QueryID) string { return "queries/" + string(id) }

const respondAsync = "respond-async"

// prefersAsync reports whether the client prefers an asynchronous answer (RFC 7240).
func prefersAsync(prefer []string) bool {
	for _, value := range prefer {
		for preference := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(preference, ";")
			if strings.EqualFold(strings.TrimSpace(name), respondAsync) {
				return true
			}
		}
	}
	return false
}

// queryStatus sends the answer of the data route when the query is done.
func (s *dataServer) queryStatus(c *call) error {
	id, args, err := s.query(c)
	if err != nil {
		return err
	}
	status, err := s.Queries.Status(c.r.Context(), id, askerOf(c))
	c.filters, c.failed = status.Request.Filters, status.Done && err != nil
	switch {
	case err != nil:
		return stillRunning(c, err, "")
	case !status.Done:
		elapsed := s.Now().Sub(status.Began)
		return sendRunning(c, Running{
			ID: id, Status: "running", ElapsedMS: float64(elapsed.Milliseconds()),
			// It is longer if the query joined an execution that was in the queue before.
			QueueMS: float64(min(status.Queue, elapsed).Milliseconds()),
		}, s.Queries.RetryAfter(status))
	}
	as, err := formFor(c.r.Header.Values("Accept"), args, offersOf(status.Request.Route))
	if err != nil {
		return err
	}
	tokens, err := s.tokensFor(c, status.Request.Route)
	if err != nil {
		return err
	}
	return sendResult(c, status.Request.Route, status.Result, as, tokens)
}

// queryCancel stops a query.
func (s *dataServer) queryCancel(c *call) error {
	id, _, err := s.query(c)
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := s.Queries.Cancel(c.r.Context(), id, askerOf(c)); err != nil {
		return err
	}
	c.send(answer{status: http.StatusNoContent})
	return nil
}

// query returns the id in the path and the parameters.
func (s *dataServer) query(c *call) (search.QueryID, arguments, error) {
	args, err := readQuery(c.r.URL.RawQuery, c.route.params)
	if err != nil {
		return "", nil, err
	}
	if s.Queries == nil {
		return "", nil, search.ErrNoQuery
	}
	return search.QueryID(c.r.PathValue("id")), args, nil
}

// askerOf returns the caller as the one who asks about a query.
func askerOf(c *call) search.Asker {
	return search.Asker{Caller: c.caller.Owner, Branches: c.caller.Branches}
}

// stillRunning returns an error. If it says that a query is still running, the response gets the location of the query,
// with the parameters of its form.
func stillRunning(c *call, err error, query string) error {
	var running *search.TimeoutError
	if errors.As(err, &running) {
		c.w.Header().Set("Location", locationOf(running.ID)+query)
	}
	return err
}

// queryResultSchema returns the schema of the answers of all data routes.
func queryResultSchema() *huma.Schema {
	s := &huma.Schema{}
	for _, name := range []string{
		"TopXResult", "StatsResult", "TimelineResult", "FacetResult", "HistogramResult", "DiffResult", "LogRecord",
	} {
		s.AnyOf = append(s.AnyOf, &huma.Schema{Ref: "#/components/schemas/" + name + "Container"})
	}
	return s
}
