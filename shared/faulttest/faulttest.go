// Package faulttest makes the network between a client and a server misbehave, in the way a script says: the same script,
// the same faults. It is a tool of tests; nothing in it sleeps or looks at a clock.
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

// Fault is what happens to a request.
type Fault int

const (
	None      Fault = iota
	Throttle        // refused for its rate: 503 SlowDown, or 400 ThrottlingException where requests are JSON; nothing was carried out
	Fail            // 500 InternalError; nothing was carried out
	Break           // the connection breaks before the request is sent
	Lose            // carried out, but the connection breaks before the answer
	Mislead         // carried out, but answered 500 InternalError
	Duplicate       // carried out twice; the second answer arrives
	Cut             // carried out, but the answer's body ends in the middle
	Delay           // the connection breaks; the server gets the request later, when Deliver is called
)

// Script tells the fault of the n-th request, from 0.
type Script func(n int, r *http.Request) Fault

// Transport is an http.RoundTripper that acts by a script. It may be used by many goroutines: their requests are
// numbered as they come.
type Transport struct {
	Base   http.RoundTripper // nil for http.DefaultTransport
	Script Script
	// Before, when set, is called before a request goes on its way: a test may do there what shall happen meanwhile, or
	// hold a request back until others have passed.
	Before func(n int, r *http.Request)

	mu      sync.Mutex
	sent    int
	delayed []*http.Request
}

// ErrBroken is the error of broken connections.
var ErrBroken = errors.New("faulttest: the connection broke")

// RoundTrip does one request, with or without its fault.
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
		return nil, errors.Join(ErrBroken, t.carryOut(r))
	case Mislead:
		if err := t.carryOut(r); err != nil {
			return nil, err
		}
		return refusal(r, Fail), nil
	case Duplicate:
		return t.twice(r)
	case Cut:
		return t.cut(r)
	case Delay:
		return nil, errors.Join(ErrBroken, t.keep(r))
	default:
		panic(fmt.Sprintf("faulttest: no fault %d", fault))
	}
}

// Requests is how many requests there have been.
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

// carryOut does a request and drops its answer.
func (t *Transport) carryOut(r *http.Request) error {
	response, err := t.base().RoundTrip(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// twice does a request two times.
func (t *Transport) twice(r *http.Request) (*http.Response, error) {
	again, err := copyOf(r)
	if err != nil {
		return nil, err
	}
	if err := t.carryOut(r); err != nil {
		return nil, err
	}
	return t.base().RoundTrip(again)
}

// keep keeps a request for Deliver.
func (t *Transport) keep(r *http.Request) error {
	kept, err := copyOf(r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delayed = append(t.delayed, kept.WithContext(context.WithoutCancel(r.Context())))
	return discard(r.Body)
}

// Deliver sends what was delayed, and returns how many requests that were. Their answers are for nobody.
func (t *Transport) Deliver() (int, error) {
	t.mu.Lock()
	delayed := t.delayed
	t.delayed = nil
	t.mu.Unlock()
	for _, r := range delayed {
		if err := t.carryOut(r); err != nil {
			return 0, err
		}
	}
	return len(delayed), nil
}

// copyOf copies a request; each of the two can be sent.
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

// cut does a request and lets half of the answer's body through.
func (t *Transport) cut(r *http.Request) (*http.Response, error) {
	response, err := t.base().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:(len(body)+1)/2]), broken{}))
	return response, nil
}

// broken is the rest of a body that does not come.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.Join(ErrBroken, io.ErrUnexpectedEOF) }

func discard(body io.ReadCloser) error {
	if body == nil {
		return nil
	}
	_, err := io.Copy(io.Discard, body)
	return errors.Join(err, body.Close())
}

// refusal is a server's refusal: JSON with a type for the services whose requests name a target, XML for S3.
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
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {kind}, "X-Amzn-Errortype": {code}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// Never is the script of a network without faults.
func Never(int, *http.Request) Fault { return None }

// At does harm to one request.
func At(number int, fault Fault) Script {
	return func(n int, _ *http.Request) Fault {
		if n == number {
			return fault
		}
		return None
	}
}

// From does harm to a request and all after it.
func From(number int, fault Fault) Script {
	return func(n int, _ *http.Request) Fault {
		if n >= number {
			return fault
		}
		return None
	}
}

// Sometimes does harm to a share of the requests, by a seed. What becomes of a request depends on the seed and its
// number only.
func Sometimes(seed uint64, share float64, faults ...Fault) Script {
	return func(n int, _ *http.Request) Fault {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		if random.Float64() >= share {
			return None
		}
		return faults[random.IntN(len(faults))]
	}
}
