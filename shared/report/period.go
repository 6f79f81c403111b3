package report

import (
	"time"

	"github.com/orrery/orrery/shared/report/period"
)

// Unit is a unit of the calendar.
type Unit = period.Unit

// The units. A week begins on Monday.
const (
	Hour  = period.Hour
	Day   = period.Day
	Week  = period.Week
	Month = period.Month
)

// Period is a time span in milliseconds since the Unix epoch. Both ends are included, as in a filter.
type Period = period.Period

// compare returns the period that the report compares with as a value of the flag and the parameter; "" for the period
// before.
func (r Report) compare() string {
	switch {
	case r.Previous == nil:
		return "none"
	case r.sameWeekday:
		return "same-weekday"
	}
	return ""
}

// step is the length of a bar of the chart.
type step string

const (
	minutes5 step = "5 minutes"
	hours    step = step(Hour)
	days     step = step(Day)
	weeks    step = step(Week)
	months   step = step(Month)
)

// stepOf returns the length of the bars for a period.
func stepOf(p Period) step {
	const hour, day = 3_600_000, 24 * 3_600_000
	switch length := p.End() - p.FromMs; {
	case length <= 3*hour:
		return minutes5
	case length <= 2*day+hour:
		return hours
	case length <= 93*day:
		return days
	case length <= 800*day:
		return weeks
	}
	return months
}

// starts returns the starts of the bars of a period, in milliseconds. The first is the start of the period. The last
// instant has no bar of its own.
func (s step) starts(p Period, zone *time.Location) []int64 {
	list := []int64{p.FromMs}
	t := time.UnixMilli(p.FromMs).In(zone)
	for {
		t = s.after(t)
		if t.UnixMilli() >= p.ToMs {
			return list
		}
		list = append(list, t.UnixMilli())
	}
}

// after returns the start of the bar after the one that contains t.
func (s step) after(t time.Time) time.Time {
	if s == minutes5 {
		return t.Truncate(5 * time.Minute).Add(5 * time.Minute)
	}
	u := Unit(s)
	return u.Next(u.Start(t))
}

// segmentSeconds returns the length of the segments that the timeline of a period needs: each must lie within a bar.
// Zones that are not whole hours from UTC need segments of 15 minutes. exact is false if there would be too many.
func (s step) segmentSeconds(p Period, zone *time.Location) (seconds int64, exact bool) {
	const maxSegments = 10_000
	need := int64(3600)
	if s == minutes5 {
		need = 300
	} else if !wholeHours(p, zone) {
		need = 900
	}
	for _, seconds := range []int64{300, 900, 3600, 6 * 3600, 86400, 2 * 86400, 4 * 86400, 8 * 86400} {
		if seconds >= need && (p.ToMs-p.FromMs)/(seconds*1000)+2 <= maxSegments {
			return seconds, seconds == need
		}
	}
	return 16 * 86400, false
}

// wholeHours reports whether the zone is whole hours from UTC during the period.
func wholeHours(p Period, zone *time.Location) bool {
	end := time.UnixMilli(p.ToMs)
	for t := time.UnixMilli(p.FromMs).In(zone); ; {
		if _, offset := t.Zone(); offset%3600 != 0 {
			return false
		}
		change := period.NextChange(t)
		if change.IsZero() || change.After(end) {
			return true
		}
		t = change
	}
}

// periodText returns a period as people write it, in a zone. The end of a calendar period is its last day.
func periodText(p Period, zone *time.Location) string {
	from, end := time.UnixMilli(p.FromMs).In(zone), time.UnixMilli(p.End()).In(zone)
	midnight := func(t time.Time) bool { return Day.Start(t).Equal(t) }
	if midnight(from) && midnight(end) {
		last := end.Add(-time.Millisecond)
		if period.DateOf(from).Equal(period.DateOf(last)) {
			return from.Format("Monday, 2 January 2006")
		}
		if u, ok := p.Unit(zone); ok && u == Month {
			return from.Format("January 2006")
		}
		return dayText(from, last) + " – " + last.Format("Mon 2 January 2006")
	}
	const clock = "Mon 2 January 2006 15:04"
	if end.Second() != 0 || from.Second() != 0 {
		return from.Format(clock+":05") + " – " + end.Format(clock+":05")
	}
	return from.Format(clock) + " – " + end.Format(clock)
}

// dayText returns the first day of a period, without the year if the last day has the same one.
func dayText(first, last time.Time) string {
	if first.Year() == last.Year() {
		return first.Format("Mon 2 January")
	}
	return first.Format("Mon 2 January 2006")
}

// label returns the name of the bar that begins at an instant.
func (s step) label(ms int64, zone *time.Location) string {
	t := time.UnixMilli(ms).In(zone)
	switch s {
	case minutes5, hours:
		return t.Format("Mon 15:04")
	case days:
		return t.Format("Mon 2 Jan")
	case weeks:
		return t.Format("2 Jan 2006")
	}
	return t.Format("Jan 2006")
}
