package content

import (
	"regexp"
	"strings"
)

// EntityTags splits lists of ETags, such as If-Match has. Our ETags contain no comma.
func EntityTags(values []string) (tags []string, ok bool) {
	for _, tag := range strings.Split(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "" {
			continue
		}
		if tag != "*" && !entityTag.MatchString(tag) {
			return nil, false
		}
		tags = append(tags, tag)
	}
	return tags, true
}

var entityTag = regexp.MustCompile(`\A(W/)?"[^"]*"\z`)

// A strong ETag identifies the bytes sent, so the compressed forms of a version have ETags of their own. Clients may
// send back any of them.

// EncodedETag returns the ETag of the compressed form of a version.
func EncodedETag(etag string, e Coding) string {
	if e == Identity {
		return etag
	}
	return strings.TrimSuffix(etag, `"`) + "-" + string(e) + `"`
}

// PlainETag returns the ETag of the version with the ETag of one of its forms.
func PlainETag(etag string) string {
	for _, e := range codings {
		if bare, ok := strings.CutSuffix(etag, "-"+string(e)+`"`); ok {
			return bare + `"`
		}
	}
	return etag
}
