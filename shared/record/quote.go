package record

import (
	"encoding/binary"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted prints a JSON string. Invalid UTF-8 becomes U+FFFD. U+2028 and U+2029 are escaped, because old versions
// of JavaScript treat them as line ends.
func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start, i := 0, 0
	for i < len(s) {
		if i+8 <= len(s) && plain8(s[i:i+8]) {
			i += 8
			continue
		}
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 || r == '\u2028' || r == '\u2029' {
				dst = append(dst, s[start:i]...)
				dst = append(dst, `\u`...)
				dst = append(dst, hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
				start = i + n
			}
			i += n
			continue
		case c == '"' || c == '\\':
			dst = append(append(dst, s[start:i]...), '\\', c)
		case c < 0x20:
			dst = appendControl(append(dst, s[start:i]...), c)
		default:
			i++
			continue
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(append(dst, `\u00`...), hexDigits[c>>4], hexDigits[c&15])
}

// plain8 reports whether eight bytes are ASCII characters that need no escape.
func plain8[T string | []byte](s T) bool {
	var b [8]byte
	copy(b[:], s)
	w := binary.LittleEndian.Uint64(b[:])
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)|(slash-ones)|(w-ones*0x20)|w)&highs == 0
}
