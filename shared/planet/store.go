package planet

import (
	"context"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Store stores the versions of the planets. Package planettest has the test suite for implementations.
type Store interface {
	// Newest returns the newest version, or an error of kind fault.NotFound.
	Newest(ctx context.Context, config string) (Version, error)
	// Version returns one version, or an error of kind fault.NotFound.
	Version(ctx context.Context, config string, number int) (Version, error)
	// Versions returns all versions, newest first, without reading their settings. The list may be empty.
	Versions(ctx context.Context, config string) ([]Info, error)
	// Append stores v durably and permanently. v.Number must be the number of the newest version plus one, or 1. The
	// error is of kind fault.Conflict if it is not, usually because of another writer.
	Append(ctx context.Context, config string, v Version) error
}

// Info describes a version without its settings.
type Info struct {
	Number int       // 1, 2, 3, … without gaps
	At     time.Time // when it was written, UTC, whole milliseconds
	By     string    // name of the key that wrote it
	ETag   string    // with its quotes
	Bytes  int       // length of the settings' text
}

// Version is one version of a planet.
type Version struct {
	Info
	Settings Settings
}

// NewVersion returns a version. Its time is truncated to milliseconds.
func NewVersion(number int, s Settings, by string, at time.Time) Version {
	return Version{
		Info: Info{
			Number: number,
			At:     at.UTC().Truncate(time.Millisecond),
			By:     by,
			ETag:   etag(number, s),
			Bytes:  len(s.text),
		},
		Settings: s,
	}
}

// Change describes a write to a planet.
type Change struct {
	Settings     Settings
	By           string
	At           time.Time
	Precondition Precondition
}

// Precondition is a condition on the newest version. The zero value always holds.
type Precondition struct {
	Match  []string // its ETag must be one of these
	Exists bool     // it must exist
	Absent bool     // it must not exist
}

// check returns an error of kind fault.Conflict if the condition does not hold. newest is nil if there is no version.
func (p Precondition) check(config string, newest *Info) error {
	switch {
	case newest == nil && (p.Exists || len(p.Match) > 0):
		return fault.Wrap(fault.Conflict, noPlanet(config), "the planet does not exist yet")
	case newest != nil && p.Absent:
		return alreadyThere(*newest)
	case newest != nil && len(p.Match) > 0 && !slices.Contains(p.Match, newest.ETag):
		return changedSince(*newest)
	}
	return nil
}

// Put writes a new version and returns it. Number 1 means that the planet was created. The error is of kind
// fault.Conflict if the precondition does not hold. Concurrent writers without a precondition all succeed, each with a
// version of its own.
func Put(ctx context.Context, store Store, config string, c Change) (Info, error) {
	for {
		newest, err := newestInfo(ctx, store, config)
		if err != nil {
			return Info{}, err
		}
		if err := c.Precondition.check(config, newest); err != nil {
			return Info{}, err
		}
		number := 1
		if newest != nil {
			number = newest.Number + 1
		}
		v := NewVersion(number, c.Settings, c.By, c.At)
		err = store.Append(ctx, config, v)
		if err == nil {
			return v.Info, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Info{}, err
		}
		if ctx.Err() != nil {
			return Info{}, ctx.Err()
		}
	}
}

// Restore writes the settings of an earlier version as a new version.
func Restore(ctx context.Context, store Store, config string, number int, c Change) (Info, error) {
	old, err := store.Version(ctx, config, number)
	if err != nil {
		return Info{}, err
	}
	c.Settings = old.Settings
	return Put(ctx, store, config, c)
}

// NotFound returns the error of a store that has no planet in the configuration or, if number is not 0, no such
// version.
func NotFound(config string, number int) error {
	if number == 0 {
		return noPlanet(config)
	}
	return noVersion(config, number)
}

// Taken returns the error of a store for a version whose number is not the next.
func Taken(config string, number int) error {
	return fault.New(fault.Conflict, "version %d of the planet of configuration %q is not the next one", number, config)
}

func newestInfo(ctx context.Context, store Store, config string) (*Info, error) {
	v, err := store.Newest(ctx, config)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &v.Info, nil
}
