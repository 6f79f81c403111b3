package planet

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/document"
)

// Kind is the kind of the documents that hold settings.
const Kind document.Kind = "planet"

// DocumentOf identifies the planet of a configuration.
func DocumentOf(config string) document.ID { return document.ID{Kind: Kind, Config: config} }

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
type Info = document.Info

// Version is one version of a planet.
type Version struct {
	Info
	Settings Settings
}

// NewVersion returns a version. Its time is truncated to milliseconds.
func NewVersion(number int, s Settings, by string, at time.Time) Version {
	return Version{document.NewVersion(number, s.text, by, at).Info, s}
}

// Document returns the version as a version of a document.
func (v Version) Document() document.Version {
	return document.Version{Info: v.Info, Text: v.Settings.Text()}
}

// Documents implements Store over documents.
type Documents struct{ Store document.Store }

var _ Store = Documents{}

// Newest implements Store.
func (d Documents) Newest(ctx context.Context, config string) (Version, error) {
	return versionOf(d.Store.Newest(ctx, DocumentOf(config)))
}

// Version implements Store.
func (d Documents) Version(ctx context.Context, config string, number int) (Version, error) {
	return versionOf(d.Store.Version(ctx, DocumentOf(config), number))
}

// Versions implements Store.
func (d Documents) Versions(ctx context.Context, config string) ([]Info, error) {
	return d.Store.Versions(ctx, DocumentOf(config))
}

// Append implements Store.
func (d Documents) Append(ctx context.Context, config string, v Version) error {
	return d.Store.Append(ctx, DocumentOf(config), v.Document())
}

func versionOf(v document.Version, err error) (Version, error) {
	return Version{v.Info, Stored(v.Text)}, err
}

// Change describes a write to a planet.
type Change struct {
	Settings     Settings
	By           string
	At           time.Time
	Precondition Precondition
}

// Precondition is a condition on the newest version. The zero value always holds.
type Precondition = document.Precondition

// Put writes a new version and returns it. Number 1 means that the planet was created. The error is of kind
// fault.Conflict if the precondition does not hold. Concurrent writers without a precondition all succeed, each with a
// version of its own.
func Put(ctx context.Context, store Store, config string, c Change) (Info, error) {
	return document.Append(ctx, DocumentOf(config), c.Precondition, c.At,
		func() (Info, error) {
			newest, err := store.Newest(ctx, config)
			return newest.Info, err
		},
		func(number int, at time.Time) (Info, error) {
			v := NewVersion(number, c.Settings, c.By, at)
			return v.Info, store.Append(ctx, config, v)
		})
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
func NotFound(config string, number int) error { return document.NotFound(DocumentOf(config), number) }
