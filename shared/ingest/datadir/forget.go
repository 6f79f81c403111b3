package datadir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// Imports returns what was imported, forgotten sources included, in the order of their first imports.
func (s *Store) Imports(ctx context.Context) ([]ledger.Source, error) {
	sources, err := s.sources(ctx)
	return withoutRetries(sources), err
}

// sources returns the sources of the ledger.
func (s *Store) sources(ctx context.Context) ([]ledger.Source, error) {
	l, err := s.readLedger(ctx)
	if err != nil || l == nil {
		return nil, err
	}
	return l.Sources(ctx)
}

// withoutRetries joins the sources that an earlier version made of rejected lines with those of the lines, unless one
// of the two is forgotten.
func withoutRetries(sources []ledger.Source) (joined []ledger.Source) {
	at := map[string]int{}
	for _, s := range sources {
		of, found := at[s.RetryOf]
		if !found || !s.Forgotten.IsZero() || !joined[of].Forgotten.IsZero() {
			at[s.ID] = len(joined)
			joined = append(joined, s)
			continue
		}
		all := &joined[of]
		all.Records += s.Records
		all.Retried += s.Records
		all.Rejected -= s.Records
		if all.From.IsZero() || !s.From.IsZero() && s.From.Before(all.From) {
			all.From = s.From
		}
		if s.To.After(all.To) {
			all.To = s.To
		}
	}
	return joined
}

// ForgetReport is the result of Forget.
type ForgetReport struct {
	Source    ledger.Source
	Records   int64 // taken out
	Hours     int   // in which they were
	Rewritten int   // objects that also had rows of other sources
	Removed   int   // objects that had no others
	Gone      int64 // records that had been removed before, by Expire or ForgetMissing
	Before    bool  // the source was forgotten before, and nothing was done
}

// Forget takes all rows of a source out of the lake, and the lines of its log that are in quarantine. Readers see
// either all of the rows or none. The log can then be imported anew, as another source; a Watcher does not do so.
//
// The files of objects that Forget replaces are kept for queries that have begun before, until Compact removes them.
// If an object that may have rows of the source cannot be read, Forget changes nothing: it returns an error of kind
// fault.Damaged. An object that has only rows of the source need not be readable.
func (s *Store) Forget(ctx context.Context, id string) (ForgetReport, error) {
	report, err := s.forgetAll(ctx, id)
	var unreadable unreadableObjects
	if errors.As(err, &unreadable) {
		return ForgetReport{}, fault.Wrap(fault.Damaged, unreadable, "forget %s", id)
	}
	if err != nil {
		return ForgetReport{}, fmt.Errorf("forget %s: %w", id, err)
	}
	return report, nil
}

// forgetAll forgets a source, and before it those that an earlier version made of its rejected lines. If it is
// interrupted between two of them, it can be called again.
func (s *Store) forgetAll(ctx context.Context, id string) (ForgetReport, error) {
	if err := s.toWrite(ctx); err != nil {
		return ForgetReport{}, err
	}
	sources, err := s.sources(ctx)
	if err != nil {
		return ForgetReport{}, err
	}
	var retries ForgetReport
	for _, source := range sources {
		if source.RetryOf != id || !source.Forgotten.IsZero() {
			continue
		}
		r, err := s.forget(ctx, source.ID)
		if err != nil {
			return ForgetReport{}, err
		}
		retries.Records += r.Records
		retries.Hours += r.Hours
		retries.Rewritten += r.Rewritten
		retries.Removed += r.Removed
		retries.Gone += r.Gone
	}
	report, err := s.forget(ctx, id)
	report.Records += retries.Records
	report.Hours += retries.Hours
	report.Rewritten += retries.Rewritten
	report.Removed += retries.Removed
	report.Gone += retries.Gone
	return report, err
}

func (s *Store) forget(ctx context.Context, id string) (report ForgetReport, err error) {
	source, err := s.sourceWithID(ctx, id)
	if err != nil || !source.Forgotten.IsZero() {
		return ForgetReport{Source: source, Before: true}, err
	}
	lock, err := filelock.Acquire(ctx, s.lockPath(source.Family))
	if err != nil {
		return ForgetReport{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	staging, err := s.makeStaging(ctx, source.Family)
	if err != nil {
		return ForgetReport{}, err
	}
	defer func() { err = errors.Join(err, s.discard(ctx, source.Family, staging)) }()
	// Until the lock is released, no import of the source is committed.
	if source, err = s.sourceWithID(ctx, id); err != nil || !source.Forgotten.IsZero() {
		return ForgetReport{Source: source, Before: true}, err
	}
	if err := s.dropUnfinished(source.ID); err != nil {
		return ForgetReport{}, err
	}
	plan, err := s.planRemoval(ctx, source, staging)
	if err != nil {
		return ForgetReport{}, err
	}
	return s.remove(ctx, source, plan, staging)
}

// remove commits a plan and makes the removal. If an hour has changed since it was planned, it plans the hour again.
func (s *Store) remove(
	ctx context.Context, source ledger.Source, plan map[lake.Partition]*hourRemoval, staging string,
) (ForgetReport, error) {
	for {
		s.step("forget: before the commit point")
		update, err := s.begin(ctx)
		if err != nil {
			return ForgetReport{}, err
		}
		stale, err := staleHours(update, source.ID, plan)
		if err == nil && len(stale) == 0 {
			report, err := s.commitRemoval(ctx, update, source, plan)
			return report, errors.Join(err, update.Close())
		}
		if err := errors.Join(err, update.Close()); err != nil {
			return ForgetReport{}, err
		}
		for _, hour := range stale {
			if plan[hour], err = s.planHour(ctx, source.ID, hour, staging); err != nil {
				return ForgetReport{}, err
			}
		}
	}
}

// commitRemoval records a removal and makes it. It ignores the end of the context after the commit.
func (s *Store) commitRemoval(
	ctx context.Context, update *manifest.Update, source ledger.Source, plan map[lake.Partition]*hourRemoval,
) (ForgetReport, error) {
	report := ForgetReport{Source: source}
	r := ledger.Removal{Source: source.ID, Family: source.Family, At: s.now()}
	for _, hour := range plan {
		r.Remove, r.Add = append(r.Remove, hour.remove...), append(r.Add, hour.add...)
		report.Records += hour.rows
		report.Rewritten += len(hour.add)
		report.Removed += len(hour.remove) - len(hour.add)
		if hour.rows > 0 {
			report.Hours++
		}
	}
	report.Gone = max(0, source.Records-report.Records)
	slices.SortFunc(r.Remove, byPath)
	slices.SortFunc(r.Add, byPath)
	ctx = context.WithoutCancel(ctx)
	if err := s.ledger.Forget(ctx, r); err != nil {
		return ForgetReport{}, err
	}
	s.step("forget: after the commit point")
	return report, s.finishRemoval(ctx, update, r)
}

// sourceWithID returns the source with that id.
func (s *Store) sourceWithID(ctx context.Context, id string) (ledger.Source, error) {
	sources, err := s.sources(ctx)
	if err != nil {
		return ledger.Source{}, err
	}
	for _, source := range sources {
		if source.ID == id {
			return source, nil
		}
	}
	return ledger.Source{}, fault.New(fault.NotFound, "there is no import %q; orrery imports lists them", id)
}

// hourRemoval is the part of a removal in one hour.
type hourRemoval struct {
	seen   []string      // names of the objects of the hour when it was planned
	remove []lake.Object // objects with rows of the source; Path is the name
	add    []lake.Object // objects with their other rows, staged
	rows   int64         // of the source
}

// planRemoval stages the objects that replace those with rows of a source. It examines only the hours in which the
// source has rows. The error names every object that prevents the removal.
func (s *Store) planRemoval(
	ctx context.Context, source ledger.Source, staging string,
) (map[lake.Partition]*hourRemoval, error) {
	names, err := s.ledger.ObjectsOf(ctx, source.ID)
	if err != nil {
		return nil, err
	}
	plan := map[lake.Partition]*hourRemoval{}
	var unreadable unreadableObjects
	for _, name := range names {
		hour, err := lake.PartitionOfName(name)
		if err != nil {
			return nil, err
		}
		if plan[hour] != nil {
			continue
		}
		planned, err := s.planHour(ctx, source.ID, hour, staging)
		var more unreadableObjects
		switch {
		case errors.As(err, &more):
			unreadable = append(unreadable, more...)
		case err != nil:
			return nil, err
		}
		plan[hour] = planned
	}
	if len(unreadable) > 0 {
		return nil, unreadable
	}
	return plan, nil
}

// planHour stages the objects that replace those of one hour. It plans again if a compaction has replaced the objects
// meanwhile. The error is unreadableObjects if some cannot be read.
func (s *Store) planHour(
	ctx context.Context, source string, hour lake.Partition, staging string,
) (*hourRemoval, error) {
	for {
		objects, err := s.index.Objects(ctx, hour, hour)
		if err != nil {
			return nil, err
		}
		h := &hourRemoval{}
		for _, o := range objects {
			h.seen = append(h.seen, lake.NameOf(o.Path))
		}
		var unreadable unreadableObjects
		for _, o := range objects {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := h.plan(o, source, staging); err != nil {
				if intact := ingest.Verify(o.Path); intact == nil && !ingest.IsNewer(o.Path) {
					return nil, err
				}
				unreadable = append(unreadable, unreadableObject{lake.NameOf(o.Path), err})
			}
		}
		if len(unreadable) == 0 {
			return h, nil
		}
		now, err := s.index.Objects(ctx, hour, hour)
		if err != nil {
			return nil, err
		}
		if slices.EqualFunc(now, objects, func(a, b lake.Object) bool { return a.Path == b.Path }) {
			return h, unreadable
		}
	}
}

// plan adds an object to the plan if it has rows of the source, and stages the object that replaces it.
func (h *hourRemoval) plan(o lake.Object, source, staging string) error {
	path := o.Path
	o.Path = lake.NameOf(path)
	if of, _, ok := lake.SourceOf(path); ok { // all of its rows are of that source
		if of == source {
			h.remove, h.rows = append(h.remove, o), h.rows+o.Rows
		}
		return nil
	}
	name := lake.CompactName(o.Partition, removalDigest(source, o.Path))
	others, dropped, err := ingest.RemoveSource(staging, ingest.StagedName(name), path, source)
	if err != nil {
		return err
	}
	if others.Rows+dropped != o.Rows {
		return fmt.Errorf("the object has %d rows, but the index lists %d", others.Rows+dropped, o.Rows)
	}
	if dropped == 0 {
		return nil
	}
	h.remove, h.rows = append(h.remove, o), h.rows+dropped
	if others.Rows > 0 {
		others.Path = name
		h.add = append(h.add, others)
	}
	return nil
}

// removalDigest returns the name of the object that replaces another one without the rows of a source.
func removalDigest(source, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d forget %s %s\n", ledger.Rules, source, name))
	return hex.EncodeToString(sum[:8])
}

// staleHours returns the hours of a plan that have changed so that the plan is not valid any more: an object to remove
// is not listed, or one is new that may have rows of the source.
func staleHours(
	update *manifest.Update, source string, plan map[lake.Partition]*hourRemoval,
) (stale []lake.Partition, err error) {
	for hour, planned := range plan {
		listed, err := update.Hour(hour)
		if err != nil {
			return nil, err
		}
		isNew := func(o lake.Object) bool {
			of, _, ok := lake.SourceOf(o.Path)
			return (!ok || of == source) && !slices.Contains(planned.seen, o.Path)
		}
		if !lists(listed, manifestNames(planned.remove)) || slices.ContainsFunc(listed.Objects, isNew) {
			stale = append(stale, hour)
		}
	}
	return stale, nil
}

// lists reports whether all objects are current ones of an hour.
func lists(hour manifest.Hour, names []manifest.Name) bool {
	for _, n := range names {
		if !slices.ContainsFunc(hour.Objects, func(o lake.Object) bool { return o.Path == n.Name }) {
			return false
		}
	}
	return true
}

// manifestNames returns the names of objects whose Path is the name.
func manifestNames(objects []lake.Object) []manifest.Name {
	names := make([]manifest.Name, len(objects))
	for i, o := range objects {
		names[i] = manifest.Name{Partition: o.Partition, Name: o.Path}
	}
	return names
}

// finishRemovals makes the removals that were recorded by processes that have died.
func (s *Store) finishRemovals(ctx context.Context, update *manifest.Update) error {
	unfinished, err := s.ledger.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, r := range unfinished {
		if err := s.finishRemoval(ctx, update, r); err != nil {
			return err
		}
	}
	return nil
}

// finishRemoval makes a recorded removal. It may be repeated: after a crash the next call completes the work. Nothing
// changes the index between the record and the removal, because every change begins with the unfinished ones.
func (s *Store) finishRemoval(ctx context.Context, update *manifest.Update, r ledger.Removal) error {
	change := manifest.Change{Add: r.Add, At: s.now()} // until now, readers see the objects that are removed
	for _, n := range manifestNames(r.Remove) {
		listed, err := update.Hour(n.Partition)
		if err != nil {
			return err
		}
		if lists(listed, []manifest.Name{n}) {
			change.Remove = append(change.Remove, n)
		}
	}
	staging := filepath.Join(s.stagingRoot(), r.Family)
	for _, o := range r.Add {
		s.step("forget: before a rename")
		if err := s.place(staging, o.Path); err != nil {
			return err
		}
	}
	s.step("forget: before the manifests")
	if err := update.Publish(change); err != nil {
		return err
	}
	s.step("forget: before the quarantine is removed")
	if err := s.removeQuarantine(r.Source); err != nil {
		return err
	}
	s.step("forget: before the ledger")
	if err := s.ledger.MarkForgotten(ctx, r); err != nil {
		return err
	}
	s.step("forget: before the staging directory is removed")
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("remove staging directory: %w", err)
	}
	return nil
}

func byPath(a, b lake.Object) int { return strings.Compare(a.Path, b.Path) }

// unreadableObjects is the error of a removal that some objects prevent.
type unreadableObjects []unreadableObject

type unreadableObject struct {
	name string
	err  error
}

func (u unreadableObjects) Error() string {
	var b strings.Builder
	fmt.Fprint(&b, "these objects may have records of the import, but cannot be read, so nothing was changed. "+
		"Restore them from a backup:")
	for _, o := range u {
		fmt.Fprintf(&b, "\n  %s: %v", o.name, o.err)
	}
	return b.String()
}
