// Package lambdahttp answers the proxy events of an API Gateway REST API (payload 1.0) with an http.Handler. It is the
// only package that depends on the format of the events and on the library that reads them.
//
// File request.go converts an event to the client's request, path.go removes the prefixes that the gateway adds to the
// path, and response.go converts the handler's response and limits its size.
//
// The gateway must treat every media type as binary (binaryMediaTypes "*/*"). It then decodes answers in base64, and
// compressed responses are sent in base64.
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

// MaxAnswer is the maximum length of an answer of Lambda: the whole JSON, including the escaped or base64 body.
const MaxAnswer = 6_291_556

// grace is the time reserved for sending an error before the function's own timeout.
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

// Invoke answers one event. It returns an error only if the event is not a request; other failures are HTTP errors.
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
		h.log.LogAttrs(ctx, slog.LevelError, "answer refused", slog.String("request_id", id),
			slog.String("error", err.Error()))
		w = newRecorder()
		h.writeError(w, http.StatusRequestEntityTooLarge, err.Error(), id)
		return w.answer(event.HTTPMethod)
	}
	return answer, nil
}

var errNoRequest = errors.New("the event is not a request: " +
	"this function answers proxy events of an API Gateway REST API (payload 1.0, with httpMethod and path); " +
	"HTTP APIs and function URLs send payload 2.0 by default")

// serve calls the handler. If the handler panics, serve answers with an error.
func (h *Handler) serve(ctx context.Context, w *recorder, event events.APIGatewayProxyRequest, id string) {
	defer func() {
		if cause := recover(); cause != nil {
			h.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("request_id", id),
				slog.String("error", fmt.Sprintf("%v\n%s", cause, debug.Stack())))
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

// requestID returns the gateway's request id, which is also in the gateway's log, or else the id of the invocation.
func requestID(ctx context.Context, event events.APIGatewayProxyRequest) string {
	if id := event.RequestContext.RequestID; id != "" {
		return id
	}
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		return invocation.AwsRequestID
	}
	return ""
}
