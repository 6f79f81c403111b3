package search

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for machines and functions without a time zone database

	"github.com/orrery/orrery/shared/filter"
)

// zoneNames lists the names of the IANA time zone database, one a line, as the Go release has them. Names are compared
// with the list before they are looked up, because the look-up accepts others: those of files beside the database.
//
//go:embed zones.txt
var zoneNames string

var zones = strings.Fields(zoneNames)

// zoneOf returns the zone with a name, or nil for "".
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	if !slices.Contains(zones, name) {
		e := &ParamError{
			Param: "tz", Message: fmt.Sprintf("there is no time zone %q", name), Code: "unknown_time_zone",
			Suggestion: nearestZone(name),
		}
		if e.Suggestion == "" {
			e.Message += "; a zone has a name such as Europe/Berlin or UTC"
		} else {
			e.Message += fmt.Sprintf("; did you mean %q?", e.Suggestion)
		}
		return nil, e
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load time zone %s: %w", name, err)
	}
	return zone, nil
}

// nearestZone returns the zone that a name was most likely meant to be, or "". A city alone is enough.
func nearestZone(name string) string {
	if !strings.Contains(name, "/") {
		cities := make([]string, len(zones))
		for i, zone := range zones {
			cities[i] = zone[strings.LastIndex(zone, "/")+1:]
		}
		if near := filter.Nearest(name, cities); near != "" {
			return zones[slices.Index(cities, near)]
		}
		return ""
	}
	return filter.Nearest(name, zones)
}
