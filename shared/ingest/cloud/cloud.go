// Package cloud imports raw logs from object storage into a lake in object storage, once and only once, and compacts it
// under its readers. README.md beside this file argues why nothing is lost and nothing doubled.
package cloud

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	// DefaultGrace is how long after its end an hour stays open to records that come late.
	DefaultGrace = 2 * time.Hour
	// DefaultKeep is how long superseded objects stay: as long as engines rely on.
	DefaultKeep = engine.KeepSuperseded
	// DefaultGroup is how many bytes of objects are merged into one.
	DefaultGroup = 256 << 20
	// DefaultReserve is how long before the context's deadline work is brought to an end that others can go on from.
	DefaultReserve = 90 * time.Second
	// DefaultCopies is how many objects are copied at a time when an import is published.
	DefaultCopies = 8
	// DefaultFromYear is the first year that the tables have partitions for.
	DefaultFromYear = 2000
)

// Config is what a Store works with.
type Config struct {
	Raw      blob.Store // bucket of raw logs
	Lake     blob.Store // bucket of the lake and of quarantine
	Table    lakestate.Table
	Scratch  string // a local directory for objects in the making, this Store's alone: New empties it
	FromYear int    // records before it are rejected; 0 for DefaultFromYear
	Options  ingest.Options

	Grace   time.Duration // 0 for DefaultGrace
	Keep    time.Duration // 0 for DefaultKeep; engines rely on no less
	Group   int64         // bytes; 0 for DefaultGroup
	Reserve time.Duration // 0 for DefaultReserve
	Copies  int           // objects copied at a time; 0 for DefaultCopies

	Now func() time.Time
	// Pause waits before something is tried again; nil waits really.
	Pause func(ctx context.Context, d time.Duration) error
}

// Store imports and compacts, as datadir.Store does on one machine. It keeps nothing in memory between calls, so any
// number of them may work on one lake.
type Store struct {
	config Config
	raw    blob.Store
	lake   blob.Store
	table  lakestate.Table
}

// New returns a Store.
func New(config Config) (*Store, error) {
	if config.Raw == nil || config.Lake == nil || config.Table == nil || config.Now == nil || config.Scratch == "" {
		return nil, errors.New("cloud: Raw, Lake, Table, Scratch and Now must be set")
	}
	if config.FromYear == 0 {
		config.FromYear = DefaultFromYear
	}
	if config.Grace == 0 {
		config.Grace = DefaultGrace
	}
	if config.Keep == 0 {
		config.Keep = DefaultKeep
	}
	if config.Group == 0 {
		config.Group = DefaultGroup
	}
	if config.Reserve == 0 {
		config.Reserve = DefaultReserve
	}
	if config.Copies == 0 {
		config.Copies = DefaultCopies
	}
	if config.Pause == nil {
		config.Pause = pause
	}
	// What a process that was killed has left would take the room of the next.
	if err := errors.Join(os.RemoveAll(config.Scratch), os.MkdirAll(config.Scratch, 0o700)); err != nil {
		return nil, fmt.Errorf("make scratch directory: %w", err)
	}
	return &Store{config: config, raw: config.Raw, lake: config.Lake, table: config.Table}, nil
}

// Where things lie in the lake's bucket. Names under lake/ that begin with an underscore are invisible to engines.
const (
	lakeRoot       = "lake/"
	stagingRoot    = "lake/_staging/"    // <attempt>/…: objects that are not committed, or not published yet
	planRoot       = "lake/_plans/"      // yyyy/MM/dd/HH.json: what a compaction merges
	quarantineRoot = "quarantine/"       // <source>.ndjson: lines that are no records
	refusedRoot    = "quarantine/whole/" // <key of the raw log>.…: logs of which nothing was imported
)

// pause waits before the n-th repetition, from 0: about 10 ms at first, at most about a second, never twice the same.
func (c *Store) pause(ctx context.Context, n int) error {
	most := 20 * time.Millisecond << min(n, 6)
	return c.config.Pause(ctx, most/2+randv2.N(most/2))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newAttempt names an attempt at an import that nobody else makes.
func newAttempt() string { return rand.Text() }

// enough tells when work is to be brought to an end: the reserve before the context's deadline, or half of the time
// there is when that is short. Its first answer is always no, so that every call gets on.
func (c *Store) enough(ctx context.Context) func() bool {
	deadline, ok := ctx.Deadline()
	if !ok {
		return func() bool { return false }
	}
	now := c.config.Now()
	stop := deadline.Add(-min(c.config.Reserve, deadline.Sub(now)/2))
	asked := false
	return func() bool {
		if !asked {
			asked = true
			return false
		}
		return !c.config.Now().Before(stop)
	}
}

// period is what records may be imported of: what queries can see.
func (c *Store) period() (from, until time.Time) {
	return time.Date(c.config.FromYear, 1, 1, 0, 0, 0, 0, time.UTC), c.config.Now().Add(lake.ProjectedAhead)
}
