package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/lake"
)

const (
	// confirmedShare is the share of the records from which on a removal must be confirmed: one of so many.
	confirmedShare = 10
	// usualStep is by how much the beginning of what is kept moves on without confirmation, once a retention is in
	// force. A clock that is wrong by more does not empty the directory.
	usualStep = 48 * time.Hour
)

// Removal is what Expire or ForgetMissing removes from the index.
type Removal struct {
	Hours   int
	Objects []string // names, in the order of hours
	Records int64
	Bytes   int64
	Of      int64 // number of all records before
	// Unconfirmed means that nothing was changed, because the removal is large and was not confirmed.
	Unconfirmed bool
}

// add adds an object to the removal and to the change that makes it.
func (r *Removal) add(o lake.Object, change *manifest.Change) {
	name := lake.NameOf(o.Path)
	if n := len(change.Remove); n == 0 || change.Remove[n-1].Partition != o.Partition {
		r.Hours++
	}
	change.Remove = append(change.Remove, manifest.Name{Partition: o.Partition, Name: name})
	r.Objects = append(r.Objects, name)
	r.Records += o.Rows
	r.Bytes += o.Bytes
}

// isLarge reports whether the removal is of more than a tenth of the records.
func (r *Removal) isLarge() bool { return r.Records*confirmedShare > r.Of }

// SetKeep sets how long the directory keeps records, instead of what the latest Expire has recorded; 0 for ever.
// Imports leave out older records, and Compact removes rejected lines of older imports.
func (s *Store) SetKeep(keep time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = &keep
}

// keeping returns how long the directory keeps records; 0 for ever.
func (s *Store) keeping(ctx context.Context) (time.Duration, error) {
	s.mu.Lock()
	keep := s.keep
	s.mu.Unlock()
	if keep != nil {
		return *keep, nil
	}
	retention, err := s.index.Retention(ctx)
	return retention.Keep, err
}

// keptFrom returns the time from which on the directory keeps records, or the zero time.
func (s *Store) keptFrom(ctx context.Context) (time.Time, error) {
	keep, err := s.keeping(ctx)
	if err != nil || keep == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(firstKept(s.now(), keep).Start()), nil
}

// firstKept returns the hour with the oldest records that are kept. It is kept as a whole.
func firstKept(now time.Time, keep time.Duration) lake.Partition {
	return max(0, lake.PartitionOf(now.Add(-keep).UnixMilli()))
}

// Expire removes the hours that are older than keep, and records keep for the imports after it. Readers see either all
// of the hours or none. The files are kept for queries that have begun before, until Compact removes them. With a keep
// of 0, nothing is removed, and imports accept records of any age again.
//
// A removal of more than a tenth of the records must be confirmed, unless one with this keep or a shorter one has been
// made, and hours have become too old only in the last two days. If it is not, Expire changes nothing.
func (s *Store) Expire(ctx context.Context, keep time.Duration, confirmed bool) (Removal, error) {
	removal, err := s.expire(ctx, keep, confirmed)
	if err != nil {
		return Removal{}, fmt.Errorf("remove old hours: %w", err)
	}
	return removal, nil
}

func (s *Store) expire(ctx context.Context, keep time.Duration, confirmed bool) (r Removal, err error) {
	if err := s.toWrite(ctx); err != nil {
		return r, err
	}
	update, err := s.begin(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, update.Close()) }()
	before := update.Retention()
	after := manifest.Retention{Keep: keep, From: before.From}
	change := manifest.Change{At: s.now(), Keep: &after}
	if keep > 0 {
		first := firstKept(change.At, keep)
		after.From = max(before.From, first)
		if err := s.olderThan(ctx, first, &r, &change); err != nil {
			return r, err
		}
		usual := before.Keep > 0 && keep >= before.Keep && first <= before.From+lake.Partition(usualStep/time.Hour)
		if r.Unconfirmed = r.isLarge() && !confirmed && !usual; r.Unconfirmed {
			return r, nil
		}
	}
	s.step("expire: before the change")
	return r, update.Publish(change)
}

// olderThan adds the objects of the hours before one to a removal.
func (s *Store) olderThan(ctx context.Context, first lake.Partition, r *Removal, change *manifest.Change) error {
	extent, err := s.index.Extent(ctx)
	if err != nil {
		return err
	}
	r.Of = extent.Rows
	objects, err := s.index.Objects(ctx, math.MinInt64, first-1)
	if err != nil {
		return err
	}
	for _, o := range objects {
		r.add(o, change)
	}
	return nil
}

// Retention returns what the latest Expire has recorded.
func (s *Store) Retention(ctx context.Context) (manifest.Retention, error) {
	return s.index.Retention(ctx)
}

// ForgetMissing removes the objects from the index whose files do not exist, because a user has removed them, so that
// answers do not name them any more. If they have more than a tenth of the records, it must be confirmed; otherwise
// ForgetMissing changes nothing. The ledger keeps their imports.
func (s *Store) ForgetMissing(ctx context.Context, confirmed bool) (Removal, error) {
	removal, err := s.forgetMissing(ctx, confirmed)
	if err != nil {
		return Removal{}, fmt.Errorf("forget missing objects: %w", err)
	}
	return removal, nil
}

func (s *Store) forgetMissing(ctx context.Context, confirmed bool) (r Removal, err error) {
	if err := s.toWrite(ctx); err != nil {
		return r, err
	}
	update, err := s.begin(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, update.Close()) }()
	objects, err := s.index.Objects(ctx, math.MinInt64, math.MaxInt64)
	if err != nil {
		return r, err
	}
	change := manifest.Change{At: s.now()}
	for _, o := range objects {
		r.Of += o.Rows
		_, err := os.Stat(o.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.add(o, &change)
		case err != nil:
			return r, err
		}
	}
	if r.Unconfirmed = r.isLarge() && !confirmed; r.Unconfirmed {
		return r, nil
	}
	s.step("forget missing: before the change")
	return r, update.Publish(change)
}

// dropExpired removes the manifest and the empty folders of an hour that is older than what is kept.
func (s *Store) dropExpired(update *manifest.Update, hour lake.Partition) error {
	s.step("sweep: before an hour is dropped")
	for _, name := range []string{lake.ObjectName(hour, "x", 0), lake.CompactName(hour, "x")} {
		dir := filepath.Dir(s.index.Path(name))
		for range 4 { // yyyy/MM/dd/HH
			if os.Remove(dir) != nil { // it has files, or does not exist
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	return update.Drop(hour)
}
