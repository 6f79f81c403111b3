// Package datadir is the data directory of one machine: it imports logs into the lake, once and only once, compacts
// it, and watches a folder for logs. README.md of package ingest explains why a crash at any point leaves either nothing
// or whole objects.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// Store is a data directory:
//
//	lake/fresh/yyyy/MM/dd/HH/<source>-<part>.parquet   objects as imported
//	lake/compact/yyyy/MM/dd/HH/<digest>.parquet        objects merged by Compact
//	lake/manifests/…                                   which of them hold the data, package manifest
//	lake/_staging/<lock>/…                             objects in the making
//	ledger.db                                          what has been imported
//	quarantine/<source>.ndjson                         lines that are no records
//	raw/                                               watched: what is dropped here is imported
//
// It may be used by many goroutines and, over the same directory, by many processes.
type Store struct {
	dir    string
	index  *manifest.Store
	ledger ledger.Ledger
	locked error // why nothing can be written: the directory can only be read, and there is no ledger
	now    func() time.Time
	onStep func(step string) // tests end the process here
}

// Open opens a data directory, which is made if needed, and finishes or removes what a process that died has left.
// open opens its ledger, now is the clock that dates what the ledger and the manifests say.
//
// A directory that this user can only read is opened for reading: the index alone says which objects are whole and
// published, so that nothing has to be finished first. Import, Compact and NewWatcher then say why they cannot.
func Open(ctx context.Context, dir string, open ledger.Open, now func() time.Time) (*Store, error) {
	s := &Store{dir: dir, now: now}
	if err := os.MkdirAll(s.lakeDir(), 0o755); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	var err error
	if s.index, err = manifest.Open(s.lakeDir()); err != nil {
		return nil, err
	}
	if s.ledger, err = open(ctx, filepath.Join(dir, "ledger.db")); err == nil {
		err = s.recover(ctx)
	}
	if err == nil {
		return s, nil
	}
	if closed := s.Close(); closed != nil || !forbidsWriting(err) {
		return nil, errors.Join(err, closed)
	}
	s.ledger, s.locked = nil, cannotWrite(dir, err)
	return s, nil
}

// Close closes the ledger.
func (s *Store) Close() error {
	if s.ledger == nil {
		return nil
	}
	return s.ledger.Close()
}

// forbidsWriting tells the errors of files and directories that can only be read.
func forbidsWriting(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// Index tells which objects hold the data; it is what engines read.
func (s *Store) Index() *manifest.Store { return s.index }

// RawDir is the directory that Watch imports from.
func (s *Store) RawDir() string { return filepath.Join(s.dir, "raw") }

func (s *Store) lakeDir() string       { return filepath.Join(s.dir, "lake") }
func (s *Store) quarantineDir() string { return filepath.Join(s.dir, "quarantine") }
func (s *Store) stagingRoot() string   { return filepath.Join(s.lakeDir(), "_staging") }
func (s *Store) lockPath(key string) string {
	return filepath.Join(s.dir, "locks", key+".lock")
}

func (s *Store) step(name string) {
	if s.onStep != nil {
		s.onStep(name)
	}
}

// recover finishes imports whose commit point was passed, and removes staging directories that nobody owns.
func (s *Store) recover(ctx context.Context) error {
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	if err := update.Close(); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.stagingRoot())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list staging directories: %w", err)
	}
	for _, e := range entries {
		lock, err := filelock.TryAcquire(s.lockPath(e.Name()))
		if errors.Is(err, filelock.ErrLocked) {
			continue // its import is running
		}
		if err != nil {
			return err
		}
		err = os.RemoveAll(filepath.Join(s.stagingRoot(), e.Name()))
		if err := errors.Join(err, lock.Release()); err != nil {
			return fmt.Errorf("remove staging directory: %w", err)
		}
	}
	return nil
}

// begin waits for the right to change the index, and finishes what others have committed but not published. Whoever
// changes the index does it through here, so the ledger and the index never part for longer than a crash.
func (s *Store) begin(ctx context.Context) (*manifest.Update, error) {
	update, err := s.index.Begin(ctx)
	if err != nil {
		return nil, err
	}
	unfinished, err := s.ledger.Unpublished(ctx)
	for i := 0; err == nil && i < len(unfinished); i++ {
		err = s.publish(ctx, update, unfinished[i])
	}
	if err != nil {
		return nil, errors.Join(err, update.Close())
	}
	return update, nil
}

// publish moves the objects of a committed import to their places and lists them. Doing it twice does no harm: the
// next one begins where this one died.
func (s *Store) publish(ctx context.Context, update *manifest.Update, e ledger.Entry) error {
	staging := filepath.Join(s.stagingRoot(), e.Family)
	for _, o := range e.Objects {
		s.step("publish: before a rename")
		if err := s.place(staging, o.Path); err != nil {
			return err
		}
	}
	if err := s.placeQuarantine(staging, e.Source, e.Generation, e.Rejected); err != nil {
		return err
	}
	s.step("publish: before the manifests")
	if err := update.Publish(manifest.Change{Add: e.Objects}); err != nil {
		return err
	}
	s.step("publish: before the ledger is told")
	if err := s.ledger.MarkPublished(ctx, e); err != nil {
		return err
	}
	s.step("publish: before the staging directory is removed")
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("remove staging directory: %w", err)
	}
	return nil
}

// place moves a staged object to the place its name says, unless it is there already.
func (s *Store) place(staging, name string) error {
	return moveDurably(filepath.Join(staging, ingest.StagedName(name)), s.index.Path(name))
}

// moveDurably renames a synced file and syncs the directory it goes to. A file that has been moved already stays.
func moveDurably(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Stat(to); there == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("move into place: %w", err)
	}
	return syncUpTo(filepath.Dir(to))
}

// syncUpTo syncs a directory and those above it that may be as new as it: yyyy/MM/dd/HH.
func syncUpTo(dir string) error {
	for range 4 {
		if err := manifest.SyncDir(dir); err != nil {
			return err
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// namesOf are the names of objects.
func namesOf(objects []lake.Object) []string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Path
	}
	return names
}

// cannotWrite says that a data directory was opened for reading only.
func cannotWrite(dir string, cause error) error {
	return fault.Wrap(fault.Invalid, cause, "the data in %s can be read, but not changed by this user", dir)
}
