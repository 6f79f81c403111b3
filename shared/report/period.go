package report

import (
	"fmt"
	"slices"
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

// Last returns the last period of the unit that has ended at an instant, in the zone of that instant.
func (u Unit) Last(now time.Time) Period {
	end := u.start(now)
	return between(u.start(end.Add(-time.Millisecond)), end)
}

// Previous returns the period to compare p with: the calendar period before, if p is an hour, a day, a week or a month
// of the zone, otherwise the period of the same length right before.
func (p Period) Previous(zone *time.Location) Period {
	if u, ok := p.unit(zone); ok {
		return u.Last(time.UnixMilli(p.FromMs).In(zone))
	}
	length := p.end() - p.FromMs
	return Period{p.FromMs - length, p.FromMs - 1}
}

// end returns the end of the period as people write it: "between 2026-01-01 and 2026-01-02" ends with the second time,
// although that instant is included.
func (p Period) end() int64 {
	if p.ToMs%1000 == 0 && p.ToMs > p.FromMs {
		return p.ToMs
	}
	return p.ToMs + 1
}

// unit returns the unit of which the period is one.
func (p Period) unit(zone *time.Location) (Unit, bool) {
	from := time.UnixMilli(p.FromMs).In(zone)
	for _, u := range Units {
		if u.start(from).Equal(from) && u.next(from).UnixMilli() == p.end() {
			return u, true
		}
	}
	return "", false
}

// start returns the start of the unit that contains t, in the zone of t.
func (u Unit) start(t time.Time) time.Time {
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
		panic(fmt.Sprintf("report: unknown unit %q", u))
	}
	return dayStart(year, month, day, t.Location())
}

// next returns the start of the unit after the one that begins at start.
func (u Unit) next(start time.Time) time.Time {
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
	wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	noon := wanted.Add(12 * time.Hour)
	var candidates []time.Time
	for _, near := range []time.Time{noon.Add(-24 * time.Hour), noon, noon.Add(24 * time.Hour)} {
		local := near.In(zone)
		_, offset := local.Zone()
		candidates = append(candidates, wanted.Add(-time.Duration(offset)*time.Second).In(zone))
		if change, _ := local.ZoneBounds(); !change.IsZero() {
			candidates = append(candidates, change.In(zone))
		}
	}
	slices.SortFunc(candidates, time.Time.Compare)
	for _, t := range candidates {
		if !dateOf(t).Before(wanted) && dateOf(t.Add(-1)).Before(wanted) {
			return t
		}
	}
	panic(fmt.Sprintf("report: no start of %s in %s", wanted.Format(time.DateOnly), zone))
}

// dateOf returns the date of an instant in its zone, as midnight in UTC.
func dateOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// hourStart returns the start of the hour of the clock. It is later than the full hour if clocks changed in between.
func hourStart(t time.Time) time.Time {
	start := fullHour(t)
	if change, _ := t.ZoneBounds(); start.Before(change) {
		return change.In(t.Location())
	}
	return start
}

func hourEnd(t time.Time) time.Time {
	end := fullHour(t).Add(time.Hour)
	if _, change := t.ZoneBounds(); !change.IsZero() && change.Before(end) {
		return change.In(t.Location())
	}
	return end
}

// fullHour returns the instant at which the clock would have shown the full hour with the offset of t.
func fullHour(t time.Time) time.Time {
	_, offset := t.Zone()
	local := t.Unix() + int64(offset)
	return time.Unix(t.Unix()-((local%3600)+3600)%3600, 0).In(t.Location())
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
	switch length := p.end() - p.FromMs; {
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
	return u.next(u.start(t))
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
		_, change := t.ZoneBounds()
		if change.IsZero() || change.After(end) {
			return true
		}
		t = change.In(zone)
	}
}

// text returns the period as people write it, in a zone. The end of a calendar period is its last day.
func (p Period) text(zone *time.Location) string {
	from, end := time.UnixMilli(p.FromMs).In(zone), time.UnixMilli(p.end()).In(zone)
	midnight := func(t time.Time) bool { return Day.start(t).Equal(t) }
	if midnight(from) && midnight(end) {
		last := end.Add(-time.Millisecond)
		if dateOf(from).Equal(dateOf(last)) {
			return from.Format("Monday, 2 January 2006")
		}
		if u, ok := p.unit(zone); ok && u == Month {
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
