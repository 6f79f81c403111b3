package filter

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string parses a string. An escape that JSON does not have is kept as it is written, because \d in a regular
// expression means \d.
func (r *jsonReader) string() node {
	start := r.at
	end, closed := r.stringEnd(start)
	if !closed {
		r.fail(jsonUnclosedString(r.text, start))
		if end == len(r.text) {
			r.stopped = true
		}
		r.take(StringToken, between(start, end))
		return node{kind: brokenNode, span: between(start, end)}
	}
	r.take(StringToken, between(start, end))
	return node{
		kind:   stringNode,
		span:   between(start, end),
		text:   r.unescape(start+1, end-1),
		inside: between(start+1, end-1),
		quoted: true,
	}
}

// stringEnd returns the offset after the closing quote. A string without a closing quote on its line ends at the line
// break, unless its closing quote is where a value may end: then the line break is part of the text.
func (r *jsonReader) stringEnd(start int) (end int, closed bool) {
	line := -1
	for i := start + 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '\n':
			if line < 0 {
				line = i
			}
		case '"':
			if line < 0 {
				return i + 1, true
			}
			after := strings.TrimLeft(r.text[i+1:min(i+65, len(r.text))], " \t\r\n")
			if after != "" && strings.IndexByte(",:}]", after[0]) < 0 {
				return line, false
			}
			return i + 1, true
		}
	}
	if line >= 0 {
		return line, false
	}
	return len(r.text), false
}

func (r *jsonReader) unescape(from, to int) string {
	raw := r.text[from:to]
	plain := true
	for i := range len(raw) {
		if raw[i] == '\\' || raw[i] < ' ' {
			plain = false
			break
		}
	}
	if plain {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			decoded, width, ok := decodeEscape(raw[i:])
			if !ok {
				r.fail(jsonEscape(r.text, Span{from + i, width}))
				b.WriteString(raw[i : i+width])
			} else {
				if decoded == 0 {
					r.fail(nulCharacter(Span{from + i, width}))
				}
				b.WriteRune(decoded)
			}
			i += width
		case c < ' ':
			r.fail(jsonControl(Span{from + i, 1}, c))
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// decodeEscape decodes the escape at the start of s. width is its length in bytes, even if it is not a valid escape.
func decodeEscape(s string) (decoded rune, width int, ok bool) {
	if len(s) == 1 {
		return 0, 1, false
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2, true
	}
	if s[1] != 'u' {
		_, size := utf8.DecodeRuneInString(s[1:])
		return 0, 1 + size, false
	}
	high, ok := hex4(s)
	if !ok {
		return 0, 2, false
	}
	if !utf16.IsSurrogate(high) {
		return high, 6, true
	}
	if low, ok := hex4(s[6:]); ok {
		if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return 0, 6, false
}

// hex4 decodes an escape of the form \uXXXX at the start of s.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// number parses a number. Text that only begins like a number, such as a date, is reported to need quotes.
func (r *jsonReader) number() node {
	span := between(r.at, r.bareEnd())
	n := node{kind: numberNode, span: span, text: span.of(r.text), inside: span}
	r.take(BareToken, span)
	if !isJSONNumber(n.text) {
		meant := meantNumber(n.text)
		r.fail(jsonNumber(n.text, span, meant))
		if meant == "" {
			n.kind = stringNode
		} else {
			n.text = meant
		}
	}
	return n
}

// meantNumber returns the JSON number for a number in the notation of other languages, such as +4, .5, 1. or 007. It
// returns "" for other text.
func meantNumber(text string) string {
	rest := strings.TrimPrefix(text, "+")
	rest, negative := strings.CutPrefix(rest, "-")
	whole := strings.TrimLeft(rest, "0")
	if whole == "" || whole[0] < '0' || whole[0] > '9' {
		whole = "0" + whole
	}
	if negative {
		whole = "-" + whole
	}
	if whole = strings.TrimSuffix(whole, "."); rest == "" || rest == "." || !isJSONNumber(whole) {
		return ""
	}
	return whole
}

// isJSONNumber reports whether s is a number in JSON notation: without +, without leading zeros, and with digits on
// both sides of a point.
func isJSONNumber(s string) bool {
	digits := func() bool {
		n := len(s) - len(strings.TrimLeft(s, "0123456789"))
		s = s[n:]
		return n > 0
	}
	s = strings.TrimPrefix(s, "-")
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		if s = rest; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// literal parses true, false or null. Any other bare text is reported to need quotes.
func (r *jsonReader) literal() node {
	span := between(r.at, r.bareEnd())
	n := node{span: span, text: span.of(r.text), inside: span}
	r.take(WordToken, span)
	lower := strings.ToLower(n.text)
	if lower == "none" || lower == "nil" || lower == "undefined" {
		lower = "null"
	}
	switch lower {
	case "true", "false":
		n.kind = boolNode
	case "null":
		n.kind = nullNode
	default:
		n.kind = stringNode
		r.fail(jsonUnquotedText(n.text, span))
		return n
	}
	if n.text != lower {
		r.fail(jsonLiteral(n.text, span, lower))
		n.text = lower
	}
	return n
}

// bareEnd returns the end of the word or number at the current place.
func (r *jsonReader) bareEnd() int {
	n := strings.IndexAny(r.text[r.at:], " \t\r\n,:;={}[]\"'“”")
	if n < 0 {
		return len(r.text)
	}
	return r.at + n
}

// wrongString parses a string in single or typographic quotes, which JSON does not have.
func (r *jsonReader) wrongString() (node, bool) {
	var closers string
	curly, size := curlyQuote(r.text[r.at:])
	switch {
	case curly:
		closers = "“”„‟\""
	case r.text[r.at] == '\'':
		closers = "'"
	default:
		return node{}, false
	}
	length := strings.IndexAny(r.text[r.at+size:], closers+"\n")
	if length < 0 || r.text[r.at+size+length] == '\n' {
		return node{}, false
	}
	inside := Span{r.at + size, length}
	_, closer := curlyQuote(r.text[inside.End():])
	whole := between(r.at, inside.End()+closer)
	n := node{kind: stringNode, span: whole, text: inside.of(r.text), inside: inside}
	r.fail(wrongQuotes(whole, jsonString(n.text)))
	r.take(StringToken, whole)
	return n, true
}
