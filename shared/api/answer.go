package api

import (
	"net/http"
	"strconv"
	"strings"
)

// answer is a response to send.
type answer struct {
	status      int
	contentType string
	body        []byte
	encoding    encoding // of body, if it is already compressed
	etag        string   // of the settings in body
}

// minCompressed is the size from which answers are compressed, if the client also accepts them as they are.
const minCompressed = 1_000

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

// codings returns the content codings that the client accepts.
func (c *call) codings() acceptedCodings { return codingsOf(c.r.Header.Values("Accept-Encoding")) }

// accepted returns the one of the media types that the client prefers, or "" if it accepts none of them.
func (c *call) accepted(offers []string) string {
	return negotiate(c.r.Header.Values("Accept"), offers...)
}

// sendJSON sends a value as JSON.
func (c *call) sendJSON(status int, v any) {
	c.send(answer{status: status, contentType: jsonType, body: encode(v)})
}

// sendIfModified sends an answer with an ETag, or 304 if the client has it. The 304 has the ETag that the client sent,
// by which a cache finds its entry.
func (c *call) sendIfModified(a answer) {
	have, ok := entityTags(c.r.Header.Values("If-None-Match"))
	if !ok {
		have = nil
	}
	for _, tag := range have {
		if tag == "*" {
			tag = a.etag
		}
		if plainETag(strings.TrimPrefix(tag, "W/")) == a.etag {
			a = answer{status: http.StatusNotModified, etag: tag}
			break
		}
	}
	c.send(a)
}
