// Package planetdynamo stores planets in the deployment's DynamoDB table, as package documentdynamo does.
package planetdynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/document/documentdynamo"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

// Store implements planet.Store over a table.
//
// A new deployment has the default planet in planet.FirstConfig although its table is empty: until the first write,
// reads return the default planet as version 1. The first write stores it. So functions that only read need no
// permission to write.
type Store struct {
	planets   planet.Documents
	documents *documentdynamo.Store
	now       func() time.Time
}

var _ planet.Store = (*Store)(nil)

// New returns a store over a table with the schema of package dynamotable. now is the clock for the first planet.
func New(client *dynamodb.Client, table string, now func() time.Time) *Store {
	documents := documentdynamo.New(client, table)
	return &Store{planet.Documents{Store: documents}, documents, now}
}

// first returns the planet of a new deployment.
func (s *Store) first() planet.Version {
	return planet.NewVersion(1, planet.Default(), "orrery", s.now())
}

// Newest implements planet.Store.
func (s *Store) Newest(ctx context.Context, config string) (planet.Version, error) {
	v, err := s.planets.Newest(ctx, config)
	if config == planet.FirstConfig && fault.KindOf(err) == fault.NotFound {
		return s.first(), nil
	}
	return v, err
}

// Version implements planet.Store.
func (s *Store) Version(ctx context.Context, config string, number int) (planet.Version, error) {
	v, err := s.planets.Version(ctx, config, number)
	if config == planet.FirstConfig && number == 1 && fault.KindOf(err) == fault.NotFound {
		return s.first(), nil
	}
	return v, err
}

// Versions implements planet.Store.
func (s *Store) Versions(ctx context.Context, config string) ([]planet.Info, error) {
	infos, err := s.planets.Versions(ctx, config)
	if config == planet.FirstConfig && err == nil && len(infos) == 0 {
		return []planet.Info{s.first().Info}, nil
	}
	return infos, err
}

// Append implements planet.Store.
func (s *Store) Append(ctx context.Context, config string, v planet.Version) error {
	err := s.planets.Append(ctx, config, v)
	if config != planet.FirstConfig || v.Number != 2 || fault.KindOf(err) != fault.Conflict {
		return err
	}
	// Version 1 may not have been stored yet. Several writers may try to store it; one succeeds.
	if err := s.planets.Append(ctx, config, s.first()); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	return s.planets.Append(ctx, config, v)
}
