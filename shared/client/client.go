// Package client is a client of the API, for programs in Go. It answers with types, reads all pages of records, waits
// for queries that outlive their requests, and repeats requests that a busy server refuses.
//
// It depends on the standard library alone, and on packages that do. Package api and its README.md describe the API itself.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/pause"
)

// Client sends requests to a server. Its methods may be called at the same time.
type Client struct {
	// BaseURL is the address of the server, such as https://example.com or, behind a stage of a gateway,
	// https://example.com/live. It may end with the base path of the API.
	BaseURL string
	// Key is the API key; "" for none.
	Key string
	// HTTP sends the requests; nil for http.DefaultClient. A timeout of it must be longer than the time limit of the
	// server, which is 29 seconds on AWS.
	HTTP *http.Client
	// Retries is how often a request is repeated that the server refuses with 429 or 503; 0 for DefaultRetries,
	// negative for never.
	Retries int
	// Busy is called before the client waits for a server that has refused a request with 429 or 503; nil: nothing is.
	Busy func(refused *Error, wait time.Duration)
	// Pause waits until d is over or ctx is done, and returns the error of ctx; nil for a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

const (
	// DefaultRetries is the default of Client.Retries.
	DefaultRetries = 4
	// maxPause is the longest time between two requests, whatever the server asks for. So with DefaultRetries a refused
	// request takes at most four minutes.
	maxPause = time.Minute
	// basePath is the base path of the API that the client uses.
	basePath = "/api/v4.0"
)

// Request is one request to the API.
type Request struct {
	Method string // GET, POST, PUT or DELETE
	Path   string // below the base path of the API, such as /data/logs, with a query string if it has one
	Header http.Header
	Body   []byte // JSON, unless Header has another Content-Type; nil for none
}

// Response is the answer to a request that succeeded.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and returns the answer. It waits for a query that outlives its request: it asks for the answer in
// the intervals of Retry-After until the query has ended. It repeats requests that the server refused because it was
// busy, unless they change something, after the time in Retry-After, which may be up to a minute. An answer that
// reports a failure is an *Error. If the deadline of ctx is before the next request, Do does not wait for it: it
// returns the *Error of the refusal, or context.DeadlineExceeded while a query is running.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	for attempt := 0; ; attempt++ {
		response, at, err := c.send(ctx, r)
		if err != nil {
			return Response{}, err
		}
		wait := pauseOf(response.Header, attempt)
		location := response.Header.Get("Location")
		switch {
		case location != "" && (response.Status == http.StatusAccepted || response.Status == http.StatusGatewayTimeout):
			return c.await(ctx, at, location, wait)
		case response.Status/100 == 2 || response.Status == http.StatusNotModified:
			return response, nil
		case !busy(response.Status) || changes(r) || attempt >= c.retries():
			return Response{}, errorOf(response, at)
		}
		if err := c.pauseBusy(ctx, wait, errorOf(response, at)); err != nil {
			return Response{}, err
		}
	}
}

// await asks for the answer of a running query until it has ended.
func (c *Client) await(ctx context.Context, at *url.URL, location string, wait time.Duration) (Response, error) {
	to, err := at.Parse(location)
	if err != nil || to.Host != at.Host || to.Scheme != at.Scheme {
		return Response{}, fmt.Errorf("the server answers with the location %q, which is not its own", location)
	}
	for refused, refusal := 0, (*Error)(nil); ; {
		if err := c.pauseBusy(ctx, wait, refusal); err != nil {
			return Response{}, err
		}
		refusal = nil
		response, err := c.sendTo(ctx, to, Request{Method: http.MethodGet})
		switch {
		case err != nil:
			return Response{}, err
		case response.Status == http.StatusAccepted:
			refused = 0
		case response.Status/100 == 2:
			return response, nil
		case response.Header.Get("Retry-After") == "": // the query has failed
			return Response{}, errorOf(response, to)
		case response.Status == http.StatusGatewayTimeout:
			refused = 0
		case busy(response.Status) && refused < c.retries():
			refused++
			refusal = errorOf(response, to)
		default:
			return Response{}, errorOf(response, to)
		}
		wait = pauseOf(response.Header, refused)
	}
}

// busy reports whether a status asks to repeat the request later.
func busy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// changes reports whether a request may change something. POST routes of the API that are not about data do.
func changes(r Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return false
	case http.MethodPost:
		return !strings.HasPrefix(r.Path, "/data/") && !strings.HasPrefix(r.Path, "/filters/")
	}
	return true
}

func (c *Client) retries() int {
	if c.Retries == 0 {
		return DefaultRetries
	}
	return max(0, c.Retries)
}

// pauseOf returns the time that the server asks to wait, or without Retry-After one that doubles with each attempt.
func pauseOf(h http.Header, attempt int) time.Duration {
	wait := time.Second << min(attempt, 6)
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && seconds >= 0 {
		wait = time.Duration(min(seconds, int(maxPause/time.Second))) * time.Second
	}
	return min(wait, maxPause)
}

// pauseBusy waits for d: for a running query, or because of a refusal if it is not nil. It returns an error at once if
// the deadline of ctx is earlier.
func (c *Client) pauseBusy(ctx context.Context, d time.Duration, refusal *Error) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d && ctx.Err() == nil {
		if refusal != nil {
			return refusal
		}
		return context.DeadlineExceeded
	}
	if refusal != nil && c.Busy != nil {
		c.Busy(refusal, d)
	}
	return c.pause(ctx, d)
}

func (c *Client) pause(ctx context.Context, d time.Duration) error {
	if c.Pause != nil {
		return c.Pause(ctx, d)
	}
	return pause.For(ctx, d)
}

// send sends a request once and returns the URL to which it was sent.
func (c *Client) send(ctx context.Context, r Request) (Response, *url.URL, error) {
	to, err := url.Parse(baseOf(c.BaseURL) + basePath + r.Path)
	switch {
	case err != nil:
		return Response{}, nil, fmt.Errorf("the address of the server: %w", err)
	case to.Scheme != "http" && to.Scheme != "https" || to.Host == "":
		return Response{}, nil, fmt.Errorf("the address of the server is %q, not one such as https://example.com",
			c.BaseURL)
	}
	response, err := c.sendTo(ctx, to, r)
	return response, to, err
}

func (c *Client) sendTo(ctx context.Context, to *url.URL, r Request) (Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, to.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, err
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	if r.Body != nil {
		if request.Header.Get("Content-Type") == "" {
			request.Header.Set("Content-Type", "application/json")
		}
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	sender := c.HTTP
	if sender == nil {
		sender = http.DefaultClient
	}
	response, err := sender.Do(request)
	if err != nil {
		return Response{}, err
	}
	var body bytes.Buffer
	if n := response.ContentLength; n > 0 && n <= maxRoom {
		body.Grow(int(n) + bytes.MinRead) // then nothing is copied
	}
	_, err = body.ReadFrom(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return Response{}, fmt.Errorf("read the answer: %w", err)
	}
	return Response{response.StatusCode, response.Header, body.Bytes()}, nil
}

// maxRoom is the largest length of an answer, as its header announces it, for which memory is reserved.
const maxRoom = 16 << 20

// baseOf removes the base path of the API from the address of a server.
func baseOf(address string) string {
	address = strings.TrimRight(address, "/")
	if i := strings.LastIndex(address, "/api/v"); i >= 0 && !strings.Contains(address[i+len("/api/v"):], "/") {
		return address[:i]
	}
	return address
}

// Error is an answer that reports a failure.
type Error struct {
	Status  int
	Message string `json:"message"`
	// Errors are the mistakes in a filter, with a status of 400, or of 422 if all of them are references to records.
	// Offsets and lengths are in bytes of the filter.
	Errors []FilterError `json:"errors"`
	Fixed  string        `json:"fixed_filter"` // the corrected filter, if the server knows one
	// Detail lists the invalid parameters or members of a body, with a status of 422.
	Detail    []Invalid `json:"detail"`
	RequestID string    `json:"request_id"` // finds the failure in the log of the server
}

// FilterError is a mistake in a filter.
type FilterError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Offset  int    `json:"offset"`
	Length  int    `json:"length"`
	// Parameter is the parameter with the filter, if that is not filters.
	Parameter string `json:"parameter"`
}

// Invalid is an invalid parameter or member of a body.
type Invalid struct {
	Loc []any  `json:"loc"`
	Msg string `json:"msg"`
}

// errorOf returns the error of an answer.
func errorOf(r Response, at *url.URL) *Error {
	e := &Error{}
	if json.Unmarshal(r.Body, e) != nil || e.Message == "" {
		e.Message = fmt.Sprintf("%s answered %d", at.Host, r.Status)
	}
	e.Status = r.Status
	return e
}

func (e *Error) Error() string {
	lines, details := []string{e.Message}, e.Detail
	if len(details) == 1 && strings.Contains(e.Message, details[0].Msg) {
		details = nil // the message says it
	}
	for _, d := range details {
		where := make([]string, len(d.Loc))
		for i, part := range d.Loc {
			where[i] = fmt.Sprint(part)
		}
		lines = append(lines, fmt.Sprintf("  %s: %s", strings.Join(where, "."), d.Msg))
	}
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		lines = append(lines, "  request id: "+e.RequestID)
	}
	return strings.Join(lines, "\n")
}
