package access

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/orrery/orrery/shared/keys"
)

// localCaller is the caller of a server that needs no key.
var localCaller = Caller{Caller: keys.Caller{Name: "local", Scopes: keys.Scopes()}}

// Authenticate returns the caller who has a key in the headers of a request from a client. It returns an error unless
// the key has the scope.
func (a *Access) Authenticate(ctx context.Context, h http.Header, client string, scope keys.Scope) (c Caller, err error) {
	if a.Keys == nil {
		return localCaller, nil
	}
	candidates := credentials(h)
	if len(candidates) == 0 {
		return c, errNoKey()
	}
	guess := a.throttle.begin(networkOf(client))
	defer guess.end()
	var failure error
	for _, key := range candidates {
		hash := keys.HashOf(key)
		switch may, err := guess.mayTry(ctx, hash); {
		case err != nil:
			return c, err
		case !may:
			failure = errWrongKeys() // the next candidate may still be known
			continue
		}
		caller, ok, err := a.Keys.Find(ctx, hash)
		if err != nil {
			failure = err // the same
			continue
		}
		if guess.found(hash, ok); ok {
			c.Caller, c.Owner, c.KeyID = caller, ownerOf(key), keys.IDOf(hash)
			return c, c.Require(scope)
		}
		c.WrongKey = cmp.Or(c.WrongKey, shownHash(hash))
	}
	return c, cmp.Or(failure, errUnknownKey())
}

// Require returns an error unless the key of the caller has a scope.
func (c Caller) Require(scope keys.Scope) error {
	if !c.Allows(scope) {
		return errScope(scope)
	}
	return nil
}

// ownerOf returns an identifier of the owner of a key. It reveals neither the key nor the hash under which the key
// is stored.
func ownerOf(key string) string {
	hash := keys.HashOf("caller " + key)
	return hex.EncodeToString(hash[:16])
}

// credentials lists the values of the headers that may be a key, in the order to try them: x-api-key, a bearer token,
// the password or else the user of true Basic authentication, and the raw text after "Basic", which deployed clients
// send. True Basic comes first because text in its form is hardly ever a raw key, and every wrong candidate costs a
// request to the store.
func credentials(h http.Header) []string {
	var candidates []string
	add := func(key string) {
		if key = strings.TrimSpace(key); key != "" {
			candidates = append(candidates, key)
		}
	}
	add(h.Get("X-Api-Key"))
	scheme, rest, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	switch strings.ToLower(scheme) {
	case "bearer":
		add(rest)
	case "basic":
		if pair, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest)); err == nil {
			user, password, isPair := strings.Cut(string(pair), ":")
			switch {
			case password != "":
				add(password)
			case isPair:
				add(user)
			}
		}
		add(rest)
	}
	return candidates
}
