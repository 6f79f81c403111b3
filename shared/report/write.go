package report

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/wording"
)

// The texts of numbers and of values, the same in all forms of a report.

func text(n int64) string { return strconv.FormatInt(n, 10) }

// factor returns a factor such as 3.2.
func factor(f float64) string {
	if f >= 10 {
		return wording.Count(int64(math.Round(f)))
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// byteCount returns a number of bytes with a unit.
func byteCount(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= unit.size {
			return strconv.FormatFloat(n/unit.size, 'f', 1, 64) + " " + unit.name
		}
	}
	return wording.Count(int64(n)) + " B"
}

// seconds returns a time with a unit.
func seconds(s float64) string {
	switch {
	case s >= 1:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	case s >= 0.01 || s == 0:
		return strconv.FormatFloat(s*1000, 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(s*1000, 'f', 2, 64) + " ms"
}

// selectable reports whether a filter can hold a value.
func selectable(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsRune(value, 0)
}

// optional is shown for a value that may be absent.
func optional(value string, limit int) string {
	if value == "" {
		return ""
	}
	return wording.Shown(value, limit)
}

// link returns the address at which the console shows the requests that meet conditions, or "" without a console.
// Everything about the question is in the fragment, so that no server logs it.
func (s Setting) link(screen string, more ...string) string {
	if s.Link == "" {
		return ""
	}
	values := url.Values{
		"f": {filter.Joined(append([]string{s.Conditions}, more...)...)},
		"t": {filter.TimeText(s.Period.FromMs) + ".." + filter.TimeText(s.Period.ToMs)},
	}
	if zone := s.Zone.String(); zone != "UTC" {
		values.Set("tz", zone)
	}
	return strings.TrimRight(s.Link, "/") + "/#/" + screen + "?" + strings.ReplaceAll(values.Encode(), "+", "%20")
}

// longestLink is the length of the longest link in a mail, and after a sentence of a text.
const longestLink = 1000

// shortLink returns a link, or "" if it is too long.
func shortLink(link string) string {
	if len(link) > longestLink {
		return ""
	}
	return link
}

// jsonText returns a value in JSON, with escapes for all characters that are invisible or change the order of the text.
func jsonText(value any) string {
	var encoded strings.Builder
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic("report: a text in JSON: " + err.Error()) // texts only
	}
	var b strings.Builder
	for _, r := range strings.TrimSuffix(encoded.String(), "\n") {
		switch high, low := utf16.EncodeRune(r); {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

// quoted returns a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
