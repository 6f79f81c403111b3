package search

import (
	"errors"
	"time"

	"github.com/orrery/orrery/shared/zone"
)

// zoneOf returns the zone with a name, or nil for "".
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	location, err := zone.Load(name)
	var unknown *zone.UnknownError
	if errors.As(err, &unknown) {
		return nil, &ParamError{
			Param: "tz", Message: unknown.Error(), Code: "unknown_time_zone", Suggestion: unknown.Nearest,
		}
	}
	return location, err
}
