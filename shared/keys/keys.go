// Package keys issues and revokes API keys and finds the caller that a key belongs to. A key is shown once, when it is
// created. Only its hash is stored.
package keys

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Prefix is the start of every key. People and secret scanners recognise keys by it.
const Prefix = "orr_"

// Key is the stored record of an API key, without the key itself.
type Key struct {
	ID       string    // first bytes of the hash in hexadecimal; not secret
	Hash     Hash      // of the key
	Name     string    // of the user; several keys may share a name, for example while one replaces another
	Scopes   []Scope   // permitted operations, sorted
	Branches []string  // visible branches, sorted; nil: all
	Created  time.Time // UTC in whole milliseconds, like all times here
	Expires  time.Time // refused from then on; zero: never
	Revoked  time.Time // refused since then; zero: not revoked
	TokenKey TokenKey  // of the server; zero: an earlier version issued the key
}

// Store stores keys and never removes them.
type Store interface {
	// Create stores a key durably. Creating the same key again has no effect. The error is of kind fault.Conflict if
	// another key has the same ID.
	Create(ctx context.Context, k Key) error
	// List returns all keys, including revoked and expired ones, oldest first.
	List(ctx context.Context) ([]Key, error)
	// Find returns the key with the ID, or an error of kind fault.NotFound.
	Find(ctx context.Context, id string) (Key, error)
	// Revoke marks a key as revoked at the time, durably. Revoking a revoked key has no effect. The error is of kind
	// fault.NotFound if there is no such key.
	Revoke(ctx context.Context, id string, at time.Time) error
}

// Grant describes a key to create.
type Grant struct {
	Name     string
	Scopes   []Scope
	Branches []string
	Expires  time.Time // zero: never
}

// Issue creates a key and stores its record. The key itself is returned as secret and is not stored. The error is of
// kind fault.Invalid if the grant is invalid.
func Issue(ctx context.Context, store Store, g Grant, now time.Time) (secret string, k Key, err error) {
	if err := g.check(now); err != nil {
		return "", Key{}, err
	}
	secret = Prefix + strings.ToLower(rand.Text())
	hash := HashOf(secret)
	k = Key{
		ID:       IDOf(hash),
		Hash:     hash,
		Name:     g.Name,
		Scopes:   sorted(g.Scopes),
		Branches: sorted(g.Branches),
		Created:  truncate(now),
		Expires:  truncate(g.Expires),
		TokenKey: NewTokenKey(),
	}
	if err := store.Create(ctx, k); err != nil {
		return "", Key{}, fmt.Errorf("store key %s: %w", k.ID, err)
	}
	return secret, k, nil
}

// Revoke revokes a key from now on. which is the ID of the key, or its name if exactly one active key has that name.
func Revoke(ctx context.Context, store Store, which string, now time.Time) (Key, error) {
	all, err := store.List(ctx)
	if err != nil {
		return Key{}, err
	}
	k, err := pick(all, which)
	if err != nil {
		return Key{}, err
	}
	if err := store.Revoke(ctx, k.ID, truncate(now)); err != nil {
		return Key{}, fmt.Errorf("revoke key %s: %w", k.ID, err)
	}
	return store.Find(ctx, k.ID)
}

func pick(all []Key, which string) (Key, error) {
	if i := slices.IndexFunc(all, func(k Key) bool { return k.ID == which }); i >= 0 {
		return all[i], nil
	}
	named := slices.DeleteFunc(slices.Clone(all), func(k Key) bool { return k.Name != which || !k.Revoked.IsZero() })
	switch len(named) {
	case 0:
		return Key{}, noKeyToRevoke(which)
	case 1:
		return named[0], nil
	}
	return Key{}, ambiguousName(which, named)
}

// State returns the state of a key at a time, for display: "usable", "expired" or "revoked".
func (k Key) State(at time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked"
	case !k.Expires.IsZero() && !at.Before(k.Expires):
		return "expired"
	}
	return usable
}

const usable = "usable"

// caller returns the caller that the key belongs to.
func (k Key) caller() Caller {
	return Caller{Name: k.Name, Scopes: k.Scopes, Branches: k.Branches, Expires: k.Expires, TokenKey: k.TokenKey}
}

// IDOf returns the ID of the key with the hash.
func IDOf(hash Hash) string { return hex.EncodeToString(hash[:idBytes]) }

// idBytes is how many bytes of the hash form the ID: enough to be unique, too few to help in guessing a key.
const idBytes = 6

// truncate converts a time to the precision of stores.
func truncate(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// sorted returns a sorted copy of a list without duplicates; nil if empty.
func sorted[T ~string](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
