package keys

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"time"
)

// Scope is a permission of a key.
type Scope string

// The scopes.
const (
	DataRead  Scope = "data:read"  // the data routes
	DataWrite Scope = "data:write" // importing logs over HTTP and forgetting imports, on one machine
	ConfRead  Scope = "conf:read"  // reading planets, saved filters and their versions
	ConfWrite Scope = "conf:write" // writing and restoring planets and saved filters

	ReportRead  Scope = "report:read"  // reading scheduled reports and their runs
	ReportWrite Scope = "report:write" // writing and running them, with DataRead
)

// Scopes returns every scope.
func Scopes() []Scope {
	return []Scope{DataRead, DataWrite, ConfRead, ConfWrite, ReportRead, ReportWrite}
}

// Hash is the SHA-256 of an API key. Keys themselves are not stored.
type Hash [sha256.Size]byte

// HashOf returns the hash of a key.
func HashOf(key string) Hash { return sha256.Sum256([]byte(key)) }

// equal compares hashes in constant time, so that the time taken does not reveal how much of a hash was right.
func (h Hash) equal(other Hash) bool { return subtle.ConstantTimeCompare(h[:], other[:]) == 1 }

// Caller is who uses a key, and what that key permits.
type Caller struct {
	Name     string   // for the log and the history of planets and saved filters
	Scopes   []Scope  // permitted operations
	Branches []string // visible branches and configurations; empty: all

	Expires  time.Time // when the key is refused; zero: never
	TokenKey TokenKey  // of the key, which the caller does not know; zero: the key has none
}

// Allows reports whether the caller has a scope.
func (c Caller) Allows(scope Scope) bool { return slices.Contains(c.Scopes, scope) }

// Sees reports whether a configuration is visible to the caller.
func (c Caller) Sees(config string) bool {
	return len(c.Branches) == 0 || slices.Contains(c.Branches, config)
}

// Callers finds callers by their keys.
type Callers interface {
	// Find returns the caller whose key has the hash; false if there is no such key or it may no longer be used.
	Find(ctx context.Context, hash Hash) (Caller, bool, error)
}

// Static is a fixed set of callers. It implements Callers.
type Static map[Hash]Caller

// OneKey returns a set of one caller, whose key allows everything.
func OneKey(key string) Static {
	return Static{HashOf(key): {Name: "api-key", Scopes: Scopes()}}
}

// Find implements Callers. It compares with every key, so that the time taken does not depend on the key.
func (s Static) Find(_ context.Context, hash Hash) (Caller, bool, error) {
	var found Caller
	ok := false
	for known, caller := range s {
		if known.equal(hash) {
			found, ok = caller, true
		}
	}
	return found, ok, nil
}
