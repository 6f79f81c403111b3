// Package cloud imports each line of raw logs in object storage exactly once into a lake in object storage, and
// compacts the lake while it is read. README.md explains why no row is lost or doubled.
package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/compaction"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/ingest/cloud/repair"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/pause"
)

const (
	// DefaultGrace is how long after its end an hour waits for late records before it is compacted.
	DefaultGrace = 2 * time.Hour
	// DefaultKeep is how long superseded objects are kept. Engines rely on that time.
	DefaultKeep = engine.KeepSuperseded
	// DefaultGroup is the maximum size in bytes of the objects that are merged into one.
	DefaultGroup = 256 << 20
	// DefaultGroupTime is how long the merge of a group of that size is expected to take. It usually takes 160 s.
	DefaultGroupTime = 4 * time.Minute
	// DefaultCopies is the number of objects that are copied at the same time when an import is published.
	DefaultCopies = 8
	// DefaultFooters is the number of footers that are read at the same time to count records and sizes.
	DefaultFooters = 32
	// DefaultMove is the number of sources of the ledger that an import moves.
	DefaultMove = 250
	// DefaultFromYear is the first year that the tables have partitions for.
	DefaultFromYear = 2000
)

// DefaultBundling is the default of Config.Bundling. Of an hour, a question finds at most about Open or Ended objects that
// are in no bundle, besides those that have arrived since the last compaction.
var DefaultBundling = compaction.Bundling{Open: 16, Ended: 4, Late: 8, Most: 64, Member: 32 << 20, Bytes: DefaultGroup}

// Config is the configuration of a Store.
type Config struct {
	Raw      blob.Store // bucket of raw logs
	Lake     blob.Store // bucket of the lake and of the quarantine
	Table    lakestate.Table
	Scratch  string // local directory for temporary files, of this Store alone; New empties it
	FromYear int    // records before this year are rejected; 0 for DefaultFromYear
	Options  ingest.Options
	// Horizon is the horizon of ingest.Options for logs that are not under HistoryPrefix; 0 for none.
	Horizon time.Duration

	Grace   time.Duration // 0 for DefaultGrace
	Keep    time.Duration // 0 for DefaultKeep; must not be less, because engines rely on it
	Group   int64         // bytes; 0 for DefaultGroup
	Reserve time.Duration // 0 for DefaultReserve
	Copies  int           // objects copied at a time; 0 for DefaultCopies
	Footers int           // footers read at a time; 0 for DefaultFooters
	AtOnce  int           // groups that a compaction merges at a time; 0 for one
	Memory  int64         // bytes that each of these merges may take; 0 for ingest.DefaultMergeMemory
	// Bundling says which objects are bundled; zero for DefaultBundling.
	Bundling compaction.Bundling
	// GroupTime is how long the merge of a group of the size Group is expected to take; 0 for DefaultGroupTime.
	GroupTime time.Duration
	Move      int // sources of the ledger moved by an import, see Moved; 0 for DefaultMove

	// Unlisted, if set, is called for objects that get no lists of their values, with the reason. Only completion lacks
	// something then. Several goroutines call it at the same time.
	Unlisted func(ctx context.Context, object string, err error)
	// Moved, if set, is called when an import has moved sources of the ledger, or could not, with the error. The next
	// import of a log with the same first line continues.
	Moved func(ctx context.Context, moved ledgertable.Moved, err error)

	Now func() time.Time
	// Pause waits before an attempt is repeated; nil waits in real time.
	Pause func(ctx context.Context, d time.Duration) error
}

// Store imports and compacts as datadir.Store does on one machine. It keeps no state in memory between calls, so any
// number of Stores may work on one lake.
type Store struct {
	*publication.Publisher
	config    Config
	compactor *compaction.Compactor
}

// New returns a Store.
func New(config Config) (*Store, error) {
	if config.Raw == nil || config.Lake == nil || config.Table == nil || config.Now == nil || config.Scratch == "" {
		return nil, errors.New("cloud: Raw, Lake, Table, Scratch and Now must be set")
	}
	config.FromYear = cmp.Or(config.FromYear, DefaultFromYear)
	config.Grace = cmp.Or(config.Grace, DefaultGrace)
	config.Keep = cmp.Or(config.Keep, DefaultKeep)
	config.Group = cmp.Or(config.Group, DefaultGroup)
	config.GroupTime = cmp.Or(config.GroupTime, DefaultGroupTime)
	config.Reserve = cmp.Or(config.Reserve, deadline.DefaultReserve)
	config.Copies = cmp.Or(config.Copies, DefaultCopies)
	config.Footers = cmp.Or(config.Footers, DefaultFooters)
	config.Move = cmp.Or(config.Move, DefaultMove)
	config.Bundling = cmp.Or(config.Bundling, DefaultBundling)
	if config.Unlisted == nil {
		config.Unlisted = func(context.Context, string, error) {}
	}
	if config.Moved == nil {
		config.Moved = func(context.Context, ledgertable.Moved, error) {}
	}
	if config.Pause == nil {
		config.Pause = pause.For
	}
	// The files of a process that was killed would take space from this one.
	if err := errors.Join(os.RemoveAll(config.Scratch), os.MkdirAll(config.Scratch, 0o700)); err != nil {
		return nil, fmt.Errorf("make scratch directory: %w", err)
	}
	publisher := &publication.Publisher{
		Lake: bucket.Lake{Store: config.Lake}, Table: config.Table, Scratch: config.Scratch, Copies: config.Copies,
		Unlisted: config.Unlisted, Now: config.Now, Pause: config.Pause,
	}
	return &Store{publisher, config, &compaction.Compactor{
		Publisher: publisher,
		Repairer:  &repair.Repairer{Publisher: publisher, Raw: config.Raw, Options: config.Options},
		Grace:     config.Grace, Keep: config.Keep, Group: config.Group, GroupTime: config.GroupTime,
		Reserve: config.Reserve, Footers: config.Footers, Bundling: config.Bundling,
		AtOnce: max(1, config.AtOnce), Memory: config.Memory,
	}}, nil
}

// period returns the period of records that are imported, which is the period that queries can see.
func (c *Store) period() (from, until time.Time) {
	return time.Date(c.config.FromYear, 1, 1, 0, 0, 0, 0, time.UTC), c.Now().Add(lake.ProjectedAhead)
}

// Compact merges the objects of every hour that is due and before until, unless until is zero, and repairs damaged
// objects. See Compactor.Compact.
func (c *Store) Compact(ctx context.Context, until time.Time) (compaction.Report, error) {
	return c.compactor.Compact(ctx, until)
}
