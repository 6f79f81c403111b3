package query

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// Clock is what relative times are relative to. The zero value has no present, so relative times are mistakes.
type Clock struct {
	Now  time.Time
	Zone *time.Location // of today and yesterday; nil: UTC
}

// WithClock lets the filter have relative times. Bind replaces them, so the query has only absolute ones.
func WithClock(c Clock) Option {
	return func(b *binder) { b.clock = c }
}

// RelativeTime is a relative time of a filter and the time that it stands for.
type RelativeTime struct {
	Text string // without spaces and leading zeros, so it is short
	Ms   int64
}

// resolveTimes replaces the relative times of the filter by absolute ones, and records mistakes in them.
func (b *binder) resolveTimes() {
	conditions := slices.Clone(b.filter.Conditions)
	seen := map[RelativeTime]bool{}
	for i := range conditions {
		if b.full() {
			break
		}
		c := &conditions[i]
		if field, known := catalog.Lookup(c.Field.Text); !known || field.Sources[0].Type != catalog.Time {
			continue
		}
		b.pointer = c.Pointer
		values := slices.Clone(c.Values)
		for n := range values {
			v := operand{Value: values[n], member: valueMember(n, len(values))}
			word, rest, relative := cutRelative(v.Text)
			if v.Kind != filter.Text || !relative {
				continue
			}
			r, wrong := b.clock.resolve(word, rest, v)
			if wrong != nil {
				b.fail(*wrong)
			} else if !seen[r] {
				seen[r] = true
				b.relative = append(b.relative, r)
			}
			values[n].Text = canonicalTime(r.Ms) // also for a mistake, which is then reported once
		}
		c.Values = values
	}
	b.filter.Conditions = conditions
}

// relativeTime finds the word of a relative time, in any case. A longer word that begins with it does not
// match. Without the flag i, no other letter stands for a letter of the words, as ſ would for s.
var relativeTime = regexp.MustCompile(
	`(?s)\A([nN][oO][wW]|[tT][oO][dD][aA][yY]|[yY][eE][sS][tT][eE][rR][dD][aA][yY])(\z|[^a-zA-Z].*)`)

// lonelyLength is a length of time without the word that it is relative to.
var lonelyLength = regexp.MustCompile(`\A-\s*[0-9]+\s*[smhdw]\z`)

// cutRelative cuts
//
//	relative = "now" [ ( "-" | "+" ) number ( "s" | "m" | "h" | "d" | "w" ) ] | "today" | "yesterday" .
//
// after its word, which is empty for a length of time alone. It reports whether the text was meant as a relative time.
func cutRelative(text string) (word, rest string, relative bool) {
	text = strings.TrimSpace(text)
	if lonelyLength.MatchString(text) {
		return "", text, true
	}
	if m := relativeTime.FindStringSubmatch(text); m != nil {
		return m[1], strings.TrimSpace(m[2]), true
	}
	return "", "", false
}

// unitNames are names of units that are not units, and the units.
var unitNames = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
}

// resolve returns the time that a relative time stands for, or its mistake.
func (c Clock) resolve(word, rest string, v operand) (r RelativeTime, wrong *filter.Error) {
	mistake := func(problem, suggestion string) (RelativeTime, *filter.Error) {
		return RelativeTime{}, relativeMistake(v, problem, suggestion)
	}
	lower := strings.ToLower(word)
	switch {
	case word == "":
		return mistake(relativeAlone, "now"+spaceless(rest))
	case word != lower:
		return mistake(relativeCase, strings.ToLower(strings.TrimSpace(v.Text)))
	case c.Now.IsZero():
		e := invalidTime(v, relativeKept)
		e.Code = codeRelativeTime
		return r, e
	case lower != "now" && rest != "":
		return mistake(relativeDay, "")
	case lower != "now":
		return RelativeTime{lower, c.midnight(lower == "yesterday")}, nil
	case rest == "":
		return RelativeTime{lower, c.Now.UnixMilli()}, nil
	}
	sign, length := rest[:1], strings.TrimSpace(rest[1:])
	signed := sign == "-" || sign == "+"
	if !signed { // a plus that was not URL-encoded has become a space, which has been cut off
		sign, length = "+", rest
	}
	digits, unit := cutDigits(length)
	unit = strings.TrimSpace(unit)
	seconds := map[string]int64{"s": 1, "m": 60, "h": 3600, "d": day, "w": week}[unit]
	if !signed || digits == "" || seconds == 0 {
		suggestion := ""
		if known := unitOf(unit); digits != "" && known != "" {
			suggestion = "now" + sign + digits + known
		}
		return mistake(relativeUnit, suggestion)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > longestLength/seconds {
		return mistake(timeNoSuchYear, "")
	}
	r.Text = fmt.Sprintf("now%s%d%s", sign, n, unit)
	if sign == "-" {
		n = -n
	}
	r.Ms = c.Now.UnixMilli() + n*seconds*1000
	if year := time.UnixMilli(r.Ms).UTC().Year(); year < 1 || year > 9999 {
		return mistake(timeNoSuchYear, "")
	}
	return r, nil
}

// longestLength is the longest length of time in seconds. It is longer than there are years in times.
const longestLength = 10_000 * 366 * day

// unitOf returns the unit that a name was probably meant to be, or "".
func unitOf(name string) string {
	name = strings.ToLower(name)
	if strings.Contains("smhdw", name) && len(name) == 1 {
		return name
	}
	return unitNames[name]
}

// midnight returns the beginning of the present day, or of the day before, in Unix milliseconds.
func (c Clock) midnight(yesterday bool) int64 {
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	begin := func(ms int64) int64 {
		instant := Period{ms, ms}
		return localBounds(instant, instant, day, zone)[0] * 1000
	}
	today := begin(c.Now.UnixMilli())
	if yesterday {
		return begin(today - 1)
	}
	return today
}

func spaceless(text string) string { return strings.Join(strings.Fields(text), "") }

func relativeMistake(v operand, problem, suggestion string) *filter.Error {
	e := invalidTime(v, problem)
	if suggestion == "" {
		return e
	}
	e.Suggestion = suggestion
	e.Message += fmt.Sprintf("; write %s", suggestion)
	e.Fix = &filter.Edit{Span: v.Span, Text: suggestion}
	if v.Quoted {
		e.Fix.Text = `"` + suggestion + `"`
	}
	return e
}
