package filter

import (
	"strings"
	"unicode/utf8"
)

// Position tells where a byte of the text stands: line and column count from 1, columns are characters.
// An offset outside the text counts as the nearest end.
func Position(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[lineStart:])
}

// Within finds the bytes from…to of a value's unescaped text in the filter's text. A mistake inside a
// regular expression is shown where it was written, whatever escapes stand before it.
func (f Filter) Within(v Value, from, to int) Span {
	start, end := v.Span.Offset, v.Span.End()
	if !v.Quoted {
		return between(min(start+from, end), min(start+to, end))
	}
	source := f.Text[start+1 : end]
	at := func(target int) int {
		read, i := 0, 0
		for read < target && i < len(source) {
			size, width := escapeSize(source[i:], f.Form)
			read, i = read+size, i+width
		}
		return min(start+1+i, end)
	}
	return between(at(from), at(to))
}

// escapeSize tells how many bytes of value the next character of a quoted text makes, and how many it takes.
func escapeSize(s string, form Form) (size, width int) {
	switch {
	case s[0] != '\\' || len(s) == 1:
		return 1, 1
	case form == QueryString:
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

// between is the span from one offset up to another.
func between(from, to int) Span { return Span{Offset: from, Length: max(0, to-from)} }

// join is the span from the start of one span to the end of another.
func join(a, b Span) Span { return between(a.Offset, b.End()) }

func (s Span) of(text string) string { return text[s.Offset:s.End()] }
