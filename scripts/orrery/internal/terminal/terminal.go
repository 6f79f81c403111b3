// Package terminal prints for people: aligned tables, numbers with their units, progress, and texts of others without
// the characters that could rewrite the lines of a terminal.
package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"
)

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Printable escapes the control and direction characters of a text, which could rewrite the terminal's lines, except
// those in keep.
func Printable(text string, keep ...rune) string {
	var b strings.Builder
	for _, r := range text {
		if slices.Contains(keep, r) || unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// PrintableWriter writes texts printable, which may have several lines. Each call writes whole characters and line
// ends.
type PrintableWriter struct{ To io.Writer }

func (w PrintableWriter) Write(text []byte) (int, error) {
	lines := strings.ReplaceAll(string(text), "\r\n", "\n") // CSV has these line ends
	if _, err := io.WriteString(w.To, Printable(lines, '\n', '\t')); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Counted returns a number with a noun.
func Counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Ago returns how long ago a time was, in parentheses, or "" for a time in the future.
func Ago(text string, now time.Time) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.After(now) {
		return ""
	}
	age := now.Sub(at)
	if age >= 48*time.Hour {
		return fmt.Sprintf(" (%d days ago)", int(age.Hours()/24))
	}
	return fmt.Sprintf(" (%s ago)", age.Round(time.Second))
}

// Bytes returns a number of bytes in the largest unit that makes it at least 1.
func Bytes(n int64) string {
	value, unit := float64(n), "B"
	for _, larger := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, larger
	}
	return fmt.Sprintf("%.4g %s", value, unit)
}

// OneLine returns text without characters that break a table or the terminal.
func OneLine(text string) string { return Printable(strings.Join(strings.Fields(text), " ")) }

// Time returns a time in UTC to the second, or "-" for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
