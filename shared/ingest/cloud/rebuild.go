package cloud

import (
	"context"
	"encoding/hex"
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

// notRebuildable is the reason why a lost object cannot be rebuilt.
type notRebuildable string

func (n notRebuildable) Error() string { return string(n) }

// The reasons. Operators read them after "object … cannot be rebuilt:".
const (
	noSource  notRebuildable = "the ledger does not have the source of its rows, because an earlier version imported it"
	noMembers notRebuildable = "it is not recorded which objects were merged into it, because an earlier version did so"
	noPeriod  notRebuildable = "an earlier version imported its log, and did not record the period of its records"
	noRules   notRebuildable = "its log was imported with other rules than those of this version"
	noLog     notRebuildable = "the bucket of raw logs does not have its log with the content that was imported"
	nameTaken notRebuildable = "another object has its name in the bucket of the lake"
)

// rebuild makes the rows of lost objects again from the raw logs, one object after the other, until the time is up. An
// object that takes longer is begun again by another run, after the objects that have waited longer.
func (c *Store) rebuild(ctx context.Context, timeUp func() bool, report *CompactReport) error {
	s, err := c.forgetRebuilt(ctx)
	if err != nil {
		return err
	}
	byAttempt := func(a, b lakestate.LostObject) int { return a.Tried.Compare(b.Tried) }
	for _, lost := range slices.SortedStableFunc(slices.Values(s.Lost), byAttempt) {
		if !c.rebuildDue(lost) || !settled(s, lost.Hour) {
			continue
		}
		if timeUp() {
			report.Unfinished = true
			return nil
		}
		var reason notRebuildable
		switch err := c.rebuildObject(ctx, lost, timeUp, report); {
		case errors.Is(err, ingest.ErrStopped):
			report.Unfinished = true
			return c.noteAttempt(ctx, lost, "")
		case errors.As(err, &reason):
			if err := c.noteAttempt(ctx, lost, reason); err != nil {
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
func (c *Store) forgetRebuilt(ctx context.Context) (lakestate.State, error) {
	return c.changeState(ctx, func(s *lakestate.State) bool {
		n := len(s.Lost)
		s.Lost = slices.DeleteFunc(s.Lost, func(o lakestate.LostObject) bool {
			return !o.Rebuilt.IsZero() && c.config.Now().Sub(o.Rebuilt) >= engine.KeepSuperseded
		})
		return len(s.Lost) < n
	})
}

func (c *Store) rebuildDue(lost lakestate.LostObject) bool {
	now := c.config.Now()
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
func (c *Store) rebuildObject(
	ctx context.Context, lost lakestate.LostObject, timeUp func() bool, report *CompactReport,
) (err error) {
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	before := lostIn(s, lost.Hour)
	if !slices.ContainsFunc(before, lost.Same) || !settled(s, lost.Hour) || rebuilding(s, lost.Hour) {
		return nil // another compaction has changed the hour; the next run continues
	}
	imports, err := c.importsOf(ctx, lost)
	if err != nil {
		return err
	}
	present := map[string]lineSet{}
	for _, i := range imports {
		if _, open := s.Open[i.id()]; open {
			return nil // its rows are not all visible yet
		}
		present[i.past.Entry.Source] = lineSet{}
	}
	if whole, err := c.visibleLines(ctx, s, lost.Hour, present, timeUp, report); err != nil || !whole {
		return err
	}
	dir, err := os.MkdirTemp(c.config.Scratch, "rebuild-")
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
		made, err := c.reconvert(ctx, i, sub, timeUp, missing)
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
		_, err := c.changeState(ctx, func(s *lakestate.State) bool {
			if found = unchanged(s); found {
				s.MarkRebuilt(lost.Name, c.config.Now())
			}
			return found
		})
		if err == nil && found {
			report.Rebuilt = append(report.Rebuilt, lost.Name)
		}
		return err
	}
	return c.publishRebuilt(ctx, lost, dir, files, unchanged, report)
}

// publishRebuilt publishes rebuilt rows as an import is published, if the hour is unchanged.
func (c *Store) publishRebuilt(
	ctx context.Context, lost lakestate.LostObject, dir string, files []string,
	unchanged func(*lakestate.State) bool, report *CompactReport,
) error {
	file := filepath.Join(dir, "rebuilt.parquet")
	object, err := ingest.Merge(dir, filepath.Base(file), files)
	if err != nil {
		return err
	}
	object.Path = lake.FreshName(lost.Hour, path.Base(lost.Name))
	staged := &stagingArea{cloud: c, attempt: newAttempt(), began: c.config.Now()}
	if err := staged.add(ctx, file, object); err != nil {
		return err
	}
	if err := staged.writeIndex(ctx); err != nil {
		return err
	}
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	name := staged.list.Objects[0].finalName(s.Closed)
	if _, err := c.lake.Head(ctx, name); !errors.Is(err, blob.ErrNotFound) {
		if err == nil {
			err = nameTaken
		}
		return errors.Join(err, staged.remove(ctx))
	}
	id, committed := "rebuild#"+lost.Name, false
	_, err = c.changeState(ctx, func(s *lakestate.State) bool {
		if o, open := s.Open[id]; open && o.Attempt == staged.attempt {
			committed = true // the response to an earlier call was lost
			return false
		}
		if !unchanged(s) || staged.list.Objects[0].finalName(s.Closed) != name ||
			c.config.Now().Sub(staged.began) > abandonedAfter/2 {
			return false
		}
		if s.Open == nil {
			s.Open = map[string]lakestate.OpenImport{}
		}
		s.Open[id] = lakestate.OpenImport{
			Attempt:  staged.attempt,
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
		return staged.remove(ctx)
	}
	report.Rebuilt = append(report.Rebuilt, lost.Name)
	return c.settle(ctx, func(o lakestate.OpenImport) bool { return o.Attempt == staged.attempt })
}

// pastImport is an import in the ledger with the names under which its log may be in the bucket.
type pastImport struct {
	past       ingest.Past
	generation int
	from       time.Time
	until      time.Time
	logs       []Log
}

func (p pastImport) id() string { return importID(p.past.Entry.Source, p.generation) }

// importsOf returns the imports that a lost object has rows of.
func (c *Store) importsOf(ctx context.Context, lost lakestate.LostObject) ([]pastImport, error) {
	names := []string{lost.Name}
	if _, _, ok := lake.SourceOf(lost.Name); !ok {
		var err error
		if names, err = c.membersOf(ctx, lost); err != nil {
			return nil, err
		}
	}
	ledgers := map[string]*familyLedger{} // by source
	known := map[string]bool{}
	var list []pastImport
	for _, name := range names {
		source, part, ok := lake.SourceOf(name)
		if !ok {
			return nil, noSource
		}
		if ledgers[source] == nil {
			l, err := c.ledgerOf(ctx, source)
			if err != nil {
				return nil, err
			}
			ledgers[source] = l
		}
		i, err := ledgers[source].importOf(source, part)
		if err != nil {
			return nil, err
		}
		if !known[i.id()] {
			known[i.id()] = true
			list = append(list, i)
		}
	}
	return list, nil
}

// membersOf returns the names of the objects that a merged object was made of.
func (c *Store) membersOf(ctx context.Context, lost lakestate.LostObject) ([]string, error) {
	digest := strings.TrimSuffix(path.Base(lost.Name), ".parquet")
	for _, name := range []string{planName(lost.Hour), mergedName(lost.Hour)} {
		var p plan
		err := c.readJSON(ctx, name, &p)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, err
		}
		for _, group := range p.Groups {
			if groupDigest(group) == digest {
				return group, nil
			}
		}
	}
	return nil, noMembers
}

// ledgerOf returns the ledger of a source.
func (c *Store) ledgerOf(ctx context.Context, source string) (*familyLedger, error) {
	item, err := c.table.Get(ctx, sourceFamilyKey(source))
	var of sourceFamilyItem
	if err == nil {
		err = item.Read(&of)
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	if of.Family == "" {
		return nil, noSource
	}
	r, err := readFamily(ctx, c.table, of.Family, source)
	l := &familyLedger{homes: map[string]string{}, sources: map[string]sourceItem{}}
	l.add(of.Family, r)
	return l, err
}

// importOf returns the import that has made an object of a source.
func (l *familyLedger) importOf(source string, part int) (pastImport, error) {
	var of []importItem // oldest first
	for _, i := range l.imports {
		if i.Source == source {
			of = append(of, i)
		}
	}
	slices.SortFunc(of, func(a, b importItem) int { return a.Generation - b.Generation })
	n := slices.IndexFunc(of, func(i importItem) bool { return part < i.Parts })
	if n < 0 {
		return pastImport{}, noSource
	}
	i := of[n]
	switch {
	case i.Until == 0:
		return pastImport{}, noPeriod
	case i.Rules != ingest.Rules:
		return pastImport{}, noRules
	}
	p := pastImport{
		past: ingest.Past{
			Entry: ingest.Entry{
				Source: source, Format: l.sources[source].Format, Length: i.Length, Lines: i.Lines, Records: i.Records,
			},
			Base: ingest.Entry{Length: i.BaseLength, Lines: i.BaseLines, Terminated: i.BaseTerminated},
		},
		generation: i.Generation,
		from:       time.UnixMilli(i.From),
		until:      time.UnixMilli(i.Until),
		logs:       []Log{{Key: i.Name, Version: i.Version}},
	}
	if sum, err := hex.DecodeString(i.Sum); err != nil || copy(p.past.Entry.Sum[:], sum) != len(sum) {
		return pastImport{}, fmt.Errorf("ledger: import %d of source %s has the hash %q", i.Generation, source, i.Sum)
	}
	// The log may have got another name since, and the logs of later imports begin with its content.
	for _, later := range slices.Backward(of[n:]) {
		if log := (Log{Key: later.Name}); !slices.Contains(p.logs, log) {
			p.logs = append(p.logs, log)
		}
	}
	return p, nil
}

// reconvert makes the wanted rows of an import again from the first of its logs that still has the content.
func (c *Store) reconvert(
	ctx context.Context, i pastImport, dir string, timeUp func() bool, wanted func(*lake.Row) bool,
) (files []string, err error) {
	options := c.config.Options
	options.From, options.Until, options.Stop = i.from, i.until, timeUp
	for n, log := range i.logs {
		sub := filepath.Join(dir, fmt.Sprint(n))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, fmt.Errorf("make scratch directory: %w", err)
		}
		files, err := c.reconvertLog(ctx, log, i.past, sub, options, wanted)
		other := errors.Is(err, blob.ErrNotFound) || errors.Is(err, ingest.ErrOtherLog) ||
			fault.KindOf(err) == fault.Invalid
		if !other {
			return files, err
		}
	}
	return nil, noLog
}

func (c *Store) reconvertLog(
	ctx context.Context, log Log, past ingest.Past, dir string, options ingest.Options, wanted func(*lake.Row) bool,
) (files []string, err error) {
	raw, err := blob.Open(ctx, c.raw, log.Key, log.Version)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	return ingest.Reconvert(ctx, raw, past, dir, options, wanted)
}

// visibleLines adds the lines of the visible objects of an hour to the sets of their sources. whole is false if it has
// found a damaged object; then that object must be dealt with first. If the time is up, the error is ingest.ErrStopped.
func (c *Store) visibleLines(
	ctx context.Context, s lakestate.State, hour lake.Partition, present map[string]lineSet,
	timeUp func() bool, report *CompactReport,
) (whole bool, err error) {
	dir, err := os.MkdirTemp(c.config.Scratch, "visible-")
	if err != nil {
		return false, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "object.parquet")
	for info, err := range c.lake.List(ctx, visibleFolder(s, hour), "") {
		if err != nil {
			return false, err
		}
		if !isObject(info) {
			continue
		}
		if timeUp() {
			return false, ingest.ErrStopped
		}
		if err := c.download(ctx, info.Name, file); errors.Is(err, blob.ErrNotFound) {
			return false, nil // another compaction has removed it
		} else if err != nil {
			return false, err
		}
		if ingest.Verify(file) != nil {
			return false, c.examine(ctx, info.Name, report)
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

// visibleFolder returns the folder of the objects of an hour that readers read.
func visibleFolder(s lakestate.State, hour lake.Partition) string {
	if hour < s.Watermark {
		return compactFolder(hour)
	}
	return freshFolder(hour)
}

// noteAttempt records in the state why a lost object could not be rebuilt, or "" if the time was up.
func (c *Store) noteAttempt(ctx context.Context, lost lakestate.LostObject, reason notRebuildable) error {
	_, err := c.changeState(ctx, func(s *lakestate.State) bool {
		i := slices.IndexFunc(s.Lost, lost.Same)
		if i >= 0 {
			s.Lost[i].Tried, s.Lost[i].Reason = c.config.Now().UTC(), reason.Error()
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
