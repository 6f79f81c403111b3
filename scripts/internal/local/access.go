package local

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/keys"
)

// Access says who may call a server: everybody on this machine until there is a key, then those who have one.
type Access struct {
	Address string     // what the server listens on
	APIKey  string     // a key beside those of the data folder, which allows everything; "": none
	Keys    keys.Store // those of the data folder
}

// NeedKey tells whether callers need a key: there is one, or was one before it was revoked.
func (a Access) NeedKey(ctx context.Context) (bool, error) {
	if a.APIKey != "" {
		return true, nil
	}
	list, err := a.Keys.List(ctx)
	return len(list) > 0, err
}

// CheckAddress refuses to listen where others could connect without a key: on anything but a loopback address.
func CheckAddress(address string, keyed bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address to listen on; write HOST:PORT, such as 127.0.0.1:8080", address)
	}
	if keyed || loopback(host) {
		return nil
	}
	return fmt.Errorf("%s can be reached from other machines, so callers need a key: make one with orrery key create, set ORRERY_API_KEY (or --api-key), or listen on 127.0.0.1", address)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// handler is the HTTP surface for those who may call.
func (a Access) handler(c api.Config) http.Handler {
	d := &door{access: a, open: api.New(c)}
	known := keys.Union{keys.NewCached(a.Keys, c.Now)}
	if a.APIKey != "" {
		known = append(known, keys.OneKey(a.APIKey))
	}
	c.Keys = known
	d.keyed = api.New(c)
	if host, _, err := net.SplitHostPort(a.Address); err != nil || !loopback(host) {
		d.shut.Store(true) // whatever becomes of the keys while it runs
	}
	return d
}

// door lets everybody in until there is a key. Then it stays shut: keys are never removed, only revoked.
type door struct {
	access      Access
	open, keyed http.Handler
	shut        atomic.Bool
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.shut.Load() {
		ctx, cancel := context.WithTimeout(r.Context(), doorTimeout)
		needed, err := d.access.NeedKey(ctx)
		cancel()
		if err == nil && !needed {
			d.open.ServeHTTP(w, r)
			return
		}
		if err == nil {
			d.shut.Store(true)
		} // else nobody without a key is let in now; the next request asks again
	}
	d.keyed.ServeHTTP(w, r)
}

// doorTimeout is how long a request may wait to hear whether there are keys; it takes microseconds.
const doorTimeout = 2 * time.Second
