// Package ledger has the entries that record imports, and the port to their storage.
package ledger

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// Rules is the version of the rules by which lines become rows. Each import records the version that it used.
const Rules = 4

// Entry is one import of a source. A source is a log as it grows: its name and its content.
type Entry struct {
	Source string // id of the source
	Log    string // name of the log, see LogName; "" if the import was recorded before imports recorded it
	Format string // name of the log format
	// Head is the beginning of the source, at most HeadBytes, or nil if the ledger has it already. A ledger keeps that
	// of the latest import of the log that the first import was of.
	Head       []byte
	Family     string // id of the sources with the same first line, or in the cloud of those in LogFamily
	Generation int    // number of the import of the source, from 1
	Name       string // name of the input
	At         time.Time
	Length     int64             // decompressed bytes from the beginning of the source
	Sum        [sha256.Size]byte // of those bytes
	Lines      int64             // in those bytes
	Terminated bool              // the last line ends in a newline
	Records    int64             // new in this import
	Rejected   int64             // rejected lines in this import; of a retry, the negative number of those that are no more
	Retries    int               // generation of the import whose rejected lines this one has imported again; 0 if it is no retry
	Parts      int               // object names used for the source so far
	Objects    []lake.Object
	Settings   []string // the values for fields that records lack, as FIELD=VALUE
	GeoIP      []string // files of the databases of places
	Latest     bool     // the ledger has no later import of the source
}

// HeadBytes is the number of bytes at the beginning of a source that the ledger keeps.
const HeadBytes = 64 << 10

// IsOf reports whether the import may be one of the log with that name. An import without a name may be of any log.
func (e Entry) IsOf(log string) bool { return e.Log == "" || e.Log == log }

// Reader reads what has been imported.
type Reader interface {
	// Candidates returns the imports that may be of the log, see IsOf, of the sources whose first head is a prefix of
	// the text, shortest first.
	Candidates(ctx context.Context, log string, text []byte) ([]Entry, error)
	// Beginning returns a source that may be of the log and has a head that is longer than the text and begins with it,
	// or "". The name of a source is that of its first import.
	Beginning(ctx context.Context, log string, text []byte) (source string, err error)
	// Head returns the head of a source: its beginning as far as the ledger keeps it.
	Head(ctx context.Context, source string) ([]byte, error)
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
	// Summary sums up the imports.
	Summary(ctx context.Context) (Summary, error)
	// WatchedAs reports whether a watched file was imported with exactly this size and modification time.
	WatchedAs(ctx context.Context, path string, size int64, changed time.Time) (bool, error)
	// RememberWatched records that a watched file was imported.
	RememberWatched(ctx context.Context, path string, size int64, changed time.Time) error
	// Newest returns the latest import of a source, without its name, its records and its settings.
	Newest(ctx context.Context, source string) (Entry, error)
	// LinesAfter returns the number of the last line that the imports of a source up to a generation have recorded.
	LinesAfter(ctx context.Context, source string, generation int) (int64, error)
	Removals
	Close() error
}

// Open opens the ledger in a file, which it creates if needed. If readOnly is set, the file must exist, or the error is
// fs.ErrNotExist, and the ledger cannot be written.
type Open func(ctx context.Context, path string, readOnly bool) (Ledger, error)
