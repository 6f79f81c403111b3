package datadir

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// DefaultGrace is how long a replaced object is kept for queries that began before. It is longer than any query may
// take.
const DefaultGrace = 15 * time.Minute

// CompactOptions are the options of Compact.
type CompactOptions struct {
	MinObjects int           // hours with fewer objects are not merged; 0 for two
	Grace      time.Duration // how long replaced objects are kept; 0 for DefaultGrace
	Memory     int64         // bytes that a merge may take; 0 for ingest.DefaultMergeMemory
	Progress   func(done, total int)
}

// CompactReport is the result of a compaction.
type CompactReport struct {
	Hours   int   // merged hours
	Objects int   // objects of these hours before
	Rows    int64 // rows of these hours
	Before  int64 // bytes of these objects before
	After   int64 // bytes of the objects that replaced them
	Removed int   // removed files: of objects replaced earlier, of orphans, and of old rejected lines
	Busy    int   // hours skipped because another compaction or Forget was working on them
	// Newer lists objects that were left as they are, because a newer program wrote them with columns that this program
	// does not know. Only hours with several objects are examined.
	Newer []string
	// Damaged has the reason of each object that could not be read, by name. These objects are left as they are, and
	// answers leave them out. Only hours with several objects are examined.
	Damaged map[string]string
}

// Compact merges the objects of each hour into one object of the present schema. It removes the files of objects that
// were replaced or expired longer ago than the grace, and those of rejected lines that are older than 90 days, or than
// what is kept. Readers can continue: a query reads either the objects before or the object after. Several compactions,
// imports and servers may run at the same time. Compact changes no entry of the ledger.
//
// If the disk is too full to merge an hour, Compact merges no further ones, but removes files of all hours. Then it
// returns the error with the report.
func (s *Store) Compact(ctx context.Context, options CompactOptions) (CompactReport, error) {
	if options.MinObjects == 0 {
		options.MinObjects = 2
	}
	if options.Grace == 0 {
		options.Grace = DefaultGrace
	}
	var report CompactReport
	if err := s.toWrite(ctx); err != nil {
		return report, err
	}
	hours, err := s.index.Hours(ctx)
	if err != nil {
		return report, fmt.Errorf("compact: %w", err)
	}
	var full error
	for i, hour := range hours {
		if err := ctx.Err(); err != nil {
			return report, fmt.Errorf("compact: %w", err)
		}
		err := s.compactHour(ctx, hour, options, &report)
		if err != nil {
			err = fmt.Errorf("compact hour %s: %w", hour, err)
		}
		if fault.IsFull(err) {
			full, options.MinObjects = cmp.Or(full, err), math.MaxInt
		} else if err != nil {
			return report, err
		}
		if options.Progress != nil {
			options.Progress(i+1, len(hours))
		}
	}
	pruned, err := s.pruneQuarantine(ctx)
	report.Removed += pruned
	if err = errors.Join(err, s.pruneUnfinished(ctx)); err != nil && full == nil {
		return report, fmt.Errorf("compact: %w", err)
	}
	return report, full
}

// compactHour merges and sweeps one hour, unless another process is compacting it.
func (s *Store) compactHour(
	ctx context.Context, hour lake.Partition, options CompactOptions, report *CompactReport,
) (err error) {
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
		objects = withoutNewer(objects, report)
	}
	var merging error
	if len(objects) >= options.MinObjects {
		staging := filepath.Join(s.stagingRoot(), key)
		err := s.mergeHour(ctx, hour, objects, staging, options.Memory, report)
		if whole := withoutDamaged(ctx, err, objects, report); len(whole) < len(objects) {
			err = nil
			if len(whole) >= options.MinObjects {
				err = s.mergeHour(ctx, hour, whole, staging, options.Memory, report)
			}
		}
		if err != nil && !fault.IsFull(err) {
			return err
		}
		merging = err
	}
	return errors.Join(merging, s.sweep(ctx, hour, options.Grace, report))
}

// withoutDamaged returns the objects that can be read, after a merge of them has failed with an error, and adds the
// others to the report.
func withoutDamaged(ctx context.Context, failure error, objects []lake.Object, report *CompactReport) []lake.Object {
	if failure == nil || ctx.Err() != nil {
		return objects
	}
	var whole []lake.Object
	for _, o := range objects {
		err := ingest.Verify(o.Path)
		if err == nil {
			whole = append(whole, o)
			continue
		}
		if report.Damaged == nil {
			report.Damaged = map[string]string{}
		}
		report.Damaged[lake.NameOf(o.Path)] = err.Error()
	}
	return whole
}

// withoutNewer returns the objects that can be merged, and adds the others to the report.
func withoutNewer(objects []lake.Object, report *CompactReport) []lake.Object {
	var mergeable []lake.Object
	for _, o := range objects {
		if ingest.IsNewer(o.Path) {
			report.Newer = append(report.Newer, lake.NameOf(o.Path))
		} else {
			mergeable = append(mergeable, o)
		}
	}
	return mergeable
}

// mergeHour replaces the objects of an hour by one object with the same rows. Of all compactions, only the holder of
// the hour's lock removes objects from the hour. If Forget has removed one meanwhile, the hour is left as it is.
// Objects that imports have added meanwhile are kept.
func (s *Store) mergeHour(
	ctx context.Context, hour lake.Partition, objects []lake.Object, staging string, memory int64, report *CompactReport,
) (err error) {
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o700)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
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
	merged, err := ingest.Merge(staging, ingest.StagedName(name), paths, memory)
	if err != nil {
		return err
	}
	if merged.Rows != rows {
		return fmt.Errorf("the merged object has %d rows, but the objects had %d", merged.Rows, rows)
	}
	merged.Path = name
	change.Add = []lake.Object{merged}
	s.step("compact: before the swap")
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	listed, err := update.Hour(hour)
	if err == nil && !lists(listed, change.Remove) { // a log was forgotten meanwhile
		report.Busy++
		return update.Close()
	}
	if err == nil {
		err = s.place(staging, name)
	}
	if err == nil {
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

// compactDigest returns the name of a merged object. It depends only on the names of the objects merged.
func compactDigest(names []manifest.Name) string {
	var text []byte
	for _, n := range names {
		text = fmt.Appendf(text, "%d %s\n", ledger.Rules, n.Name)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// sweep removes the files of objects replaced longer ago than the grace, and orphans. An orphan is a file that no
// manifest lists. A process that dies between moving an object into place and listing it leaves one. Files are only
// moved into place by the holder of the right to change the index, so a file that is not listed now will never be
// listed. While a process has a Snapshot, nothing is removed.
func (s *Store) sweep(
	ctx context.Context, hour lake.Partition, grace time.Duration, report *CompactReport,
) (err error) {
	update, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, update.Close()) }()
	return s.unlessSnapshot(func() error { return s.sweepHour(update, hour, grace, report) })
}

// sweepHour is sweep for a caller that holds the right to change the index.
func (s *Store) sweepHour(
	update *manifest.Update, hour lake.Partition, grace time.Duration, report *CompactReport,
) error {
	listed, err := update.Hour(hour)
	if err != nil {
		return err
	}
	known := lake.Paths(listed.Objects)
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
	orphans, err := s.removeOrphans(hour, known)
	if err != nil {
		return err
	}
	report.Removed += len(gone) + orphans
	if len(gone) > 0 {
		if err := update.Publish(manifest.Change{Forget: gone}); err != nil {
			return err
		}
	}
	if len(listed.Objects) > 0 || len(gone) < len(listed.Superseded) || hour >= update.Retention().From {
		return nil
	}
	return s.dropExpired(update, hour)
}

// removeOrphans removes the files of an hour that are not in known, and returns their number.
func (s *Store) removeOrphans(hour lake.Partition, known []string) (removed int, err error) {
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
				return removed, fmt.Errorf("remove orphan: %w", err)
			}
			removed++
		}
	}
	return removed, nil
}
