package answering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/inquiry"
	marking "github.com/orrery/orrery/shared/mark/asking"
	"github.com/orrery/orrery/shared/pause"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Ask returns the answer of a data route in JSON, with the permissions of the caller of a report. If its bytes are
// rounded up, the member unrounded has the exact ones. A report shows only their rounded sum.
type Ask func(ctx context.Context, route string, params map[string]string) ([]byte, error)

// AskAs returns a function that asks questions with the permissions of a caller, who is limited to branches, unless
// they are nil. Questions of one caller count together. If s also implements Queries, a question that takes longer than
// an answer may is asked again until its answer is there, or ctx ends. now is the clock by which incidents are still
// going on, and of relative times; nil: the newest record is the present. There are no marks of planets, because the
// readers of a report that is sent to them need no permission to read planets.
func AskAs(s Searcher, branches []string, caller string, now func() time.Time) Ask {
	queries, _ := s.(Queries)
	return askAs(s, queries, branches, caller, now, nil)
}

// AskOnce returns a function that asks questions as AskAs does, for a caller who may see all branches and read planets.
// It does not wait for a question that takes longer than an answer may.
func AskOnce(s Searcher, planets document.Store, caller string) Ask {
	return askAs(s, nil, nil, caller, nil, versionsIn(planets))
}

// Ask implements the sources of reports and of explanations.
func (a Ask) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	return a(ctx, route, params)
}

// askAs is AskAs, with the marks of planets that versions tells; nil: there are none. queries may be nil.
func askAs(
	s Searcher, queries Queries, branches []string, caller string, now func() time.Time, versions marking.Versions,
) Ask {
	var ask Ask
	ask = func(ctx context.Context, to string, params map[string]string) (body []byte, err error) {
		defer recovered(&err)
		switch {
		case search.Route(to) == search.Incidents:
			return askTogether(ctx, ask, params, incidentsOf(asking.Request{
				Filters: params["filters"], Syntax: filter.QueryString, Zone: params["tz"], Now: timeBy(now), AtOnce: inquiry.Few,
			}))
		case params[search.MarksParam] == "true":
			r := marking.Request{
				Route: search.Route(to), Params: maps.Clone(params), Filters: params["filters"], Syntax: filter.QueryString,
				Now: timeBy(now), AtOnce: inquiry.Few, Versions: versions,
			}
			delete(r.Params, dryRunName)
			delete(r.Params, search.MarksParam)
			return askTogether(ctx, ask, params, marked(r, func([]json.RawMessage, *search.Meta) {}))
		}
		result, err := find(ctx, s, queries, requestOf(to, params, branches, caller))
		if err != nil {
			return nil, err
		}
		return jsonOf(resultsOf(search.Route(to), result), result.Meta, result.Unrounded()), nil
	}
	return ask
}

// recovered sets the error of a question that has panicked. Questions are asked in goroutines of their own, in which a
// panic would end the process.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = reasonOf(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	}
}

// requestOf returns the request for a question.
func requestOf(to string, params map[string]string, branches []string, caller string) search.Request {
	r := search.Request{Route: search.Route(to), Syntax: filter.QueryString, Branches: branches, Caller: caller}
	for name, value := range params {
		r.Set(name, value)
	}
	r.Of, r.AnyOf = params["of"], params["any_of"]
	return r
}

// find returns the result of a request, and waits for it as AskAs describes. The error has a reason for readers.
func find(ctx context.Context, s Searcher, queries Queries, r search.Request) (search.Result, error) {
	result, err := s.Search(ctx, r)
	var running *search.TimeoutError
	if queries != nil && errors.As(err, &running) {
		result, err = await(ctx, queries, running, search.Asker{Caller: r.Caller, Branches: r.Branches})
	}
	if err != nil {
		err = reasonOf(err)
	}
	return result, err
}

// askTogether answers a question of a report that several questions answer.
func askTogether[Result any](
	ctx context.Context, ask Ask, params map[string]string, of conclusion[Result],
) ([]byte, error) {
	results := []Result{}
	var meta search.Meta
	var err error
	ctx = search.PinLists(ctx)
	if params[dryRunName] == "true" {
		meta, err = of.estimate(ctx, ask)
	} else {
		results, meta, err = of.find(ctx, ask, nil)
	}
	if err != nil {
		return nil, reasonOf(err)
	}
	return jsonOf(results, meta, search.Result{Meta: meta}.Unrounded()), nil
}

// timeBy returns the time by a clock, or zero without one.
func timeBy(now func() time.Time) time.Time {
	if now == nil {
		return time.Time{}
	}
	return now()
}

// await asks for the answer of a running query until it is there. If ctx ends first, the error is that the query is
// running; who asks the question again later joins it.
func await(ctx context.Context, queries Queries, running *search.TimeoutError, by search.Asker) (search.Result, error) {
	for wait := running.RetryAfter; ; {
		if pause.For(ctx, wait) != nil {
			return search.Result{}, running
		}
		status, err := queries.Status(ctx, running.ID, by)
		switch {
		case err != nil && ctx.Err() != nil:
			return search.Result{}, running
		case err != nil || status.Done:
			return status.Result, err
		}
		wait = queries.RetryAfter(status)
	}
}

// resultsOf returns the results of a data route, as the route sends them.
func resultsOf(to search.Route, r search.Result) any {
	switch to {
	case search.Logs:
		return r.Logs
	case search.Stats:
		return r.Stats
	case search.Timeline:
		return r.Timeline
	case search.TopX:
		shortenKeys(r.TopX)
		return r.TopX
	case search.Facets:
		shortenValues(r.Facets)
		return r.Facets
	case search.Histogram:
		return r.Histogram
	case search.Diff:
		shortenFindings(r.Diff)
		return r.Diff
	case search.Counts:
		return r.Counts
	case search.Sequences: // only for a dry run; an answer asks TrySource
		return []struct{}{}
	}
	panic(fmt.Sprintf("answering: no part of a report is from route %q", to))
}

// jsonOf returns the container of results, which are a list in JSON. unrounded is for reports only, which round the
// bytes of all questions together; nil: the bytes are not rounded.
func jsonOf(results any, meta search.Meta, unrounded *search.BytesEstimate) []byte {
	var body struct {
		Data struct {
			Results any `json:"results"`
		} `json:"data"`
		Meta      search.Meta           `json:"meta"`
		Unrounded *search.BytesEstimate `json:"unrounded,omitempty"`
	}
	body.Data.Results, body.Meta, body.Unrounded = results, meta, unrounded
	return content.Encode(body)
}

// internalReason is the reason for readers, who do not learn the causes of internal failures.
const internalReason = "the query failed; the log of the server has the cause"

// partError is the error of a question, with the reason that a report prints.
type partError struct {
	reason string
	cause  error
}

func (e *partError) Error() string { return e.reason }
func (e *partError) Unwrap() error { return e.cause }

// reasonOf returns an error with a reason for readers.
func reasonOf(err error) error {
	reason := internalReason
	var known *fault.Error
	var wrong *query.FilterError
	switch {
	case errors.As(err, new(*search.TimeoutError)):
		reason = "the query takes longer than an answer may; ask again for its answer"
	case errors.As(err, &wrong):
		reason = strings.SplitN(wrong.Error(), "\n", 2)[0]
	case errors.As(err, &known):
		reason = known.Message
	case errors.Is(err, context.DeadlineExceeded):
		reason = "the query took too long"
	}
	return &partError{reason, err}
}

// asker returns the function by which a report or an explanation asks its questions. Each is a request of the caller. The
// log has why questions failed.
func (s *server) asker(c *route.Call) Ask {
	ask := askAs(s.Search, s.Queries, c.Caller.Branches, c.Caller.Owner, s.present, s.planetVersions(c))
	return func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		body, err := ask(ctx, to, params)
		s.logFailure(ctx, c, to, err)
		return body, err
	}
}

// logFailure logs why a question has failed, unless its error tells.
func (s *server) logFailure(ctx context.Context, c *route.Call, to string, err error) {
	var part *partError
	if errors.As(err, &part) && part.reason == internalReason {
		s.Log.LogAttrs(ctx, slog.LevelError, "question failed", slog.String("request_id", c.ID),
			slog.String("route", to), slog.Any("error", part.cause))
	}
}
