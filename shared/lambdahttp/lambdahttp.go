// Package lambdahttp lets an http.Handler answer the proxy events of an API Gateway REST API (payload 1.0). It is
// the only place that knows their shape and the library that reads them.
//
// An event takes this way: request.go makes it the request that the client sent, path.go takes off what the gateway
// put before the path, the handler answers, and response.go makes that the answer, no larger than Lambda carries.
//
// The gateway must be told that every media type may be binary (binaryMediaTypes "*/*"): it then decodes the
// answers that go in base64, which compressed ones do.
package lambdahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// MaxAnswer is how many bytes Lambda carries of an answer: all of its JSON, the body escaped or in base64 in it.
const MaxAnswer = 6_291_556

// grace is what is kept of a function's time for saying that time ran out.
const grace = 500 * time.Millisecond

// Handler answers events with an http.Handler. It implements lambda.Handler.
type Handler struct {
	handler    http.Handler
	writeError ErrorWriter
	log        *slog.Logger
}

// ErrorWriter writes an error response in the format of the http.Handler. A 5xx response does not contain the message.
type ErrorWriter func(w http.ResponseWriter, status int, message, requestID string)

// New returns a handler of events. If a request does not reach the http.Handler, or its answer cannot be sent,
// writeError answers instead and the log gets the cause.
func New(handler http.Handler, writeError ErrorWriter, log *slog.Logger) *Handler {
	return &Handler{handler, writeError, log}
}

// Invoke answers one event. Whatever happens to a request is an answer: only an event that is no request is an error.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	if event.HTTPMethod == "" || event.Path == "" {
		return nil, errNoRequest
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-grace))
		defer cancel()
	}
	id := requestID(ctx, event)
	w := newRecorder()
	h.serve(ctx, w, event, id)
	answer, err := w.answer(event.HTTPMethod)
	if err != nil {
		h.log.LogAttrs(ctx, slog.LevelError, "answer refused", slog.String("request_id", id), slog.String("error", err.Error()))
		w = newRecorder()
		h.writeError(w, http.StatusRequestEntityTooLarge, err.Error(), id)
		return w.answer(event.HTTPMethod)
	}
	return answer, nil
}

var errNoRequest = errors.New("the event is no request: this function answers proxy events of an API Gateway REST API " +
	"(payload 1.0, with httpMethod and path); an HTTP API or a function URL sends 2.0 unless told otherwise")

// serve lets the handler answer. A panic that it did not answer itself is answered here.
func (h *Handler) serve(ctx context.Context, w *recorder, event events.APIGatewayProxyRequest, id string) {
	defer func() {
		if cause := recover(); cause != nil {
			h.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("request_id", id), slog.String("error", fmt.Sprintf("%v\n%s", cause, debug.Stack())))
			*w = *newRecorder()
			h.writeError(w, http.StatusInternalServerError, "", id)
		}
	}()
	r, err := requestOf(ctx, event, id)
	if err != nil {
		h.writeError(w, http.StatusBadRequest, "the request cannot be read: "+err.Error(), id)
		return
	}
	h.handler.ServeHTTP(w, r)
}

// requestID is the id that the gateway logs, too; of an event without one, the id of the invocation.
func requestID(ctx context.Context, event events.APIGatewayProxyRequest) string {
	if id := event.RequestContext.RequestID; id != "" {
		return id
	}
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		return invocation.AwsRequestID
	}
	return ""
}
