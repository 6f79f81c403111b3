// Package iamproxytest guards the requests of functions that run in the process of a test.
package iamproxytest

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/fakeaws/iamproxy"
	"github.com/orrery/orrery/shared/permissions"
)

// Network is an http.RoundTripper between clients of AWS and servers of a test. While a function acts, it denies what
// the function may not do, and the test fails. Other requests are the test's own and are not checked.
type Network struct {
	*iamproxy.Transport
	Names permissions.Names // of the deployment

	mu       sync.Mutex
	function string
}

// Account and Region are those of all resources in tests.
const (
	Account = "000000000000"
	Region  = "us-east-1"
)

// New returns a network to servers which base reaches; nil stands for http.DefaultTransport. The names need no account
// and no region.
func New(t testing.TB, names permissions.Names, base http.RoundTripper) *Network {
	names.Account, names.Region = Account, Region
	n := &Network{Names: names}
	n.Transport = iamproxy.New(iamproxy.Config{
		Function: func(*http.Request) string { return n.Acting() },
		Policy:   func(context.Context) (iamproxy.Policy, error) { return names.Resources(), nil },
		Account:  Account,
		Base:     base,
		Denied:   func(_, reason string) { t.Errorf("denied: %s", reason) },
		Record:   true,
	})
	return n
}

// As makes a function of the deployment act until end is called.
func (n *Network) As(function string) (end func()) {
	before := n.Acting()
	n.act(function)
	return func() { n.act(before) }
}

func (n *Network) act(function string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.function = function
}

// Acting returns the function that acts, or "".
func (n *Network) Acting() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.function
}

// RoundTrip sends a request.
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.Acting() == "" {
		return n.Base.RoundTrip(r)
	}
	return n.Transport.RoundTrip(r)
}
