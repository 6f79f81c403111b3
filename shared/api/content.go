// Package content is what HTTP knows of the content of messages: media types and content codings, their negotiation, and
// entity tags.
package api

import (
	"bytes"
	"encoding/json"
)

// Media types.
const (
	jsonType      = "application/json"
	textType      = "text/plain"
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
	csvType       = "text/csv"
	ndjsonType    = "application/x-ndjson"
	htmlType      = "text/html"
	mailType      = "message/rfc822"
)

// maxAnswer is the maximum size in bytes of a data answer as sent, which may be compressed. In base64 it still fits
// into the answer of a Lambda function, which is limited to 6 MB.
const maxAnswer = 4_000_000

// encode encodes a value of our own types as JSON, which cannot fail.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("content: an answer cannot be encoded: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
