package answering

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
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
	ID        search.QueryID `json:"id" doc:"ID of the query, which only the same key can use" example:"3f1c0a9be2d84c57a6f0d1e2b3c4a596"`
	Status    string         `json:"status" enum:"running"`
	ElapsedMS float64        `json:"elapsed_ms" doc:"Milliseconds since the query began"`
	QueueMS   float64        `json:"queue_ms,omitempty" doc:"Milliseconds that the query has waited in a queue so far"`
}

// asynchronously starts the query of a data request and answers with the location of its result, which has a query.
func (s *server) asynchronously(c *route.Call, r search.Request, query string) error {
	id, err := s.Queries.Begin(c.Request.Context(), r)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Preference-Applied", respondAsync)
	c.Writer.Header().Set("Location", locationOf(id)+query)
	return sendRunning(c, Running{ID: id, Status: "running"}, time.Second)
}

// sendRunning answers that a query is running, and when to ask again.
func sendRunning(c *route.Call, body Running, wait time.Duration) error {
	c.Writer.Header().Set("Retry-After", wholeSeconds(wait))
	c.SendJSON(http.StatusAccepted, body)
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
func (s *server) queryStatus(c *route.Call) error {
	id, args, err := s.query(c)
	if err != nil {
		return err
	}
	status, err := s.Queries.Status(c.Request.Context(), id, askerOf(c))
	c.Filters, c.Failed = status.Request.Filters, status.Done && err != nil
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
	as, err := representation.OffersOf(status.Request.Route).Choose(c.Request.Header.Values("Accept"), args)
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
func (s *server) queryCancel(c *route.Call) error {
	id, _, err := s.query(c)
	if err != nil {
		return err
	}
	if err := c.NoBody(); err != nil {
		return err
	}
	if err := s.Queries.Cancel(c.Request.Context(), id, askerOf(c)); err != nil {
		return err
	}
	c.Send(route.Answer{Status: http.StatusNoContent})
	return nil
}

// query returns the id in the path and the parameters.
func (s *server) query(c *route.Call) (search.QueryID, parameter.Arguments, error) {
	args, err := parameter.ReadQuery(c.Request.URL.RawQuery, c.Route.Params)
	if err != nil {
		return "", nil, err
	}
	if s.Queries == nil {
		return "", nil, search.ErrNoQuery
	}
	return search.QueryID(c.Request.PathValue("id")), args, nil
}

// askerOf returns the caller as the one who asks about a query.
func askerOf(c *route.Call) search.Asker {
	return search.Asker{Caller: c.Caller.Owner, Branches: c.Caller.Branches}
}

// stillRunning returns an error. If it says that a query is still running, the response gets the location of the query,
// with the parameters of its representation.
func stillRunning(c *route.Call, err error, query string) error {
	var running *search.TimeoutError
	if errors.As(err, &running) {
		c.Writer.Header().Set("Location", locationOf(running.ID)+query)
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
