// Package ledger has the entries that record imports, and the port to their storage.
package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// Rules is the version of the rules by which lines become rows. Each import records the version that it used.
const Rules = 2

// Entry is one import of a source. A source is a log as it grows.
type Entry struct {
	Source     string // id of the source
	Format     string // name of the log format
	Head       []byte // beginning of the source in its first import; nil in later imports
	Family     string // id of the sources with the same first line, which are imported one after the other
	Generation int    // number of the import of the source, from 1
	Name       string // name of the input
	At         time.Time
	Length     int64             // decompressed bytes from the beginning of the source
	Sum        [sha256.Size]byte // of those bytes
	Lines      int64             // in those bytes
	Terminated bool              // the last line ends in a newline
	Records    int64             // new in this import
	Rejected   int64             // rejected lines in this import
	Parts      int               // object names used for the source so far
	Objects    []lake.Object
	Latest     bool // the ledger has no later import of the source
}

// Reader reads what has been imported.
type Reader interface {
	// Candidates returns all imports of the sources whose head is a prefix of the text, shortest first.
	Candidates(ctx context.Context, text []byte) ([]Entry, error)
	// Beginning returns a source whose head is longer than the text and begins with it, or "".
	Beginning(ctx context.Context, text []byte) (source string, err error)
	// Knows reports whether a source with that id exists.
	Knows(ctx context.Context, source string) (bool, error)
}

// Ledger is the ledger of a data directory. Its errors wrap fs.ErrPermission if it is read-only.
type Ledger interface {
	Reader
	// Commit writes the entry. After Commit the import will be published, even if the process dies.
	Commit(ctx context.Context, e Entry) error
	// Unpublished returns the imports that are committed and not published yet.
	Unpublished(ctx context.Context) ([]Entry, error)
	// MarkPublished records that the index lists the objects of the import.
	MarkPublished(ctx context.Context, e Entry) error
	// WatchedAs reports whether a watched file was imported with exactly this size and modification time.
	WatchedAs(ctx context.Context, path string, size int64, changed time.Time) (bool, error)
	// RememberWatched records that a watched file was imported.
	RememberWatched(ctx context.Context, path string, size int64, changed time.Time) error
	Close() error
}

// Open opens the ledger in a file, which it creates if needed.
type Open func(ctx context.Context, path string) (Ledger, error)

// Family returns the id of the family of a source with this beginning. All imports of a source have the same family,
// because it depends only on the first line.
func Family(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	sum := sha256.Sum256(bytes.TrimSuffix(line[:min(len(line), 4096)], []byte("\r")))
	return hex.EncodeToString(sum[:8])
}
