package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/orrery/orrery/shared/manifest"
)

// Import reads a log into the lake. What was imported before is left out: the same log again changes nothing, a grown
// one adds its new lines. When it returns, either all of it is visible to readers, or nothing.
//
// An error of kind fault.Invalid means that the format or a default is wrong. Rejected lines are no error.
func (s *Store) Import(ctx context.Context, name string, r io.Reader, options Options) (Report, error) {
	began := s.now()
	if s.locked != nil {
		return Report{}, s.locked
	}
	if err := checkDefaults(options.Defaults); err != nil {
		return Report{}, err
	}
	report, err := s.importLocked(ctx, name, r, options)
	if err != nil {
		return Report{}, fmt.Errorf("import %s: %w", name, err)
	}
	report.Elapsed = s.now().Sub(began)
	return report, nil
}

// importLocked holds the lock that imports of one source share, and its staging directory.
func (s *Store) importLocked(ctx context.Context, name string, r io.Reader, options Options) (report Report, err error) {
	in, err := openInput(r)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	head, err := in.head()
	if err != nil || len(head) == 0 {
		return Report{Name: name}, err
	}
	key := FamilyOf(head)
	lock, err := manifest.Acquire(ctx, s.lockPath(key))
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	staging, err := s.makeStaging(ctx, key)
	if err != nil {
		return Report{}, err
	}
	report, err = s.importStaged(ctx, name, in, head, staging, options)
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
func (s *Store) importStaged(ctx context.Context, name string, in *input, head []byte, staging string, options Options) (Report, error) {
	c, err := convert(ctx, name, in, head, s.ledger, staging, options)
	if err != nil {
		return Report{}, err
	}
	c.Entry.At = s.now()
	if c.Report.RejectedLines() > 0 {
		c.Report.Quarantine = s.quarantinePath(c.Entry.Source, c.Entry.Generation)
	}
	return c.Report, s.finish(ctx, c, staging)
}

// finish commits what was converted and publishes it. From the commit on it is not interrupted: whoever comes next
// would have to finish it.
func (s *Store) finish(ctx context.Context, c Converted, staging string) error {
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
