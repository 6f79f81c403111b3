package logformat

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/lake"
)

// combined is the access log of Apache and nginx in the common and combined formats, with or without the
// virtual host in front:
//
//	[vhost[:port]] client (ident | vhost[:port]) user [17/May/2015:10:05:03[.fraction] +0000] "request" status bytes
//	["referer" "user agent" [seconds [seconds]]]
//
// Many configurations append seconds, which become request_time and upstream_response_time if they have a decimal
// point. The entry log_rest of proxy has anything else that follows. Some exports put quotes around the whole line.
type combined struct{}

func (combined) Name() string { return "combined" }

// lineCut is the member that marks the record of an incomplete line.
const lineCut = "log_line_cut"

// IsCut reports whether a record, as Convert returns it, comes from an incomplete line.
func IsCut(text []byte) bool { return bytes.Contains(text, []byte(`"`+lineCut+`":true`)) }

var combinedPattern = regexp.MustCompile(`^\S+ \S+ .*?\[\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2}(?:[.,]\d+)? [+-]\d{4}\] "`)

// syslogPattern matches the header that syslog puts in front of a line. Without this check, its month would be read as
// the client and the rest as the user.
var syslogPattern = regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} `)

func (combined) Matches(line []byte) bool {
	line = unwrap(line)
	if !combinedPattern.Match(line) || syslogPattern.Match(line) {
		return false
	}
	front, _, _ := cutFront(line)
	_, _, _, err := cutClient(front)
	return err == nil
}

func (combined) Complete(row *lake.Row) { complete(row) }

func (combined) Convert(dst, line []byte) ([]byte, error) {
	inner := unwrap(line)
	l, err := readCombined(dst, inner)
	if err != nil {
		return nil, shifted(err, line, inner)
	}
	if rest := dashToNil(l.rest); len(rest) > 0 {
		l.o.pairs("proxy", []pair{{[]byte(logRest), rest}})
	}
	return l.o.close(), nil
}

// combinedLine is a line that has been read.
type combinedLine struct {
	o       object
	vhost   []byte // nil without one
	ident   []byte // nil if the virtual host is in its place
	agents  bool   // the line has a referer and a user agent
	timings int    // the number of times after them
	rest    []byte // the text after these
}

// readCombined reads a line, and writes its fields but the rest.
func readCombined(dst, line []byte) (l combinedLine, err error) {
	if syslogPattern.Match(line) {
		return l, badLine("the line begins with a header of syslog instead of the client; remove the header")
	}
	front, after, ok := cutFront(line)
	if !ok {
		return l, stopped(badLine("no time in brackets"), line, afterWords(line, 3))
	}
	stamp, rest, ok := bytes.Cut(after, []byte("] "))
	if !ok {
		return l, stopped(badLine("no time in brackets"), line, after)
	}
	l.o = newObject(dst)
	if l.o.name("timestamp"); !appendCommonTime(&l.o, stamp) {
		return l, stopped(badLine("%q is not a time like 17/May/2015:10:05:03 +0000", stamp), line, after)
	}
	if err := l.appendClient(front); err != nil {
		return l, stopped(err, line, line)
	}
	if rest, err = appendRequestLine(&l.o, rest, l.vhost); err != nil {
		return l, stopped(err, line, rest)
	}
	if rest, err = appendStatus(&l.o, rest); err != nil {
		return l, stopped(err, line, rest)
	}
	l.agents = bytes.HasPrefix(rest, []byte(`"`))
	l.appendTimings(appendRefererAndUserAgent(&l.o, rest))
	return l, nil
}

// cutFront cuts the words before the time off a line, and the bracket of the time. One of them may be an address in
// brackets.
func cutFront(line []byte) (front, rest []byte, ok bool) {
	if at := timeBracket(line); at >= 0 {
		return line[:at], line[at+2:], true
	}
	return bytes.Cut(line, []byte(" ["))
}

// afterWords returns the text after some words.
func afterWords(line []byte, words int) []byte {
	for range words {
		end := bytes.IndexByte(line, ' ') + 1
		if end == 0 {
			end = len(line)
		}
		line = line[end:]
	}
	return line
}

// appendCommonTime writes 17/May/2015:10:05:03 +0000, which may have a fraction of the second, as RFC 3339.
func appendCommonTime(o *object, stamp []byte) bool {
	t, ok := localTime{}.parseTime(stamp, commonLayouts)
	if !ok {
		return false
	}
	o.b = append(o.b, '"')
	o.b = append(t.UTC().AppendFormat(o.b, rfc3339), '"')
	return true
}

// unwrap strips quotes around a whole line. An export added them, because no server quotes the first word. The first
// quote inside shows how the export escaped the quotes of the line: not at all, as "" in CSV, or as \" in JSON.
func unwrap(line []byte) []byte {
	whole := bytes.TrimRight(line, " \t")
	if len(whole) < 2 || whole[0] != '"' || whole[len(whole)-1] != '"' {
		return line
	}
	inner := whole[1 : len(whole)-1]
	first := bytes.IndexByte(inner, '"')
	switch {
	case first > 0 && inner[first-1] == '\\':
		return unescapeWrapped(whole, inner)
	case hasDoubledQuotes(inner):
		return bytes.ReplaceAll(inner, []byte(`""`), []byte(`"`))
	}
	return inner
}

// hasDoubledQuotes reports whether every quote of a text is doubled.
func hasDoubledQuotes(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i++; i == len(text) || text[i] != '"' {
			return false
		}
	}
	return true
}

// unescapeWrapped decodes a whole line that is a JSON string. If it is not valid JSON, unescapeWrapped decodes only \"
// and \\.
func unescapeWrapped(whole, inner []byte) []byte {
	var text string
	if utf8.Valid(whole) && json.Unmarshal(whole, &text) == nil {
		return bytes.TrimRight([]byte(text), "\r\n")
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) && (inner[i+1] == '"' || inner[i+1] == '\\') {
			i++
		}
		out = append(out, inner[i])
	}
	return out
}

// appendClient writes the client and the user, and finds the virtual host, which may be the first word or, as lighttpd
// writes it, the second.
func (l *combinedLine) appendClient(front []byte) error {
	vhost, client, rest, err := cutClient(front)
	if err != nil {
		return err
	}
	ident, user, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return badLine("fewer than three words before the time")
	}
	if vhost == nil && isFullHost(ident) {
		vhost, ident = ident, nil
	}
	l.vhost, l.ident = vhost, ident
	l.o.text("ip", dashToNil(client))
	l.o.text("ident", dashToNil(ident))
	l.o.text("remote_user", dashToNil(user))
	return nil
}

// cutClient splits the text before the time into the virtual host, if any, the client and the rest. The line begins
// with a virtual host if the second word is an address and the first is not. The name of a user may contain spaces.
func cutClient(front []byte) (vhost, client, rest []byte, err error) {
	client, rest, _ = bytes.Cut(front, []byte(" "))
	if second, after, ok := bytes.Cut(rest, []byte(" ")); ok && isAddress(second) && !isAddress(client) {
		if !isVirtualHost(client) {
			return nil, nil, nil, badLine("%.80q is neither a virtual host nor a client", client)
		}
		return dashToNil(client), second, after, nil
	}
	if !isClient(client) {
		return nil, nil, nil, badLine("%.80q is neither an address nor a host name", client)
	}
	return nil, client, rest, nil
}

// isClient reports whether a server can log a word as the client: an address; a host name, with HostnameLookups of
// Apache; a dash, from Apache for an unknown client; unix:, from nginx for a client of a Unix socket.
func isClient(word []byte) bool {
	return isAddress(word) || isHostName(word) || string(word) == "-" || string(word) == "unix:"
}

func isAddress(word []byte) bool {
	_, err := netip.ParseAddr(string(word))
	return err == nil
}

// isVirtualHost reports whether a server can log a word as the virtual host: a host name or an address, with or without
// a port; a wildcard, _ or nothing, which nginx allows; a dash.
func isVirtualHost(word []byte) bool {
	if len(word) == 0 || string(word) == "-" {
		return true
	}
	host, _ := splitHostPort(word)
	if bytes.HasPrefix(host, []byte("[")) && bytes.HasSuffix(host, []byte("]")) {
		return isAddress(host[1 : len(host)-1])
	}
	return isAddress(host) || isHostName(bytes.TrimPrefix(host, []byte("*.")))
}

// isFullHost reports whether a word must be a host, and cannot be the name of a user: an address, a name with a port,
// or a name with dots. A name with one dot may be that of a user, such as ann.smith, unless it ends like a domain.
func isFullHost(word []byte) bool {
	if !bytes.ContainsAny(word, ".:") {
		return string(word) == "localhost"
	}
	host, port := splitHostPort(word)
	if bytes.HasPrefix(host, []byte("[")) && bytes.HasSuffix(host, []byte("]")) {
		return isAddress(host[1 : len(host)-1])
	}
	if isAddress(host) {
		return true
	}
	_, rest, _ := bytes.Cut(bytes.TrimSuffix(host, []byte(".")), []byte("."))
	return isHostName(host) && (port != nil || bytes.IndexByte(rest, '.') >= 0 || isTopLevel(rest))
}

// topLevels are the commonest last labels of the names of hosts, besides those of countries, which have two letters.
var topLevels = []string{
	"app", "biz", "cloud", "com", "dev", "edu", "example", "gov", "info", "internal", "invalid", "lan", "local",
	"localdomain", "localhost", "mil", "net", "online", "org", "shop", "site", "test", "xyz",
}

func isTopLevel(label []byte) bool {
	return len(label) == 2 || slices.Contains(topLevels, string(bytes.ToLower(label)))
}

// isHostName reports whether a word consists of labels of letters, digits, hyphens and underscores, and the last label
// is not a number. With a number it would be an address or a part of one.
func isHostName(word []byte) bool {
	word = bytes.TrimSuffix(word, []byte("."))
	if len(word) > 253 {
		return false
	}
	label := 0 // offset of the current label
	for i := 0; i <= len(word); i++ {
		if i < len(word) && word[i] != '.' {
			if !isHostByte(word[i]) {
				return false
			}
			continue
		}
		if i == label || i-label > 63 || word[label] == '-' || i == len(word) && isDigits(word[label:i]) {
			return false
		}
		label = i + 1
	}
	return true
}

func isHostByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// dashToNil returns nil for a dash, which logs write for an absent value, and any other text as it is.
func dashToNil(text []byte) []byte {
	if len(text) == 1 && text[0] == '-' {
		return nil
	}
	return text
}

// appendRequestLine writes the quoted request and returns the text after it. The member request keeps a text that is
// not a request line. With an error, it returns the text where it stops.
func appendRequestLine(o *object, quoted, vhost []byte) (rest []byte, err error) {
	line, rest, closed, ok := cutQuoted(quoted)
	if !ok || !closed {
		return quoted, badLine("no request in quotes after the time")
	}
	r, ok := parseRequest(line)
	if !ok {
		o.text("request", dashToNil(line))
	}
	if r.authority == nil {
		r.authority = vhost
	}
	r.append(o)
	return rest, nil
}

// appendStatus writes the status and the bytes sent, and returns the text after them. A dash means 0 bytes. With
// an error, it returns the text where it stops.
func appendStatus(o *object, figures []byte) (rest []byte, err error) {
	status, size, _ := bytes.Cut(figures, []byte(" "))
	sent, rest, _ := bytes.Cut(size, []byte(" "))
	if len(status) != 3 || !isDigits(status) {
		return figures, badLine("no status of three digits after the request")
	}
	o.raw("status", unpadded(status))
	switch {
	case string(sent) == "-":
		o.raw("bytes_sent", []byte("0"))
	case isDigits(sent) && len(sent) < 19:
		o.raw("bytes_sent", unpadded(sent))
	default:
		return size, badLine("no number of bytes after the status")
	}
	return rest, nil
}

// unpadded drops the leading zeros that JSON numbers may not have.
func unpadded(digits []byte) []byte {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

// appendRefererAndUserAgent writes the referer and the user agent, which the common format does not have, and returns
// the text after them. Some loggers cut off long lines: the record keeps the incomplete value and the mark lineCut.
func appendRefererAndUserAgent(o *object, rest []byte) []byte {
	for _, name := range []string{"referer", "user_agent"} {
		value, after, closed, ok := cutQuoted(rest)
		if !ok {
			return rest
		}
		o.text(name, dashToNil(value))
		if !closed {
			o.raw(lineCut, []byte("true"))
		}
		rest = after
	}
	return rest
}

// logRest is the entry of proxy that has the text after a line's fields.
const logRest = "log_rest"

// appendTimings writes the seconds that may follow.
func (l *combinedLine) appendTimings(rest []byte) {
	for _, name := range []string{"request_time", "upstream_response_time"} {
		word, after, _ := bytes.Cut(rest, []byte(" "))
		if !isSeconds(word) {
			break
		}
		l.o.raw(name, word)
		l.timings++
		rest = after
	}
	l.rest = rest
}

// isSeconds reports whether a word is a number of seconds with a decimal point that is also a JSON number.
func isSeconds(word []byte) bool {
	whole, fraction, ok := bytes.Cut(word, []byte("."))
	return ok && isDigits(whole) && isDigits(fraction) && (len(whole) == 1 || whole[0] != '0')
}

// cutQuoted splits text after a quoted string and the space that follows it. A quote ends the string only before a
// space or the end of the line, because not every server escapes quotes. closed is false when the line ends before the
// quote, ok is false when text does not begin with a quote.
func cutQuoted(text []byte) (value, rest []byte, closed, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, text, false, false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			if i+1 == len(text) {
				return unescapeLog(text[1:i]), nil, true, true
			}
			if text[i+1] == ' ' {
				return unescapeLog(text[1:i]), text[i+2:], true, true
			}
		}
	}
	return unescapeLog(text[1:]), nil, false, true
}

// unescapeLog decodes the escapes of access logs: \" \\ \xHH \n \r \t. It keeps any other backslash.
func unescapeLog(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		switch c := text[i+1]; c {
		case '"', '\\':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'x':
			if i+3 < len(text) {
				if b, ok := unhex(text[i+2], text[i+3]); ok {
					out = append(out, b)
					i += 3
					continue
				}
			}
			out = append(out, '\\')
			continue
		default:
			out = append(out, '\\')
			continue
		}
		i++
	}
	return out
}
