package api

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxAnswer is the maximum size in bytes of a data answer as sent, which may be compressed. In base64 it still fits
// into the answer of a Lambda function, which is limited to 6 MB.
const maxAnswer = 4_000_000

// minCompressed is the size from which answers are compressed, if the client also accepts them as they are.
const minCompressed = 1_000

const (
	jsonType = "application/json"
	textType = "text/plain"
	formType = "application/x-www-form-urlencoded"

	multipartType = "multipart/form-data"
)

// answer is a response to send.
type answer struct {
	status      int
	contentType string
	body        []byte
	encoding    encoding // of body, if it is already compressed
	etag        string   // of the settings in body
}

// send sends the answer, compressed if the client accepts that.
func (c *call) send(a answer) {
	if accepts := c.codings(); a.encoding == identity && accepts.best != identity && len(a.body) > 0 &&
		(len(a.body) >= minCompressed || !accepts.plain) {
		a.body, a.encoding = compress(a.body, accepts.best), accepts.best
	}
	h := c.w.Header()
	h.Add("Vary", "Accept, Accept-Encoding")
	if a.encoding != identity {
		h.Set("Content-Encoding", string(a.encoding))
	}
	if a.etag != "" {
		h.Set("ETag", encodedETag(a.etag, a.encoding))
		h.Set("Cache-Control", "private, no-cache")
	}
	if a.contentType == textType || a.contentType == csvType {
		a.contentType += "; charset=utf-8"
	}
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	c.w.WriteHeader(a.status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(a.body) // meter records a failure
	}
}

// sendJSON sends a value as JSON.
func (c *call) sendJSON(status int, v any) {
	c.send(answer{status: status, contentType: jsonType, body: encode(v)})
}

// encode encodes a value of our own types as JSON, which cannot fail.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("api: an answer cannot be encoded: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// negotiate returns the offered media type that the Accept headers prefer, the first of equal ones, or "" if none is
// acceptable. Without an Accept header every type is acceptable.
func negotiate(accept []string, offers ...string) string {
	if len(accept) == 0 {
		return offers[0]
	}
	ranges := qualities(strings.Join(accept, ","))
	best, bestQ := "", 0.0
	for _, offer := range offers {
		if q := mediaQuality(ranges, offer); q > bestQ {
			best, bestQ = offer, q
		}
	}
	return best
}

// mediaQuality returns the quality of the most specific range that includes the type.
func mediaQuality(ranges []quality, offer string) float64 {
	kind, _, _ := strings.Cut(offer, "/")
	for _, pattern := range []string{offer, kind + "/*", "*/*"} {
		if i := slices.IndexFunc(ranges, func(r quality) bool { return r.value == pattern }); i >= 0 {
			return ranges[i].q
		}
	}
	return 0
}

// quality is one element of an Accept header.
type quality struct {
	value string // lower case, without parameters
	q     float64
}

// qualities parses an Accept or Accept-Encoding header. Malformed elements get quality 0.
func qualities(header string) []quality {
	var list []quality
	for _, element := range strings.Split(header, ",") {
		value, parameters, _ := strings.Cut(element, ";")
		value = strings.ToLower(strings.TrimSpace(value))
		if value == "" {
			continue
		}
		one := quality{value, 1}
		if _, options, err := mime.ParseMediaType("a/b;" + parameters); err != nil {
			one.q = 0
		} else if text, ok := options["q"]; ok {
			q, err := strconv.ParseFloat(text, 64)
			if err != nil || q < 0 || q > 1 {
				q = 0
			}
			one.q = q
		}
		list = append(list, one)
	}
	return list
}
