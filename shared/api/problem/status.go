package problem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search"
)

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
	panic(fmt.Sprintf("problem: no status for kind %d", kind))
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

// failedSentences replace the fixed sentences about asking again if the query of a client has failed.
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
	h.Set("Content-Type", content.JSON)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", requestID)
	w.WriteHeader(status)
	_, _ = w.Write(content.Encode(newError(status, message, requestID))) // the caller may be gone
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

// Repeatable reports whether responses with a status say when to send the request again.
func Repeatable(status int) bool { return retryAfter[status] > 0 }

// SetHeaders sets the headers of the error response.
func (e Error) SetHeaders(h http.Header) {
	var refused *Refusal
	if errors.As(e.cause, &refused) {
		if refused.Allow != "" {
			h.Set("Allow", refused.Allow)
		}
		if refused.Closes {
			h.Set("Connection", "close")
		}
	}
	if e.Code == http.StatusUnauthorized {
		h.Add("WWW-Authenticate", `Basic realm="orrery", charset="UTF-8"`)
		h.Add("WWW-Authenticate", `Bearer realm="orrery"`)
	}
	if wait, retry := retryAfter[e.Code]; retry && !e.failed && fault.KindOf(e.cause) != fault.Damaged {
		var known *fault.Error
		if errors.As(e.cause, &known) && known.RetryAfter > 0 {
			wait = known.RetryAfter
		}
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// Log logs the cause of the error of a request to a route.
func (e Error) Log(ctx context.Context, log *slog.Logger, route string) {
	event := "failed"
	switch {
	case fault.KindOf(e.cause) == fault.Damaged:
		event = "damaged object" // an alarm counts these events
	case goesOn(e.cause):
		event = "still running" // the alarm about failed requests leaves these out
	}
	log.LogAttrs(ctx, e.level(), event, slog.String("request_id", e.RequestID), slog.String("route", route),
		slog.String("error", e.cause.Error()))
}

// level returns the log level of the failure. It is a warning if a query was refused because too many run, or if it is
// still running: that is normal operation. Unlike a failure of a component, a refusal wraps no cause. That a folder is
// read-only is the decision of its operator.
func (e Error) level() slog.Level {
	if fault.KindOf(e.cause) == fault.ReadOnly {
		return slog.LevelInfo
	}
	var known *fault.Error
	refused := errors.As(e.cause, &known) && known.Kind == fault.Unavailable && known.Err == nil
	if refused || goesOn(e.cause) {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// goesOn reports whether the queries of a request go on after its answer.
func goesOn(err error) bool {
	return errors.As(err, new(*search.TimeoutError)) || errors.Is(err, ErrReportGoesOn) ||
		errors.Is(err, ErrIncidentsGoOn)
}
