// Package datadir implements the data directory of one machine. It imports each line of a log exactly once, compacts
// the lake, and watches a folder for logs. README.md of package ingest explains why a crash at any point leaves either
// nothing or complete objects.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// Store is a data directory:
//
//	lake/fresh/yyyy/MM/dd/HH/<source>-<part>.parquet   objects as imported
//	lake/compact/yyyy/MM/dd/HH/<digest>.parquet        objects merged by Compact
//	lake/manifests/…                                   list of the current objects, see package manifest
//	lake/_staging/<lock>/…                             objects of running imports and compactions
//	lake/_unfinished/<source>/…                        objects of an interrupted import, which the next one continues
//	ledger.db                                          what has been imported
//	quarantine/<source>.ndjson                         lines that are not records
//	raw/                                               watched folder: its files are imported
//	demo/                                              data directory of a demo, until the first import
//
// Many goroutines may use a Store, and many processes may use Stores over the same directory.
type Store struct {
	dir    string
	index  *manifest.Store
	open   ledger.Open
	ledger ledger.Ledger // nil while the directory is read-only; it must only be used after toWrite
	toRead ledger.Ledger // of a read-only directory; nil until it is needed
	now    func() time.Time
	// onStep, if set, is called before each step of a change that a crash can separate from the next one.
	onStep func(step string)

	opening *semaphore.Weighted // of one, held while the ledger is opened

	mu       sync.Mutex     // also held when a ledger is set
	keep     *time.Duration // see SetKeep; nil: not set
	pruned   time.Time      // when an import pruned the quarantine last
	watching bool           // a Watcher of this Store has begun
	watched  time.Time      // see setWatched
}

// Open opens a data directory and creates it if needed. It finishes or removes the imports of processes that have died.
// open opens the ledger, and now is the clock for the times in the ledger and the manifests.
//
// A directory that the user may not write, or of which the disk is full, is opened read-only. The index lists only
// complete and published objects, so nothing has to be finished first. Imports and Quarantine still work. What
// changes the directory tries again to open the ledger, and returns an error that gives the reason as long as that
// fails.
func Open(ctx context.Context, dir string, open ledger.Open, now func() time.Time) (*Store, error) {
	s := &Store{dir: dir, open: open, now: now, opening: semaphore.NewWeighted(1)}
	if err := s.makeLake(); err != nil {
		if _, missing := os.Stat(dir); missing != nil || !preventsWriting(err) {
			return nil, err
		}
	}
	var err error
	if s.index, err = manifest.Open(s.lakeDir()); err != nil { // without a directory, it is empty
		return nil, err
	}
	if err := s.toWrite(ctx); err != nil && !preventsWriting(err) {
		return nil, err
	}
	return s, nil
}

func (s *Store) makeLake() error {
	if err := os.MkdirAll(s.lakeDir(), 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	return nil
}

// toWrite returns nil if the directory can be changed. If it is read-only, toWrite tries to open the ledger first, and
// finishes or removes the imports of processes that have died. If another caller does so, toWrite waits until ctx ends.
func (s *Store) toWrite(ctx context.Context) error {
	if s.opened() {
		return nil
	}
	if err := s.opening.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.opening.Release(1)
	if s.opened() {
		return nil
	}
	opened, err := s.openLedger(ctx)
	if err != nil && preventsWriting(err) {
		return cannotWrite(s.dir, err)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger = opened
	return nil
}

// opened reports whether the ledger is open.
func (s *Store) opened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger != nil
}

// readLedger returns the ledger, which cannot be written if the directory is read-only. It returns nil if that has
// none.
func (s *Store) readLedger(ctx context.Context) (ledger.Ledger, error) {
	err := s.toWrite(ctx)
	if err == nil {
		return s.ledger, nil
	}
	if fault.KindOf(err) != fault.ReadOnly {
		return nil, err
	}
	if err := s.opening.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.opening.Release(1)
	if s.toRead != nil {
		return s.toRead, nil
	}
	opened, err := s.open(ctx, filepath.Join(s.dir, ledgerFile), true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.toRead = opened
	return opened, nil
}

// openLedger opens the ledger and makes the directory agree with it.
func (s *Store) openLedger(ctx context.Context) (ledger.Ledger, error) {
	if err := s.makeLake(); err != nil {
		return nil, err
	}
	opened, err := s.open(ctx, filepath.Join(s.dir, ledgerFile), false)
	if err != nil {
		return nil, err
	}
	recovering := &Store{dir: s.dir, index: s.index, ledger: opened, now: s.now}
	if err := recovering.recover(ctx); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// Close closes the ledger.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, l := range []ledger.Ledger{s.ledger, s.toRead} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// preventsWriting reports whether err is an error of a file or directory that is read-only, or of a full disk.
func preventsWriting(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || fault.IsFull(err) ||
		fault.KindOf(err) == fault.ReadOnly
}

// Index returns the index of the current objects, which engines use.
func (s *Store) Index() *manifest.Store { return s.index }

// RawDir returns the directory that a Watcher watches.
func (s *Store) RawDir() string { return filepath.Join(s.dir, "raw") }

// ledgerFile is the ledger of a data directory.
const ledgerFile = "ledger.db"

// DemoDir returns the directory of a demo, which is a data directory of its own. The first import removes it.
func (s *Store) DemoDir() string { return filepath.Join(s.dir, "demo") }

// removeDemo removes the demo if there are records. A directory of that name that is not a data directory belongs
// to the user and is kept. Other processes may still read the files: a system that cannot remove open files leaves
// them, but nothing answers from them any more.
func (s *Store) removeDemo(ctx context.Context) error {
	extent, err := s.index.Extent(ctx)
	if err != nil || extent.Rows == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.DemoDir(), ledgerFile)); err == nil {
		_ = os.RemoveAll(s.DemoDir())
	}
	return nil
}

func (s *Store) lakeDir() string       { return filepath.Join(s.dir, "lake") }
func (s *Store) quarantineDir() string { return filepath.Join(s.dir, "quarantine") }
func (s *Store) stagingRoot() string   { return filepath.Join(s.lakeDir(), "_staging") }
func (s *Store) unfinishedDir() string { return filepath.Join(s.lakeDir(), "_unfinished") }
func (s *Store) lockPath(key string) string {
	return filepath.Join(s.dir, "locks", key+".lock")
}

func (s *Store) step(name string) {
	if s.onStep != nil {
		s.onStep(name)
	}
}

// recover publishes the committed imports, and sets aside or removes the staging directories that no process uses.
func (s *Store) recover(ctx context.Context) error {
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(update.Close(), s.removeDemo(ctx)); err != nil {
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
		err = s.setAside(filepath.Join(s.stagingRoot(), e.Name()))
		if err := errors.Join(err, lock.Release()); err != nil {
			return err
		}
	}
	return s.forgetImports()
}

// begin waits for the right to change the index, publishes the imports that other processes have committed but not
// published, and makes the removals that they have recorded. Every change of the index begins here, so after a crash
// the next change makes the index agree with the ledger.
func (s *Store) begin(ctx context.Context) (*manifest.Update, error) {
	update, err := s.index.Begin(ctx)
	if err != nil {
		return nil, err
	}
	unfinished, err := s.ledger.Unpublished(ctx)
	for i := 0; err == nil && i < len(unfinished); i++ {
		err = s.publish(ctx, update, unfinished[i])
	}
	if err == nil {
		err = s.finishRemovals(ctx, update)
	}
	if err != nil {
		return nil, errors.Join(err, update.Close())
	}
	return update, nil
}

// publish moves the objects of a committed import into place and lists them in the index. It may be repeated: after a
// crash the next call completes the work.
func (s *Store) publish(ctx context.Context, update *manifest.Update, e ledger.Entry) error {
	staging := filepath.Join(s.stagingRoot(), e.Family)
	for _, o := range e.Objects {
		s.step("publish: before a rename")
		if err := s.place(staging, o.Path); err != nil {
			return err
		}
	}
	s.step("publish: before the quarantine")
	if e.Retries > 0 {
		if err := s.placeRetried(staging, e); err != nil {
			return err
		}
	} else {
		if err := s.placeQuarantine(staging, e.Source, e.Generation, e.Rejected); err != nil {
			return err
		}
		_ = s.dropCompleted(ctx, e) // the lines stay there if their file cannot be read or written
	}
	s.step("publish: before the manifests")
	if err := update.Publish(manifest.Change{Add: e.Objects}); err != nil {
		return err
	}
	s.step("publish: before the ledger")
	if err := s.ledger.MarkPublished(ctx, e); err != nil {
		return err
	}
	s.step("publish: before the staging directory is removed")
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("remove staging directory: %w", err)
	}
	return nil
}

// place moves a staged object to the path of its name, unless it is there already.
func (s *Store) place(staging, name string) error {
	return moveDurably(filepath.Join(staging, ingest.StagedName(name)), s.index.Path(name))
}

// moveDurably renames a synced file and syncs the target directory. It returns nil if the file has been moved before.
func moveDurably(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(to); err == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("move into place: %w", err)
	}
	return syncUpTo(filepath.Dir(to))
}

// syncUpTo syncs a directory and its parents that may be new, too: yyyy/MM/dd/HH.
func syncUpTo(dir string) error {
	for range 4 {
		if err := manifest.SyncDir(dir); err != nil {
			return err
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// cannotWrite is the error of a data directory that is read-only, or whose disk is full.
func cannotWrite(dir string, cause error) error {
	if fault.IsFull(cause) {
		return fault.Wrap(fault.Full, cause,
			"the disk is full, so the data in %s can be read, but not changed; free space", dir)
	}
	return fault.Wrap(fault.ReadOnly, cause, "the data folder is read-only")
}
