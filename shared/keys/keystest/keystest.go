// Package keystest has keys for tests.
package keystest

import (
	"time"

	"github.com/orrery/orrery/shared/keys"
)

// At is when the first key was created.
var At = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// Key returns the n-th key, derived from a word.
func Key(word string, n int) keys.Key {
	hash := keys.HashOf(word)
	return keys.Key{
		ID: keys.IDOf(hash), Hash: hash, Name: "it's " + word, Scopes: []keys.Scope{keys.ConfRead, keys.DataRead},
		Created: At.Add(time.Duration(n) * time.Second),
	}
}
