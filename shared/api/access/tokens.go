package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/orrery/orrery/shared/keys"
)

// Tokens encrypts the tokens of logs, meta.next and meta.head, for a key that is limited to branches. A token contains
// the source and the line of a record. The lines of two records of a log show how many records are between them, also
// records of other branches. The owner of the key cannot read an encrypted token, and no other key can use it.
//
// An encrypted token is in base64url: the nonce, then the token with AES-256-GCM. The nonce is a keyed hash of the
// token, so equal tokens stay equal, and different ones do not share a nonce.
type Tokens struct {
	box     cipher.AEAD
	hashKey []byte
}

const (
	nonceBytes   = 12
	overhead     = nonceBytes + 16 // bytes that encryption adds to a token
	maxEncrypted = 4_000           // characters of an encrypted token, which is hardly longer than a token
)

// newTokens returns the encryption with a token key.
func newTokens(secret keys.TokenKey) *Tokens {
	derived, err := hkdf.Key(sha256.New, secret[:], nil, "tokens of logs", 64)
	if err != nil {
		panic("access: derive keys: " + err.Error()) // the length is possible
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		panic("access: " + err.Error()) // the key has a length of AES
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic("access: " + err.Error()) // the block has a length of GCM
	}
	return &Tokens{box: box, hashKey: derived[32:]}
}

// Encrypt returns a token that only Decrypt reads.
func (t *Tokens) Encrypt(token string) string {
	content, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		panic("access: a token is not base64url: " + err.Error()) // package search has printed it
	}
	hash := hmac.New(sha256.New, t.hashKey)
	hash.Write(content)
	nonce := hash.Sum(nil)[:nonceBytes:nonceBytes]
	return base64.RawURLEncoding.EncodeToString(t.box.Seal(nonce, nonce, content, nil))
}

// Decrypt returns the token in an encrypted one. It reports false for any other text.
func (t *Tokens) Decrypt(text string) (token string, ok bool) {
	if len(text) > maxEncrypted {
		return "", false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < overhead || base64.RawURLEncoding.EncodeToString(b) != text {
		return "", false // the decoder skips line breaks and unused bits
	}
	content, err := t.box.Open(nil, b[:nonceBytes], b[nonceBytes:], nil)
	if err != nil {
		return "", false
	}
	return base64.RawURLEncoding.EncodeToString(content), true
}

// EncryptedLen returns the length of an encrypted token by the length of the token.
func EncryptedLen(token int) int {
	return base64.RawURLEncoding.EncodedLen(base64.RawURLEncoding.DecodedLen(token) + overhead)
}
