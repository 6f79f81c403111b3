package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/search"
)

// Searcher searches the records: *search.Service.
type Searcher interface {
	Search(ctx context.Context, r search.Request) (search.Result, error)
}

// DataConfig configures the data routes. api.Config describes the fields.
type DataConfig struct {
	Search        Searcher
	Queries       Queries
	Reports       Reports
	ReportTimeout time.Duration
	Access        *access.Access
	Address       string
	Now           func() time.Time
	PresentStep   time.Duration
	Log           *slog.Logger
}

type dataServer struct{ DataConfig }

// Container is the answer of a data route.
type Container[T any] struct {
	Data Results[T]  `json:"data"`
	Meta search.Meta `json:"meta"`
}

// Results is a list of results.
type Results[T any] struct {
	Results []T `json:"results"`
}

// present returns what relative times are relative to. It is the same on all routes.
func (s *dataServer) present() time.Time {
	return search.PresentIn(s.Now(), cmp.Or(s.PresentStep, search.PresentStep))
}

// answerData answers a question to a data route.
func (s *dataServer) answerData(c *call, to search.Route, args arguments) error {
	c.filters = args["filters"]
	as, err := formFor(c.r.Header.Values("Accept"), args, c.route.offers)
	if err != nil {
		return err
	}
	if args[dryRunName] == "true" && as.mediaType != jsonType {
		return errDryForm
	}
	r := search.Request{
		Route: to, Form: formOf(c.r.Header), Branches: c.caller.Branches, Caller: c.caller.Owner, Now: s.present(),
	}
	for name, value := range args {
		r.Set(name, value) // all but those of the form of the answer
	}
	tokens, err := s.tokensFor(c, to)
	if err != nil {
		return err
	}
	if err := decryptTokens(tokens, &r); err != nil {
		return err
	}
	if r.DryRun != "true" && s.Queries != nil && to != search.Values && prefersAsync(c.r.Header.Values("Prefer")) {
		return s.asynchronously(c, r, formQuery(args))
	}
	result, err := s.Search.Search(c.r.Context(), r)
	if err != nil {
		return stillRunning(c, err, formQuery(args))
	}
	return sendResult(c, to, result, as, tokens)
}

// errDryForm is the error of a dry run in a form of results, which has no place for an estimate.
var errDryForm = &search.ParamError{
	Param: formatName, Message: "a dry run has no results, so its answer is JSON only", Suggestion: "format=json",
}

// sendResult sends the answer of a data route. tokens encrypts the tokens of logs.
func sendResult(c *call, to search.Route, result search.Result, as form, tokens *access.Tokens) error {
	c.fingerprint, c.scanned = result.Meta.Fingerprint, result.Meta.BytesScanned
	c.engine = time.Duration(result.Meta.EngineMS * float64(time.Millisecond))
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
	panic(fmt.Sprintf("api: no answer for route %q", to))
}

// sendLogs sends as many records as fit into an answer.
func sendLogs(c *call, result search.Result, as form, tokens *access.Tokens) error {
	e := c.codings().best
	found, meta := encryptTokens(tokens, result.Logs, result.Meta)
	withLogs(e, as, found, result.Logs.Fields(), meta, func(body []byte, meta search.Meta) {
		describeForm(c.w.Header(), as, search.Logs, meta)
		c.send(answer{status: http.StatusOK, contentType: as.mediaType, encoding: e, body: body})
	})
	return nil
}

// sendResults sends all results, or returns an error if they do not fit into an answer.
func sendResults[T any](c *call, to search.Route, results []T, meta search.Meta, as form) error {
	e := c.codings().best
	body, length := resultsBody(e, as, to, results, meta)
	if length > maxAnswer {
		return errAnswerTooLarge(length)
	}
	describeForm(c.w.Header(), as, to, meta)
	c.send(answer{status: http.StatusOK, contentType: as.mediaType, encoding: e, body: body})
	return nil
}
