package ledger

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// Source is what was imported of a log as it grows.
type Source struct {
	ID       string
	Log      string // name of the log, see LogName
	Family   string
	Format   string   // of the first import
	Name     string   // name of the input of the last import
	Settings []string // of the last import, see Entry
	Known    bool     // Settings is known: no earlier version made the last import
	Before   *Source  // with the Settings, GeoIP and Known of the import before the last one; nil if there is none
	GeoIP    []string // of the last import, see Entry
	Imports  int      // number of imports, without retries
	Records  int64
	Retried  int64  // records among them that were imported from quarantine
	Rejected int64  // lines that are not records
	Lines    int64  // of the log as far as it was imported
	RetryOf  string // id of another source, of which an earlier version imported rejected lines as this one

	From, To    time.Time // period of the records; zero if there are none
	First, Last time.Time // times of the first and the last import
	Forgotten   time.Time // zero unless the source was forgotten
}

// Removal is the change of the index that takes the rows of a source out of the lake: it replaces objects that have
// rows of the source by objects with their other rows.
type Removal struct {
	Source string        `json:"source"`
	Family string        `json:"family"`
	At     time.Time     `json:"at"`
	Remove []lake.Object `json:"remove"` // Path is the name
	Add    []lake.Object `json:"add"`    // staged and verified
}

// Removals is the part of a ledger that forgets sources. The entries of a forgotten source stay, so that its id is not
// used again and its log can be recognised, but imports do not continue it.
type Removals interface {
	// Sources returns all sources, forgotten ones included, in the order of their first imports.
	Sources(ctx context.Context) ([]Source, error)
	// ObjectsOf returns the names of the objects that the imports of a source have made. Compaction may have replaced
	// them. All imports of the source must be published.
	ObjectsOf(ctx context.Context, source string) ([]string, error)
	// Forget records that the source is forgotten. After Forget the removal will be made, even if the process dies.
	Forget(ctx context.Context, r Removal) error
	// Unfinished returns the removals that were recorded and are not made yet.
	Unfinished(ctx context.Context) ([]Removal, error)
	// MarkForgotten records that a removal is made.
	MarkForgotten(ctx context.Context, r Removal) error
	// Forgotten returns a forgotten source that a log with this name and beginning may be, or "". It returns "" if
	// the log may also be a source that is not forgotten, because it was imported again.
	Forgotten(ctx context.Context, log string, head []byte) (source string, err error)
}
