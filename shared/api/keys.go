package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// Scope is what a key allows.
type Scope string

// The scopes.
const (
	DataRead  Scope = "data:read"  // the data routes
	ConfRead  Scope = "conf:read"  // reading planets and their versions
	ConfWrite Scope = "conf:write" // writing and restoring planets
)

// Key is what is known of a caller.
type Key struct {
	Name     string   // who it is, for the log and the history of planets
	Scopes   []Scope  //
	Branches []string // branches and configurations it may see; empty: all
}

// KeyHash is the SHA-256 of an API key. Keys themselves are kept nowhere.
type KeyHash [sha256.Size]byte

// HashKey gives the hash of a key.
func HashKey(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// Keys knows the callers.
type Keys interface {
	// Find returns the key with that hash; false when there is none.
	Find(ctx context.Context, hash KeyHash) (Key, bool, error)
}

// StaticKeys is a fixed set of keys.
type StaticKeys map[KeyHash]Key

// OneKey knows one key, which allows everything.
func OneKey(key string) StaticKeys {
	return StaticKeys{HashKey(key): {Name: "api-key", Scopes: []Scope{DataRead, ConfRead, ConfWrite}}}
}

// Find implements Keys. It compares with every key, each in constant time.
func (k StaticKeys) Find(_ context.Context, hash KeyHash) (Key, bool, error) {
	var found Key
	ok := false
	for known, key := range k {
		if subtle.ConstantTimeCompare(known[:], hash[:]) == 1 {
			found, ok = key, true
		}
	}
	return found, ok, nil
}

// localCaller is the caller of a server that needs no key.
var localCaller = Key{Name: "local", Scopes: []Scope{DataRead, ConfRead, ConfWrite}}

// authenticate finds the caller and tells whether it may use the route.
func (s *server) authenticate(c *call) error {
	if c.route.scope == "" {
		return nil
	}
	if s.Keys == nil {
		c.key = localCaller
		return nil
	}
	presented := credentials(c.r.Header)
	if len(presented) == 0 {
		return errNoKey()
	}
	var unsure error
	for _, key := range presented {
		found, ok, err := s.Keys.Find(c.r.Context(), HashKey(key))
		if err != nil {
			unsure = err // the next one may be known all the same
		}
		if ok {
			c.key, c.caller = found, callerOf(key)
			if !slices.Contains(found.Scopes, c.route.scope) {
				return errScope(c.route.scope)
			}
			return nil
		}
	}
	if unsure != nil {
		return unsure
	}
	return errUnknownKey()
}

// callerOf tells callers apart without telling their keys, nor the hashes that keys are known by.
func callerOf(key string) string {
	hash := HashKey("caller " + key)
	return hex.EncodeToString(hash[:16])
}

// maySee tells whether a caller may know of a configuration.
func (k Key) maySee(config string) bool {
	return len(k.Branches) == 0 || slices.Contains(k.Branches, config)
}

// credentials lists what the headers may mean as a key, in the order tried: x-api-key, a bearer token, the password or
// else the user of true Basic, and the raw key after "Basic" (as deployed clients send it). True Basic comes first,
// because what has its form is hardly ever a key, and looking up what is none costs a question to the store.
func credentials(h http.Header) []string {
	var keys []string
	add := func(key string) {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
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
	return keys
}
