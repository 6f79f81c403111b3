package api

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/orrery/orrery/shared/keys"
)

// localCaller is the caller of a server that needs no key.
var localCaller = keys.Caller{Name: "local", Scopes: keys.Scopes()}

// authenticate finds the caller and checks that it has the scope of the route.
func (s *server) authenticate(c *call) error {
	if c.route.scope == "" {
		return nil
	}
	if s.Keys == nil {
		c.caller = localCaller
		return nil
	}
	candidates := credentials(c.r.Header)
	if len(candidates) == 0 {
		return errNoKey()
	}
	guess := s.wrong.begin(networkOf(c.client))
	defer guess.end()
	var failure error
	for _, key := range candidates {
		hash := keys.HashOf(key)
		switch may, err := guess.mayTry(c.r.Context(), hash); {
		case err != nil:
			return err
		case !may:
			failure = errWrongKeys() // the next candidate may still be known
			continue
		}
		caller, ok, err := s.Keys.Find(c.r.Context(), hash)
		if err != nil {
			failure = err // the same
			continue
		}
		if guess.found(hash, ok); ok {
			c.caller, c.callerID, c.keyID = caller, callerIDOf(key), keys.IDOf(hash)
			if !caller.Allows(c.route.scope) {
				return errScope(c.route.scope)
			}
			return nil
		}
		c.wrongKey = cmp.Or(c.wrongKey, shownHash(hash))
	}
	return cmp.Or(failure, errUnknownKey())
}

// callerIDOf returns an identifier of the owner of a key. It reveals neither the key nor the hash under which the key
// is stored.
func callerIDOf(key string) string {
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
