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

// maxAnswer is how many bytes of body an answer of the data routes may have as sent, compressed when the
// caller accepts that: in base64 it must still fit the 6 MB of a Lambda function's answer.
const maxAnswer = 4_000_000

// minCompressed is the size from which compressing pays.
const minCompressed = 1_000

const (
	jsonType = "application/json"
	textType = "text/plain"
	formType = "application/x-www-form-urlencoded"

	multipartType = "multipart/form-data"
)

// answer is what is sent.
type answer struct {
	status      int
	contentType string
	body        []byte
	encoding    encoding // of body, when it is compressed already
	etag        string   // of the settings in body
}

// send compresses the answer when the caller accepts that, and sends it.
func (c *call) send(a answer) {
	if a.encoding == identity {
		if e := acceptedEncoding(c.r.Header.Values("Accept-Encoding")); e != identity && len(a.body) >= minCompressed {
			a.body, a.encoding = compress(a.body, e), e
		}
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
	if a.contentType == textType {
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
		_, _ = c.w.Write(a.body) // a caller who has gone away learns nothing from an error
	}
}

// sendJSON sends a value as JSON.
func (c *call) sendJSON(status int, v any) {
	c.send(answer{status: status, contentType: jsonType, body: encode(v)})
}

// encode prints a value of our own types, which always can be printed.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("api: an answer cannot be printed: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// negotiate picks the media type of the offers that the caller wants most; of equal ones the first. No Accept
// header accepts everything; "" when none is acceptable.
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

// mediaQuality is the quality of the most specific range that the type is in.
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

// qualities reads an Accept or Accept-Encoding header. An element that cannot be read is worth nothing.
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
