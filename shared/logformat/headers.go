package logformat

import (
	"bytes"
	"slices"
)

// appendHeaders writes the headers of a request, and returns the value of the header Host. The headers User-Agent and
// Referer also become fields. A Cookie header becomes cookies; it stays a header only if formatCookies does not
// reproduce it exactly. A Cookie header that is equal to mask is only a header; an empty mask is equal to no header.
func appendHeaders(o *object, headers []pair, mask string) (host []byte) {
	var cookies []pair
	kept := headers[:0]
	for _, h := range headers {
		switch {
		case bytes.EqualFold(h.name, []byte("host")):
			host = h.value
		case bytes.EqualFold(h.name, []byte("user-agent")):
			o.text("user_agent", dashToNil(h.value))
		case bytes.EqualFold(h.name, []byte("referer")):
			o.text("referer", dashToNil(h.value))
		case bytes.EqualFold(h.name, []byte("cookie")) && (mask == "" || string(h.value) != mask):
			list := parseCookies(h.value)
			cookies = append(cookies, list...)
			if bytes.Equal(formatCookies(list), h.value) {
				continue
			}
		}
		kept = append(kept, h)
	}
	o.pairs("headers", kept)
	o.pairs("cookies", cookies)
	return host
}

// parseCookies splits the value of a Cookie header into names and values.
func parseCookies(header []byte) []pair {
	var list []pair
	for part := range bytes.SplitSeq(header, []byte(";")) {
		part = bytes.TrimSpace(part)
		if len(part) == 0 {
			continue
		}
		name, value, _ := bytes.Cut(part, []byte("="))
		list = append(list, pair{name, value})
	}
	return list
}

// formatCookies returns the Cookie header that browsers send for cookies.
func formatCookies(list []pair) []byte {
	parts := make([][]byte, len(list))
	for i, c := range list {
		parts[i] = slices.Concat(c.name, []byte("="), c.value)
	}
	return bytes.Join(parts, []byte("; "))
}
