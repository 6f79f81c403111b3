package record

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// appendQuoted prints a JSON string. Invalid UTF-8 becomes U+FFFD. U+2028 and U+2029 are escaped, because old versions
// of JavaScript treat them as line ends.
func appendQuoted(dst []byte, s string) []byte {
	return appendQuotedBytes(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// appendQuotedBytes is appendQuoted for bytes, which it only reads.
func appendQuotedBytes(dst, s []byte) []byte {
	dst = append(dst, '"')
	start, i := 0, 0
	for i < len(s) {
		if len(s) >= 8 {
			if i += plain(wordAt(s, i)); i >= len(s) {
				break
			}
		}
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(s[i:])
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

// wordAt returns the eight bytes from i, with spaces after the end of s, which has at least eight bytes.
func wordAt(s []byte, i int) uint64 {
	if i+8 <= len(s) {
		return binary.LittleEndian.Uint64(s[i:])
	}
	after := 8 * (i + 8 - len(s)) // bits
	return binary.LittleEndian.Uint64(s[len(s)-8:])>>after | ones*' '<<(64-after)
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

// plain returns how many of the first of eight bytes are ASCII characters that need no escape.
func plain(w uint64) int {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	// The lowest bit set marks the first other byte.
	others := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w | w) & highs
	return bits.TrailingZeros64(others) / 8
}
