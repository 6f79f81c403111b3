package api

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// A seal encrypts the tokens of logs, meta.next and meta.head, for a key that is limited to branches. A token contains
// the source and the line of a record. The lines of two records of a log show how many records are between them, also
// those of other branches. The owner of the key cannot read a sealed token, and no other key can use it.
//
// A sealed token is in base64url: the nonce, then the token with AES-256-GCM. The nonce is a keyed hash of the token,
// so equal tokens stay equal, and different ones do not share a nonce.
type seal struct {
	box     cipher.AEAD
	hashKey []byte
}

// sealOverhead is the number of bytes that sealing adds to a token.
const sealOverhead = nonceBytes + 16

const (
	nonceBytes = 12
	maxSealed  = 4_000 // characters of a sealed token, which is hardly longer than a token
)

// sealFor returns the seal of a caller, or nil if the caller sees all branches. If no seals are kept for keys without
// one of their own, such a key uses that of the process, and no other process opens its tokens.
func (s *server) sealFor(c *call) (*seal, error) {
	switch {
	case c.caller.Branches == nil:
		return nil, nil
	case !c.caller.Seal.IsZero():
		return newSeal(c.caller.Seal), nil
	case s.Seals == nil:
		return newSeal(s.seal), nil
	}
	kept, err := s.Seals.SealOf(c.r.Context(), c.keyID)
	if err != nil {
		return nil, err
	}
	return newSeal(kept), nil
}

func newSeal(secret keys.Seal) *seal {
	derived, err := hkdf.Key(sha256.New, secret[:], nil, "tokens of logs", 64)
	if err != nil {
		panic("api: derive keys: " + err.Error()) // the length is possible
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		panic("api: " + err.Error()) // the key has a length of AES
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic("api: " + err.Error()) // the block has a length of GCM
	}
	return &seal{box: box, hashKey: derived[32:]}
}

// close returns a sealed token.
func (s *seal) close(token string) string {
	content, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		panic("api: a token is not base64url: " + err.Error()) // package search has printed it
	}
	hash := hmac.New(sha256.New, s.hashKey)
	hash.Write(content)
	nonce := hash.Sum(nil)[:nonceBytes:nonceBytes]
	return base64.RawURLEncoding.EncodeToString(s.box.Seal(nonce, nonce, content, nil))
}

// open returns the token in a sealed one. It reports false for any other text.
func (s *seal) open(text string) (token string, ok bool) {
	if len(text) > maxSealed {
		return "", false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < sealOverhead || base64.RawURLEncoding.EncodeToString(b) != text {
		return "", false // the decoder skips line breaks and unused bits
	}
	content, err := s.box.Open(nil, b[:nonceBytes], b[nonceBytes:], nil)
	if err != nil {
		return "", false
	}
	return base64.RawURLEncoding.EncodeToString(content), true
}

// openTokens replaces the sealed tokens of a request by those that they contain.
func (c *call) openTokens(r *search.Request) error {
	if c.seal == nil {
		return nil
	}
	for _, one := range []struct {
		param string
		token *string
	}{{sinceName, &r.Since}, {cursorName, &r.Cursor}} {
		if *one.token == "" {
			continue
		}
		opened, ok := c.seal.open(*one.token)
		if !ok {
			return search.InvalidToken(one.param)
		}
		*one.token = opened
	}
	return nil
}

// sealTokens returns records and their meta with sealed tokens, if the key is limited to branches.
func (c *call) sealTokens(found records, meta search.Meta) (records, search.Meta) {
	if c.seal == nil {
		return found, meta
	}
	if meta.Next != nil {
		next := c.seal.closeNext(*meta.Next)
		meta.Next = &next
	}
	if meta.Head != "" {
		meta.Head = c.seal.close(meta.Head)
	}
	return sealedRecords{found, c.seal}, meta
}

func (s *seal) closeNext(next *string) *string {
	if next == nil {
		return nil
	}
	sealed := s.close(*next)
	return &sealed
}

// sealedRecords are records of which the cursors are sealed.
type sealedRecords struct {
	records
	seal *seal
}

func (r sealedRecords) Next(n int) *string { return r.seal.closeNext(r.records.Next(n)) }

func (r sealedRecords) LongestNext() int {
	bytes := base64.RawURLEncoding.DecodedLen(r.records.LongestNext())
	return base64.RawURLEncoding.EncodedLen(bytes + sealOverhead)
}
