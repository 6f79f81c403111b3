package keys

import (
	"context"
	"crypto/rand"
)

// Seal is random bytes that belong to a key and that only the server knows. With it the server encrypts what the owner
// of the key sends back later but must not read.
type Seal [32]byte

// NewSeal returns a new seal.
func NewSeal() (s Seal) {
	_, _ = rand.Read(s[:]) // never fails: crypto/rand ends the program instead
	return s
}

// IsZero reports whether there is no seal.
func (s Seal) IsZero() bool { return s == Seal{} }

// String does not print the seal, so that no log has it.
func (s Seal) String() string { return "(seal)" }

// Seals holds the seals of keys without one of their own, which an earlier version issued.
type Seals interface {
	// SealOf returns the seal of the key with an ID. The first call makes it, and it is the same for every process.
	SealOf(ctx context.Context, id string) (Seal, error)
}
