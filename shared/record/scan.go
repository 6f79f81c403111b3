package record

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of objects and arrays, as in encoding/json.
const maxDepth = 10_000

// scanner reads one JSON text that is valid UTF-8. It accepts exactly the texts that encoding/json accepts.
//
// At the first error, it sets err and moves to the end of the text, where peek returns 0 and every loop stops. So
// callers need not check err after each step.
type scanner struct {
	data    []byte
	pos     int
	err     error
	spaced  bool   // whether there was white space between tokens
	lossy   bool   // whether an invalid \u escape was read as U+FFFD
	closers []byte // used by skip: the closing brackets that are expected
}

func (s *scanner) reset(data []byte) {
	s.data, s.pos, s.err, s.spaced, s.lossy = data, 0, nil, false, false
}

// fail records the first error: expected describes what is missing at the current position.
func (s *scanner) fail(expected string) {
	if s.err == nil {
		switch {
		case s.pos >= len(s.data):
			s.err = fmt.Errorf("the line ends where %s is expected", expected)
		default:
			s.err = fmt.Errorf("byte %d: expected %s, found %q", s.pos+1, expected, rune(s.data[s.pos]))
		}
	}
	s.pos = len(s.data)
}

// peek skips white space and returns the first byte of the next token, or 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		s.spaced = true
		s.pos++
	}
	return 0
}

// next moves to the next element of an array or object and reports whether there is one. end is the closing bracket,
// and first is whether no element was read before. next consumes the comma or the closing bracket.
func (s *scanner) next(first bool, end byte) bool {
	switch c := s.peek(); {
	case c == end:
		s.pos++
		return false
	case first:
		return c != 0 || s.stop(end)
	case c == ',':
		s.pos++
		if s.peek() == end { // a trailing comma
			return s.stop(0)
		}
		return s.pos < len(s.data) || s.stop(end)
	}
	return s.stop(end)
}

// stop records an error of next and returns false. end is 0 after a comma.
func (s *scanner) stop(end byte) bool {
	switch end {
	case '}':
		s.fail("',' or '}'")
	case ']':
		s.fail("',' or ']'")
	default:
		s.fail("a value after ','")
	}
	return false
}

// name reads the name of a member and its colon. It returns the text between the quotes, and whether it has escapes.
func (s *scanner) name() (raw []byte, escaped bool) {
	if s.peek() != '"' {
		s.fail("a member's name in quotes")
		return nil, false
	}
	raw, escaped = s.str()
	if s.peek() != ':' {
		s.fail("':'")
		return nil, false
	}
	s.pos++
	return raw, escaped
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str reads a string from its opening quote and returns the text between the quotes, and whether it has escapes.
func (s *scanner) str() (raw []byte, escaped bool) {
	s.pos++
	start, i, data := s.pos, s.pos, s.data
	for {
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			// The lowest bit set marks the first quote, backslash or control character.
			hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
			if hit != 0 {
				i += bits.TrailingZeros64(hit) / 8
				break
			}
			i += 8
		}
		for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= 0x20 {
			i++
		}
		s.pos = i
		switch {
		case i == len(data):
			s.fail("'\"'")
			return nil, false
		case data[i] == '"':
			s.pos++
			return data[start:i], escaped
		case data[i] != '\\':
			s.fail("an escaped control character")
			return nil, false
		}
		escaped = true
		i = s.escape(i)
		if i == 0 {
			return nil, false
		}
	}
}

// escape checks the escape at i and returns its end, or 0 if the escape is invalid.
func (s *scanner) escape(i int) int {
	i++
	if i < len(s.data) {
		switch s.data[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return i + 1
		case 'u':
			if hex4(s.data[i+1:]) >= 0 {
				return i + 5
			}
		}
	}
	s.fail("a valid escape")
	return 0
}

// hex4 returns the value of four hexadecimal digits, or -1 if b does not begin with four.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unescape appends the unescaped text of a string that str has checked. An escape of half a surrogate pair becomes
// U+FFFD, as in encoding/json.
func (s *scanner) unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			i++
			continue
		}
		c := raw[i+1]
		i += 2
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(raw[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(raw[i+2:]))
				}
				if r = pair; r == utf8.RuneError {
					s.lossy = true
				} else {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// number reads a number.
func (s *scanner) number() []byte {
	n := numberLen(s.data[s.pos:])
	if n == 0 {
		s.fail("a number")
		return nil
	}
	raw := s.data[s.pos : s.pos+n]
	s.pos += n
	return raw
}

// numberLen returns the length of the JSON number at the start of b, or 0 if there is none.
func numberLen(b []byte) int {
	i := 0
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// isNumber reports whether b is a JSON number.
func isNumber(b []byte) bool { return len(b) > 0 && numberLen(b) == len(b) }

// word reads the literal w. The caller has seen its first byte.
func (s *scanner) word(w string) {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		s.fail(w)
		return
	}
	s.pos += len(w)
}

// skip reads any value and returns its text.
func (s *scanner) skip() []byte {
	s.peek()
	start := s.pos
	s.closers = s.closers[:0]
	var first bool // whether the next element is the first of its array or object
	for s.err == nil {
		switch c := s.peek(); c {
		case '{', '[':
			if len(s.closers) == maxDepth {
				s.fail("at most 10000 levels of nesting")
				return nil
			}
			s.pos++
			s.closers = append(s.closers, c+2) // in ASCII, '}' is '{'+2 and ']' is '['+2
			first = true
		default:
			s.scalar(c)
			first = false
		}
		for len(s.closers) > 0 && !s.next(first, s.closers[len(s.closers)-1]) && s.err == nil {
			s.closers = s.closers[:len(s.closers)-1]
			first = false
		}
		if len(s.closers) == 0 {
			break
		}
		if s.closers[len(s.closers)-1] == '}' {
			s.name()
		}
	}
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}

// scalar reads a string, number, true, false or null that begins with c.
func (s *scanner) scalar(c byte) {
	switch c {
	case '"':
		s.str()
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			s.fail("a value")
			return
		}
		s.number()
	}
}

// appendCompact appends a JSON text without the white space between its tokens.
func appendCompact(dst, text []byte) []byte {
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\':
			dst = append(dst, c)
			i++
			c = text[i]
		case c == '"':
			inString = !inString
		case !inString && c <= ' ':
			continue
		}
		dst = append(dst, c)
	}
	return dst
}
