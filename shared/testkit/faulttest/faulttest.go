// Package faulttest injects faults into the network between a client and a server in tests. A script decides the fault
// of each request, so the same script gives the same faults. The package neither sleeps nor reads a clock.
package faulttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// Fault is the fault of one request.
type Fault int

const (
	None Fault = iota
	// Throttle refuses the request for its rate, with 503 SlowDown, or 400 ThrottlingException for requests in JSON.
	// The server does not get the request.
	Throttle
	// Fail refuses the request with 500 InternalError. The server does not get the request.
	Fail
	// Break breaks the connection before the request is sent.
	Break
	// Lose sends the request, but breaks the connection before the response.
	Lose
	// FailLate sends the request, but responds with 500 InternalError.
	FailLate
	// Duplicate sends the request twice and returns the second response.
	Duplicate
	// Cut sends the request, but ends the body of the response in the middle.
	Cut
	// Delay breaks the connection. The server gets the request later, when Deliver is called.
	Delay
)

// Script returns the fault of the n-th request, counted from 0.
type Script func(n int, r *http.Request) Fault

// Transport is an http.RoundTripper that injects the faults of a script. Several goroutines may use it; it numbers
// their requests in the order in which they arrive.
type Transport struct {
	Base   http.RoundTripper // nil for http.DefaultTransport
	Script Script
	// Before, if not nil, is called before a request is sent. A test can use it to do something in the meantime, or to
	// hold the request until others are done.
	Before func(n int, r *http.Request)

	mu      sync.Mutex
	sent    int
	delayed []*http.Request
}

// ErrBroken is the error of a broken connection.
var ErrBroken = errors.New("faulttest: the connection broke")

// RoundTrip sends one request with the fault of the script.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	n := t.number()
	if t.Before != nil {
		t.Before(n, r)
	}
	switch fault := t.Script(n, r); fault {
	case None:
		return t.base().RoundTrip(r)
	case Throttle, Fail:
		if err := discard(r.Body); err != nil {
			return nil, err
		}
		return refusal(r, fault), nil
	case Break:
		return nil, errors.Join(ErrBroken, discard(r.Body))
	case Lose:
		return nil, errors.Join(ErrBroken, t.send(r))
	case FailLate:
		if err := t.send(r); err != nil {
			return nil, err
		}
		return refusal(r, Fail), nil
	case Duplicate:
		return t.sendTwice(r)
	case Cut:
		return t.cut(r)
	case Delay:
		return nil, errors.Join(ErrBroken, t.delay(r))
	default:
		panic(fmt.Sprintf("faulttest: unknown fault %d", fault))
	}
}

// Requests returns the number of requests so far.
func (t *Transport) Requests() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

func (t *Transport) number() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent++
	return t.sent - 1
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// send sends a request and discards its response.
func (t *Transport) send(r *http.Request) error {
	response, err := t.base().RoundTrip(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// sendTwice sends a request two times and returns the second response.
func (t *Transport) sendTwice(r *http.Request) (*http.Response, error) {
	again, err := copyOf(r)
	if err != nil {
		return nil, err
	}
	if err := t.send(r); err != nil {
		return nil, err
	}
	return t.base().RoundTrip(again)
}

// delay keeps a copy of a request for Deliver.
func (t *Transport) delay(r *http.Request) error {
	kept, err := copyOf(r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delayed = append(t.delayed, kept.WithContext(context.WithoutCancel(r.Context())))
	return discard(r.Body)
}

// Deliver sends the delayed requests, discards their responses and returns the number of requests.
func (t *Transport) Deliver() (int, error) {
	t.mu.Lock()
	delayed := t.delayed
	t.delayed = nil
	t.mu.Unlock()
	for _, r := range delayed {
		if err := t.send(r); err != nil {
			return 0, err
		}
	}
	return len(delayed), nil
}

// copyOf returns a copy of a request. Both requests can be sent.
func copyOf(r *http.Request) (*http.Request, error) {
	other := r.Clone(r.Context())
	if r.Body == nil {
		return other, nil
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	r.Body, other.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	return other, nil
}

// cut sends a request and returns a response with half of the body.
func (t *Transport) cut(r *http.Request) (*http.Response, error) {
	response, err := t.base().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	half := body[:(len(body)+1)/2]
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(half), errorReader{}))
	return response, nil
}

// errorReader is the missing rest of a body: reading it fails with ErrBroken.
type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.Join(ErrBroken, io.ErrUnexpectedEOF) }

// discard reads a body to its end and closes it.
func discard(body io.ReadCloser) error {
	if body == nil {
		return nil
	}
	_, err := io.Copy(io.Discard, body)
	return errors.Join(err, body.Close())
}

// refusal returns the response of a server that refuses a request: JSON with a type if the request has an X-Amz-Target
// header, XML like S3's if not.
func refusal(r *http.Request, fault Fault) *http.Response {
	status, code := http.StatusInternalServerError, "InternalError"
	kind, text := "application/xml", "<Error><Code>%s</Code><Message>a fault on demand</Message></Error>"
	if fault == Throttle {
		status, code = http.StatusServiceUnavailable, "SlowDown"
	}
	if r.Header.Get("X-Amz-Target") != "" {
		kind, text = "application/x-amz-json-1.0", `{"__type":"%s","message":"a fault on demand"}`
		if fault == Throttle {
			status, code = http.StatusBadRequest, "ThrottlingException"
		}
	}
	body := fmt.Sprintf(text, code)
	return &http.Response{
		Status:        http.StatusText(status),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Request:       r,
		Header:        http.Header{"Content-Type": {kind}, "X-Amzn-Errortype": {code}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// Never is a Script without faults.
func Never(int, *http.Request) Fault { return None }

// At returns a script with a fault at one request.
func At(number int, fault Fault) Script {
	return func(n int, _ *http.Request) Fault {
		if n == number {
			return fault
		}
		return None
	}
}

// From returns a script with a fault at one request and at all later ones.
func From(number int, fault Fault) Script {
	return func(n int, _ *http.Request) Fault {
		if n >= number {
			return fault
		}
		return None
	}
}

// Sometimes returns a script with random faults at a share of the requests, from 0 to 1. The fault of a request depends
// only on the seed and the number of the request.
func Sometimes(seed uint64, share float64, faults ...Fault) Script {
	return func(n int, _ *http.Request) Fault {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		if random.Float64() >= share {
			return None
		}
		return faults[random.IntN(len(faults))]
	}
}
