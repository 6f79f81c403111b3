package content

import (
	"mime"
	"slices"
	"strconv"
	"strings"
)

// Negotiate returns the offered media type that the Accept headers prefer, the first of equal ones, or "" if none is
// acceptable. Without an Accept header every type is acceptable.
func Negotiate(accept []string, offers ...string) string {
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
