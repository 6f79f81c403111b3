package keys

import (
	"context"
	"crypto/rand"
)

// TokenKey is random bytes that belong to an API key and that only the server knows. With it the server encrypts what the
// owner of the API key sends back later but must not read.
type TokenKey [32]byte

// NewTokenKey returns a new token key.
func NewTokenKey() (k TokenKey) {
	_, _ = rand.Read(k[:]) // never fails: crypto/rand ends the program instead
	return k
}

// IsZero reports whether there is no token key.
func (k TokenKey) IsZero() bool { return k == TokenKey{} }

// String does not print the token key, so that no log has it.
func (k TokenKey) String() string { return "(token key)" }

// TokenKeys holds the token keys of API keys without one of their own, which an earlier version issued.
type TokenKeys interface {
	// TokenKeyOf returns the token key of the API key with an ID. The first call makes it, and it is the same for every
	// process.
	TokenKeyOf(ctx context.Context, id string) (TokenKey, error)
}
