package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// drawnWidth is how many columns of a line are shown around a mistake.
const drawnWidth = 100

// Draw shows each mistake under its line:
//
//	column 13: unknown field "hots"; did you mean "host"?
//	  status=404, hots="shop.example"
//	              ^^^^
//
// Long lines are cut around the mistake. Characters that would move the cursor are drawn as a dot.
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

// sentence is the message, with the suggestion if it does not name it already.
func (e Error) sentence() string {
	if e.Suggestion == "" || strings.Contains(e.Message, e.Suggestion) {
		return printable(e.Message)
	}
	return printable(fmt.Sprintf("%s; did you mean %q?", e.Message, e.Suggestion))
}

// drawLine draws the line that holds text[from:to], as far as it lies on that line, and the carets.
func drawLine(b *strings.Builder, text string, from, to int) {
	lineStart := strings.LastIndexByte(text[:from], '\n') + 1
	lineEnd := len(text)
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		lineEnd = from + n
	}
	before := printable(text[lineStart:from])
	inside := printable(text[from:min(to, lineEnd)])
	after := printable(strings.TrimSuffix(text[min(to, lineEnd):lineEnd], "\r"))

	const margin = drawnWidth / 4 // what is shown on either side of a mistake on a long line
	if uniseg.StringWidth(before)+uniseg.StringWidth(inside)+uniseg.StringWidth(after) > drawnWidth {
		inside = cutEnd(inside, drawnWidth-2*margin)
		before = cutStart(before, max(margin, drawnWidth-margin-uniseg.StringWidth(inside)))
		after = cutEnd(after, drawnWidth-uniseg.StringWidth(before)-uniseg.StringWidth(inside))
	}
	fmt.Fprintf(b, "  %s\n", strings.TrimRight(before+inside+after, " "))
	fmt.Fprintf(b, "  %s%s\n", strings.Repeat(" ", uniseg.StringWidth(before)), strings.Repeat("^", max(1, uniseg.StringWidth(inside))))
}

// cutEnd shortens a text to a width, with an ellipsis for what was cut off its end.
func cutEnd(s string, width int) string {
	s, rest := splitWidth(s, width)
	if rest == "" {
		return s
	}
	s, _ = splitWidth(s, width-1)
	return s + "…"
}

// cutStart shortens a text to a width, with an ellipsis for what was cut off its start.
func cutStart(s string, width int) string {
	total := uniseg.StringWidth(s)
	if total <= width {
		return s
	}
	_, rest := splitWidth(s, total-width+1)
	return "…" + rest
}

// splitWidth splits a text so that the first part is as wide as it can be within a width, whole characters only.
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

// printable replaces what would move the cursor, change its direction or not show at all.
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
