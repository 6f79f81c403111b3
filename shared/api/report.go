package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/pause"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Reports makes reports: reportapi.Maker. It is not a part of this package, so that programs that make no reports stay
// small.
type Reports interface {
	// Make returns a report in the media type of the request. It asks its questions with ask. Errors are those of
	// Searcher.
	Make(ctx context.Context, ask Ask, r ReportRequest) ([]byte, error)
	// Policy returns the Content-Security-Policy of reports in HTML.
	Policy() string
	// Document returns a value of the type of reports in JSON.
	Document() any
	// Estimate returns the meta of a dry run of a report: what all of its questions would read and cost together. Errors
	// are those of Make.
	Estimate(ctx context.Context, ask Ask, r ReportRequest) (search.Meta, error)
}

// Ask returns the answer of a data route in JSON, with the permissions of the caller of a report. If its bytes are
// rounded up, the member unrounded has the exact ones, of which a report shows only a rounded sum.
type Ask func(ctx context.Context, route string, params map[string]string) ([]byte, error)

// ReportRequest is a request for a report. Empty members have defaults.
type ReportRequest struct {
	Filters   string
	Form      filter.Syntax
	MediaType string
	Template  string
	Compare   string
	Zone      string
	Title     string
	Link      string    // base URL of the console
	Server    string    // base URL of the server, as the operator has set it
	Now       time.Time // what relative times are relative to
}

const (
	reportID = "report"
	htmlType = "text/html"
	mailType = "message/rfc822"
)

// reportFormats maps the values of the parameter format to media types.
var reportFormats = map[string]string{
	"html": htmlType, "text": textType, "csv": csvType, "json": jsonType, "mail": mailType,
}

// reportOffers are the media types of reports, the default first.
var reportOffers = []string{htmlType, textType, csvType, jsonType, mailType}

// reportRoutes returns the route of reports, if there are any, and its POST form.
func (s *server) reportRoutes() []route {
	if s.Reports == nil {
		return nil
	}
	get := route{
		id:       reportID,
		path:     "/data/report",
		tag:      "data",
		searches: true,
		summary:  "Report about a period",
		doc: "A report for people: verdict, figures, chart, attackers, targets, rules, what got through, what changed. " +
			"It asks up to 21 questions to other data routes. A question that fails is a part that is missing in the " +
			"report, which then says so.",
		scope:   keys.DataRead,
		offers:  reportOffers,
		params:  reportParams(),
		headers: []param{syntaxHeader},
		answers: []response{{http.StatusOK, "The report.", s.Reports.Document(), false}},
		errors:  queryErrors,
	}
	return s.bothForms(get, s.answerReport)
}

func reportParams() []param {
	text := func(name, doc, example string, values ...any) param {
		schema := &huma.Schema{Type: "string", Enum: values}
		if len(values) > 0 {
			schema.Default = values[0]
		}
		return param{name: name, doc: doc, schema: schema, example: example, read: readText}
	}
	return []param{
		filtersParam,
		text("template", "traffic: all parts; attack: without changes.", "attack", "traffic", "attack"),
		text("compare", "previous: compare with the hour, day, week or month before, or the same length of time before; "+
			"same-weekday: with the same time a week before, or as many weeks before as the period is long.",
			"none", "previous", "same-weekday", "none"),
		text("tz", "IANA name of the zone of the calendar, of `today` and of `yesterday`. By default UTC.",
			"Europe/Berlin"),
		text("title", "Title, at most 120 characters, without control characters.", "Traffic of the shop"),
		text("link", "Base URL of the console, for links. By default the address that the server is configured with; without one, "+
			"only reports that are asked for at a loopback address have links.", "https://console.example"),
		text(formatName, "The form of the report. By default it is the one that `Accept` prefers.", "html",
			"html", "text", "csv", "json", "mail"),
		booleanParam(dryRunName, "true: the report is not made. The answer is JSON without results, and "+
			"`meta.estimate` has what its questions would read and cost together."),
	}
}

// addReports adds the forms of a report other than JSON, and dry, the answer of a dry run, to the document.
func addReports(r *huma.Response, dry *huma.Schema) {
	r.Content[jsonType].Schema = &huma.Schema{AnyOf: []*huma.Schema{r.Content[jsonType].Schema, dry}}
	for _, mediaType := range reportOffers {
		if mediaType != jsonType {
			r.Content[mediaType] = textContent()
		}
	}
}

// answerReport answers with a report, or with its estimate.
func (s *server) answerReport(c *call, args arguments) error {
	c.filters = args[filtersParam.name]
	switch dry, err := search.DryRun(args[dryRunName]); {
	case err != nil:
		return err
	case dry:
		return s.estimateReport(c, args)
	}
	mediaType := c.accepts
	if name := args[formatName]; name != "" {
		if mediaType = reportFormats[name]; mediaType == "" {
			return errFormat(name, reportFormatNames())
		}
	}
	if mediaType == "" {
		return errNotAcceptable(reportOffers)
	}
	body, err := s.makeReport(c, s.reportRequest(c, args, mediaType))
	if err != nil {
		return err
	}
	if mediaType == htmlType {
		c.w.Header().Set("Content-Security-Policy", s.Reports.Policy())
		mediaType += "; charset=utf-8"
	}
	c.send(answer{status: http.StatusOK, contentType: mediaType, body: body})
	return nil
}

// reportRequest returns the request for a report in a media type.
func (s *server) reportRequest(c *call, args arguments, mediaType string) ReportRequest {
	r := ReportRequest{
		Filters: c.filters, Form: formOf(c.r.Header), MediaType: mediaType, Template: args["template"],
		Compare: args["compare"], Zone: args["tz"], Title: args["title"], Link: args["link"],
		Server: s.Address, Now: s.present(),
	}
	if r.Link == "" {
		r.Link = s.consoleOf(c.r)
	}
	return r
}

// makeReport makes a report within the time that a request has. Queries that take longer go on, and a repeated request
// joins them.
func (s *server) makeReport(c *call, r ReportRequest) ([]byte, error) {
	ctx, ask := c.r.Context(), s.asker(c)
	if s.ReportTimeout == 0 {
		return s.Reports.Make(ctx, ask, r)
	}
	ctx, cancel := context.WithTimeout(ctx, s.ReportTimeout)
	defer cancel()
	var late atomic.Bool
	body, err := s.Reports.Make(ctx, func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		answer, err := ask(ctx, to, params)
		if errors.As(err, new(*search.TimeoutError)) || errors.Is(err, context.DeadlineExceeded) {
			late.Store(true)
		}
		return answer, err
	}, r)
	if late.Load() || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, errReportGoesOn
	}
	return body, err
}

// errReportGoesOn is the error of a report whose questions are not all answered yet. A later request has their answers.
var errReportGoesOn = &fault.Error{
	Kind: fault.Timeout, Message: "some questions of the report are not answered yet", RetryAfter: 5 * time.Second,
}

func reportFormatNames() []string {
	names := make([]string, 0, len(reportFormats))
	for name := range reportFormats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// consoleOf returns the address of the console for links. The Host header is not trusted, because a client or a proxy may
// send any: only a loopback name leads nowhere else.
func (s *server) consoleOf(r *http.Request) string {
	switch {
	case s.Address != "":
		return s.Address
	case !loopbackName(r.Host):
		return ""
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// asker returns the function by which a report asks its questions. Each is a request of the caller. The log has why
// questions failed.
func (s *server) asker(c *call) Ask {
	ask := askAs(s.Search, s.Queries, c.caller.Branches, c.callerID)
	return func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		body, err := ask(ctx, to, params)
		var part *partError
		if errors.As(err, &part) && part.reason == internalReason {
			s.Log.LogAttrs(ctx, slog.LevelError, "question of a report failed", slog.String("request_id", c.id),
				slog.String("route", to), slog.Any("error", part.cause))
		}
		return body, err
	}
}

// AskAs returns a function that asks questions with the permissions of a caller, who is limited to branches, unless
// they are nil. Questions of one caller count together. If s also implements Queries, a question that takes longer than
// an answer may is asked again until its answer is there, or ctx ends.
func AskAs(s Searcher, branches []string, caller string) Ask {
	queries, _ := s.(Queries)
	return askAs(s, queries, branches, caller)
}

// askAs is AskAs. queries may be nil.
func askAs(s Searcher, queries Queries, branches []string, caller string) Ask {
	return func(ctx context.Context, to string, params map[string]string) (body []byte, err error) {
		defer func() { // reports ask in goroutines of their own, in which a panic would end the process
			if cause := recover(); cause != nil {
				body, err = nil, reasonOf(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		r := search.Request{Route: search.Route(to), Syntax: filter.QueryString, Branches: branches, Caller: caller}
		for name, value := range params {
			r.Set(name, value)
		}
		result, err := s.Search(ctx, r)
		var running *search.TimeoutError
		if queries != nil && errors.As(err, &running) {
			result, err = await(ctx, queries, running, search.Asker{Caller: caller, Branches: branches})
		}
		if err != nil {
			return nil, reasonOf(err)
		}
		return jsonOf(resultsOf(search.Route(to), result), result.Meta, result.Unrounded()), nil
	}
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
	}
	panic(fmt.Sprintf("api: no part of a report is from route %q", to))
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
	return encode(body)
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
