package logformat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A format string may write several times, and it may write one time in several variables, such as
// %{%F %T}t.%{usec_frac}t of Apache.

// timeParts are the parts of a time, with what layouts of package time have for each.
var timeParts = []struct {
	part     timePart
	contains []string
}{
	{partYear, []string{"06"}},
	{partMonth, []string{"01", "Jan"}},
	{partDay, []string{"02", "_2"}},
	{partHour, []string{"15", "03"}},
	{partHalf, []string{"PM"}},
	{partMinute, []string{"04"}},
	{partSecond, []string{"05"}},
	{partOffset, []string{"07"}},
}

// timePart is a set of parts of a time.
type timePart int

const (
	partYear timePart = 1 << iota
	partMonth
	partDay
	partHour
	partHalf
	partMinute
	partSecond
	partOffset

	wholeDay  = partYear | partMonth | partDay
	wholeTime = wholeDay | partHour | partMinute | partSecond
)

// digitsOf are the digits of the fraction of a second that units have, besides those of layouts of package time.
var digitsOf = map[string]int{
	timeSeconds: 0, timeDecimal: 3, timeMilliseconds: 3, timeMicroseconds: 6, fractionOf3: 3, fractionOf6: 6,
}

func isFraction(unit string) bool { return unit == fractionOf3 || unit == fractionOf6 }

// partsOf returns the parts of a time that a unit has. A time of Unix has all.
func partsOf(unit string) (set timePart) {
	if isFraction(unit) {
		return 0
	}
	if _, isUnix := digitsOf[unit]; isUnix {
		return wholeTime | partOffset
	}
	for _, p := range timeParts {
		if slices.ContainsFunc(p.contains, func(text string) bool { return strings.Contains(unit, text) }) {
			set |= p.part
		}
	}
	return set
}

// chooseTime decides which variables are the time of the records. The time at which a request began is preferred to
// that at which it ended. All other times are members.
func (l *layout) chooseTime() error {
	var times, chosen []*variable
	for i := range l.parts {
		if v := &l.parts[i].variable; v.role == roleTime {
			times = append(times, v)
		}
	}
	if len(times) == 0 {
		return layoutError("there is no variable of the time, such as %%t of Apache or $time_local of nginx")
	}
	for _, ended := range []bool{false, true} {
		if chosen == nil {
			chosen = oneTime(slices.DeleteFunc(slices.Clone(times), func(v *variable) bool { return v.ended != ended }))
		}
	}
	if chosen == nil {
		return layoutError("%s has no year, month and day", times[0].text)
	}
	named := map[string]int{}
	for _, v := range times {
		if slices.Contains(chosen, v) {
			continue
		}
		v.role = roleMember
		if named[v.name]++; named[v.name] > 1 {
			v.name += fmt.Sprint("_", named[v.name])
		}
	}
	if len(chosen) > 1 {
		l.join(chosen)
	}
	return nil
}

// oneTime returns the variables, in their order, that are one time: the most precise one that is a whole time, if any;
// those that have other parts of it; and a fraction of the second if these have none. It returns nil if there is no
// time.
func oneTime(times []*variable) (chosen []*variable) {
	precise := func(a, b *variable) int { return cmp.Compare(digitsOf[a.unit], digitsOf[b.unit]) }
	var whole, fractions []*variable
	for _, v := range times {
		switch {
		case isFraction(v.unit):
			fractions = append(fractions, v)
		case partsOf(v.unit)&wholeTime == wholeTime:
			whole = append(whole, v)
		}
	}
	var have timePart
	if len(whole) > 0 {
		best := slices.MaxFunc(whole, precise)
		chosen, have = append(chosen, best), partsOf(best.unit)
	}
	for _, v := range times {
		if parts := partsOf(v.unit); parts != 0 && parts&have == 0 {
			chosen, have = append(chosen, v), have|parts
		}
	}
	if have&wholeDay != wholeDay {
		return nil
	}
	if len(fractions) > 0 && digitsOf[chosen[0].unit] == 0 {
		chosen = append(chosen, slices.MaxFunc(fractions, precise))
	}
	return slices.DeleteFunc(slices.Clone(times), func(v *variable) bool { return !slices.Contains(chosen, v) })
}

// join makes several variables the time of the records.
func (l *layout) join(times []*variable) {
	var texts, units []string
	for _, v := range times {
		v.role = roleTimePart
		texts = append(texts, v.text)
		if !isFraction(v.unit) {
			units = append(units, v.unit)
		}
	}
	l.time = variable{role: roleTime, text: strings.Join(texts, " "), unit: strings.Join(units, " ")}
}
