package logformat

import (
	"bytes"
	"strings"
	"time"
)

// timeLayouts are the times that a group timestamp may have, besides seconds, milliseconds and microseconds of Unix.
// Fractions of seconds may follow the seconds.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"02/Jan/2006:15:04:05 -0700",
	"02/Jan/2006:15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04:05-0700",
	"2006-01-02 15:04:05 -0700",
	"2006/01/02 15:04:05",
	"Mon, 02 Jan 2006 15:04:05 MST",
	"Mon Jan _2 15:04:05 2006",
}

// commonLayouts are the times of access logs.
var commonLayouts = []string{"02/Jan/2006:15:04:05 -0700"}

// rfc3339 is the layout of the times in records.
const rfc3339 = "2006-01-02T15:04:05.999999999Z"

// parseTime parses a time that has any of the layouts. A leap second is the next second.
func (l localTime) parseTime(value []byte, layouts []string) (t time.Time, ok bool) {
	text := string(value)
	for _, layout := range layouts {
		if t, ok := l.parseLayout(layout, text); ok {
			return t, true
		}
	}
	for at := range text {
		after, isLeap := strings.CutPrefix(text[at:], "60")
		if !isLeap {
			continue
		}
		for _, layout := range layouts {
			t, ok := l.parseLayout(layout, text[:at]+"59"+after)
			if t = t.Add(time.Second); ok && t.Unix()%86_400 == 0 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// parseLayout parses a time that has a layout.
func (l localTime) parseLayout(layout, text string) (time.Time, bool) {
	t, err := time.Parse(layout, text)
	if err != nil || !hasOffset(layout, text) {
		return time.Time{}, false
	}
	if l.zone != nil && !strings.Contains(layout, "07") && !strings.Contains(layout, "MST") {
		t = inZone(t, l.zone)
	}
	return t, true
}

// hasOffset reports whether the offset in a time that has a layout exists. Package time accepts +24:00 and +0060.
func hasOffset(layout, text string) bool {
	_, after, found := strings.Cut(layout, "07")
	if !found {
		return true
	}
	at := strings.LastIndexAny(text, "+-")
	for range strings.Count(after, "-") { // those of a date after the offset
		at = strings.LastIndexAny(text[:max(at, 0)], "+-")
	}
	digits := strings.Replace(text[at+1:], ":", "", 1)
	return len(digits) < 4 || !isDigits([]byte(digits[:4])) || digits[:2] < "24" && digits[2:4] < "60"
}

// isNumber reports whether a text is a time of Unix: digits with at most one decimal point.
func isNumber(value []byte) bool {
	whole, fraction, _ := bytes.Cut(value, []byte("."))
	return len(whole) > 0 && isDigits(whole) && isDigits(append([]byte("0"), fraction...))
}
