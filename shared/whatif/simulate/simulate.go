// Package simulate is the plain reading of the gateway's rules: global filters and rate limits, applied to the requests
// of a log. It is written for tests, which compare the product with it record by record. It therefore shares no code
// with the product, reads nothing but its arguments, and prefers the obvious way to the fast one.
//
// What the gateway's documentation leaves open is decided in the comments of Filters and Limits.
package simulate

import "slices"

// Record is a request as the log has it. A field, header, cookie or argument that the log does not have is absent from
// its map. An empty text is a value.
type Record struct {
	Time                   int64             // microseconds since the epoch
	Fields                 map[string]string // by name: ip, session, asn, country, path, method, authority, uri, ...
	Headers, Cookies, Args map[string]string
	Tags                   []string
}

// and is the relation of tests that must all hold. Any other relation, including none, requires one of them.
const and = "AND"

// joined reports whether tests hold together. No tests never hold, in either relation.
func joined(relation string, tests []bool) bool {
	if len(tests) == 0 {
		return false
	}
	if relation == and {
		return !slices.Contains(tests, false)
	}
	return slices.Contains(tests, true)
}
