package logformat

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/country"
	"github.com/orrery/orrery/shared/lake"
)

// request is a request line or target of a log, split into fields of the specification.
type request struct {
	method, authority, path, query, protocol []byte
}

// parseRequest parses a request line: GET http://host:80/path?query HTTP/1.1, also without a protocol. ok is false for
// any other text, such as the first bytes of a TLS handshake sent to a port without TLS.
func parseRequest(line []byte) (r request, ok bool) {
	method, rest, ok := bytes.Cut(line, []byte(" "))
	if !ok || !isMethod(method) {
		return request{}, false
	}
	var target []byte
	if i := bytes.LastIndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i+1:], []byte("HTTP/")) {
		target, r.protocol = rest[:i], rest[i+1:]
	} else {
		target = bytes.TrimRight(rest, " ")
	}
	if len(target) == 0 {
		return request{}, false
	}
	r.method = method
	r.setTarget(target)
	return r, true
}

// isMethod reports whether text can be a method: letters, and - or _ after the first.
func isMethod(text []byte) bool {
	for i, c := range text {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return len(text) > 0
}

// setTarget parses the target of a request: /path?query, or the absolute form that proxies and load balancers log.
func (r *request) setTarget(target []byte) {
	if i := bytes.Index(target, []byte("://")); i > 0 && i < len("https")+1 {
		end := bytes.IndexAny(target[i+3:], "/?")
		if end < 0 {
			end = len(target) - i - 3
		}
		r.authority, target = target[i+3:i+3+end], target[i+3+end:]
	}
	if len(target) == 0 {
		return
	}
	r.path = target
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		r.path, r.query = target[:i], target[i:]
	}
}

// append writes the fields of the request.
func (r *request) append(o *object) {
	o.text("method", r.method)
	o.text("path", r.path)
	if len(r.query) > 0 {
		o.text("query", r.query)
		o.pairs("arguments", arguments(r.query[1:]))
	}
	o.text("protocol", r.protocol)
	appendPathParts(o, r.path)
	appendAuthority(o, r.authority)
}

// appendAuthority writes authority, host and port of an authority, such as shop.example:8443 or [::1]:80.
func appendAuthority(o *object, authority []byte) {
	if len(authority) == 0 {
		return
	}
	o.text("authority", authority)
	host, port := splitHostPort(authority)
	o.text("host", host)
	o.text("port", port)
}

func splitHostPort(authority []byte) (host, port []byte) {
	i := bytes.LastIndexByte(authority, ':')
	if i < 0 || !isDigits(authority[i+1:]) || (bytes.IndexByte(authority[:i], ':') >= 0 && authority[i-1] != ']') {
		return authority, nil
	}
	return authority[:i], authority[i+1:]
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// appendPathParts writes path_parts: the segments that are not empty as part1, part2, …, and the whole path.
func appendPathParts(o *object, path []byte) {
	if len(path) == 0 {
		return
	}
	var room [16]pair
	parts := room[:0]
	for segment := range bytes.SplitSeq(path, []byte("/")) {
		if len(segment) > 0 {
			parts = append(parts, pair{strconv.AppendInt([]byte("part"), int64(len(parts)+1), 10), segment})
		}
	}
	o.pairs("path_parts", append(parts, pair{[]byte("path"), path}))
}

// arguments splits a query without its question mark into names and values, percent-decoded. A text that would not be
// valid UTF-8 when decoded stays encoded, so that nothing is lost. The field query has the original in any case.
func arguments(query []byte) []pair {
	var list []pair
	for part := range bytes.SplitSeq(query, []byte("&")) {
		if len(part) == 0 {
			continue
		}
		name, value, _ := bytes.Cut(part, []byte("="))
		list = append(list, pair{unescapePercent(name), unescapePercent(value)})
	}
	return list
}

func unescapePercent(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 && bytes.IndexByte(text, '+') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '+':
			out = append(out, ' ')
		case '%':
			if i+2 >= len(text) {
				return text
			}
			b, ok := unhex(text[i+1], text[i+2])
			if !ok {
				return text
			}
			out = append(out, b)
			i += 2
		default:
			out = append(out, c)
		}
	}
	if !utf8.Valid(out) {
		return text
	}
	return out
}

func unhex(high, low byte) (byte, bool) {
	h, ok1 := hexValue(high)
	l, ok2 := hexValue(low)
	return h<<4 | l, ok1 && ok2
}

func hexValue(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// complete sets url, and replaces the code of a country by its name. It is called after defaults are set, because an
// access log seldom contains its host.
func complete(row *lake.Row) {
	completeURL(row)
	if row.Country == nil {
		return
	}
	if name := country.Name(*row.Country); name != *row.Country {
		row.Country = &name
	}
}

// completeURL sets url, which is host and path.
func completeURL(row *lake.Row) {
	if row.URL != nil || row.Path == nil {
		return
	}
	url := *row.Path
	if row.Host != nil {
		url = *row.Host + url
	}
	row.URL = &url
}
