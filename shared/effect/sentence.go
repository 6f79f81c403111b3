package effect

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/wording"
)

// Wording has what sentences say about the two periods.
type Wording struct {
	At     time.Time // in the zone of the request
	Length time.Duration
	Days   int64 // between the begins of the periods; 0: one is right before the other
}

// namedRules is the number of rules in the sentence about all requests.
const namedRules = 3

// period returns the words for the length of the periods: hour, 30 minutes.
func (w Wording) period() string {
	n, unit := int64(w.Length/time.Minute), "minute"
	switch {
	case w.Length == 24*time.Hour:
		return "24 hours"
	case w.Length%(24*time.Hour) == 0:
		n, unit = int64(w.Length/(24*time.Hour)), "day"
	case w.Length%time.Hour == 0:
		n, unit = int64(w.Length/time.Hour), "hour"
	}
	if n == 1 {
		return unit
	}
	return wording.Plural(n, unit)
}

// before returns the words for the period before: in the hour before, in the same hour a day earlier.
func (w Wording) before() string {
	switch w.Days {
	case 0:
		return "in the " + w.period() + " before"
	case 1:
		return "in the same " + w.period() + " a day earlier"
	}
	return "in the same " + w.period() + " " + wording.Plural(w.Days, "day") + " earlier"
}

// after returns the words for the period after: in the hour from 2026-01-01 11:00.
func (w Wording) after() string {
	layout := "2006-01-02 15:04"
	if w.At.Second() != 0 {
		layout = time.DateTime
	}
	return "in the " + w.period() + " from " + w.At.Format(layout)
}

// sentence returns the effect in words.
func (c Comparison) sentence(all group, rules []group) string {
	before, after := c.Before, c.After
	switch {
	case before.Requests == 0 && after.Requests == 0:
		return upper(fmt.Sprintf("%s, and %s, there were no requests.", c.after(), c.before()))
	case before.Requests == 0:
		return upper(fmt.Sprintf("%s, %s %s blocked; %s, there were no requests to compare them with.",
			c.after(), of(all.After.Requests, after.Requests), was(all.After.Requests), c.before()))
	case after.Requests == 0:
		return upper(fmt.Sprintf("%s, there were no requests; %s, %s %s blocked.",
			c.after(), c.before(), of(all.Before.Requests, before.Requests), was(all.Before.Requests)))
	case all.Before.Requests == 0 && all.After.Requests == 0:
		return upper(fmt.Sprintf("%s, none of %s was blocked, and none of %s %s.",
			c.after(), wording.Plural(after.Requests, "request"), wording.Count(before.Requests), c.before()))
	}
	text := fmt.Sprintf("%s, %s %s blocked, and %s of %s %s", c.after(), of(all.After.Requests, after.Requests),
		was(all.After.Requests), number(all.Before.Requests), wording.Count(before.Requests), c.before())
	return upper(text + c.explanation(all, rules) + humans(all) + ".")
}

// explanation returns which rules explain the difference.
func (c Comparison) explanation(all group, rules []group) string {
	var parts []string
	further := 0
	for _, r := range rules {
		switch {
		case r.fromRules == 0:
		case len(parts) == namedRules:
			further++
		case len(parts) == 0:
			parts = append(parts, r.name()+" blocked "+moreOrFewer(r.fromRules)+" than expected")
		default:
			parts = append(parts, r.name()+" "+moreOrFewer(r.fromRules))
		}
	}
	switch {
	case further > 0:
		parts = append(parts, wording.Plural(int64(further), "further rule")+" more or fewer, too")
	case len(parts) > 0:
	case c.isClear(all.rest, all.Sides):
		return "; no single rule explains the difference"
	default:
		return "; the number of requests and chance explain the difference"
	}
	return ": " + strings.Join(parts, ", ")
}

// humans returns how many of the blocked requests were of humans, if there were any.
func humans(all group) string {
	before, after := all.Before.Humans, all.After.Humans
	if before == nil || after == nil || *before == 0 && *after == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of the blocked requests were of humans, and %s before", number(*after), number(*before))
}

// groupSentence returns the comparison of a rule or a reason in words.
func (c Comparison) groupSentence(g group) string {
	n := "no requests"
	if g.After.Requests > 0 {
		n = wording.Plural(g.After.Requests, "request")
	}
	text := g.name() + " blocked " + n
	switch {
	case g.by == "reason" && g.value == nil:
		text = n + " blocked without a reason"
	case g.by == "reason":
		text = n + " blocked for the reason “" + wording.Shown(*g.value, 120) + "”"
	}
	text += " " + c.after() + ", and " + number(g.Before.Requests) + " " + c.before()
	switch {
	case g.fromRules != 0:
		text += ": " + moreOrFewer(g.fromRules) + " than expected"
	case c.Before.Requests > 0 && c.After.Requests > 0:
		text += ", as expected"
	}
	return upper(text + ".")
}

// name returns the rule as sentences have it.
func (g group) name() string {
	if g.value == nil {
		return "an unnamed rule"
	}
	return wording.Shown(*g.value, 80)
}

func moreOrFewer(n int64) string {
	if n < 0 {
		return wording.Count(-n) + " fewer"
	}
	return wording.Count(n) + " more"
}

// of returns the words for a number of requests among all: 3 of 20 requests.
func of(n, all int64) string { return number(n) + " of " + wording.Plural(all, "request") }

// was returns the verb for a number of requests.
func was(n int64) string {
	if n < 2 {
		return "was"
	}
	return "were"
}

func number(n int64) string {
	if n == 0 {
		return "none"
	}
	return wording.Count(n)
}

// upper returns a text that begins with an upper-case letter.
func upper(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}
