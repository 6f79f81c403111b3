package answering

import (
	"encoding/base64"
	"testing"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/keys"
)

// TestLongestEncryptedCursor: the room that an answer leaves for its cursor is enough.
func TestLongestEncryptedCursor(t *testing.T) {
	tokens, err := access.New(access.Config{}).Tokens(t.Context(), access.Caller{
		Caller: keys.Caller{Branches: []string{"staging"}, TokenKey: keys.TokenKey{1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		token := base64.RawURLEncoding.EncodeToString(make([]byte, n))
		encrypted := tokens.Encrypt(token)
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
