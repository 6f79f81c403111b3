package tabletest

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// Remote is a table behind a network. Each call is a request, named by its method, which Remote repeats as the client of
// DynamoDB does. A write that is repeated has no second effect.
type Remote struct {
	Table   table.Table
	Network http.RoundTripper // it must end in Calls
}

var _ table.Table = Remote{}

// Behind returns a table behind a network with scripted faults.
func Behind(t table.Table, script faulttest.Script) Remote {
	return Remote{t, &faulttest.Transport{Base: Calls{}, Script: script}}
}

// Calls is the end of a network: it makes the calls of Remote, and sends other requests on.
type Calls struct{ Other http.RoundTripper }

type callKey struct{}

// RoundTrip makes the call of a request.
func (c Calls) RoundTrip(r *http.Request) (*http.Response, error) {
	call, ok := r.Context().Value(callKey{}).(func())
	if !ok {
		return c.Other.RoundTrip(r)
	}
	call()
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// On applies a script to the requests of one method.
func On(method string, script faulttest.Script) faulttest.Script {
	var mu sync.Mutex
	seen := 0
	return func(_ int, r *http.Request) faulttest.Fault {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+method) {
			return faulttest.None
		}
		mu.Lock()
		defer mu.Unlock()
		seen++
		return script(seen-1, r)
	}
}

const attempts = 4

// ask makes a call through the network. A request that was sent is answered even if ctx ends.
func (r Remote) ask(ctx context.Context, method string, call func(ctx context.Context) error) error {
	var result error
	background := context.WithoutCancel(ctx)
	for range attempts {
		switch ended := ctx.Err(); {
		case errors.Is(ended, context.DeadlineExceeded):
			return fault.Wrap(fault.Timeout, ended, "%s", method)
		case ended != nil:
			return fault.Wrap(fault.Canceled, ended, "%s", method)
		}
		withCall := context.WithValue(ctx, callKey{}, func() { result = call(background) })
		request, err := http.NewRequestWithContext(withCall, http.MethodPost, "http://table", nil)
		if err != nil {
			return err
		}
		request.Header.Set("X-Amz-Target", "Table."+method)
		response, err := r.Network.RoundTrip(request)
		if err != nil {
			continue
		}
		_, err = io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err == nil && response.StatusCode == http.StatusOK {
			return result
		}
	}
	return fault.New(fault.Unavailable, "%s", method)
}

// Get implements table.Table.
func (r Remote) Get(ctx context.Context, key table.Key) (item table.Item, err error) {
	err = r.ask(ctx, "Get", func(ctx context.Context) (err error) {
		item, err = r.Table.Get(ctx, key)
		return err
	})
	return item, err
}

// Range implements table.Table with one request.
func (r Remote) Range(ctx context.Context, in table.Range) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		var items []table.Item
		err := r.ask(ctx, "Range", func(ctx context.Context) (err error) {
			items, err = table.List(ctx, r.Table, in)
			return err
		})
		if err != nil {
			yield(table.Item{}, err)
			return
		}
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Write implements table.Table.
func (r Remote) Write(ctx context.Context, changes ...table.Change) error {
	once := sync.OnceValue(func() error { return r.Table.Write(context.WithoutCancel(ctx), changes...) })
	return r.ask(ctx, "Write", func(context.Context) error { return once() })
}
