package ingest

import (
	"bytes"
	"net/netip"
	"regexp"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// combinedSource is the access log of Apache and nginx in the common and combined formats, with or without the
// virtual host in front:
//
//	[vhost[:port]] client ident user [17/May/2015:10:05:03 +0000] "request" status bytes ["referer" "user agent" [seconds [seconds]]]
//
// The seconds that many configurations append are request_time and upstream_response_time, if they have a decimal
// point. Whatever else follows is kept in log_rest.
type combinedSource struct{}

func (combinedSource) Name() string { return "combined" }

// lineCut stands in the record of a line whose end is missing.
const (
	lineCutName = "log_line_cut"
	lineCut     = `"log_line_cut":true`
)

var combinedPattern = regexp.MustCompile(`^\S+ \S+ .*?\[\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}\] "`)

func (combinedSource) Matches(line []byte) bool { return combinedPattern.Match(line) }

func (combinedSource) Complete(row *lake.Row) { completeURL(row) }

func (combinedSource) Convert(dst, line []byte) ([]byte, error) {
	front, rest, ok := bytes.Cut(line, []byte(" ["))
	if !ok {
		return nil, badLine("no time in brackets")
	}
	stamp, rest, ok := bytes.Cut(rest, []byte("] "))
	if !ok {
		return nil, badLine("no time in brackets")
	}
	o := newObject(dst)
	if o.name("timestamp"); !appendCommonTime(&o, stamp) {
		return nil, badLine("%q is not a time like 17/May/2015:10:05:03 +0000", stamp)
	}
	vhost, err := appendClient(&o, front)
	if err != nil {
		return nil, err
	}
	rest, err = appendRequestLine(&o, rest, vhost)
	if err != nil {
		return nil, err
	}
	rest, err = appendStatus(&o, rest)
	if err != nil {
		return nil, err
	}
	rest = appendAgents(&o, rest)
	appendTimings(&o, rest)
	return o.close(), nil
}

// appendCommonTime writes 17/May/2015:10:05:03 +0000 as RFC 3339.
func appendCommonTime(o *object, stamp []byte) bool {
	t, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(stamp))
	if err != nil {
		return false
	}
	o.b = append(o.b, '"')
	o.b = append(t.UTC().AppendFormat(o.b, "2006-01-02T15:04:05Z"), '"')
	return true
}

// appendClient writes who asked, and gives the virtual host if the line begins with one: then the second word, not
// the first, is an address. A user's name may hold spaces.
func appendClient(o *object, front []byte) (vhost []byte, err error) {
	first, rest, ok := bytes.Cut(front, []byte(" "))
	if !ok {
		return nil, badLine("before the time there are fewer than three words")
	}
	if second, after, ok := bytes.Cut(rest, []byte(" ")); ok && isAddress(second) && !isAddress(first) {
		vhost, first, rest = first, second, after
	}
	ident, user, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(first) == 0 {
		return nil, badLine("before the time there are fewer than three words")
	}
	o.text("ip", first)
	o.text("ident", present(ident))
	o.text("remote_user", present(user))
	return vhost, nil
}

func isAddress(word []byte) bool {
	_, err := netip.ParseAddr(string(word))
	return err == nil
}

// present is nil for the dash that logs write for nothing.
func present(text []byte) []byte {
	if len(text) == 1 && text[0] == '-' {
		return nil
	}
	return text
}

// appendRequestLine writes the quoted request. One that is no request line is kept in the member request.
func appendRequestLine(o *object, rest, vhost []byte) ([]byte, error) {
	line, rest, closed, ok := quoted(rest)
	if !ok || !closed {
		return nil, badLine("no request in quotes after the time")
	}
	r, ok := parseRequest(line)
	if !ok {
		o.text("request", present(line))
	}
	if r.authority == nil {
		r.authority = vhost
	}
	r.append(o)
	return rest, nil
}

// appendStatus writes status and bytes. A dash for bytes means none were sent.
func appendStatus(o *object, rest []byte) ([]byte, error) {
	status, rest, _ := bytes.Cut(rest, []byte(" "))
	sent, rest, _ := bytes.Cut(rest, []byte(" "))
	if len(status) != 3 || !isDigits(status) {
		return nil, badLine("no status of three digits after the request")
	}
	o.raw("status", unpadded(status))
	switch {
	case string(sent) == "-":
		o.raw("bytes_sent", []byte("0"))
	case isDigits(sent) && len(sent) < 19:
		o.raw("bytes_sent", unpadded(sent))
	default:
		return nil, badLine("no number of bytes after the status")
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

// appendAgents writes referer and user agent, which the common format lacks. A line whose end was cut off, as
// some loggers do with long ones, keeps what there is and says so.
func appendAgents(o *object, rest []byte) []byte {
	for _, name := range []string{"referer", "user_agent"} {
		value, after, closed, ok := quoted(rest)
		if !ok {
			return rest
		}
		o.text(name, present(value))
		if !closed {
			o.raw(lineCutName, []byte("true"))
		}
		rest = after
	}
	return rest
}

// appendTimings writes the seconds that may follow, and keeps what else does.
func appendTimings(o *object, rest []byte) {
	for _, name := range []string{"request_time", "upstream_response_time"} {
		word, after, _ := bytes.Cut(rest, []byte(" "))
		if !isSeconds(word) {
			break
		}
		o.raw(name, word)
		rest = after
	}
	if len(rest) > 0 {
		o.text("log_rest", rest)
	}
}

// isSeconds tells whether a word is a number of seconds with a decimal point, in the form that JSON has too.
func isSeconds(word []byte) bool {
	whole, fraction, ok := bytes.Cut(word, []byte("."))
	return ok && isDigits(whole) && isDigits(fraction) && (len(whole) == 1 || whole[0] != '0')
}

// quoted reads a quoted string and the space after it. A quote ends it only before a space or the end of the line,
// as not every server escapes quotes. closed is false when the line ends before the quote.
func quoted(text []byte) (value, rest []byte, closed, ok bool) {
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

// unescapeLog undoes the escapes of access logs: \" \\ \xHH \n \r \t. Any other backslash stands for itself.
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
