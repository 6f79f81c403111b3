package period

import (
	"fmt"
	"slices"
	"time"
)

// WeekBefore returns the same time of the week before p, or as many weeks before as p is long. A day or an hour is
// compared with the day or the hour of the same name, even if that is longer or shorter.
func (p Period) WeekBefore(zone *time.Location) Period {
	from, end := time.UnixMilli(p.FromMs).In(zone), time.UnixMilli(p.End()).In(zone)
	switch u, _ := p.Unit(zone); u {
	case Day:
		year, month, day := from.Date()
		noon := ClockShows(time.Date(year, month, day-6, 12, 0, 0, 0, time.UTC), zone) // of the day after it
		return Day.Last(noon)
	case Hour:
		return Hour.Last(from.AddDate(0, 0, -7).Add(time.Hour))
	}
	weeks := 1
	for earlier(end, weeks).After(from) { // p would be compared with a part of itself
		weeks++
	}
	start, stop := earlier(from, weeks), earlier(end, weeks)
	if !start.Before(stop) { // the clocks left the time out
		start = stop.Add(from.Sub(end))
	}
	return between(start, stop)
}

// earlier returns when the clocks of its zone showed the time of an instant a number of weeks before.
func earlier(at time.Time, weeks int) time.Time {
	return ClockShows(shown(at).AddDate(0, 0, -7*weeks), at.Location())
}

// ClockShows returns the first instant at which the clocks of a zone show a date and time, which is given in UTC. If
// the clocks skip that time, it returns the instant at which they are put forward.
func ClockShows(wanted time.Time, zone *time.Location) time.Time {
	var candidates []time.Time
	for _, hours := range []time.Duration{-36, -24, -12, 0, 12, 24, 36} {
		local := wanted.Add(hours * time.Hour).In(zone)
		_, offset := local.Zone()
		candidates = append(candidates, wanted.Add(-time.Duration(offset)*time.Second).In(zone))
		if change, _ := local.ZoneBounds(); !change.IsZero() {
			candidates = append(candidates, change.In(zone))
		}
	}
	slices.SortFunc(candidates, time.Time.Compare)
	for _, t := range candidates {
		if !shown(t).Before(wanted) && shown(t.Add(-1)).Before(wanted) {
			return t
		}
	}
	panic(fmt.Sprintf("period: the clocks of %s never show %s", zone, wanted))
}

// shown returns the date and time that the clocks of the zone of t show at t, as a time in UTC.
func shown(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
