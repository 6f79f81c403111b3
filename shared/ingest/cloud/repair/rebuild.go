package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	// rebuildAfter is the time for which an object must be lost before it is rebuilt. It is longer than any run of an
	// import or a compaction takes, so that no process still works with what it read of the object before.
	rebuildAfter = time.Hour
	// rebuildAgain is the time between two attempts to rebuild an object that could not be rebuilt.
	rebuildAgain = 24 * time.Hour
)

// Reasons that the buckets have.
const (
	noMembers ledgertable.NotRebuildable = "it is not recorded which objects were merged into it, because an earlier version did so"
	noLog     ledgertable.NotRebuildable = "the bucket of raw logs does not have its log with the content that was imported"
	nameTaken ledgertable.NotRebuildable = "another object has its name in the bucket of the lake"
)

// Rebuild makes the rows of lost objects again from the raw logs, one object after the other, until the time is up. An
// object that takes longer is begun again by another run, after the objects that have waited longer.
func (r *Repairer) Rebuild(ctx context.Context, timeUp func() bool, report *Report) error {
	s, err := r.forgetRebuilt(ctx)
	if err != nil {
		return err
	}
	byAttempt := func(a, b lakestate.LostObject) int { return a.Tried.Compare(b.Tried) }
	for _, lost := range slices.SortedStableFunc(slices.Values(s.Lost), byAttempt) {
		if !r.rebuildDue(lost) || !settled(s, lost.Hour) {
			continue
		}
		if timeUp() {
			report.Unfinished = true
			return nil
		}
		var reason ledgertable.NotRebuildable
		switch err := r.rebuildObject(ctx, lost, timeUp, report); {
		case errors.Is(err, ingest.ErrStopped):
			report.Unfinished = true
			return r.noteAttempt(ctx, lost, "")
		case errors.As(err, &reason):
			if err := r.noteAttempt(ctx, lost, reason); err != nil {
				return err
			}
			if report.NotRebuilt == nil {
				report.NotRebuilt = map[string]string{}
			}
			report.NotRebuilt[lost.Name] = reason.Error()
		case err != nil:
			return fmt.Errorf("rebuild %s: %w", lost.Name, err)
		}
	}
	return nil
}

// forgetRebuilt removes the objects from the state that were rebuilt so long ago that no query runs which began before.
func (r *Repairer) forgetRebuilt(ctx context.Context) (lakestate.State, error) {
	return r.ChangeState(ctx, func(s *lakestate.State) bool {
		n := len(s.Lost)
		s.Lost = slices.DeleteFunc(s.Lost, func(o lakestate.LostObject) bool {
			return !o.Rebuilt.IsZero() && r.Now().Sub(o.Rebuilt) >= engine.KeepSuperseded
		})
		return len(s.Lost) < n
	})
}

func (r *Repairer) rebuildDue(lost lakestate.LostObject) bool {
	now := r.Now()
	return lost.Rebuilt.IsZero() && now.Sub(lost.At) >= rebuildAfter &&
		(lost.Reason == "" || now.Sub(lost.Tried) >= rebuildAgain)
}

// settled reports whether an hour is not being compacted, so that its rows are in one folder and stay there.
func settled(s lakestate.State, hour lake.Partition) bool {
	return hour >= s.Closed || hour < s.Watermark
}

// rebuildObject makes the rows that a lost object had, and no visible object has, and publishes them as an object of
// the same name. Whoever publishes them marks the object as rebuilt in the same change of the state.
//
// The hour must not have changed between the comparison and the commit: no other rows of the same imports may be lost
// or rebuilt meanwhile.
func (r *Repairer) rebuildObject(
	ctx context.Context, lost lakestate.LostObject, timeUp func() bool, report *Report,
) (err error) {
	s, _, err := lakestate.Load(ctx, r.Table)
	if err != nil {
		return err
	}
	before := lostIn(s, lost.Hour)
	if !slices.ContainsFunc(before, lost.Same) || !settled(s, lost.Hour) || rebuilding(s, lost.Hour) {
		return nil // another compaction has changed the hour; the next run continues
	}
	imports, err := r.importsOf(ctx, lost)
	if err != nil {
		return err
	}
	present := map[string]lineSet{}
	for _, i := range imports {
		if _, open := s.Open[i.ID()]; open {
			return nil // its rows are not all visible yet
		}
		present[i.Past.Entry.Source] = lineSet{}
	}
	if whole, err := r.visibleLines(ctx, s, lost.Hour, present, timeUp, report); err != nil || !whole {
		return err
	}
	dir, err := os.MkdirTemp(r.Scratch, "rebuild-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	missing := func(row *lake.Row) bool {
		return lake.PartitionOf(row.TsMs) == lost.Hour && !present[row.Source].has(row.Line)
	}
	var files []string
	for n, i := range imports {
		sub := filepath.Join(dir, fmt.Sprint(n))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return fmt.Errorf("make scratch directory: %w", err)
		}
		made, err := r.reconvert(ctx, i, sub, timeUp, missing)
		if err != nil {
			return err
		}
		files = append(files, made...)
	}
	unchanged := func(s *lakestate.State) bool {
		return settled(*s, lost.Hour) && !rebuilding(*s, lost.Hour) &&
			slices.EqualFunc(lostIn(*s, lost.Hour), before, lakestate.LostObject.Same)
	}
	if len(files) == 0 { // all rows are visible
		found := false
		_, err := r.ChangeState(ctx, func(s *lakestate.State) bool {
			if found = unchanged(s); found {
				s.MarkRebuilt(lost.Name, r.Now())
			}
			return found
		})
		if err == nil && found {
			report.Rebuilt = append(report.Rebuilt, lost.Name)
		}
		return err
	}
	return r.publishRebuilt(ctx, lost, dir, files, unchanged, report)
}

// publishRebuilt publishes rebuilt rows as an import is published, if the hour is unchanged.
func (r *Repairer) publishRebuilt(
	ctx context.Context, lost lakestate.LostObject, dir string, files []string,
	unchanged func(*lakestate.State) bool, report *Report,
) error {
	file := filepath.Join(dir, "rebuilt.parquet")
	object, err := ingest.Merge(dir, filepath.Base(file), files, 0)
	if err != nil {
		return err
	}
	object.Path = lake.FreshName(lost.Hour, path.Base(lost.Name))
	staged := r.NewArea()
	if err := staged.Add(ctx, file, object); err != nil {
		return err
	}
	if err := staged.WriteIndex(ctx); err != nil {
		return err
	}
	s, _, err := lakestate.Load(ctx, r.Table)
	if err != nil {
		return err
	}
	name := staged.FinalNames(s.Closed)[0]
	if _, err := r.Lake.Head(ctx, name); !errors.Is(err, blob.ErrNotFound) {
		if err == nil {
			err = nameTaken
		}
		return errors.Join(err, staged.Remove(ctx))
	}
	id, committed := "rebuild#"+lost.Name, false
	_, err = r.ChangeState(ctx, func(s *lakestate.State) bool {
		if o, open := s.Open[id]; open && o.Attempt == staged.Attempt {
			committed = true // the response to an earlier call was lost
			return false
		}
		if !unchanged(s) || staged.FinalNames(s.Closed)[0] != name ||
			r.Now().Sub(staged.Began) > publication.AbandonedAfter/2 {
			return false
		}
		if s.Open == nil {
			s.Open = map[string]lakestate.OpenImport{}
		}
		s.Open[id] = lakestate.OpenImport{
			Attempt:  staged.Attempt,
			Boundary: s.Closed,
			Extent:   object.Extent(),
			Rebuilds: lost.Name,
		}
		committed = true
		return true
	})
	if err != nil {
		return err // the rows may be committed; then the next run publishes them
	}
	if !committed {
		return staged.Remove(ctx)
	}
	report.Rebuilt = append(report.Rebuilt, lost.Name)
	return r.Settle(ctx, func(o lakestate.OpenImport) bool { return o.Attempt == staged.Attempt })
}

// importsOf returns the imports that a lost object has rows of.
func (r *Repairer) importsOf(ctx context.Context, lost lakestate.LostObject) ([]ledgertable.PastImport, error) {
	names := []string{lost.Name}
	if _, _, ok := lake.SourceOf(lost.Name); !ok {
		var err error
		if names, err = r.membersOf(ctx, lost); err != nil {
			return nil, err
		}
	}
	ledgers := map[string]*ledgertable.Ledger{} // by source
	known := map[string]bool{}
	var list []ledgertable.PastImport
	for _, name := range names {
		source, part, ok := lake.SourceOf(name)
		if !ok {
			return nil, ledgertable.NoSource
		}
		if ledgers[source] == nil {
			l, err := ledgertable.OfSource(ctx, r.Table, source)
			if err != nil {
				return nil, err
			}
			ledgers[source] = l
		}
		i, err := ledgers[source].ImportOf(source, part)
		if err != nil {
			return nil, err
		}
		if !known[i.ID()] {
			known[i.ID()] = true
			list = append(list, i)
		}
	}
	return list, nil
}

// membersOf returns the names of the objects that a merged object was made of.
func (r *Repairer) membersOf(ctx context.Context, lost lakestate.LostObject) ([]string, error) {
	digest := strings.TrimSuffix(path.Base(lost.Name), ".parquet")
	for _, name := range []string{bucket.PlanName(lost.Hour), bucket.MergedName(lost.Hour)} {
		var p bucket.Plan
		err := r.Lake.ReadJSON(ctx, name, &p)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, err
		}
		for _, group := range p.Groups {
			if bucket.GroupDigest(group) == digest {
				return group, nil
			}
		}
	}
	return nil, noMembers
}

// reconvert makes the wanted rows of an import again from the first of its logs that still has the content.
func (r *Repairer) reconvert(
	ctx context.Context, i ledgertable.PastImport, dir string, timeUp func() bool, wanted func(*lake.Row) bool,
) (files []string, err error) {
	options := r.Options
	options.From, options.Until, options.Stop = i.From, i.Until, timeUp
	for n, log := range i.Logs {
		sub := filepath.Join(dir, fmt.Sprint(n))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, fmt.Errorf("make scratch directory: %w", err)
		}
		files, err := r.reconvertLog(ctx, log, i.Past, sub, options, wanted)
		other := errors.Is(err, blob.ErrNotFound) || errors.Is(err, ingest.ErrOtherLog) ||
			fault.KindOf(err) == fault.Invalid
		if !other {
			return files, err
		}
	}
	return nil, noLog
}

func (r *Repairer) reconvertLog(
	ctx context.Context, log rawlog.Log, past ingest.Past, dir string, options ingest.Options,
	wanted func(*lake.Row) bool,
) (files []string, err error) {
	raw, err := blob.Open(ctx, r.Raw, log.Key, log.Version)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	return ingest.Reconvert(ctx, raw, past, dir, options, wanted)
}

// visibleLines adds the lines of the visible objects of an hour to the sets of their sources. whole is false if it has
// found a damaged object; then that object must be dealt with first. If the time is up, the error is ingest.ErrStopped.
func (r *Repairer) visibleLines(
	ctx context.Context, s lakestate.State, hour lake.Partition, present map[string]lineSet,
	timeUp func() bool, report *Report,
) (whole bool, err error) {
	dir, err := os.MkdirTemp(r.Scratch, "visible-")
	if err != nil {
		return false, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "object.parquet")
	for info, err := range r.Lake.List(ctx, bucket.VisibleFolder(s.Watermark, hour), "") {
		if err != nil {
			return false, err
		}
		if !bucket.IsObject(info) {
			continue
		}
		if timeUp() {
			return false, ingest.ErrStopped
		}
		if err := r.Lake.Download(ctx, info.Name, file); errors.Is(err, blob.ErrNotFound) {
			return false, nil // another compaction has removed it
		} else if err != nil {
			return false, err
		}
		if ingest.Verify(file) != nil {
			return false, r.examine(ctx, info.Name, report)
		}
		err = ingest.EachPlace(file, func(source string, line int64) {
			if lines, wanted := present[source]; wanted {
				lines.add(line)
			}
		})
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// noteAttempt records in the state why a lost object could not be rebuilt, or "" if the time was up.
func (r *Repairer) noteAttempt(
	ctx context.Context, lost lakestate.LostObject, reason ledgertable.NotRebuildable,
) error {
	_, err := r.ChangeState(ctx, func(s *lakestate.State) bool {
		i := slices.IndexFunc(s.Lost, lost.Same)
		if i >= 0 {
			s.Lost[i].Tried, s.Lost[i].Reason = r.Now().UTC(), reason.Error()
		}
		return i >= 0
	})
	return err
}

// lostIn returns the lost objects of an hour, without those rebuilt.
func lostIn(s lakestate.State, hour lake.Partition) []lakestate.LostObject {
	return slices.DeleteFunc(slices.Clone(s.Lost), func(o lakestate.LostObject) bool {
		return o.Hour != hour || !o.Rebuilt.IsZero()
	})
}

// rebuilding reports whether rows of an hour are committed that replace a lost object.
func rebuilding(s lakestate.State, hour lake.Partition) bool {
	for _, o := range s.Open {
		if o.Rebuilds != "" && lake.PartitionOf(o.Extent.MinTsMs) == hour {
			return true
		}
	}
	return false
}

// lineSet is a set of line numbers, with the bits of 64 of them in each entry.
type lineSet map[int64]uint64

func (s lineSet) add(line int64) { s[line>>6] |= 1 << (line & 63) }

func (s lineSet) has(line int64) bool { return s[line>>6]&(1<<(line&63)) != 0 }
