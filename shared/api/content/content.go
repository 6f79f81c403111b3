// Package content is what HTTP knows of the content of messages: media types and content codings, their negotiation,
// and entity tags.
package content

import (
	"bytes"
	"encoding/json"
)

// Media types.
const (
	JSON      = "application/json"
	Text      = "text/plain"
	Form      = "application/x-www-form-urlencoded"
	Multipart = "multipart/form-data"
	CSV       = "text/csv"
	NDJSON    = "application/x-ndjson"
	Binary    = "application/octet-stream"
	HTML      = "text/html"
	Mail      = "message/rfc822"
)

// Offers are the media types of most answers. Text is for errors.
var Offers = []string{JSON, Text}

// MaxAnswer is the maximum size in bytes of a data answer as sent, which may be compressed. In base64 it still fits
// into the answer of a Lambda function, which is limited to 6 MB.
const MaxAnswer = 4_000_000

// Encode encodes a value of our own types as JSON, which cannot fail.
func Encode(v any) []byte { return NewEncoder().Encode(v) }

// Encoder encodes many values like Encode, one after the other in the same memory.
type Encoder struct {
	text bytes.Buffer
	to   *json.Encoder
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder {
	e := &Encoder{}
	e.to = json.NewEncoder(&e.text)
	e.to.SetEscapeHTML(false)
	return e
}

// Encode encodes a value. The text is valid until the next call.
func (e *Encoder) Encode(v any) []byte {
	e.text.Reset()
	if err := e.to.Encode(v); err != nil {
		panic("content: an answer cannot be encoded: " + err.Error())
	}
	return bytes.TrimRight(e.text.Bytes(), "\n")
}
