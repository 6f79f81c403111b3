package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
)

// Import reads a log into the lake. What was imported before is left out: the same log again changes nothing, a grown
// one adds its new lines. When it returns, either all of it is visible to readers, or nothing.
//
// An error of kind fault.Invalid means that the format or a default is wrong. Rejected lines are no error.
func (s *Store) Import(ctx context.Context, name string, r io.Reader, options ingest.Options) (ingest.Report, error) {
	began := s.now()
	if s.locked != nil {
		return ingest.Report{}, s.locked
	}
	if err := options.Check(); err != nil {
		return ingest.Report{}, err
	}
	report, err := s.importLocked(ctx, name, r, options)
	if err != nil {
		return ingest.Report{}, fmt.Errorf("import %s: %w", name, err)
	}
	report.Elapsed = s.now().Sub(began)
	return report, nil
}

// importLocked holds the lock that imports of one source share, and its staging directory.
func (s *Store) importLocked(ctx context.Context, name string, r io.Reader, options ingest.Options) (report ingest.Report, err error) {
	log, err := ingest.OpenLog(r)
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if log.Empty() {
		return ingest.Report{Name: name}, nil
	}
	key := log.Family()
	lock, err := filelock.Acquire(ctx, s.lockPath(key))
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	staging, err := s.makeStaging(ctx, key)
	if err != nil {
		return ingest.Report{}, err
	}
	report, err = s.importStaged(ctx, name, log, staging, options)
	return report, errors.Join(err, os.RemoveAll(staging))
}

// makeStaging makes the directory for objects in the making, empty. Only the holder of the lock may; what a dead
// process had committed there is published first.
func (s *Store) makeStaging(ctx context.Context, key string) (string, error) {
	update, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	if err := update.Close(); err != nil {
		return "", err
	}
	staging := filepath.Join(s.stagingRoot(), key)
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o755)); err != nil {
		return "", fmt.Errorf("make staging directory: %w", err)
	}
	return staging, nil
}

// importStaged converts what is new and publishes it.
func (s *Store) importStaged(
	ctx context.Context, name string, log *ingest.Log, staging string, options ingest.Options,
) (ingest.Report, error) {
	c, err := log.Convert(ctx, name, s.ledger, staging, options)
	if err != nil {
		return ingest.Report{}, err
	}
	c.Entry.At = s.now()
	if c.Report.RejectedLines() > 0 {
		c.Report.Quarantine = s.quarantinePath(c.Entry.Source, c.Entry.Generation)
	}
	return c.Report, s.finish(ctx, c, staging)
}

// finish commits what was converted and publishes it. From the commit on it is not interrupted: whoever comes next
// would have to finish it.
func (s *Store) finish(ctx context.Context, c ingest.Converted, staging string) error {
	e := c.Entry
	if !c.New {
		if e.Rejected == 0 {
			return nil
		}
		return s.placeQuarantine(staging, e.Source, e.Generation, e.Rejected)
	}
	s.step("import: before the commit point")
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err = s.ledger.Commit(ctx, e); err == nil {
		s.step("import: after the commit point")
		err = s.publish(ctx, update, e)
	}
	return errors.Join(err, update.Close())
}
