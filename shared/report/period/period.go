// Package period has the periods of the calendar that reports are about: hours, days, weeks and months of a time zone.
package period

import (
	"fmt"
	"time"
)

// Unit is a unit of the calendar.
type Unit string

// The units. A week begins on Monday.
const (
	Hour  Unit = "hour"
	Day   Unit = "day"
	Week  Unit = "week"
	Month Unit = "month"
)

// Units lists the units, the shortest first.
var Units = []Unit{Hour, Day, Week, Month}

// Period is a time span in milliseconds since the Unix epoch. Both ends are included, as in a filter.
type Period struct{ FromMs, ToMs int64 }

// between returns the period from an instant to right before another.
func between(from, to time.Time) Period { return Period{from.UnixMilli(), to.UnixMilli() - 1} }

// BeginsBefore reports whether data that begins with a record of the given time lacks more than a hundredth of the period.
func (p Period) BeginsBefore(oldest time.Time) bool {
	return oldest.UnixMilli()-p.FromMs > (p.End()-p.FromMs)/100
}

// Last returns the last period of the unit that has ended at an instant, in the zone of that instant.
func (u Unit) Last(now time.Time) Period {
	end := u.Start(now)
	return between(u.Start(end.Add(-time.Millisecond)), end)
}

// Previous returns the period to compare p with: the calendar period before, if p is an hour, a day, a week or a month
// of the zone, otherwise the period of the same length right before.
func (p Period) Previous(zone *time.Location) Period {
	if u, ok := p.Unit(zone); ok {
		return u.Last(time.UnixMilli(p.FromMs).In(zone))
	}
	length := p.End() - p.FromMs
	return Period{p.FromMs - length, p.FromMs - 1}
}

// End returns the end of the period as people write it: "between 2026-01-01 and 2026-01-02" ends with the second time,
// although that instant is included.
func (p Period) End() int64 {
	if p.ToMs%1000 == 0 && p.ToMs > p.FromMs {
		return p.ToMs
	}
	return p.ToMs + 1
}

// Unit returns the unit of a period that is exactly one unit of the zone's calendar.
func (p Period) Unit(zone *time.Location) (Unit, bool) {
	from := time.UnixMilli(p.FromMs).In(zone)
	for _, u := range Units {
		if u.Start(from).Equal(from) && u.Next(from).UnixMilli() == p.End() {
			return u, true
		}
	}
	return "", false
}

// Start returns the start of the unit that contains t, in the zone of t.
func (u Unit) Start(t time.Time) time.Time {
	year, month, day := t.Date()
	switch u {
	case Hour:
		return hourStart(t)
	case Day:
	case Week:
		day -= (int(t.Weekday()) + 6) % 7
	case Month:
		day = 1
	default:
		panic(fmt.Sprintf("period: unknown unit %q", u))
	}
	return dayStart(year, month, day, t.Location())
}

// Next returns the start of the unit after the one that begins at start.
func (u Unit) Next(start time.Time) time.Time {
	year, month, day := start.Date()
	switch u {
	case Hour:
		return hourEnd(start)
	case Day:
		day++
	case Week:
		day += 7
	case Month:
		month, day = month+1, 1
	}
	return dayStart(year, month, day, start.Location())
}

// dayStart returns the first instant of a day. Midnight does not exist on days on which clocks are put forward at
// midnight, and occurs twice on days on which they are put back to midnight. A day that a zone leaves out begins when
// the next one does.
func dayStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	return ClockShows(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), zone)
}

// DateOf returns the date of an instant in its zone, as midnight in UTC.
func DateOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// hourStart returns the start of the hour of the clock. It is later than the full hour if clocks changed in between.
func hourStart(t time.Time) time.Time {
	start := fullHour(t)
	if change, _ := t.ZoneBounds(); start.Before(change) && isChange(change) {
		return change.In(t.Location())
	}
	return start
}

func hourEnd(t time.Time) time.Time {
	end := fullHour(t).Add(time.Hour)
	if change := NextChange(t); change.Before(end) && isChange(change) {
		return change
	}
	return end
}

// isChange reports whether the clock of the zone of t changes at t. Package time also returns ends of years of UTC as
// bounds, and a zero time for none.
func isChange(t time.Time) bool {
	_, before := t.Add(-1).Zone()
	_, offset := t.Zone()
	return before != offset
}

// fullHour returns the instant at which the clock would have shown the full hour with the offset of t.
func fullHour(t time.Time) time.Time {
	_, offset := t.Zone()
	local := t.Unix() + int64(offset)
	return time.Unix(t.Unix()-((local%3600)+3600)%3600, 0).In(t.Location())
}

// NextChange returns when the clock of the zone of t may change next, or the zero time for never. On the last day of leap
// years far in the future, package time returns a change that is not later than t. The year ends without a change there.
func NextChange(t time.Time) time.Time {
	_, change := t.ZoneBounds()
	switch {
	case change.IsZero():
		return change
	case !change.After(t):
		change = time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, t.Location())
	}
	return change.In(t.Location())
}
