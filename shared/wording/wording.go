// Package wording writes numbers and values of the data in sentences, the same wherever people read them.
package wording

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with commas between thousands.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Percent returns a share with one digit after the point. A share that is not zero is not printed as zero.
func Percent(part, whole int64) string {
	if whole == 0 {
		return "0 %"
	}
	share := float64(part) / float64(whole) * 100
	switch {
	case part > 0 && share < 0.1:
		return "< 0.1 %"
	case part < whole && share >= 99.95:
		return "> 99.9 %"
	}
	return strings.TrimSuffix(strconv.FormatFloat(share, 'f', 1, 64), ".0") + " %"
}

// Plural returns a number with a noun.
func Plural(n int64, noun string) string { return Counted(n, noun, noun+"s") }

// Counted returns a number with the noun for one thing or for several.
func Counted(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + several
}

// Shown returns a value from the data in a form that is safe to show: characters that are invisible or change the order
// of the text are written as escapes, and a value with more than limit characters is cut and ends with a part of its
// hash.
func Shown(value string, limit int) string {
	var b strings.Builder
	n := 0
	for i, r := range value {
		if n == limit-HashLength && !fits(value[i:], limit-n) {
			fmt.Fprintf(&b, "…%x", sha256.Sum256([]byte(value)))
			return b.String()[:strings.Index(b.String(), "…")+len("…")+HashLength-1]
		}
		n++
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(value[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, value[i])
		case r == ' ':
			b.WriteByte(' ')
		case !unicode.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	if value == "" {
		return "(empty)"
	}
	return b.String()
}

// HashLength is the length of the end of a value that is cut: an ellipsis and eight digits of its hash.
const HashLength = 9

// fits reports whether a text has at most n characters.
func fits(text string, n int) bool {
	return len(text) <= n || utf8.RuneCountInString(text) <= n
}
