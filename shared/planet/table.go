package planet

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
)

// Items implements Store over the table of a deployment.
//
// A new deployment has the default planet in FirstConfig although its table is empty: until the first write, reads
// return the default planet as version 1. The first write stores it. So functions that only read need no permission to
// write.
type Items struct {
	planets Documents
	now     func() time.Time
}

var _ Store = (*Items)(nil)

// Over returns a store over a table. now is the clock for the first planet.
func Over(t table.Table, now func() time.Time) *Items {
	return &Items{Documents{Store: document.Over(t)}, now}
}

// first returns the planet of a new deployment.
func (s *Items) first() Version { return NewVersion(1, Default(), "orrery", s.now()) }

// Newest implements Store.
func (s *Items) Newest(ctx context.Context, config string) (Version, error) {
	v, err := s.planets.Newest(ctx, config)
	if config == FirstConfig && fault.KindOf(err) == fault.NotFound {
		return s.first(), nil
	}
	return v, err
}

// Version implements Store.
func (s *Items) Version(ctx context.Context, config string, number int) (Version, error) {
	v, err := s.planets.Version(ctx, config, number)
	if config == FirstConfig && number == 1 && fault.KindOf(err) == fault.NotFound {
		return s.first(), nil
	}
	return v, err
}

// Versions implements Store.
func (s *Items) Versions(ctx context.Context, config string) ([]Info, error) {
	infos, err := s.planets.Versions(ctx, config)
	if config == FirstConfig && err == nil && len(infos) == 0 {
		return []Info{s.first().Info}, nil
	}
	return infos, err
}

// Append implements Store.
func (s *Items) Append(ctx context.Context, config string, v Version) error {
	err := s.planets.Append(ctx, config, v)
	if config != FirstConfig || v.Number != 2 || fault.KindOf(err) != fault.Conflict {
		return err
	}
	// Version 1 may not have been stored yet. Several writers may try to store it; one succeeds.
	if err := s.planets.Append(ctx, config, s.first()); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	return s.planets.Append(ctx, config, v)
}
