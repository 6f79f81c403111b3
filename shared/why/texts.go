package why

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/orrery/orrery/shared/catalog"
)

// resultWords has the words for results.
var resultWords = map[Result]string{
	Passed: "Passed", Blocked: "Blocked", Challenged: "Challenged", Monitored: "Monitored", Refused: "Refused by origin",
}

// ticket returns plain text for a ticket, which others read without the console. shown is the record as it is shown:
// without covered values. The address of the client is not covered, because a ticket is about somebody.
func ticket(r, shown Record, e Explanation, link string) string {
	address := r.text("ip")
	var from []string
	for _, one := range []string{shown.text("country"), shown.text("organization")} {
		if one != "" {
			from = append(from, one)
		}
	}
	if address != "" && len(from) > 0 {
		address += " (" + strings.Join(from, ", ") + ")"
	}
	var rules []string
	for _, text := range append([]string{shown.text("reason")}, shown.texts("monitor_reasons")...) {
		if text != "" {
			rules = append(rules, shortReason(text))
		}
	}
	lines := [][2]string{
		{"Result", resultWords[r.Result()]},
		{"Why", e.Sentence},
		{"Time", clockText(r.Time())},
		{"Address", address},
		{"Request", e.Request},
		{"Status", shown.text("status")},
		{"Rule", strings.Join(rules, "; ")},
		{"Request id", shown.text("request_id")},
		{"Record", link},
		{"Filter", catalog.Equal(catalog.RecordRef, false, e.Reference).String()},
	}
	if v := e.Verdict; v != nil {
		lines = append(lines, [2]string{"Verdict", v.Text})
		for _, one := range v.Reasons {
			lines = append(lines, [2]string{"Reason", one.Text})
		}
	}
	var b strings.Builder
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], oneLine(line[1]))
		}
	}
	return b.String()
}

// oneLine replaces control characters by spaces, so that a value cannot look like further lines.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
}

// clockText writes a time as 2026-01-01 20:45:01.457 UTC.
func clockText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02 15:04:05.000") + " UTC"
}

// customer returns a text for the person who sent the request, without names of rules. It is "" if the request passed.
func customer(r Record, v *Assessment) string {
	if !r.stopped() || v == nil {
		return ""
	}
	did, like := "blocked", "a part of an attack"
	if r.Result() == Challenged {
		did, like = "asked you to prove that you are human for", "one of a program"
	}
	host := r.text("host")
	if host == "" {
		host = "our site"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Our protection against attacks %s your request to %s", did, host)
	if t := r.Time(); !t.IsZero() {
		fmt.Fprintf(&b, " on %s UTC", t.Format("2 January 2006 at 15:04"))
	}
	b.WriteString(". ")
	switch v.Verdict {
	case "mistake":
		b.WriteString("That was probably a mistake, for which we apologize. We will correct the rule.")
	case "right":
		fmt.Fprintf(&b, "The request looked like %s. If you sent it yourself, please write to us what you were doing.", like)
	default:
		b.WriteString("We cannot tell yet whether that was a mistake. Please write to us what you were doing.")
	}
	if id := r.text("request_id"); id != "" {
		fmt.Fprintf(&b, " The number of the request is %s.", id)
	}
	return b.String() + "\n"
}
