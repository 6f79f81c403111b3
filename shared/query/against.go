package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
)

// Against is the period that a diff compares the query's period with. The zero value is none.
type Against struct {
	Kind   AgainstKind
	BackMs int64  // of AgainstEarlier
	Period Period // of AgainstPeriod
}

// AgainstKind is the kind of an Against.
type AgainstKind int

const (
	AgainstNothing  AgainstKind = iota
	AgainstPrevious             // the period of the same length right before
	AgainstEarlier              // the period, moved back by a length of time
	AgainstPeriod               // a given period
)

// previous is the text of AgainstPrevious.
const previous = "previous"

// units are the units of a length of time, in milliseconds.
var units = map[byte]int64{'s': 1000, 'm': 60_000, 'h': 3_600_000, 'd': 86_400_000}

// ParseAgainst parses
//
//	against = "previous" | number ( "s" | "m" | "h" | "d" ) | time ".." time .
//
// Times are written as in a filter. Relative ones are relative to the clock.
func ParseAgainst(text string, clock Clock) (Against, error) {
	if text == previous {
		return Against{Kind: AgainstPrevious}, nil
	}
	if from, to, ok := strings.Cut(text, ".."); ok {
		var ms [2]int64
		for i, one := range []string{from, to} {
			var err error
			if ms[i], err = clock.Instant(one); err != nil {
				return Against{}, err
			}
		}
		if ms[0] > ms[1] {
			return Against{}, fault.New(fault.Invalid, "%s ends before it begins", text)
		}
		return Against{Kind: AgainstPeriod, Period: Period{ms[0], ms[1]}}, nil
	}
	if last := len(text) - 1; last > 0 {
		n, err := strconv.ParseInt(text[:last], 10, 32)
		if unit := units[text[last]]; err == nil && n > 0 && unit > 0 {
			return Against{Kind: AgainstEarlier, BackMs: n * unit}, nil
		}
	}
	return Against{}, fault.New(fault.Invalid,
		"%q is not previous, a length of time such as 1d, or two times such as 2026-01-01..2026-01-02", text)
}

// Instant parses a time as in a filter, absolute or relative, and returns it in Unix milliseconds. The error is one of
// kind fault.Invalid.
func (c Clock) Instant(text string) (int64, error) {
	if word, rest, relative := cutRelative(text); relative {
		r, wrong := c.resolve(word, rest, operand{Value: filter.Value{Text: text}})
		if wrong != nil {
			return 0, fault.New(fault.Invalid, "%s", wrong.Message)
		}
		return r.Ms, nil
	}
	t, problem := parseTime(text)
	if problem != "" {
		return 0, fault.New(fault.Invalid, "%q %s", text, problem)
	}
	return t.UnixMilli(), nil
}

// baseline returns the period to compare p with, without an instant that both share at an end. The error is one of kind
// fault.Invalid if they overlap further.
func (a Against) baseline(p Period) (Period, error) {
	other := a.Period
	switch a.Kind {
	case AgainstPrevious:
		other = Period{p.FromMs - max(p.ToMs-p.FromMs, 1), p.FromMs - 1}
	case AgainstEarlier:
		other = Period{p.FromMs - a.BackMs, p.ToMs - a.BackMs}
	}
	if other.ToMs == p.FromMs && other.FromMs < p.FromMs {
		other.ToMs--
	}
	if other.FromMs == p.ToMs && other.ToMs > p.ToMs {
		other.FromMs++
	}
	if time.UnixMilli(other.FromMs).UTC().Year() < 1 {
		return Period{}, fault.New(fault.Invalid, "the other period begins before the year 1; use a later one")
	}
	if other.FromMs <= p.ToMs && other.ToMs >= p.FromMs {
		return Period{}, fault.New(fault.Invalid, "the other period, %s, overlaps the period of the filter, %s; "+
			"use previous, a length of time of at least %s, or times outside the period",
			other, p, lengthText(p.ToMs-p.FromMs))
	}
	return other, nil
}

// lengthText returns the shortest length of time in whole units that is at least so long.
func lengthText(ms int64) string {
	text := ""
	for _, unit := range []byte("smhd") {
		n := (ms + units[unit] - 1) / units[unit]
		if text == "" || n*units[unit] == ms {
			text = fmt.Sprintf("%d%c", max(n, 1), unit)
		}
	}
	return text
}

// FilterOf returns the canonical filter with another period.
func (q Query) FilterOf(p Period) filter.Filter {
	f := q.Filter
	f.Conditions = append([]filter.Condition{canonicalPeriod(p)}, f.Conditions[1:]...)
	return f
}

// compared returns the query with the other period of the shape.
func (q Query) compared(shape Diff) (Query, error) {
	other, err := shape.Against.baseline(q.Period)
	if err != nil {
		return q, err
	}
	field, _ := catalog.Lookup("timestamp")
	from, to := q.Period.FromMs, q.Period.ToMs
	shape.Baseline = other
	shape.Select = Selection{
		Conditions: []Condition{{
			Field: field, Op: filter.Between,
			Terms: []Term{{Source: field.Sources[0], Test: IntRange{Min: &from, Max: &to}}},
		}},
		Filter: filter.Filter{Syntax: q.Filter.Syntax, Conditions: []filter.Condition{canonicalPeriod(q.Period)}},
	}
	q.Scope.FromMs, q.Scope.ToMs = min(from, other.FromMs), max(to, other.ToMs)
	q.Shape = shape
	return q, nil
}
