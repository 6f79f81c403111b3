package route

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/api/content"
)

// Answer is a response to send.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	Coding      content.Coding // of body, if it is already compressed
	ETag        string         // of the settings in body
}

// minCompressed is the size from which answers are compressed, if the client also accepts them as they are.
const minCompressed = 1_000

// Send sends the answer, compressed if the client accepts that.
func (c *Call) Send(a Answer) {
	if accepts := c.Codings(); a.Coding == content.Identity && accepts.Best != content.Identity && len(a.Body) > 0 &&
		(len(a.Body) >= minCompressed || !accepts.Plain) {
		a.Body, a.Coding = content.Compress(a.Body, accepts.Best), accepts.Best
	}
	h := c.Writer.Header()
	h.Add("Vary", "Accept, Accept-Encoding")
	if a.Coding != content.Identity {
		h.Set("Content-Encoding", string(a.Coding))
	}
	if a.ETag != "" {
		h.Set("ETag", content.EncodedETag(a.ETag, a.Coding))
		h.Set("Cache-Control", "private, no-cache")
	}
	if a.ContentType == content.Text || a.ContentType == content.CSV {
		a.ContentType += "; charset=utf-8"
	}
	if a.ContentType != "" {
		h.Set("Content-Type", a.ContentType)
	}
	if a.Status != http.StatusNoContent && a.Status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	c.Writer.WriteHeader(a.Status)
	if c.Request.Method != http.MethodHead {
		_, _ = c.Writer.Write(a.Body) // meter records a failure
	}
}

// Codings returns the content codings that the client accepts.
func (c *Call) Codings() content.Codings {
	return content.CodingsOf(c.Request.Header.Values("Accept-Encoding"))
}

// Accepted returns the one of the media types that the client prefers, or "" if it accepts none of them.
func (c *Call) Accepted(offers []string) string {
	return content.Negotiate(c.Request.Header.Values("Accept"), offers...)
}

// SendJSON sends a value as JSON.
func (c *Call) SendJSON(status int, v any) {
	c.Send(Answer{Status: status, ContentType: content.JSON, Body: content.Encode(v)})
}

// SendIfModified sends an answer with an ETag, or 304 if the client has it. The 304 has the ETag that the client sent,
// by which a cache finds its entry.
func (c *Call) SendIfModified(a Answer) {
	have, ok := content.EntityTags(c.Request.Header.Values("If-None-Match"))
	if !ok {
		have = nil
	}
	for _, tag := range have {
		if tag == "*" {
			tag = a.ETag
		}
		if content.PlainETag(strings.TrimPrefix(tag, "W/")) == a.ETag {
			a = Answer{Status: http.StatusNotModified, ETag: tag}
			break
		}
	}
	c.Send(a)
}
