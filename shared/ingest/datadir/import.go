package datadir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// Import imports the new lines of a log into the lake. Importing the same log again changes nothing, and importing a
// grown log adds its new lines. When Import returns, readers see either all of them or none.
//
// Options.Path is the path of the log's file. It does not matter whether it is absolute, or leads over symbolic links.
//
// An error of kind fault.Invalid means that the log is refused, or that the format or a default is wrong. Rejected
// lines are not an error.
func (s *Store) Import(ctx context.Context, name string, r io.Reader, options ingest.Options) (ingest.Report, error) {
	if err := s.toWrite(ctx); err != nil {
		return ingest.Report{}, err
	}
	end, err := s.announce(ctx)
	if err != nil {
		return ingest.Report{}, fmt.Errorf("import %s: %w", name, err)
	}
	report, err := s.importAnnounced(ctx, name, r, options, false)
	if closing := end(); closing != nil {
		err = errors.Join(err, fmt.Errorf("import %s: %w", name, closing))
	}
	if err != nil {
		return ingest.Report{}, err
	}
	return report, nil
}

// importAnnounced imports a log while it is announced. If skipForgotten is true, it imports nothing of a log that was
// forgotten.
func (s *Store) importAnnounced(
	ctx context.Context, name string, r io.Reader, options ingest.Options, skipForgotten bool,
) (ingest.Report, error) {
	began := s.now()
	if err := options.Check(); err != nil {
		return ingest.Report{}, err
	}
	if options.Path != "" {
		path, err := s.logPath(options.Path)
		if err != nil {
			return ingest.Report{}, fmt.Errorf("import %s: %w", name, err)
		}
		options.Path = path
	}
	report, err := s.importLocked(ctx, name, r, options, skipForgotten)
	if err != nil {
		return ingest.Report{}, fmt.Errorf("import %s: %w", name, err)
	}
	s.pruneSometimes(ctx)
	report.Elapsed = s.now().Sub(began)
	return report, nil
}

// logPath returns the path of a file by which its log is identified: absolute and without symbolic links, with slashes,
// and relative if the file is in the data directory, so that the directory may be moved. The file need not exist.
func (s *Store) logPath(file string) (string, error) {
	path, err := resolve(file)
	if err != nil {
		return "", err
	}
	dir, err := resolve(s.dir)
	if err != nil {
		return "", err
	}
	if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
		path = inside
	}
	return filepath.ToSlash(path), nil
}

// resolve returns the absolute path of a file without symbolic links. If the file does not exist, it resolves the links
// of its folder, if that exists.
func resolve(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("find folder: %w", err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path)), nil
	}
	return path, nil
}

// importLocked imports a log while it holds the lock of the log's family and its staging directory.
func (s *Store) importLocked(
	ctx context.Context, name string, r io.Reader, options ingest.Options, skipForgotten bool,
) (report ingest.Report, err error) {
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
	if skipForgotten {
		forgotten, err := s.ledger.Forgotten(ctx, ledger.LogName(cmp.Or(options.Path, name)), log.Head())
		if err != nil || forgotten != "" {
			return ingest.Report{Name: name, Forgotten: forgotten}, err
		}
	}
	staging, err := s.makeStaging(ctx, key)
	if err != nil {
		return ingest.Report{}, err
	}
	report, err = s.importStaged(ctx, name, log, staging, options)
	return report, errors.Join(err, s.discard(ctx, key, staging))
}

// discard removes the staging directory of a family, whose lock the caller holds. It sets it aside if the context has
// ended, so that the next import can continue. It keeps the directory if a change was committed and could not be made,
// for example because the disk is full: the next change of the index makes it.
func (s *Store) discard(ctx context.Context, family, staging string) error {
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	imports, err := s.ledger.Unpublished(ctx)
	if err != nil {
		return err
	}
	removals, err := s.ledger.Unfinished(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(imports, func(e ledger.Entry) bool { return e.Family == family }) ||
		slices.ContainsFunc(removals, func(r ledger.Removal) bool { return r.Family == family }) {
		return nil
	}
	if interrupted {
		return s.setAside(staging)
	}
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("remove staging directory: %w", err)
	}
	return nil
}

// makeStaging creates the empty staging directory of a lock, which the caller must hold. If a process that died has
// committed an import from that directory, it publishes the import first. Otherwise it sets the directory aside.
func (s *Store) makeStaging(ctx context.Context, key string) (string, error) {
	update, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	if err := update.Close(); err != nil {
		return "", err
	}
	staging := filepath.Join(s.stagingRoot(), key)
	if err := errors.Join(s.setAside(staging), os.MkdirAll(staging, 0o700)); err != nil {
		return "", fmt.Errorf("make staging directory: %w", err)
	}
	return staging, nil
}

// importStaged converts the new lines and publishes them.
func (s *Store) importStaged(
	ctx context.Context, name string, log *ingest.Log, staging string, options ingest.Options,
) (ingest.Report, error) {
	options.Checkpoints = ingest.Checkpoints{
		Every: cmp.Or(options.Checkpoints.Every, ingest.CheckpointBytes), Unfinished: s.unfinishedDir(), Saved: s.saved,
	}
	options.Quarantined = s.quarantined
	options.Objects = func(hours []lake.Partition) ([]string, error) { return s.filesOf(ctx, hours) }
	var err error
	if options.KeptFrom, err = s.keptFrom(ctx); err != nil {
		return ingest.Report{}, err
	}
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

// filesOf returns the files of the objects of hours.
func (s *Store) filesOf(ctx context.Context, hours []lake.Partition) (files []string, err error) {
	for _, hour := range hours {
		objects, err := s.index.Objects(ctx, hour, hour)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			files = append(files, o.Path)
		}
	}
	return files, nil
}

// finish commits a conversion and publishes it. It ignores the end of the context after the commit, because otherwise
// the next process would have to finish the import.
func (s *Store) finish(ctx context.Context, c ingest.Conversion, staging string) error {
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
	if err := errors.Join(err, update.Close()); err != nil {
		return err
	}
	s.step("import: before the demo is removed")
	return s.removeDemo(ctx)
}
