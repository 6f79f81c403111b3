package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/search"
)

// Error is the body of every error response.
type Error struct {
	Code        int             `json:"code" doc:"The status of the answer"`
	Message     string          `json:"message" doc:"What is wrong, in words"`
	Errors      []FilterMistake `json:"errors,omitempty" doc:"With 400: the mistakes of the filter, at most 20; with 422: its references to records that are not valid"`
	FixedFilter string          `json:"fixed_filter,omitempty" doc:"With 400: the corrected filter, if there is one"`
	Detail      []Detail        `json:"detail,omitempty" doc:"With 422: every invalid parameter or member of the body; with 400: a cursor of another query"`
	RequestID   string          `json:"request_id" doc:"As in X-Request-Id; identifies the request in the log"`

	filter string // the text that has the mistakes
}

// FilterMistake is one mistake in a filter.
type FilterMistake struct {
	Code       string   `json:"code" doc:"Stable name of the kind of mistake; see the reference of the filter language"`
	Message    string   `json:"message"`
	Offset     int      `json:"offset" doc:"Where it begins, in UTF-8 bytes of the filter"`
	Length     int      `json:"length" doc:"How long it is, in UTF-8 bytes"`
	Line       int      `json:"line" doc:"Line of the filter, from 1"`
	Column     int      `json:"column" doc:"Character of the line, from 1"`
	Pointer    string   `json:"pointer,omitempty" doc:"JSON pointer, for a filter in the JSON form"`
	Expected   []string `json:"expected,omitempty" doc:"What is expected instead"`
	Suggestion string   `json:"suggestion,omitempty" doc:"The most likely meaning"`
	Parameter  string   `json:"parameter,omitempty" doc:"The parameter that has the filter, if it is not filters"`
}

// Detail is one invalid part of a request.
type Detail struct {
	Loc  []any  `json:"loc" doc:"Its place: query, path, header or body, then names and indexes"`
	Msg  string `json:"msg"`
	Type string `json:"type" doc:"Stable name of the kind of mistake"`
}

// details is an error made of several of them.
type details []Detail

func (d details) Error() string {
	parts := make([]string, len(d))
	for i, one := range d {
		parts[i] = one.Msg
		if len(one.Loc) > 1 {
			parts[i] = locText(one.Loc[1:]) + ": " + one.Msg
		}
	}
	return strings.Join(parts, "; ")
}

// refusal is an error specific to HTTP, with its status.
type refusal struct {
	status  int
	message string
	allow   string // value of the header Allow
	closes  bool   // nothing that follows on the connection is read
}

func (r *refusal) Error() string { return r.message }

func errMethod(method, allow string) error {
	return &refusal{status: http.StatusMethodNotAllowed, allow: allow,
		message: fmt.Sprintf("%s is not supported here; use one of %s", method, allow)}
}

func errNotAcceptable(offers []string) error {
	message := "the answer is available only as " + strings.Join(offers, " or ")
	return &refusal{status: http.StatusNotAcceptable, message: message}
}

func errMediaType(got string, want ...string) error {
	if got == "" {
		got = "a body without Content-Type"
	}
	return &refusal{status: http.StatusUnsupportedMediaType, message: fmt.Sprintf(
		"%s is not supported here; send %s in UTF-8", got, strings.Join(want, " or "))}
}

func errEncodedBody(coding string) error {
	return &refusal{status: http.StatusUnsupportedMediaType, message: fmt.Sprintf(
		"a body with Content-Encoding %s is not supported here; send it as it is, without that header", coding)}
}

func errTransferEncoding() error {
	return &refusal{status: http.StatusBadRequest, closes: true,
		message: "Transfer-Encoding is not supported here; send the length of the body as Content-Length"}
}

func errNoEncoding() error {
	return &refusal{status: http.StatusNotAcceptable, message: "Accept-Encoding refuses every form of the answer, " +
		"which is available as zstd, as gzip, or not compressed (identity)"}
}

// statusOf maps kinds of failure to statuses.
func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Internal:
		return http.StatusInternalServerError
	case fault.Invalid, fault.EngineLimit:
		return http.StatusUnprocessableEntity
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusPreconditionFailed
	case fault.Precondition:
		return http.StatusPreconditionRequired
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.TooMany:
		return http.StatusTooManyRequests
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.RegexRefused:
		return http.StatusBadRequest
	case fault.Full, fault.ReadOnly:
		return http.StatusInsufficientStorage
	case fault.Damaged:
		return http.StatusServiceUnavailable
	case fault.Unavailable, fault.Canceled: // after a cancellation that is not the client's, it may try again
		return http.StatusServiceUnavailable
	case fault.Timeout:
		return http.StatusGatewayTimeout
	}
	panic(fmt.Sprintf("api: no status for kind %d", kind))
}

// fixedSentences are the messages of 5xx errors. Their causes are only logged.
var fixedSentences = map[int]string{
	http.StatusInternalServerError: "something went wrong on our side; the request id finds it in our log",
	http.StatusServiceUnavailable: "the service is busy or a part of it is down; " +
		"try again after the time in Retry-After",
	http.StatusInsufficientStorage: "the disk is full, so nothing was written; free space and try again",
	http.StatusGatewayTimeout: "the answer took too long; " +
		"ask for a shorter period or less, or try again after the time in Retry-After",
}

// failedSentences replace those that are about asking again, if the query of a client has failed.
var failedSentences = map[int]string{
	http.StatusServiceUnavailable: "the query failed because the service was busy or a part of it was down; " +
		"send the request itself again",
	http.StatusGatewayTimeout: "the query took longer than a query may; ask for a shorter period or less",
}

// stillRunningMessage is the message of a 504 whose query continues.
const stillRunningMessage = "the query takes longer than an answer may and is still running; " +
	"its answer will be at the Location of this one"

// WriteError writes an error response for a request that does not reach the handler, or whose answer cannot be sent. A
// 5xx response has a fixed sentence instead of the message.
func WriteError(w http.ResponseWriter, status int, message, requestID string) {
	h := w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", requestID)
	w.WriteHeader(status)
	_, _ = w.Write(encode(newError(status, message, requestID))) // the caller may be gone
}

func newError(status int, message, requestID string) Error {
	if sentence, ours := fixedSentences[status]; ours {
		message = sentence
	}
	return Error{Code: status, Message: message, RequestID: requestID}
}

// retryAfter is the default of the header Retry-After.
var retryAfter = map[int]time.Duration{
	http.StatusTooManyRequests:    time.Minute,
	http.StatusServiceUnavailable: 5 * time.Second,
	http.StatusGatewayTimeout:     30 * time.Second,
}

// fail sends an error response and logs the cause of a 5xx.
func (s *server) fail(c *call, err error) {
	e := s.errorOf(c, err)
	if e.Code >= 500 {
		if c.abandoned = c.gone(); !c.abandoned {
			event := "failed"
			switch {
			case fault.KindOf(err) == fault.Damaged:
				event = "damaged object" // an alarm counts these events
			case goesOn(err):
				event = "still running" // the alarm about failed requests leaves these out
			}
			s.Log.LogAttrs(c.r.Context(), levelOf(err), event, slog.String("request_id", c.id),
				slog.String("route", c.routeID()), slog.String("error", err.Error()))
		}
	}
	if c.w.status != 0 {
		return // the response has begun; the client sees from its length that it is incomplete
	}
	c.errorHeaders(c.w.Header(), e.Code, err)
	c.stillRunning(err)
	body, contentType := e.text(), textType
	if negotiate(c.r.Header.Values("Accept"), jsonType, textType) != textType {
		body, contentType = encode(e), jsonType
	}
	c.send(answer{status: e.Code, contentType: contentType, body: body})
}

// levelOf returns the log level of a failure. It is a warning if a query was refused because too many run, or if it is
// still running: that is normal operation. Unlike a failure of a component, a refusal wraps no cause. That a folder is
// read-only is the decision of its operator.
func levelOf(err error) slog.Level {
	if fault.KindOf(err) == fault.ReadOnly {
		return slog.LevelInfo
	}
	var known *fault.Error
	refused := errors.As(err, &known) && known.Kind == fault.Unavailable && known.Err == nil
	if refused || goesOn(err) {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// goesOn reports whether the queries of a request go on after its answer, which is no failure then.
func goesOn(err error) bool {
	return errors.As(err, new(*search.TimeoutError)) || errors.Is(err, errReportGoesOn)
}

// errorOf returns the body of an error response.
func (s *server) errorOf(c *call, err error) Error {
	e := Error{RequestID: c.id}
	var (
		inFilter  *query.FilterError
		inParam   *search.ParamError
		inRequest details
		inPlanet  planet.Problems
		inReport  definition.Problems
		refused   *refusal
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
				loc := []any{c.place(), cmp.Or(m.Parameter, filtersParam.name)}
				e.Detail = append(e.Detail, Detail{Loc: loc, Msg: m.Message, Type: m.Code})
			}
		}
	case errors.As(err, &inParam):
		e.Code = http.StatusUnprocessableEntity
		if inParam.Code == search.CursorOfOtherQuery {
			e.Code = http.StatusBadRequest
		}
		e.Detail = details{{
			Loc:  []any{c.place(), inParam.Param},
			Msg:  inParam.Message,
			Type: cmp.Or(inParam.Code, "value_error"),
		}}
		e.Message = inParam.Error()
	case errors.As(err, &inRequest):
		e.Code = http.StatusUnprocessableEntity
		e.Detail = inRequest
		e.Message = inRequest.Error()
	case errors.As(err, &inPlanet):
		e.Code = http.StatusUnprocessableEntity
		for _, p := range inPlanet {
			e.Detail = append(e.Detail, Detail(p))
		}
		e.Message = details(e.Detail).Error()
	case errors.As(err, &inReport):
		e.Code = http.StatusUnprocessableEntity
		e.Detail = detailsOf(inReport)
		e.Message = details(e.Detail).Error()
	case errors.As(err, &refused):
		e.Code, e.Message = refused.status, refused.message
	case errors.As(err, &tooLarge):
		e.Code = http.StatusRequestEntityTooLarge
		e.Message = fmt.Sprintf("the body may have at most %d bytes", tooLarge.Limit)
	case errors.As(err, &known):
		e.Code, e.Message = statusOf(known.Kind), known.Message
	case c.gone():
		e.Code = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		e.Code = http.StatusGatewayTimeout
	default:
		e.Code = http.StatusInternalServerError
	}
	switch fault.KindOf(err) {
	case fault.EngineLimit:
		e.Detail = details{{Loc: []any{c.place(), "filters"}, Msg: e.Message, Type: "engine_limit"}}
	case fault.RegexRefused:
		wholeFilter := filter.Span{Length: len(c.filters)}
		mistake := filter.Error{Code: "regex_refused", Message: e.Message, Span: wholeFilter}
		e.Errors, e.filter = mistakesOf(c.filters, filter.Errors{mistake}), c.filters
	}
	if e.Code == http.StatusUnprocessableEntity && e.Detail == nil {
		e.Detail = details{{Loc: []any{c.place()}, Msg: e.Message, Type: "value_error"}}
	}
	if errors.As(err, new(*search.TimeoutError)) {
		return Error{Code: e.Code, Message: stillRunningMessage, RequestID: c.id}
	}
	switch fault.KindOf(err) {
	case fault.Damaged: // the message names the hours without which the same query succeeds
		return e
	case fault.ReadOnly: // it names the folder as a whole, or a file in it
		return e
	}
	if sentence := failedSentences[e.Code]; c.failed && sentence != "" {
		return Error{Code: e.Code, Message: sentence, RequestID: c.id}
	}
	if _, ours := fixedSentences[e.Code]; ours {
		return newError(e.Code, "", c.id)
	}
	return e
}

func (c *call) errorHeaders(h http.Header, status int, err error) {
	var refused *refusal
	if errors.As(err, &refused) {
		if refused.allow != "" {
			h.Set("Allow", refused.allow)
		}
		if refused.closes {
			h.Set("Connection", "close")
		}
	}
	if status == http.StatusUnauthorized {
		h.Add("WWW-Authenticate", `Basic realm="orrery", charset="UTF-8"`)
		h.Add("WWW-Authenticate", `Bearer realm="orrery"`)
	}
	if wait, retry := retryAfter[status]; retry && !c.failed && fault.KindOf(err) != fault.Damaged {
		var known *fault.Error
		if errors.As(err, &known) && known.RetryAfter > 0 {
			wait = known.RetryAfter
		}
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// place returns the location of the parameters: "query", or "body" of a POST.
func (c *call) place() string {
	if c.r.Method == http.MethodPost {
		return "body"
	}
	return "query"
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

// text returns the error as plain text. Mistakes of a filter are marked under its lines.
func (e Error) text() []byte {
	var b strings.Builder
	if len(e.Errors) > 0 {
		if of := e.Errors[0].Parameter; of != "" {
			b.WriteString(of + ":\n")
		}
		drawn := make(filter.Errors, len(e.Errors))
		for i, m := range e.Errors {
			drawn[i] = filter.Error{
				Code:       m.Code,
				Message:    m.Message,
				Span:       filter.Span{Offset: m.Offset, Length: m.Length},
				Suggestion: m.Suggestion,
			}
		}
		b.WriteString(strings.TrimRight(filter.Draw(e.filter, drawn), "\n"))
		b.WriteByte('\n')
	} else {
		b.WriteString(e.Message + "\n")
	}
	if e.FixedFilter != "" {
		b.WriteString("\ncorrected:\n  " + e.FixedFilter + "\n")
	}
	if len(e.Errors) > 0 {
		e.Detail = nil // the same mistakes
	}
	for _, d := range e.Detail {
		fmt.Fprintf(&b, "  %s: %s\n", locText(d.Loc), d.Msg)
	}
	fmt.Fprintf(&b, "\nrequest id: %s\n", e.RequestID)
	return []byte(b.String())
}

func locText(loc []any) string {
	parts := make([]string, len(loc))
	for i, part := range loc {
		parts[i] = fmt.Sprint(part)
	}
	return strings.Join(parts, ".")
}
