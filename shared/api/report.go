package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
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

// ReportRequest is a request for a report. Empty members have defaults.
type ReportRequest struct {
	Filters   string
	Form      filter.Form
	MediaType string
	Template  string
	Compare   string
	Zone      string
	Title     string
	Link      string    // base URL of the console
	Server    string    // base URL of the server, as the operator has set it
	Now       time.Time // what relative times are relative to
}

const reportID = "report"

// reportFormats maps the values of the parameter format to media types.
var reportFormats = map[string]string{
	"html": htmlType, "text": textType, "csv": csvType, "json": jsonType, "mail": mailType,
}

// reportOffers are the media types of reports, the default first.
var reportOffers = []string{htmlType, textType, csvType, jsonType, mailType}

// reportRoutes returns the route of reports, if there are any, and its POST form.
func (s *dataServer) reportRoutes() []route {
	if s.Reports == nil {
		return nil
	}
	get := route{
		id:       reportID,
		path:     "/data/report",
		tag:      dataTag,
		searches: true,
		summary:  "Report about a period",
		doc: "A report for people: verdict, figures, chart, attackers, targets, rules, what got through, what changed. " +
			"It asks up to 21 questions to other data routes. A question that fails is a part that is missing in the " +
			"report, which then says so.",
		scope:   keys.DataRead,
		offers:  reportOffers,
		params:  reportParams(),
		headers: []param{syntaxHeader},
		answers: []response{{
			status: http.StatusOK, doc: "The report.", value: s.Reports.Document(), other: Estimated{},
			texts: []string{htmlType, textType, csvType, mailType},
		}},
		errors: queryErrors,
	}
	return bothForms(get, s.answerReport)
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

// answerReport answers with a report, or with its estimate.
func (s *dataServer) answerReport(c *call, args arguments) error {
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
		return stillRunning(c, err, "")
	}
	if mediaType == htmlType {
		c.w.Header().Set("Content-Security-Policy", s.Reports.Policy())
		mediaType += "; charset=utf-8"
	}
	c.send(answer{status: http.StatusOK, contentType: mediaType, body: body})
	return nil
}

// reportRequest returns the request for a report in a media type.
func (s *dataServer) reportRequest(c *call, args arguments, mediaType string) ReportRequest {
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
func (s *dataServer) makeReport(c *call, r ReportRequest) ([]byte, error) {
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
		return nil, ErrReportGoesOn
	}
	return body, err
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
func (s *dataServer) consoleOf(r *http.Request) string {
	switch {
	case s.Address != "":
		return s.Address
	case !access.LoopbackName(r.Host):
		return ""
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
