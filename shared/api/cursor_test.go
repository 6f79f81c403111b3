package api

import (
	"encoding/base64"
	"testing"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/keys"
)

// TestLongestEncryptedCursor: the room that an answer leaves for its cursor is enough.
func TestLongestEncryptedCursor(t *testing.T) {
	for n := range 100 {
		token := base64.RawURLEncoding.EncodeToString(make([]byte, n))
		encrypted := access.NewTokens(keys.TokenKey{1}).Encrypt(token)
		if got := (encryptedRecords{fixedCursor(len(token)), nil}).LongestNext(); got != len(encrypted) {
			t.Fatalf("a token of %d bytes has %d characters, not %d", n, len(encrypted), got)
		}
	}
}

// fixedCursor is records with a cursor of that length.
type fixedCursor int

func (fixedCursor) Len() int                            { return 0 }
func (fixedCursor) AppendJSON(dst []byte, _ int) []byte { return dst }
func (fixedCursor) Size(int) int                        { return 0 }
func (fixedCursor) Next(int) *string                    { return nil }
func (n fixedCursor) LongestNext() int                  { return int(n) }
