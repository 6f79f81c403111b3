package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// body reads a body of at most limit bytes that has one of the media types want.
func (c *call) body(limit int64, want ...string) (sentBody, error) {
	coding := strings.TrimSpace(strings.Join(c.r.Header.Values("Content-Encoding"), ", "))
	if coding != "" && !strings.EqualFold(coding, "identity") {
		c.w.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
		return sentBody{}, errEncodedBody(coding)
	}
	sent := c.r.Header.Get("Content-Type")
	mediaType, options, err := mime.ParseMediaType(sent)
	charset := options["charset"]
	unicode := charset == "" || strings.EqualFold(charset, "utf-8")
	if err != nil || !unicode || !slices.Contains(want, mediaType) {
		return sentBody{}, errMediaType(sent, want...)
	}
	if c.r.ContentLength > limit {
		return sentBody{}, &http.MaxBytesError{Limit: limit}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return sentBody{}, err
		}
		return sentBody{}, details{brokenBody()}
	}
	return sentBody{text, mediaType, options["boundary"]}, nil
}

// parse calls read with a body, as body returns it, when the body of the caller may be parsed.
func (c *call) parse(limit int64, types []string, read func(sent sentBody) error) error {
	sent, err := c.body(limit, types...)
	if err != nil {
		return err
	}
	if c.prepare == nil {
		return read(sent)
	}
	release, err := c.prepare(c.r.Context(), c.caller.Owner)
	if err != nil {
		return err
	}
	defer release()
	return read(sent)
}

// noBody returns an error if the request has a body, which would otherwise be ignored.
func (c *call) noBody() error {
	switch n, err := io.ReadFull(c.r.Body, make([]byte, 1)); {
	case n > 0:
		return details{unwantedBody()}
	case err != io.EOF:
		return details{brokenBody()}
	}
	return nil
}
