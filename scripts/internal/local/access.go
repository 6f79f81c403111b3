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

// Access decides who may call a server: every program on this machine until a key exists, then callers with a key.
type Access struct {
	Address string     // listening address
	APIKey  string     // an additional key that allows everything; "": none
	Keys    keys.Store // keys of the data folder
}

// NeedKey reports whether callers need a key: whether any key exists, including revoked ones.
func (a Access) NeedKey(ctx context.Context) (bool, error) {
	if a.APIKey != "" {
		return true, nil
	}
	list, err := a.Keys.List(ctx)
	return len(list) > 0, err
}

// CheckAddress returns an error if other machines could connect without a key: if keyed is false and the address is not
// a loopback address.
func CheckAddress(address string, keyed bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address to listen on; write HOST:PORT, such as 127.0.0.1:8080", address)
	}
	if keyed || loopback(host) {
		return nil
	}
	return fmt.Errorf("%s can be reached from other machines, so callers need a key: make one with orrery key create, "+
		"set ORRERY_API_KEY (or --api-key), or listen on 127.0.0.1", address)
}

// minKey is the length of a key of the operator's own choice that other machines can try.
const minKey = 16

// CheckKey returns an error if other machines could connect and the additional key could be guessed.
func CheckKey(address, key string) error {
	if key == "" || len(key) >= minKey || Loopback(address) {
		return nil
	}
	return fmt.Errorf("the API key has %d characters, and %s can be reached from other machines: "+
		"use at least %d random ones, or make a key with orrery key create", len(key), address, minKey)
}

// Loopback reports whether only this machine can connect to a listening address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// handler returns the handler of the HTTP API with this access.
func (a Access) handler(c api.Config) (http.Handler, error) {
	open, err := api.New(c)
	if err != nil {
		return nil, err
	}
	callers := keys.Union{keys.NewCache(a.Keys, c.Now)}
	if a.APIKey != "" {
		callers = append(callers, keys.OneKey(a.APIKey))
	}
	c.Keys = callers
	protected, err := api.New(c)
	if err != nil {
		return nil, err
	}
	h := &accessHandler{access: a, open: open, protected: protected}
	if !Loopback(a.Address) {
		h.keyRequired.Store(true) // even if the file of keys is removed while the server runs
	}
	return h, nil
}

// accessHandler requires no key until one exists. From then on it always requires one: keys are revoked, never removed.
type accessHandler struct {
	access          Access
	open, protected http.Handler
	keyRequired     atomic.Bool
}

func (h *accessHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.keyRequired.Load() {
		ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
		needed, err := h.access.NeedKey(ctx)
		cancel()
		if err == nil && !needed {
			h.open.ServeHTTP(w, r)
			return
		}
		if err == nil {
			h.keyRequired.Store(true)
		} // after an error this request needs a key, and the next one checks again
	}
	h.protected.ServeHTTP(w, r)
}

// checkTimeout limits the check for keys, which usually takes microseconds.
const checkTimeout = 2 * time.Second
