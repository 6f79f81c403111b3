package datadir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// DefaultGrace is how long a replaced object stays for the queries that began before: longer than any query may take.
const DefaultGrace = 15 * time.Minute

// CompactOptions says what Compact may do.
type CompactOptions struct {
	MinObjects int           // an hour with fewer objects is left as it is; 0 for two
	Grace      time.Duration // how long replaced objects stay; 0 for DefaultGrace
	Progress   func(done, total int)
}

// CompactReport is what a compaction did.
type CompactReport struct {
	Hours   int // merged
	Objects int // that these hours had before
	Rows    int64
	Before  int64 // bytes of these objects
	After   int64 // bytes of what replaced them
	Removed int   // files of objects replaced earlier, and of no object
	Busy    int   // hours that another compaction was working on
}

// Compact merges the objects of each hour into one, and removes the files of objects that were replaced longer ago than
// the grace. Readers go on: a query sees an hour before or after, never both and never neither. Several compactions,
// imports and servers may work at once. The ledger is not touched.
func (s *Store) Compact(ctx context.Context, options CompactOptions) (CompactReport, error) {
	if options.MinObjects == 0 {
		options.MinObjects = 2
	}
	if options.Grace == 0 {
		options.Grace = DefaultGrace
	}
	var report CompactReport
	if s.locked != nil {
		return report, s.locked
	}
	hours, err := s.index.Hours(ctx)
	if err != nil {
		return report, fmt.Errorf("compact: %w", err)
	}
	for i, hour := range hours {
		if err := ctx.Err(); err != nil {
			return report, fmt.Errorf("compact: %w", err)
		}
		if err := s.compactHour(ctx, hour, options, &report); err != nil {
			return report, fmt.Errorf("compact hour %s: %w", hour, err)
		}
		if options.Progress != nil {
			options.Progress(i+1, len(hours))
		}
	}
	return report, nil
}

// compactHour merges one hour, unless another process is at it, and sweeps it.
func (s *Store) compactHour(ctx context.Context, hour lake.Partition, options CompactOptions, report *CompactReport) (err error) {
	key := fmt.Sprintf("compact-%d", hour)
	lock, err := filelock.TryAcquire(s.lockPath(key))
	if errors.Is(err, filelock.ErrLocked) {
		report.Busy++
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	objects, err := s.index.Objects(ctx, hour, hour)
	if err != nil {
		return err
	}
	if len(objects) >= options.MinObjects {
		staging := filepath.Join(s.stagingRoot(), key)
		err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o755))
		if err == nil {
			err = s.mergeHour(ctx, hour, objects, staging, report)
		}
		if err := errors.Join(err, os.RemoveAll(staging)); err != nil {
			return err
		}
	}
	return s.sweep(ctx, hour, options.Grace, report)
}

// mergeHour replaces the objects of an hour by one with the same rows. Nobody but the holder of the hour's lock takes
// objects out of it, so they are still listed in the end; imports may have added others, which stay.
func (s *Store) mergeHour(ctx context.Context, hour lake.Partition, objects []lake.Object, staging string, report *CompactReport) error {
	paths := make([]string, len(objects))
	change := manifest.Change{At: s.now()}
	var rows, before int64
	for i, o := range objects {
		paths[i] = o.Path
		name, err := filepath.Rel(s.lakeDir(), o.Path)
		if err != nil {
			return err
		}
		change.Remove = append(change.Remove, manifest.Name{Partition: hour, Name: filepath.ToSlash(name)})
		rows, before = rows+o.Rows, before+o.Bytes
	}
	name := lake.CompactName(hour, compactDigest(change.Remove))
	merged, err := ingest.Merge(staging, ingest.StagedName(name), paths)
	if err != nil {
		return err
	}
	if merged.Rows != rows {
		return fmt.Errorf("%d rows became %d", rows, merged.Rows)
	}
	merged.Path = name
	change.Add = []lake.Object{merged}
	s.step("compact: before the swap")
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	if err = s.place(staging, name); err == nil {
		s.step("compact: before the manifest")
		err = update.Publish(change)
	}
	if err := errors.Join(err, update.Close()); err != nil {
		return err
	}
	s.step("compact: after the swap")
	report.Hours++
	report.Objects += len(objects)
	report.Rows += rows
	report.Before += before
	report.After += merged.Bytes
	return nil
}

// compactDigest names what is made of objects by their names: the same ones always give the same.
func compactDigest(names []manifest.Name) string {
	var text []byte
	for _, n := range names {
		text = fmt.Appendf(text, "%d %s\n", ledger.Rules, n.Name)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// sweep removes the files of objects replaced longer ago than the grace, and files that no manifest knows: what a
// process left that died between moving an object into place and listing it. Files come into place only while the
// right to change the index is held, so a stranger seen here is nobody's.
func (s *Store) sweep(ctx context.Context, hour lake.Partition, grace time.Duration, report *CompactReport) (err error) {
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, update.Close()) }()
	listed, err := update.Hour(hour)
	if err != nil {
		return err
	}
	known := namesOf(listed.Objects)
	var gone []manifest.Name
	for _, old := range listed.Superseded {
		known = append(known, old.Name.Name)
		if s.now().Sub(old.At) < grace {
			continue
		}
		s.step("sweep: before a removal")
		if err := os.Remove(s.index.Path(old.Name.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove replaced object: %w", err)
		}
		gone = append(gone, old.Name)
	}
	strangers, err := s.strangers(hour, known)
	if err != nil {
		return err
	}
	report.Removed += len(gone) + strangers
	if len(gone) == 0 {
		return nil
	}
	return update.Publish(manifest.Change{Forget: gone})
}

// strangers removes the files of an hour that are not among the known ones.
func (s *Store) strangers(hour lake.Partition, known []string) (removed int, err error) {
	for _, name := range []string{lake.ObjectName(hour, "x", 0), lake.CompactName(hour, "x")} {
		dir := path.Dir(name)
		entries, err := os.ReadDir(s.index.Path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("list objects: %w", err)
		}
		for _, e := range entries {
			if slices.Contains(known, dir+"/"+e.Name()) {
				continue
			}
			if err := os.Remove(s.index.Path(dir + "/" + e.Name())); err != nil {
				return removed, fmt.Errorf("remove stray object: %w", err)
			}
			removed++
		}
	}
	return removed, nil
}
