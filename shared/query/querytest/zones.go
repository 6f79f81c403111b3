package querytest

import (
	"time"

	"github.com/orrery/orrery/shared/zone"
)

// Zones lists zones that differ in what is hard: changes of the clock at midnight and at other times, in both halves of
// the year and by the moon, offsets of parts of an hour, and no changes.
var Zones = []string{
	"Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Chatham", "Africa/Casablanca",
}

// Zone returns the zone with a name. It panics if there is none.
func Zone(name string) *time.Location {
	location, err := zone.Load(name)
	if err != nil {
		panic("querytest: " + err.Error())
	}
	return location
}

// Changes returns the changes of the clock of a zone between two instants. Clocks change at quarters of an hour of UTC.
//
// The bounds of package time are of no use here: it counts the ends of years as changes, and for the last day of a leap
// year it returns an end in the past.
func Changes(zone *time.Location, from, to time.Time) []time.Time {
	const quarter = 15 * time.Minute
	var changes []time.Time
	_, last := from.In(zone).Zone()
	for at := from.Truncate(quarter).Add(quarter); at.Before(to); at = at.Add(quarter) {
		if _, offset := at.In(zone).Zone(); offset != last {
			changes, last = append(changes, at.In(zone)), offset
		}
	}
	return changes
}

// ClockChanges returns two changes of the clock of one of Zones, one in each direction, or any midnight if it has none.
func ClockChanges(name string) []time.Time {
	zone := Zone(name)
	year := 2024
	if name == "America/Sao_Paulo" {
		year = 2018 // the last with changes
	}
	begin := time.Date(year, 1, 15, 0, 0, 0, 0, zone)
	changes := Changes(zone, begin, time.Date(year+1, 1, 1, 0, 0, 0, 0, zone))
	if len(changes) == 0 {
		return []time.Time{begin}
	}
	return changes[:2]
}
