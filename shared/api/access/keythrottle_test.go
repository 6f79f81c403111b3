package access

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

// revocable is a set of keys that records look-ups. A gate holds them up until it is closed.
type revocable struct {
	mu     sync.Mutex
	right  map[keys.Hash]bool
	looked map[keys.Hash]bool
	gate   chan struct{} // nil: look-ups do not wait
}

func newRevocable(right ...string) *revocable {
	k := &revocable{right: map[keys.Hash]bool{}, looked: map[keys.Hash]bool{}}
	for _, key := range right {
		k.right[keys.HashOf(key)] = true
	}
	return k
}

func (k *revocable) Find(_ context.Context, hash keys.Hash) (keys.Caller, bool, error) {
	k.mu.Lock()
	k.looked[hash] = true
	right, gate := k.right[hash], k.gate
	k.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return keys.Caller{Name: "one", Scopes: keys.Scopes()}, right, nil
}

func (k *revocable) revoke(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.right, keys.HashOf(key))
}

// lookups returns how many different keys were looked up.
func (k *revocable) lookups() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.looked)
}

// ask authenticates a request with these headers and returns the status that answers the error.
func (a *Access) ask(t *testing.T, headers ...string) int {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	_, err := a.Authenticate(t.Context(), h, "192.0.2.1:1", keys.DataRead)
	switch {
	case err == nil:
		return http.StatusOK
	case fault.KindOf(err) == fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.KindOf(err) == fault.TooMany:
		return http.StatusTooManyRequests
	}
	t.Error(err)
	return 0
}

func withKeys(k keys.Callers) *Access {
	return New(Config{Keys: k, Now: func() time.Time { return time.Unix(0, 0) }})
}

func TestGuesses(t *testing.T) {
	const apiKey, authorization = "X-API-Key", "Authorization"
	t.Run("a right key beside them does not hide them", func(t *testing.T) {
		known := newRevocable("s3cret")
		a := withKeys(known)
		for i := range 40 {
			code := a.ask(t, apiKey, fmt.Sprint("guess-", i), authorization, "Bearer s3cret")
			if code != http.StatusOK {
				t.Fatalf("after %d guesses: %d", i, code)
			}
		}
		if n := known.lookups(); n != maxWrongKeys+1 {
			t.Errorf("%d keys were looked up", n)
		}
		if code := a.ask(t, apiKey, "guess"); code != http.StatusTooManyRequests {
			t.Errorf("a further guess: %d", code)
		}
	})
	t.Run("a revoked key is a guess", func(t *testing.T) {
		known := newRevocable("s3cret", "old")
		a := withKeys(known)
		a.ask(t, apiKey, "s3cret")
		a.ask(t, apiKey, "old")
		known.revoke("old")
		for i := range maxWrongKeys {
			if code := a.ask(t, apiKey, "old"); code != http.StatusUnauthorized {
				t.Fatalf("after %d requests: %d", i, code)
			}
		}
		if code := a.ask(t, apiKey, "old"); code != http.StatusTooManyRequests {
			t.Errorf("a further request: %d", code)
		}
		if code := a.ask(t, apiKey, "s3cret"); code != http.StatusOK {
			t.Errorf("another key: %d", code)
		}
	})
	t.Run("addresses beyond the maximum share their guesses", func(t *testing.T) {
		w := newKeyThrottle(func() time.Time { return time.Unix(0, 0) })
		at := func(i int) netip.Prefix {
			return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		}
		for i := range maxAddresses {
			w.countOf(at(i))
		}
		if w.countOf(at(0)) == w.countOf(at(1)) || w.countOf(at(maxAddresses)) != w.countOf(at(maxAddresses+1)) ||
			w.countOf(at(maxAddresses)) == nil {
			t.Error("they do not")
		}
	})
	t.Run("at the same time no more keys are tried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			known := newRevocable()
			known.gate = make(chan struct{})
			a := withKeys(known)
			var unknown, refused atomic.Int64
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					switch code := a.ask(t, apiKey, fmt.Sprint("guess-", i)); code {
					case http.StatusUnauthorized:
						unknown.Add(1)
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Errorf("%d", code)
					}
				})
			}
			synctest.Wait()
			if n := known.lookups(); n != maxWrongKeys {
				t.Errorf("%d keys are looked up", n)
			}
			close(known.gate)
			all.Wait()
			if unknown.Load() != maxWrongKeys || refused.Load() != 100-maxWrongKeys {
				t.Errorf("%d keys were unknown, %d requests refused", unknown.Load(), refused.Load())
			}
		})
	})
	t.Run("right keys at the same time all are", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			known := newRevocable("s3cret")
			known.gate = make(chan struct{})
			a := withKeys(known)
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if code := a.ask(t, apiKey, "s3cret"); code != http.StatusOK {
						t.Errorf("%d", code)
					}
				})
			}
			synctest.Wait()
			close(known.gate)
			all.Wait()
		})
	})
}

func TestNetworkOf(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:4711":          "192.0.2.7/32",
		"192.0.2.7":               "192.0.2.7/32",
		"[::ffff:192.0.2.7]:1":    "192.0.2.7/32",
		"[2001:db8:1:2:3::4]:443": "2001:db8:1:2::/64",
		"2001:db8:1:2:3::4":       "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1":        "fe80::/64",
	} {
		if got := networkOf(remote); got.String() != want {
			t.Errorf("%s: %v, want %s", remote, got, want)
		}
	}
	if got := networkOf("pipe"); got.IsValid() {
		t.Errorf("pipe: %v", got)
	}
}

func TestClientBehindProxies(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")}
	tests := map[string]struct {
		proxies   []netip.Prefix
		remote    string
		forwarded []string
		want      string
	}{
		"without proxies the header is ignored": {nil, "10.0.0.1:5", []string{"192.0.2.7"}, "10.0.0.1:5"},
		"a proxy names the client":              {proxies, "10.0.0.1:5", []string{"192.0.2.7"}, "192.0.2.7"},
		"an IPv6 proxy names the client":        {proxies, "[2001:db8::1]:5", []string{"192.0.2.7"}, "192.0.2.7"},
		"a mapped address of a proxy is one":    {proxies, "[::ffff:10.0.0.1]:5", []string{"192.0.2.7"}, "192.0.2.7"},
		"several proxies in one header":         {proxies, "10.0.0.1:5", []string{"192.0.2.7, 10.0.0.2"}, "192.0.2.7"},
		"several headers":                       {proxies, "10.0.0.1:5", []string{"192.0.2.7", "10.0.0.2"}, "192.0.2.7"},
		"what the client has written itself is ignored": {
			proxies, "10.0.0.1:5", []string{"198.51.100.1, 10.0.0.9, 192.0.2.7"}, "192.0.2.7",
		},
		"another address is believed nothing": {proxies, "192.0.2.1:5", []string{"192.0.2.7"}, "192.0.2.1:5"},
		"text that is no address ends the list": {
			proxies, "10.0.0.1:5", []string{"192.0.2.7, unknown, 10.0.0.2"}, "10.0.0.2",
		},
		"no header": {proxies, "10.0.0.1:5", nil, "10.0.0.1:5"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := New(Config{Proxies: test.proxies})
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = test.remote
			for _, value := range test.forwarded {
				r.Header.Add("X-Forwarded-For", value)
			}
			if got := a.ClientOf(r); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
