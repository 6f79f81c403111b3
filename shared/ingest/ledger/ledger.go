// Package ledger is what imports are remembered by: the entries, and the port to whatever keeps them.
package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// Rules is the version of the rules that turn lines into rows; each import says which it used.
const Rules = 2

// Entry is one import of a source, as a ledger keeps it.
type Entry struct {
	Source     string // a log as it grows
	Format     string // name of its Source
	Head       []byte // its beginning, when the source is new; nil for a further import of a known one
	Family     string // sources with an equal first line are of one family, which imports one after the other
	Generation int    // of the source's imports, from 1
	Name       string // what the input was called
	At         time.Time
	Length     int64             // decompressed bytes from the beginning of the source
	Sum        [sha256.Size]byte // of those bytes
	Lines      int64             // in those bytes
	Terminated bool              // the last line had its newline
	Records    int64             // new in this import
	Rejected   int64
	Parts      int // objects made for the source so far
	Objects    []lake.Object
	Latest     bool // no later import of the source is known
}

// Reader tells what has been imported.
type Reader interface {
	// Candidates lists every import of the sources whose head the text begins with, shortest first.
	Candidates(ctx context.Context, text []byte) ([]Entry, error)
	// Beginning finds a source whose head is longer than the text and begins with it; "" when there is none.
	Beginning(ctx context.Context, text []byte) (source string, err error)
	// Knows tells whether there is a source of that id.
	Knows(ctx context.Context, source string) (bool, error)
}

// Ledger is what a data directory keeps. Errors wrap fs.ErrPermission when it can only be read.
type Ledger interface {
	Reader
	// Commit writes the entry: the point from which the import will be published, whatever happens.
	Commit(ctx context.Context, e Entry) error
	// Unpublished lists the imports that are committed and not yet published.
	Unpublished(ctx context.Context) ([]Entry, error)
	// MarkPublished says that the index lists the import's objects.
	MarkPublished(ctx context.Context, e Entry) error
	// WatchedAs tells whether a watched file was taken with just this size and time of change.
	WatchedAs(ctx context.Context, path string, size int64, changed time.Time) (bool, error)
	// RememberWatched says that a watched file was taken.
	RememberWatched(ctx context.Context, path string, size int64, changed time.Time) error
	Close() error
}

// Open opens the ledger in a file, which is made if needed.
type Open func(ctx context.Context, path string) (Ledger, error)

// Family names what imports of one source share, however long the source has grown: it depends on the first line
// alone.
func Family(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	sum := sha256.Sum256(bytes.TrimSuffix(line[:min(len(line), 4096)], []byte("\r")))
	return hex.EncodeToString(sum[:8])
}
