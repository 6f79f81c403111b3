package answering

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// Reports makes reports: reportapi.Maker. It is not a part of this package, so that programs that make no reports stay
// small.
type Reports interface {
	// Make returns a report in the media type of the request. It asks its questions with ask. It returns the
	// errors of Searcher.
	Make(ctx context.Context, ask Ask, r ReportRequest) ([]byte, error)
	// Policy returns the Content-Security-Policy of reports in HTML.
	Policy() string
	// Document returns a value of the type of reports in JSON.
	Document() any
	// Estimate returns the meta of a dry run of a report: what all of its questions would read and cost together. It
	// returns the errors of Make.
	Estimate(ctx context.Context, ask Ask, r ReportRequest) (search.Meta, error)
}

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

const reportID = "report"

// reportFormats maps the values of the parameter format to media types.
var reportFormats = map[string]string{
	"html": content.HTML, "text": content.Text, "csv": content.CSV, "json": content.JSON, "mail": content.Mail,
}

// reportOffers are the media types of reports, the default first.
var reportOffers = []string{content.HTML, content.Text, content.CSV, content.JSON, content.Mail}

// reportRoutes returns the route of reports, if there are any, and its POST form.
func (s *server) reportRoutes() []route.Route {
	if s.Reports == nil {
		return nil
	}
	get := route.Route{
		ID:       reportID,
		Path:     "/data/report",
		Tag:      route.DataTag,
		Searches: true,
		Summary:  "Report about a period",
		Doc: "Makes a report for people: verdict, figures, chart, attackers, targets, rules, what passed, and what " +
			"changed. The server asks other data routes up to 23 questions, and further ones to find incidents and " +
			"changes of settings. If a question fails, the report lacks that part and says so.",
		Scope:   keys.DataRead,
		Offers:  reportOffers,
		Params:  reportParams(),
		Headers: []parameter.Parameter{parameter.Syntax},
		Answers: []route.Response{{
			Status: http.StatusOK, Doc: "The report.", Value: s.Reports.Document(), Other: Estimated{},
			Texts: []string{content.HTML, content.Text, content.CSV, content.Mail},
		}},
		Errors: route.QueryErrors,
	}
	return bothForms(get, s.answerReport)
}

func reportParams() []parameter.Parameter {
	text := func(name, doc, example string, values ...any) parameter.Parameter {
		schema := &huma.Schema{Type: "string", Enum: values}
		if len(values) > 0 {
			schema.Default = values[0]
		}
		return parameter.Parameter{Name: name, Doc: doc, Schema: schema, Example: example, Read: parameter.ReadText}
	}
	return []parameter.Parameter{
		parameter.Filters,
		text("template", "traffic: all parts; attack: without changes.", "attack", "traffic", "attack"),
		text("compare", "previous: compare with the hour, day, week or month before, or the same length of time before; "+
			"same-weekday: with the same time a week before, or as many weeks before as the period is long.",
			"none", "previous", "same-weekday", "none"),
		text("tz", "IANA name of the zone of the calendar, of `today` and of `yesterday`. By default UTC.",
			"Europe/Berlin"),
		text("title", "Title, at most 120 characters, without control characters.", "Traffic of the shop"),
		text("link", "Base URL of the console, for links. By default the address that the server is configured with; without one, "+
			"only reports that are asked for at a loopback address have links.", "https://console.example"),
		text(parameter.FormatName, "The form of the report. By default it is the one that `Accept` prefers.", "html",
			"html", "text", "csv", "json", "mail"),
		parameter.Boolean(dryRunName, "true: the report is not made. The answer is JSON without results, and "+
			"`meta.estimate` has what its questions would read and cost together."),
	}
}

// answerReport answers with a report, or with its estimate.
func (s *server) answerReport(c *route.Call, args parameter.Arguments) error {
	c.Filters = args[parameter.Filters.Name]
	switch dry, err := search.DryRun(args[dryRunName]); {
	case err != nil:
		return err
	case dry:
		return s.estimateReport(c, args)
	}
	mediaType := c.Accepts
	if name := args[parameter.FormatName]; name != "" {
		if mediaType = reportFormats[name]; mediaType == "" {
			return representation.UnknownFormat(name, reportFormatNames())
		}
	}
	if mediaType == "" {
		return problem.NotAcceptable(reportOffers)
	}
	body, err := s.makeReport(c, s.reportRequest(c, args, mediaType))
	if err != nil {
		return stillRunning(c, err, "")
	}
	if mediaType == content.HTML {
		c.Writer.Header().Set("Content-Security-Policy", s.Reports.Policy())
		mediaType += "; charset=utf-8"
	}
	c.Send(route.Answer{Status: http.StatusOK, ContentType: mediaType, Body: body})
	return nil
}

// reportRequest returns the request for a report in a media type.
func (s *server) reportRequest(c *route.Call, args parameter.Arguments, mediaType string) ReportRequest {
	r := ReportRequest{
		Filters: c.Filters, Form: parameter.SyntaxOf(c.Request.Header), MediaType: mediaType, Template: args["template"],
		Compare: args["compare"], Zone: args["tz"], Title: args["title"], Link: args["link"],
		Server: s.Address, Now: s.present(),
	}
	if r.Link == "" {
		r.Link = s.consoleOf(c.Request)
	}
	return r
}

// makeReport makes a report within the time that a request has. Queries that take longer go on, and a repeated request
// joins them.
func (s *server) makeReport(c *route.Call, r ReportRequest) ([]byte, error) {
	var body []byte
	err := s.inTime(c, func(ctx context.Context, ask Ask) (err error) {
		body, err = s.Reports.Make(ctx, ask, r)
		return err
	})
	return body, err
}

// inTime answers several questions within the time that a request has.
func (s *server) inTime(c *route.Call, answer func(ctx context.Context, ask Ask) error) error {
	ctx, ask := c.Request.Context(), s.asker(c)
	if s.ReportTimeout == 0 {
		return answer(ctx, ask)
	}
	ctx, cancel := context.WithTimeout(ctx, s.ReportTimeout)
	defer cancel()
	var late atomic.Bool
	err := answer(ctx, func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		body, err := ask(ctx, to, params)
		if errors.As(err, new(*search.TimeoutError)) || errors.Is(err, context.DeadlineExceeded) {
			late.Store(true)
		}
		return body, err
	})
	if late.Load() || errors.As(err, new(*search.TimeoutError)) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return problem.ErrGoesOn
	}
	return err
}

func reportFormatNames() []string {
	names := make([]string, 0, len(reportFormats))
	for name := range reportFormats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// consoleOf returns the address of the console for links. The Host header is not trusted, because a client or a proxy
// may send any: only a loopback name leads nowhere else.
func (s *server) consoleOf(r *http.Request) string {
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
