package api

import (
	"regexp"
	"strings"
)

// entityTags splits lists of ETags, such as If-Match has. Our ETags contain no comma.
func entityTags(values []string) (tags []string, ok bool) {
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

// encodedETag returns the ETag of the compressed form of a version.
func encodedETag(etag string, e encoding) string {
	if e == identity {
		return etag
	}
	return strings.TrimSuffix(etag, `"`) + "-" + string(e) + `"`
}

// plainETag returns the ETag of the version with the ETag of one of its forms.
func plainETag(etag string) string {
	for _, e := range encodings {
		if bare, ok := strings.CutSuffix(etag, "-"+string(e)+`"`); ok {
			return bare + `"`
		}
	}
	return etag
}
