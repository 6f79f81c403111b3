// Package schedule decides which scheduled reports are due. It has no clock and no store.
package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/period"
	"github.com/orrery/orrery/shared/zone"
)

// Item is a definition with the versions that decide which of its reports are due.
type Item struct {
	Config string
	Name   string
	// Versions are consecutive, oldest first. The last one is the newest. The first one is the first version of the
	// definition, or the version in force when the latest known report was due, or one between them.
	Versions []Version
}

// Version is a version of a definition.
type Version struct {
	Number int
	Since  time.Time // when it was written
	definition.Stored
}

// Tick is a report that was due at a time.
type Tick struct {
	Config string
	Name   string
	Version
	Due    time.Time
	Period period.Period
	Missed bool // a later report of the same definition was due, too, so this one is not made
}

// MaxMissed is the maximum number of missed reports of a version of a definition that Due returns.
const MaxMissed = 100

// Due returns the reports of a definition that are due at a time, oldest first. All but the latest are missed. done is
// when the latest known report was due, or the zero time.
//
// A report belongs to the version that was in force when it was due. So every caller finds the same version, whatever is
// edited meanwhile. Each period of a unit of the calendar has one report:
//   - If an edit moves the time at which a report is due to one that has passed, the report is due when the edit was made.
//   - If a period had a report already, an edit that moves the time to a later one gives it no second one. After a change
//     of the zone, a period had a report if the middle of it is in one that had.
//   - Nothing is due while a definition is paused. What was due right before is due when it is resumed, but missed if a
//     later report was due meanwhile.
func Due(item Item, done, now time.Time) ([]Tick, error) {
	for len(item.Versions) > 1 && !item.Versions[1].Since.After(done) { // the first one was in force then
		item.Versions = item.Versions[1:]
	}
	var ticks []Tick
	covered := map[period.Unit]time.Time{} // the end of the newest period that has a report
	var before *calendar                   // of the version before, unless it was paused
	var last calendar                      // of the latest tick
	for i, v := range item.Versions {
		if v.Paused {
			before = nil
			continue
		}
		c, err := calendarOf(v.Definition)
		if err != nil {
			return nil, fmt.Errorf("schedule the report %s of configuration %s: %w", item.Name, item.Config, err)
		}
		until := now.Add(1) // the version is in force until right before
		if i+1 < len(item.Versions) && item.Versions[i+1].Since.Before(until) {
			until = item.Versions[i+1].Since
		}
		if i == 0 && !done.Before(v.Since) {
			covered[c.unit] = endOf(c.latest(done.Add(1)))
		}
		moved := int64(math.MaxInt64) // the start of the period whose report an edit can have moved into the past
		if before != nil && before.unit == c.unit {
			moved = before.following(before.latest(v.Since)).FromMs
		}
		var list []Tick
		for p := c.latest(until); len(list) <= MaxMissed; p = c.before(p) {
			due, middle := c.due(p), (p.FromMs+p.ToMs)/2
			if middle <= covered[c.unit].UnixMilli() {
				break
			}
			if !due.After(v.Since) {
				if middle < moved || v.Since.After(now) {
					break
				}
				due = v.Since
			}
			if !due.After(done) {
				break
			}
			list = append(list, Tick{Config: item.Config, Name: item.Name, Version: v, Due: due, Period: p, Missed: true})
		}
		if len(list) > 0 {
			covered[c.unit], last = endOf(list[0].Period), c
		}
		slices.Reverse(list)
		ticks, before = append(ticks, list...), &c
	}
	if n := len(ticks); n > 0 {
		latest := &ticks[n-1]
		latest.Missed = !last.due(last.following(latest.Period)).After(now)
	}
	return ticks, nil
}

// Next returns when the next report of a definition after a time is due, and its period. It ignores that a definition
// is paused.
func Next(d definition.Definition, now time.Time) (due time.Time, p period.Period, err error) {
	c, err := calendarOf(d)
	if err != nil {
		return due, p, err
	}
	p = c.following(c.latest(now.Add(1)))
	return c.due(p), p, nil
}

// Last returns the newest period that has ended, whether its report is due or not.
func Last(d definition.Definition, now time.Time) (period.Period, error) {
	c, err := calendarOf(d)
	if err != nil {
		return period.Period{}, err
	}
	return c.unit.Last(now.In(c.zone)), nil
}

// Compared returns the period that a report about a period compares with; nil if there is none. The period may be any,
// such as a requested one.
func Compared(d definition.Definition, p period.Period) (*period.Period, error) {
	c, err := calendarOf(d)
	if err != nil {
		return nil, err
	}
	var before period.Period
	switch d.Compare {
	case definition.NoCompare:
		return nil, nil
	case definition.SameWeekday:
		before = p.WeekBefore(c.zone)
	default:
		before = p.Previous(c.zone)
	}
	return &before, nil
}

// calendar holds the times at which the reports of a definition are made.
type calendar struct {
	unit    period.Unit
	zone    *time.Location
	hour    int
	minute  int
	weekday int // days after Monday, of weekly reports
}

func calendarOf(d definition.Definition) (c calendar, err error) {
	c = calendar{unit: period.Unit(d.Period), weekday: max(0, slices.Index(definition.Weekdays, d.Weekday))}
	if !slices.Contains(period.Units, c.unit) {
		return c, fmt.Errorf("unknown period %q", d.Period)
	}
	if c.zone, err = zone.Load(d.TZ); err != nil {
		return c, fmt.Errorf("zone %q: %w", d.TZ, err)
	}
	if c.unit == period.Hour {
		return c, nil
	}
	if len(d.At) != len("07:00") {
		return c, fmt.Errorf("%q is not a time of day", d.At)
	}
	if c.hour, err = strconv.Atoi(d.At[:2]); err == nil {
		c.minute, err = strconv.Atoi(d.At[3:])
	}
	return c, err
}

// due returns when the report about a period is due.
func (c calendar) due(p period.Period) time.Time {
	end := endOf(p).In(c.zone)
	if c.unit == period.Hour {
		return end
	}
	year, month, day := end.Date()
	return period.ClockShows(time.Date(year, month, day+c.weekday, c.hour, c.minute, 0, 0, time.UTC), c.zone)
}

// latest returns the newest period whose report was due before an instant.
func (c calendar) latest(at time.Time) period.Period {
	p := c.unit.Last(at.In(c.zone))
	for !c.due(p).Before(at) {
		p = c.before(p)
	}
	return p
}

// before returns the period before p.
func (c calendar) before(p period.Period) period.Period {
	return c.unit.Last(time.UnixMilli(p.FromMs).In(c.zone))
}

// following returns the period after p. It looks for its end in steps that are shorter than any period.
func (c calendar) following(p period.Period) period.Period {
	end, step := endOf(p), 12*time.Hour
	if c.unit == period.Hour {
		step = 15 * time.Minute
	}
	for at := end.Add(step); ; at = at.Add(step) {
		if next := c.unit.Last(at.In(c.zone)); next.FromMs >= end.UnixMilli() {
			return next
		}
	}
}

// endOf returns the first instant after a period.
func endOf(p period.Period) time.Time { return time.UnixMilli(p.ToMs + 1) }
