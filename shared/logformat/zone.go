package logformat

import (
	"errors"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/zone"
)

// zonePrefix begins the name of a format that reads times without a zone as local times. The name of the zone, a colon
// and the name of the format follow, as in zone:Europe/Berlin:haproxy-http.
const zonePrefix = "zone:"

// localTime is the zone of times without one. The zero value is UTC.
type localTime struct{ zone *time.Location }

// named returns the name of a format in the zone.
func (l localTime) named(name string) string {
	if l.zone == nil {
		return name
	}
	return zonePrefix + l.zone.String() + ":" + name
}

// CutZone returns the name of the zone that is a part of the name of a format, or "", and the name without it.
func CutZone(name string) (zone, format string) {
	rest, ok := strings.CutPrefix(name, zonePrefix)
	if !ok {
		return "", name
	}
	zone, format, _ = strings.Cut(rest, ":")
	return zone, format
}

// CheckZone returns the error of InZone for a zone and the name of a format, or for any format if that is "".
func CheckZone(zone, format string) error {
	if format == "" {
		_, err := loadZone(zone)
		return err
	}
	f, err := ByName(format)
	if err == nil {
		_, err = InZone(f, zone)
	}
	return err
}

// loadZone returns the zone with a name.
func loadZone(name string) (localTime, error) {
	location, err := zone.Load(name)
	var unknown *zone.UnknownError
	switch {
	case errors.As(err, &unknown):
		return localTime{}, fault.Wrap(fault.Invalid, err, "zone")
	case err != nil || name == "UTC":
		return localTime{}, err
	}
	return localTime{location}, nil
}

// InZone returns the format that reads times without a zone as those of the zone with that name. A format whose times
// are in UTC, or have their zone, stays as it is. The error of kind fault.Invalid is that of an unknown zone, or of
// Orrery's own records: their times without a zone are in UTC.
func InZone(f Format, name string) (Format, error) {
	local, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	switch f := f.(type) {
	case native:
		return nil, fault.New(fault.Invalid, "the format orrery has no zone: a time without one is in UTC. "+
			"Read other JSON with local times with --map, such as --map timestamp=timestamp")
	case layout:
		f.localTime = local
		return f, nil
	case patternFormat:
		f.localTime = local
		return f, nil
	case behindSyslog:
		inner, err := InZone(f.Format, name)
		return behindSyslog{inner}, err
	case *jsonLog:
		zoned := *f
		zoned.localTime = local
		return &zoned, nil
	case w3c:
		if f.name == w3cName {
			f.localTime = local
		}
		return f, nil
	}
	return f, nil
}

// inZone returns the time at which the clocks of a zone show the clock and the day of a time in UTC. Of a clock that
// occurs twice, because the clocks were put back, it returns the first time. A clock that never occurs, because they
// were put forward, counts from the offset before.
func inZone(clock time.Time, zone *time.Location) time.Time {
	const day = 24 * time.Hour // longer than any offset
	_, before := clock.Add(-day).In(zone).Zone()
	_, after := clock.Add(day).In(zone).Zone()
	first := clock.Add(-time.Duration(before) * time.Second)
	for _, offset := range []int{before, after} {
		t := clock.Add(-time.Duration(offset) * time.Second)
		if _, is := t.In(zone).Zone(); is == offset {
			return t
		}
	}
	return first
}
