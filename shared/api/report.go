package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Reports makes reports: reporthttp.Maker. It is not a part of this package, so that programs that make no reports stay
// small.
type Reports interface {
	// Make returns a report in the media type of the request. It asks its questions with ask. Errors are those of
	// Searcher.
	Make(ctx context.Context, ask Ask, r ReportRequest) ([]byte, error)
	// Policy returns the Content-Security-Policy of reports in HTML.
	Policy() string
	// Document returns a value of the type of reports in JSON.
	Document() any
}

// Ask returns the answer of a data route in JSON, with the permissions of the caller of a report.
type Ask func(ctx context.Context, route string, params map[string]string) ([]byte, error)

// ReportRequest is a request for a report. Empty members have defaults.
type ReportRequest struct {
	Filters   string
	Form      filter.Form
	MediaType string
	Template  string
	Compare   string
	Zone      string
	Title     string
	Link      string
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

// reportRoutes returns the route of reports, if there are any.
func (s *server) reportRoutes() []route {
	if s.Reports == nil {
		return nil
	}
	return []route{{
		id:       reportID,
		method:   http.MethodGet,
		path:     "/data/report",
		tag:      "data",
		searches: true,
		summary:  "Report about a period",
		doc: "A report for people: verdict, figures, chart, attackers, targets, rules, what got through, what changed. " +
			"It asks up to 13 questions to other data routes. A question that fails is a part that is missing in the " +
			"report, which then says so.",
		scope:   keys.DataRead,
		offers:  reportOffers,
		params:  reportParams(),
		headers: []param{syntaxHeader},
		answers: []response{{http.StatusOK, "The report.", s.Reports.Document(), false}},
		errors:  queryErrors,
		handle:  s.report,
	}}
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
		text("template", "traffic: all parts; attack: without changes and possibly wrong blocks.", "attack", "traffic", "attack"),
		text("compare", "previous: compare with the hour, day, week or month before, or the same length of time before.",
			"none", "previous", "none"),
		text("tz", "IANA name of the zone of the calendar. By default UTC.", "Europe/Berlin"),
		text("title", "Title, at most 120 characters.", "Traffic of the shop"),
		text("link", "Base URL of the console, for links. By default this server.", "https://console.example"),
		text(formatName, "The form of the report. By default it is the one that `Accept` prefers.", "html",
			"html", "text", "csv", "json", "mail"),
	}
}

// addReports adds the forms of a report other than JSON to the document.
func addReports(r *huma.Response) {
	for _, mediaType := range reportOffers {
		if mediaType != jsonType {
			r.Content[mediaType] = textContent()
		}
	}
}

// report answers with a report.
func (s *server) report(c *call) error {
	args, err := readQuery(c.r.URL.RawQuery, c.route.params)
	if err != nil {
		return err
	}
	c.filters = args[filtersParam.name]
	mediaType := c.accepts
	if name := args[formatName]; name != "" {
		if mediaType = reportFormats[name]; mediaType == "" {
			return errFormat(name, reportFormatNames())
		}
	}
	if mediaType == "" {
		return errNotAcceptable(reportOffers)
	}
	r := ReportRequest{
		Filters: c.filters, Form: formOf(c.r.Header), MediaType: mediaType, Template: args["template"],
		Compare: args["compare"], Zone: args["tz"], Title: args["title"], Link: args["link"],
	}
	if r.Link == "" {
		r.Link = originOf(c.r)
	}
	body, err := s.Reports.Make(c.r.Context(), s.asker(c), r)
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

func reportFormatNames() []string {
	names := make([]string, 0, len(reportFormats))
	for name := range reportFormats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// originOf returns the address of this server as the client knows it.
func originOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// asker returns the function by which a report asks its questions. Each is a request of the caller.
func (s *server) asker(c *call) Ask {
	return func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		result, err := s.Search.Search(ctx, search.Request{
			Route: search.Route(to), Filters: params["filters"], Form: filter.QueryString,
			Branches: c.caller.Branches, Caller: c.callerID,
			Limit: params["limit"], Segment: params["segment"], Fields: params["fields"], By: params["by"],
			Measure: params["measure"], Against: params["against"],
		})
		if err != nil {
			return nil, reasonOf(err)
		}
		return resultJSON(search.Route(to), result), nil
	}
}

// resultJSON returns the answer of a data route in JSON, as the route sends it.
func resultJSON(to search.Route, r search.Result) []byte {
	switch to {
	case search.Logs:
		return jsonOf(r.Logs, r.Meta)
	case search.Stats:
		return jsonOf(r.Stats, r.Meta)
	case search.Timeline:
		return jsonOf(r.Timeline, r.Meta)
	case search.TopX:
		return jsonOf(shortKeys(r.TopX), r.Meta)
	case search.Facets:
		shortenValues(r.Facets)
		return jsonOf(r.Facets, r.Meta)
	case search.Histogram:
		return jsonOf(r.Histogram, r.Meta)
	case search.Diff:
		shortenFindings(r.Diff)
		return jsonOf(r.Diff, r.Meta)
	}
	panic(fmt.Sprintf("api: no part of a report is from route %q", to))
}

// jsonOf returns the container of results, which are a list in JSON.
func jsonOf(results any, meta search.Meta) []byte {
	var body struct {
		Data struct {
			Results any `json:"results"`
		} `json:"data"`
		Meta search.Meta `json:"meta"`
	}
	body.Data.Results, body.Meta = results, meta
	return encode(body)
}

// partError is the error of a question, with the reason that a report prints.
type partError struct {
	reason string
	cause  error
}

func (e *partError) Error() string { return e.reason }
func (e *partError) Unwrap() error { return e.cause }

// reasonOf returns an error with a reason for readers, who do not learn the causes of internal failures.
func reasonOf(err error) error {
	reason := "the query failed; the log of the server has the cause"
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
