package filter

import (
	"strings"
	"unicode/utf8"
)

// Position returns the line and the column of a byte offset. Both count from 1, and columns count characters. An offset
// outside the text is moved to the nearest end.
func Position(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[lineStart:])
}

// Within returns the span in the filter's text of the bytes from…to of a value's unescaped text. It accounts for the
// escapes before them, so that a mistake inside a regular expression is shown at its place.
func (f Filter) Within(v Value, from, to int) Span {
	start, end := v.Span.Offset, v.Span.End()
	if !v.Quoted {
		return between(min(start+from, end), min(start+to, end))
	}
	source := f.Text[start+1 : end]
	at := func(target int) int {
		read, i := 0, 0
		for read < target && i < len(source) {
			size, width := escapeSize(source[i:], f.Syntax)
			read, i = read+size, i+width
		}
		return min(start+1+i, end)
	}
	return between(at(from), at(to))
}

// escapeSize returns the number of bytes in the value (size) and in the filter (width) of the character or escape at
// the start of s.
func escapeSize(s string, syntax Syntax) (size, width int) {
	switch {
	case s[0] != '\\' || len(s) == 1:
		return 1, 1
	case syntax == QueryString:
		if s[1] == '"' || s[1] == '\\' {
			return 1, 2
		}
		return 1, 1
	}
	decoded, width, ok := decodeEscape(s)
	if !ok {
		return 1, 1
	}
	return utf8.RuneLen(decoded), width
}

// between returns the span from one offset to another.
func between(from, to int) Span { return Span{Offset: from, Length: max(0, to-from)} }

// join returns the span from the start of a to the end of b.
func join(a, b Span) Span { return between(a.Offset, b.End()) }

func (s Span) of(text string) string { return text[s.Offset:s.End()] }
