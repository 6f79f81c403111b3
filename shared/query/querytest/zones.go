package querytest

import (
	"time"
	_ "time/tzdata" // the zones do not depend on the machine
)

// Zones lists zones that differ in what is hard: changes of the clock at midnight and at other times, in both halves of
// the year and by the moon, offsets of parts of an hour, and no changes.
var Zones = []string{
	"Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Chatham", "Africa/Casablanca",
}

// Zone returns the zone with a name. It panics if there is none.
func Zone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic("querytest: " + err.Error())
	}
	return zone
}

// ClockChanges returns two changes of the clock of one of Zones, one in each direction, or any midnight if it has none.
func ClockChanges(name string) []time.Time {
	zone := Zone(name)
	year := 2024
	if name == "America/Sao_Paulo" {
		year = 2018 // the last with changes
	}
	var changes []time.Time
	at := time.Date(year, 1, 15, 0, 0, 0, 0, zone)
	for len(changes) < 2 {
		_, next := at.ZoneBounds()
		if next.IsZero() || next.Year() > year {
			break
		}
		changes, at = append(changes, next), next
	}
	if len(changes) == 0 {
		changes = append(changes, at)
	}
	return changes
}
