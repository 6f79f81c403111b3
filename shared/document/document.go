// Package document defines versioned documents of configurations, such as planet settings and saved filters, and the
// store of their versions. Every accepted write creates a version, versions never change, and a deletion is a version
// too. Packages planet and savedfilter define what the text of a document contains.
package document

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// Kind is a kind of documents, such as "planet". It is also the noun of messages.
type Kind string

// ID identifies a document.
type ID struct {
	Kind   Kind
	Config string // the configuration
	Name   string // "" if a configuration has one document of the kind
}

// String describes the document: the filter "bots" of configuration "prod".
func (id ID) String() string {
	if id.Name == "" {
		return fmt.Sprintf("the %s of configuration %q", id.Kind, id.Config)
	}
	return fmt.Sprintf("the %s %q of configuration %q", id.Kind, id.Name, id.Config)
}

// Info describes a version without its text.
type Info struct {
	Number int       // 1, 2, 3, … without gaps
	At     time.Time // when it was written, UTC, whole milliseconds
	By     string    // name of the key that wrote it
	ETag   string    // with its quotes
	Bytes  int       // length of the text
}

// Deleted reports whether the version is a deletion. Only deletions have no text.
func (i Info) Deleted() bool { return i.Bytes == 0 }

// Version is one version of a document.
type Version struct {
	Info
	Text string
}

// NewVersion returns a version. Its time is truncated to milliseconds. Its ETag contains the number, because the same
// text may be written again.
func NewVersion(number int, text, by string, at time.Time) Version {
	sum := sha256.Sum256([]byte(text))
	return Version{
		Info: Info{
			Number: number,
			At:     at.UTC().Truncate(time.Millisecond),
			By:     by,
			ETag:   fmt.Sprintf(`"%d-%x"`, number, sum[:8]),
			Bytes:  len(text),
		},
		Text: text,
	}
}

// Named is the newest version of a document with a name.
type Named struct {
	Name string
	Version
}

// Store stores the versions of documents.
type Store interface {
	// Newest returns the newest version, which may be a deletion, or an error of kind fault.NotFound.
	Newest(ctx context.Context, id ID) (Version, error)
	// Version returns one version, or an error of kind fault.NotFound.
	Version(ctx context.Context, id ID, number int) (Version, error)
	// Versions returns all versions, newest first, without reading their texts. The list may be empty.
	Versions(ctx context.Context, id ID) ([]Info, error)
	// Append stores v durably and permanently. v.Number must be the number of the newest version plus one, or 1. The
	// error is of kind fault.Conflict if it is not, usually because of another writer.
	Append(ctx context.Context, id ID, v Version) error
	// List returns the newest versions of the documents with names, in the order of the names, without deletions.
	List(ctx context.Context, kind Kind, config string) ([]Named, error)
}
