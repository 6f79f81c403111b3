// Package access decides who may use the API: from which web pages a browser may send requests, which address a client
// has, which key it may use for what, and which tokens it may read.
package access

import (
	"context"
	"net/netip"
	"time"

	"github.com/orrery/orrery/shared/keys"
)

// Config configures the access to an API.
type Config struct {
	Keys      keys.Callers   // nil: no key is needed, and only requests from this machine are answered
	TokenKeys keys.TokenKeys // of keys without one of their own; nil: their tokens are valid in this process only
	Proxies   []netip.Prefix // whose X-Forwarded-For names the clients; nil: the connection is the client
	Now       func() time.Time
}

// Access is the access to an API.
type Access struct {
	Config
	throttle *keyThrottle
	process  keys.TokenKey // for keys without one
}

// New returns the access with a configuration.
func New(c Config) *Access {
	return &Access{Config: c, throttle: newKeyThrottle(c.Now), process: keys.NewTokenKey()}
}

// Caller is the caller of a request.
type Caller struct {
	keys.Caller
	Owner    string // identifies the owner of the key, who alone may ask about its queries; "" if no key is needed
	KeyID    string // ID of the key; "" if no key is needed
	WrongKey string // the beginning of the hash of an unknown key that the request also has, for the log
}

// Tokens returns how the tokens of logs are encrypted for a caller, or nil if the caller sees all branches. If no token
// keys are kept for API keys without one of their own, such a key uses that of the process, and no other process reads
// its tokens.
func (a *Access) Tokens(ctx context.Context, caller Caller) (*Tokens, error) {
	switch {
	case caller.Branches == nil:
		return nil, nil
	case !caller.TokenKey.IsZero():
		return newTokens(caller.TokenKey), nil
	case a.TokenKeys == nil:
		return newTokens(a.process), nil
	}
	kept, err := a.TokenKeys.TokenKeyOf(ctx, caller.KeyID)
	if err != nil {
		return nil, err
	}
	return newTokens(kept), nil
}
