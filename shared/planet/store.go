package planet

import (
	"context"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Store keeps the versions of every configuration's planet. Package planettest holds the suite that every
// implementation passes.
type Store interface {
	// Newest returns the newest version, or an error of kind fault.NotFound.
	Newest(ctx context.Context, config string) (Version, error)
	// Version returns one version, or an error of kind fault.NotFound.
	Version(ctx context.Context, config string, number int) (Version, error)
	// Versions lists all versions, newest first, without reading their settings; none is no error.
	Versions(ctx context.Context, config string) ([]Info, error)
	// Append keeps v for ever, durably before it returns. v.Number must be one more than the newest
	// version's, 1 for the first: kind fault.Conflict when it is not, because another writer came first.
	Append(ctx context.Context, config string, v Version) error
}

// Info is what is known of a version without reading it.
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

// NewVersion is the version of that number.
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

// Change is a write of a planet.
type Change struct {
	Settings     Settings
	By           string
	At           time.Time
	Precondition Precondition
}

// Expect is what a writer requires of the newest version. The zero value requires nothing.
type Precondition struct {
	Match  []string // its ETag is one of these
	Exists bool     // there is one
	Absent bool     // there is none
}

// check tells whether the newest version is as expected; nil stands for none.
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

// Put writes a new version and returns it; Number 1 means that the planet was created. The error is of kind
// fault.Conflict when the newest version is not as expected. Of writers that race and expect nothing each
// gets its version, one after the other.
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

// NotFound is the error of a store that has no planet in a configuration, or, with a number, no such version.
func NotFound(config string, number int) error {
	if number == 0 {
		return noPlanet(config)
	}
	return noVersion(config, number)
}

// Taken is the error of a store for a version whose number is not the next.
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
