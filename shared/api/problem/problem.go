// Package problem has the errors of the API: their bodies, and the only place that maps kinds of failures to statuses.
package problem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/search"
)

// Error is the body of every error response.
type Error struct {
	Code        int                `json:"code" doc:"The status of the answer"`
	Message     string             `json:"message" doc:"What is wrong, in words"`
	Errors      []FilterMistake    `json:"errors,omitempty" doc:"With 400: the mistakes of the filter, at most 20; with 422: its references to records that are not valid"`
	FixedFilter string             `json:"fixed_filter,omitempty" doc:"With 400: the corrected filter, if there is one"`
	Detail      []Detail           `json:"detail,omitempty" doc:"With 422: every invalid parameter or member of the body; with 400: a cursor of another query"`
	Estimate    *search.Estimate   `json:"estimate,omitempty" doc:"With 422 too_heavy: what the query would read and cost"`
	Fits        *search.MetaPeriod `json:"fits,omitempty" doc:"With 422 too_heavy: the newest part of the period that fits, if there is one"`
	RequestID   string             `json:"request_id" doc:"ID that the header X-Request-Id also has; it identifies the request in the log"`

	filter string // the text that has the mistakes
	cause  error
	failed bool // as of Request
}

// FilterMistake is one mistake in a filter.
type FilterMistake struct {
	Code       string   `json:"code" doc:"Stable name of the kind of mistake; see the reference of the filter language"`
	Message    string   `json:"message"`
	Offset     int      `json:"offset" doc:"Where the mistake begins, in UTF-8 bytes of the filter"`
	Length     int      `json:"length" doc:"Length of the mistake, in UTF-8 bytes"`
	Line       int      `json:"line" doc:"Number of the line in the filter, from 1"`
	Column     int      `json:"column" doc:"Number of the character in the line, from 1"`
	Pointer    string   `json:"pointer,omitempty" doc:"JSON pointer to the mistake in a filter in the JSON form"`
	Expected   []string `json:"expected,omitempty" doc:"What is expected instead"`
	Suggestion string   `json:"suggestion,omitempty" doc:"What was probably meant"`
	Parameter  string   `json:"parameter,omitempty" doc:"Name of the parameter with the filter; absent if it is filters"`
}

// Detail is one invalid part of a request.
type Detail struct {
	Loc  []any  `json:"loc" doc:"Place of the mistake: query, path, header or body, then names and indexes"`
	Msg  string `json:"msg"`
	Type string `json:"type" doc:"Stable name of the kind of mistake"`
}

// Details is an error made of several of them.
type Details []Detail

func (d Details) Error() string {
	parts := make([]string, len(d))
	for i, one := range d {
		parts[i] = one.Msg
		if len(one.Loc) > 1 {
			parts[i] = locText(one.Loc[1:]) + ": " + one.Msg
		}
	}
	return strings.Join(parts, "; ")
}

// Request is what an error response needs to know of the request.
type Request struct {
	ID      string
	Place   string // of its parameters: "query" or "body"
	Filters string // as sent
	Gone    bool   // the client has disconnected
	Failed  bool   // it asks for the answer of a query that has failed, so asking again does not help
}

// Of returns the body of the error response to a request.
func Of(err error, r Request) Error {
	e := r.problem(err)
	e.cause, e.failed = err, r.Failed
	return e
}

// problem returns the body by the kind of the error.
func (r Request) problem(err error) Error {
	e := Error{RequestID: r.ID}
	var (
		inFilter  *query.FilterError
		inParam   *search.ParamError
		tooHeavy  *search.HeavyError
		inRequest Details
		inPlanet  planet.Problems
		inReport  definition.Problems
		refused   *Refusal
		tooLarge  *http.MaxBytesError
		known     *fault.Error
	)
	switch {
	case errors.As(err, &inFilter):
		e.Code = http.StatusBadRequest
		e.Errors, e.filter = mistakesOf(inFilter.Text, inFilter.Errors), inFilter.Text
		e.FixedFilter = inFilter.Fixed
		for i := range e.Errors {
			e.Errors[i].Parameter = inFilter.Param
		}
		e.Message = summary(e.Errors)
		if inFilter.OnlyReferences() {
			e.Code = http.StatusUnprocessableEntity
			for _, m := range e.Errors {
				loc := []any{r.Place, cmp.Or(m.Parameter, "filters")}
				e.Detail = append(e.Detail, Detail{Loc: loc, Msg: m.Message, Type: m.Code})
			}
		}
	case errors.As(err, &inParam):
		e.Code = http.StatusUnprocessableEntity
		if inParam.Code == search.CursorOfOtherQuery {
			e.Code = http.StatusBadRequest
		}
		e.Detail = Details{{
			Loc:  []any{r.Place, inParam.Param},
			Msg:  inParam.Message,
			Type: cmp.Or(inParam.Code, "value_error"),
		}}
		e.Message = inParam.Error()
	case errors.As(err, &tooHeavy):
		e.Code, e.Message = http.StatusUnprocessableEntity, tooHeavy.Error()
		e.Estimate, e.Fits = tooHeavy.Estimate, tooHeavy.Fits
		e.Detail = Details{{Loc: []any{r.Place, "max_bytes"}, Msg: tooHeavy.Message(), Type: "too_heavy"}}
	case errors.As(err, &inRequest):
		e.Code = http.StatusUnprocessableEntity
		e.Detail = inRequest
		e.Message = inRequest.Error()
	case errors.As(err, &inPlanet):
		e.Code = http.StatusUnprocessableEntity
		for _, p := range inPlanet {
			e.Detail = append(e.Detail, Detail(p))
		}
		e.Message = Details(e.Detail).Error()
	case errors.As(err, &inReport):
		e.Code = http.StatusUnprocessableEntity
		e.Detail = make(Details, len(inReport))
		for i, p := range inReport {
			e.Detail[i] = Detail(p)
		}
		e.Message = Details(e.Detail).Error()
	case errors.As(err, &refused):
		e.Code, e.Message = refused.Status, refused.Message
	case errors.As(err, &tooLarge):
		e.Code = http.StatusRequestEntityTooLarge
		e.Message = fmt.Sprintf("the body may have at most %d bytes", tooLarge.Limit)
	case errors.As(err, &known):
		e.Code, e.Message = statusOf(known.Kind), known.Message
	case r.Gone:
		e.Code = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		e.Code = http.StatusGatewayTimeout
	default:
		e.Code = http.StatusInternalServerError
	}
	switch fault.KindOf(err) {
	case fault.EngineLimit:
		e.Detail = Details{{Loc: []any{r.Place, "filters"}, Msg: e.Message, Type: "engine_limit"}}
	case fault.RegexRefused:
		wholeFilter := filter.Span{Length: len(r.Filters)}
		mistake := filter.Error{Code: "regex_refused", Message: e.Message, Span: wholeFilter}
		e.Errors, e.filter = mistakesOf(r.Filters, filter.Errors{mistake}), r.Filters
	}
	if e.Code == http.StatusUnprocessableEntity && e.Detail == nil {
		e.Detail = Details{{Loc: []any{r.Place}, Msg: e.Message, Type: "value_error"}}
	}
	if errors.As(err, new(*search.TimeoutError)) {
		return Error{Code: e.Code, Message: stillRunningMessage, RequestID: r.ID}
	}
	switch fault.KindOf(err) {
	case fault.Damaged: // the message names the hours without which the same query succeeds
		return e
	case fault.ReadOnly: // it names the folder as a whole, or a file in it
		return e
	}
	if sentence := failedSentences[e.Code]; r.Failed && sentence != "" {
		return Error{Code: e.Code, Message: sentence, RequestID: r.ID}
	}
	if _, ours := fixedSentences[e.Code]; ours {
		return newError(e.Code, "", r.ID)
	}
	return e
}

func mistakesOf(text string, errs filter.Errors) []FilterMistake {
	sorted := errs.Sorted()
	mistakes := make([]FilterMistake, len(sorted))
	for i, e := range sorted {
		line, column := filter.Position(text, e.Span.Offset)
		mistakes[i] = FilterMistake{
			Code: e.Code, Message: e.Message, Offset: e.Span.Offset, Length: e.Span.Length, Line: line, Column: column,
			Pointer: e.Pointer, Expected: e.Expected, Suggestion: e.Suggestion,
		}
	}
	return mistakes
}

// summary returns a line about the first mistake of a filter and the number of others.
func summary(mistakes []FilterMistake) string {
	first := mistakes[0]
	what := cmp.Or(first.Parameter, "the filter")
	text := fmt.Sprintf("%s is invalid: line %d, column %d: %s", what, first.Line, first.Column, first.Message)
	switch more := len(mistakes) - 1; more {
	case 0:
		return text
	case 1:
		return text + " (and 1 more mistake)"
	default:
		return fmt.Sprintf("%s (and %d more mistakes)", text, more)
	}
}
