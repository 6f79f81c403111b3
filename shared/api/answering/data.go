package answering

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/search"
)

// Searcher searches the records: *search.Service.
type Searcher interface {
	Search(ctx context.Context, r search.Request) (search.Result, error)
}

// Config configures the data routes. api.Config describes the fields.
type Config struct {
	Search        Searcher
	Queries       Queries
	Reports       Reports
	Planets       document.Store
	AtOnce        int
	ReportTimeout time.Duration
	Access        *access.Access
	Address       string
	Now           func() time.Time
	PresentStep   time.Duration
	Log           *slog.Logger
}

type server struct {
	Config
	kept asking.Kept // incidents
}

// Container is the answer of a data route.
type Container[T any] struct {
	Data Results[T]  `json:"data"`
	Meta search.Meta `json:"meta"`
}

// Results is a list of results.
type Results[T any] struct {
	Results []T `json:"results"`
}

// dryRunName is the name of the parameter of dry runs.
const dryRunName = "dry_run"

// present returns what relative times are relative to. It is the same on all routes.
func (s *server) present() time.Time {
	return search.PresentIn(s.Now(), cmp.Or(s.PresentStep, search.PresentStep))
}

// answerData answers a question to a data route.
func (s *server) answerData(c *route.Call, to search.Route, args parameter.Arguments) error {
	c.Filters = args["filters"]
	as, err := representation.Offers(c.Route.Offers).Choose(c.Request.Header.Values("Accept"), args)
	if err != nil {
		return err
	}
	if args[dryRunName] == "true" && as.MediaType != content.JSON {
		return errDryRun
	}
	marks, err := search.Boolean(search.MarksParam, args[search.MarksParam])
	switch {
	case err != nil:
		return err
	case marks && as.MediaType != content.JSON:
		return errMarks
	case marks:
		return s.answerMarked(c, to, args)
	}
	r := search.Request{
		Route: to, Syntax: parameter.SyntaxOf(c.Request.Header), Branches: c.Caller.Branches, Caller: c.Caller.Owner, Now: s.present(),
	}
	for name, value := range args {
		r.Set(name, value) // except the parameters that choose the representation
	}
	tokens, err := s.tokensFor(c, to)
	if err != nil {
		return err
	}
	if err := decryptTokens(tokens, &r); err != nil {
		return err
	}
	if r.DryRun != "true" && s.Queries != nil && to != search.Values && prefersAsync(c.Request.Header.Values("Prefer")) {
		return s.asynchronously(c, r, representation.QueryOf(args))
	}
	result, err := s.Search.Search(c.Request.Context(), r)
	if err != nil {
		return stillRunning(c, err, representation.QueryOf(args))
	}
	return sendResult(c, to, result, as, tokens)
}

// errDryRun is the error of a dry run whose representation has no place for an estimate.
var errDryRun = &search.ParamError{
	Param: parameter.FormatName, Message: "a dry run has no results, so its answer is JSON only", Suggestion: "format=json",
}

// sendResult sends the answer of a data route. tokens encrypts the tokens of logs.
func sendResult(c *route.Call, to search.Route, result search.Result, as representation.Choice, tokens *access.Tokens) error {
	c.Fingerprint, c.Scanned = result.Meta.Fingerprint, result.Meta.BytesScanned
	c.Engine = time.Duration(result.Meta.EngineMS * float64(time.Millisecond))
	switch to {
	case search.Logs:
		return sendLogs(c, result, as, tokens)
	case search.Stats:
		shortenGroups(result.Stats)
		return sendResults(c, to, result.Stats, result.Meta, as)
	case search.Timeline:
		return sendResults(c, to, result.Timeline, result.Meta, as)
	case search.TopX:
		shortenKeys(result.TopX)
		return sendResults(c, to, result.TopX, result.Meta, as)
	case search.Facets:
		shortenValues(result.Facets)
		return sendResults(c, to, result.Facets, result.Meta, as)
	case search.Histogram:
		shortenSeries(&result)
		return sendResults(c, to, result.Histogram, result.Meta, as)
	case search.Diff:
		shortenFindings(result.Diff)
		return sendResults(c, to, result.Diff, result.Meta, as)
	case search.Values:
		shortenFound(result.Values)
		return sendResults(c, to, result.Values, result.Meta, as)
	}
	panic(fmt.Sprintf("answering: no answer for route %q", to))
}

// sendLogs sends as many records as fit into an answer.
func sendLogs(c *route.Call, result search.Result, as representation.Choice, tokens *access.Tokens) error {
	e := c.Codings().Best
	found, meta := encryptTokens(tokens, result.Logs, result.Meta)
	as.SendLogs(e, found, result.Logs.Fields(), meta, func(body []byte, meta search.Meta) {
		as.SetHeaders(c.Writer.Header(), search.Logs, meta)
		c.Send(route.Answer{Status: http.StatusOK, ContentType: as.MediaType, Coding: e, Body: body})
	})
	return nil
}

// sendResults sends all results, or returns an error if they do not fit into an answer.
func sendResults[T any](c *route.Call, to search.Route, results []T, meta search.Meta, as representation.Choice) error {
	e := c.Codings().Best
	body, length := representation.Results(e, as, to, results, meta)
	if length > content.MaxAnswer {
		return problem.AnswerTooLarge(length)
	}
	as.SetHeaders(c.Writer.Header(), to, meta)
	c.Send(route.Answer{Status: http.StatusOK, ContentType: as.MediaType, Coding: e, Body: body})
	return nil
}
