package wording

import (
	"strings"
	"unicode/utf8"
)

// Wrapped breaks a text into lines of at most width characters, except in words. The first line begins with a prefix, the
// others with as many spaces.
func Wrapped(width int, prefix, text string) string {
	var b strings.Builder
	line, room := prefix, utf8.RuneCountInString(prefix)
	for _, word := range strings.Fields(text) {
		switch {
		case utf8.RuneCountInString(line) == room:
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", room)
		default:
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
