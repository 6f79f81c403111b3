package route

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
)

// BodyType returns an error unless the body has one of the media types want, and is not encoded otherwise. Its options
// are those of the media type.
func (c *Call) BodyType(want ...string) (mediaType string, options map[string]string, err error) {
	coding := strings.TrimSpace(strings.Join(c.Request.Header.Values("Content-Encoding"), ", "))
	if coding != "" && !strings.EqualFold(coding, "identity") {
		c.Writer.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
		return "", nil, errEncodedBody(coding)
	}
	sent := c.Request.Header.Get("Content-Type")
	mediaType, options, err = mime.ParseMediaType(sent)
	charset := options["charset"]
	unicode := charset == "" || strings.EqualFold(charset, "utf-8")
	if err != nil || !unicode || !slices.Contains(want, mediaType) {
		return "", nil, errMediaType(sent, want...)
	}
	return mediaType, options, nil
}

// Body reads a body of at most limit bytes that has one of the media types want.
func (c *Call) Body(limit int64, want ...string) (parameter.Body, error) {
	mediaType, options, err := c.BodyType(want...)
	if err != nil {
		return parameter.Body{}, err
	}
	if c.Request.ContentLength > limit {
		return parameter.Body{}, &http.MaxBytesError{Limit: limit}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return parameter.Body{}, err
		}
		return parameter.Body{}, problem.Details{brokenBody()}
	}
	return parameter.Body{Text: text, MediaType: mediaType, Boundary: options["boundary"]}, nil
}

// Parse waits until the body of the caller may be parsed, and then calls read with what Body returns.
func (c *Call) Parse(limit int64, types []string, read func(sent parameter.Body) error) error {
	sent, err := c.Body(limit, types...)
	if err != nil {
		return err
	}
	if c.Prepare == nil {
		return read(sent)
	}
	release, err := c.Prepare(c.Request.Context(), c.Caller.Owner)
	if err != nil {
		return err
	}
	defer release()
	return read(sent)
}

// NoBody returns an error if the request has a body, which would otherwise be ignored.
func (c *Call) NoBody() error {
	switch n, err := io.ReadFull(c.Request.Body, make([]byte, 1)); {
	case n > 0:
		return problem.Details{unwantedBody()}
	case err != io.EOF:
		return problem.Details{brokenBody()}
	}
	return nil
}
