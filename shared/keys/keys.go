// Package keys issues API keys, says what they allow, and tells the HTTP surface who calls. A key is shown once, when
// it is made; only its hash is kept.
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

// Prefix begins every key, so that people and scanners of leaked secrets recognise one.
const Prefix = "orr_"

// Key is what is kept of an API key: everything but the key.
type Key struct {
	ID       string    // the beginning of its hash, so that it can be spoken of
	Hash     Hash      // of the key
	Name     string    // who uses it; several keys may have one name, while one replaces the other
	Scopes   []Scope   // what it allows, sorted
	Branches []string  // what it may see, sorted; nil: all
	Created  time.Time // UTC, whole milliseconds, as all times here
	Expires  time.Time // from when it is refused; zero: never
	Revoked  time.Time // since when it is refused; zero: it is not
}

// Store keeps keys for ever. Package keystest holds the suite that every implementation passes.
type Store interface {
	// Create keeps a key, durably before it returns. The same key again changes nothing; another one with the same
	// ID is refused with kind fault.Conflict.
	Create(ctx context.Context, k Key) error
	// List returns all keys, those revoked and expired too, oldest first.
	List(ctx context.Context) ([]Key, error)
	// Find returns the key with that ID, or an error of kind fault.NotFound.
	Find(ctx context.Context, id string) (Key, error)
	// Revoke marks a key as revoked at that time, durably before it returns; one that is revoked stays as it is.
	// Kind fault.NotFound when there is none.
	Revoke(ctx context.Context, id string, at time.Time) error
}

// Grant is what a new key shall allow.
type Grant struct {
	Name     string
	Scopes   []Scope
	Branches []string
	Expires  time.Time // zero: never
}

// Issue makes a key at the time now and keeps what is to be kept. The key itself is in secret and nowhere else. A grant
// that is not acceptable is an error of kind fault.Invalid.
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
	}
	if err := store.Create(ctx, k); err != nil {
		return "", Key{}, fmt.Errorf("keep key %s: %w", k.ID, err)
	}
	return secret, k, nil
}

// Revoke refuses a key from the time now on. which is its ID, or its name when just one key that is not revoked has
// that name.
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
		return Key{}, noneToRevoke(which)
	case 1:
		return named[0], nil
	}
	return Key{}, severalToRevoke(which, named)
}

// State is what a person wants to know of a key at a time: "usable", "expired" or "revoked".
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

// caller is the key as the HTTP surface knows it.
func (k Key) caller() Caller {
	return Caller{Name: k.Name, Scopes: k.Scopes, Branches: k.Branches}
}

// IDOf is the ID of the key with that hash.
func IDOf(hash Hash) string { return hex.EncodeToString(hash[:idBytes]) }

// idBytes of a hash tell keys apart among far more keys than anybody has, and say nothing of the key.
const idBytes = 6

// stored is a time as stores keep it.
func truncate(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// sorted is a list without order or repetitions, as it is kept; nil when empty.
func sorted[T ~string](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
