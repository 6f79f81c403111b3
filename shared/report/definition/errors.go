package definition

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// Problem is one mistake in a body. Loc is its place, such as ["body", "deliver", 2, "to"].
type Problem struct {
	Loc  []any // strings and ints
	Msg  string
	Type string // stable: value_error.missing, type_error.string, …
}

// maxProblems is the maximum number of problems that are reported at once.
const maxProblems = 20

// Problems are the mistakes in a body, at most maxProblems.
type Problems []Problem

func (p Problems) Error() string {
	parts := make([]string, len(p))
	for i, one := range p {
		place := make([]string, 0, len(one.Loc))
		for _, part := range one.Loc[1:] {
			place = append(place, fmt.Sprint(part))
		}
		parts[i] = strings.TrimPrefix(strings.Join(place, ".")+": "+one.Msg, ": ")
	}
	return strings.Join(parts, "; ")
}

func (p *Problems) add(kind, message string, loc ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, Problem{Loc: append([]any{"body"}, loc...), Msg: message, Type: kind})
	}
}

func (p *Problems) notJSON(err error) {
	p.add("value_error.jsondecode", "the body is not JSON: "+err.Error())
}

// wrongType takes the wanted type with its article: the kind of "a list of addresses" is type_error.list.
func (p *Problems) wrongType(want string, loc ...any) {
	p.add("type_error."+strings.Trim(strings.Fields(want)[1], ","), "must be "+want, loc...)
}

func (p *Problems) unknown(known []string, loc ...any) {
	name := fmt.Sprint(loc[len(loc)-1])
	message := "unknown member; there are " + strings.Join(known, ", ")
	if near := filter.Nearest(name, known); near != "" {
		message = fmt.Sprintf("unknown member; did you mean %q?", near)
	}
	p.add("value_error.unknown", message, loc...)
}

func (p *Problems) repeated(loc ...any) {
	p.add("value_error.repeated", "given more than once", loc...)
}

func (p *Problems) missing(loc ...any) {
	p.add("value_error.missing", "field required", loc...)
}

func (p *Problems) empty(loc ...any) {
	p.add("value_error.empty", "empty: leave it out, or give it a value", loc...)
}

func (p *Problems) tooLong(most int, loc ...any) {
	p.add("value_error.max_length", fmt.Sprintf("must have at most %d characters", most), loc...)
}

func (p *Problems) control(loc ...any) {
	p.add("value_error.control", "must not have control characters, such as line ends", loc...)
}

func (p *Problems) tooMany(most int, loc ...any) {
	p.add("value_error.max_items", fmt.Sprintf("must have at most %d items", most), loc...)
}

func (p *Problems) notOneOf(got string, values []string, loc ...any) {
	p.add("value_error.enum", fmt.Sprintf("%q is not one of %s", got, strings.Join(values, ", ")), loc...)
}

func (p *Problems) badZone(name string) {
	p.add("value_error.zone", fmt.Sprintf("unknown zone %q; write one such as Europe/Berlin", name), "tz")
}

func (p *Problems) badTime(text string) {
	p.add("value_error.time", fmt.Sprintf("%q is not a time of day; write one such as 07:00", text), "at")
}

func (p *Problems) notWithHour(member string) {
	p.add("value_error.at", "an hourly report is made after each hour; leave it out", member)
}

func (p *Problems) weekdayWithout(period string) {
	p.add("value_error.weekday", fmt.Sprintf("only weekly reports have a weekday, and this one has the period %q; leave it out",
		period), "weekday")
}

func (p *Problems) hourAlways() {
	p.add("value_error.when", `an hourly report needs "when": "attacks"; for a report that is always sent, use the period "day"`,
		"when")
}

func (p *Problems) sameWeekdayOf(period string) {
	p.add("value_error.compare", fmt.Sprintf(`a %s has no weekday; use "previous"`, period), "compare")
}

func (p *Problems) mailOrTo(loc ...any) {
	p.add("value_error.destination", `must have either "mail" or "to"`, loc...)
}

func (p *Problems) unknownDestination(name string, known []string, loc ...any) {
	message := fmt.Sprintf("there is no destination %q", name)
	switch near := filter.Nearest(name, known); {
	case len(known) == 0:
		message += ", and the operator has defined none"
	case near != "":
		message += fmt.Sprintf("; did you mean %q?", near)
	default:
		message += "; there are " + strings.Join(known, ", ")
	}
	p.add("value_error.destination", message, loc...)
}

func (p *Problems) badAddress(text string, loc ...any) {
	p.add("value_error.address", fmt.Sprintf("%q is not the address of a mailbox, such as ops@example.com", text), loc...)
}

func (p *Problems) otherDomain(domain string, known []string, loc ...any) {
	message := fmt.Sprintf("mail to %s is not allowed", domain)
	if len(known) == 0 {
		message += ", because the operator has not set up mail"
	} else {
		message += "; the operator allows " + strings.Join(known, ", ")
	}
	p.add("value_error.domain", message, loc...)
}

func (p *Problems) unicodeDomain(domain string, loc ...any) {
	p.add("value_error.address", fmt.Sprintf("the domain %s is not ASCII; write it in Punycode, such as xn--bcher-kva.example",
		domain), loc...)
}

func (p *Problems) unicodeAddress(text string, loc ...any) {
	p.add("value_error.address", fmt.Sprintf("%q is not ASCII, and Amazon SES sends mail only to addresses that are; "+
		"use another address of this mailbox", text), loc...)
}

func (p *Problems) hasPeriod() {
	p.add("value_error.period", "it has a period, and the report has one, too; leave the condition out of the filter", "filters")
}
