package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxWidth is the maximum width of a drawn line, in columns of the terminal.
const maxWidth = 100

// Draw prints each mistake with its message, its line and carets under its place:
//
//	column 13: unknown field "hots"; did you mean "host"?
//	  status=404, hots="shop.example"
//	              ^^^^
//
// Long lines are truncated around the mistake. Characters that would move the cursor are drawn as a dot.
func Draw(text string, errs Errors) string {
	var b strings.Builder
	several := strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
	for i, e := range errs {
		if i > 0 {
			b.WriteByte('\n')
		}
		start := max(0, min(e.Span.Offset, len(text)))
		line, column := Position(text, start)
		if several {
			fmt.Fprintf(&b, "line %d, ", line)
		}
		fmt.Fprintf(&b, "column %d: %s\n", column, e.sentence())
		drawLine(&b, text, start, max(start, min(e.Span.End(), len(text))))
	}
	return b.String()
}

// sentence returns the message, followed by the suggestion unless the message contains it.
func (e Error) sentence() string {
	if e.Suggestion == "" || strings.Contains(e.Message, e.Suggestion) {
		return printable(e.Message)
	}
	return printable(fmt.Sprintf("%s; did you mean %q?", e.Message, e.Suggestion))
}

// drawLine draws the line that contains text[from] and puts carets under the part of text[from:to] on that line.
func drawLine(b *strings.Builder, text string, from, to int) {
	lineStart := strings.LastIndexByte(text[:from], '\n') + 1
	lineEnd := len(text)
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		lineEnd = from + n
	}
	before := printable(text[lineStart:from])
	inside := printable(text[from:min(to, lineEnd)])
	after := printable(strings.TrimSuffix(text[min(to, lineEnd):lineEnd], "\r"))

	const margin = maxWidth / 4 // columns shown on either side of a mistake on a long line
	if uniseg.StringWidth(before)+uniseg.StringWidth(inside)+uniseg.StringWidth(after) > maxWidth {
		inside = truncateEnd(inside, maxWidth-2*margin)
		before = truncateStart(before, max(margin, maxWidth-margin-uniseg.StringWidth(inside)))
		after = truncateEnd(after, maxWidth-uniseg.StringWidth(before)-uniseg.StringWidth(inside))
	}
	fmt.Fprintf(b, "  %s\n", strings.TrimRight(before+inside+after, " "))
	indent := strings.Repeat(" ", uniseg.StringWidth(before))
	carets := strings.Repeat("^", max(1, uniseg.StringWidth(inside)))
	fmt.Fprintf(b, "  %s%s\n", indent, carets)
}

// truncateEnd shortens the end of s to a width in columns and marks the cut with an ellipsis.
func truncateEnd(s string, width int) string {
	s, rest := splitWidth(s, width)
	if rest == "" {
		return s
	}
	s, _ = splitWidth(s, width-1)
	return s + "…"
}

// truncateStart shortens the start of s to a width in columns and marks the cut with an ellipsis.
func truncateStart(s string, width int) string {
	total := uniseg.StringWidth(s)
	if total <= width {
		return s
	}
	_, rest := splitWidth(s, total-width+1)
	return "…" + rest
}

// splitWidth splits s between two characters, so that the first part is as long as a width in columns allows.
func splitWidth(s string, width int) (first, rest string) {
	rest = s
	for rest != "" {
		_, after, w, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		if width -= w; width < 0 {
			break
		}
		rest = after
	}
	return s[:len(s)-len(rest)], rest
}

// printable replaces characters that would move the cursor, change the direction of the text or be invisible.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case r == utf8.RuneError || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return '·'
		case unicode.Is(unicode.Cf, r) && r != '\u200d':
			return '·'
		}
		return r
	}, s)
}
