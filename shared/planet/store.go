package planet

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
)

// Kind is the kind of the documents that hold settings.
const Kind document.Kind = "planet"

// DocumentOf identifies the planet of a configuration.
func DocumentOf(config string) document.ID { return document.ID{Kind: Kind, Config: config} }

// First returns the first version of the planet in FirstConfig.
func First(at time.Time) document.Version {
	return document.NewVersion(1, Default().Text(), "orrery", at)
}

// Store adds the first planet to the documents of a deployment.
//
// A new deployment has the default planet in FirstConfig although its table is empty: until the first write, reads
// return the default planet as version 1. The first write stores it. So functions that only read need no permission to
// write.
type Store struct {
	document.Store
	now func() time.Time
}

// Over returns a store over documents. now is the clock for the first planet.
func Over(documents document.Store, now func() time.Time) *Store { return &Store{documents, now} }

var first = DocumentOf(FirstConfig)

// Newest implements document.Store.
func (s *Store) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	v, err := s.Store.Newest(ctx, id)
	if id == first && fault.KindOf(err) == fault.NotFound {
		return First(s.now()), nil
	}
	return v, err
}

// Version implements document.Store.
func (s *Store) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	v, err := s.Store.Version(ctx, id, number)
	if id == first && number == 1 && fault.KindOf(err) == fault.NotFound {
		return First(s.now()), nil
	}
	return v, err
}

// Versions implements document.Store.
func (s *Store) Versions(ctx context.Context, id document.ID) ([]document.Info, error) {
	infos, err := s.Store.Versions(ctx, id)
	if id == first && err == nil && len(infos) == 0 {
		return []document.Info{First(s.now()).Info}, nil
	}
	return infos, err
}

// Append implements document.Store.
func (s *Store) Append(ctx context.Context, id document.ID, v document.Version) error {
	err := s.Store.Append(ctx, id, v)
	if id != first || v.Number != 2 || fault.KindOf(err) != fault.Conflict {
		return err
	}
	// Version 1 may not have been stored yet. Several writers may try to store it; one succeeds.
	if err := s.Store.Append(ctx, id, First(s.now())); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	return s.Store.Append(ctx, id, v)
}

// AddFirst writes the first planet to the documents of a new data folder. It has no effect if there is one.
func AddFirst(ctx context.Context, documents document.Store, now time.Time) error {
	_, err := documents.Newest(ctx, first)
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	err = documents.Append(ctx, first, First(now))
	if fault.KindOf(err) == fault.Conflict { // another process was faster
		return nil
	}
	return err
}
