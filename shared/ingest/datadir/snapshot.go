package datadir

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/lake"
)

// Snapshot is the state of a data directory at one instant, for a backup. Until it is closed, no process removes the
// files of its objects. Imports, compactions and queries continue meanwhile.
type Snapshot struct {
	Head    []byte        // of a head file that lists the objects, see manifest.HeadName
	Objects []lake.Object // Path is the name
	lock    *filelock.Lock
}

// snapshotLock is the name of the lock that the process with a Snapshot holds.
const snapshotLock = "snapshot"

// Snapshot returns the state of the directory, and calls copied at the same instant: until copied returns, no import is
// committed and no rejected line of an import changes, so it can copy the ledger and the quarantine. Only one process
// at a time can have a Snapshot.
func (s *Store) Snapshot(ctx context.Context, copied func() error) (snapshot *Snapshot, err error) {
	if err := s.toWrite(ctx); err != nil {
		return nil, err
	}
	update, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, update.Close()) }()
	lock, err := filelock.TryAcquire(s.lockPath(snapshotLock))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fault.New(fault.Conflict, "another backup of %s is running; wait until it ends", s.dir)
	}
	if err != nil {
		return nil, err
	}
	snapshot = &Snapshot{lock: lock}
	snapshot.Head, snapshot.Objects, err = update.Snapshot()
	if err == nil {
		err = copied()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return snapshot, nil
}

// Close lets the next compaction remove files again.
func (s *Snapshot) Close() error { return s.lock.Release() }

// unlessSnapshot calls work unless a process has a Snapshot. The caller holds the right to change the index, so that no
// Snapshot begins meanwhile.
func (s *Store) unlessSnapshot(work func() error) (err error) {
	lock, err := filelock.TryAcquire(s.lockPath(snapshotLock))
	if errors.Is(err, filelock.ErrLocked) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a backup: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return work()
}
