package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
)

// Folder is the folder of the files in object storage. A rule of the bucket removes those that are left after a crash.
const Folder = "_reports/"

// Items implements Store over a table, and over object storage for the files of reports that are made but not yet
// delivered.
//
// A run is an item, an item in the list of the runs of its report, and, until it has ended, an item in the list of
// unfinished runs. Each of them has the whole run. All are written together, under the condition of the revision of the
// run. Files are stored before that, under names that follow from their contents. So writers that race do not replace
// files of each other, and the run has the files of the writer that succeeds.
type Items struct {
	table table.Table
	files blob.Store
}

var _ Store = (*Items)(nil)

// Over returns a store over a table. files is the bucket of the files; it is nil for a program that makes no reports.
func Over(t table.Table, files blob.Store) *Items { return &Items{t, files} }

// Create implements Store.
func (s *Items) Create(ctx context.Context, r Run) error {
	e := entry{Run: r, dueMs: r.Due.UnixMilli(), scheduled: r.By == ""}
	changes, err := e.writes(table.Absent)
	if err == nil {
		err = s.table.Write(ctx, changes...)
	}
	switch {
	case errors.Is(err, table.ErrConflict):
		return Exists(r.ID)
	case err != nil:
		return fmt.Errorf("create run %s: %w", r.ID, err)
	}
	return nil
}

// Run implements Store.
func (s *Items) Run(ctx context.Context, id string) (Run, error) {
	e, err := s.entry(ctx, id)
	return e.Run, err
}

// entry returns a run with what is stored besides.
func (s *Items) entry(ctx context.Context, id string) (entry, error) {
	item, err := s.table.Get(ctx, keyOf(id))
	switch {
	case err != nil:
		return entry{}, fmt.Errorf("read run %s: %w", id, err)
	case !item.Exists():
		return entry{}, NotFound(id)
	}
	return entryOf(item)
}

// List implements Store.
func (s *Items) List(ctx context.Context, config, report string, limit int) ([]Run, error) {
	return s.list(ctx, table.Range{Partition: listOf(config, report), Backwards: true, Limit: limit})
}

// Unfinished implements Store.
func (s *Items) Unfinished(ctx context.Context) ([]Run, error) {
	return s.list(ctx, table.Range{Partition: unfinishedPartition})
}

func (s *Items) list(ctx context.Context, r table.Range) ([]Run, error) {
	list, err := table.Collect(ctx, s.table, r, func(item table.Item) (Run, error) {
		e, err := entryOf(item)
		return e.Run, err
	})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return list, nil
}

// Latest implements Store.
func (s *Items) Latest(ctx context.Context, config, report string) (time.Time, error) {
	for _, limit := range []int{20, 0} { // few of the latest runs are requested ones
		newest := table.Range{Partition: listOf(config, report), Backwards: true, Limit: limit}
		for item, err := range s.table.Range(ctx, newest) {
			if err != nil {
				return time.Time{}, fmt.Errorf("find the latest run of report %s: %w", report, err)
			}
			r := table.Read(item)
			due, scheduled := r.Int64(dueAttribute), r.Int64(scheduledAttribute)
			if scheduled == 1 || r.Err() != nil {
				return time.UnixMilli(due).UTC(), r.Err()
			}
		}
	}
	return time.Time{}, nil
}

// Update implements Store.
func (s *Items) Update(ctx context.Context, r Run, files ...File) error {
	before, err := s.entry(ctx, r.ID)
	if isNotFound(err) || err == nil && before.Revision != r.Revision {
		return Changed(r.ID, r.Revision)
	}
	if err != nil {
		return err
	}
	after := entry{Run: r, dueMs: before.dueMs, scheduled: before.scheduled}
	after.Revision++
	if r.By == "" { // a scheduled run keeps the time of its schedule when it is requested again
		after.dueMs, after.scheduled = r.Due.UnixMilli(), true
	}
	var more []table.Change
	if kept := slices.IndexFunc(files, func(f File) bool { return f.Delivery == KeptReport }); kept >= 0 {
		if more, err = s.keep(ctx, after, files[kept]); err != nil {
			return err
		}
		files = slices.Delete(slices.Clone(files), kept, kept+1)
	}
	if r.State == Rendered {
		if after.files, err = s.add(ctx, before, files); err != nil {
			return err
		}
	}
	switch err := s.replace(ctx, before, after, more...); {
	case errors.Is(err, table.ErrConflict):
		return Changed(r.ID, r.Revision)
	case err != nil:
		return fmt.Errorf("update run %s: %w", r.ID, err)
	}
	if r.State != Rendered && len(before.files) > 0 && s.files != nil {
		// The run has no files any more. If this fails, the rule of the bucket removes them.
		_ = s.files.Delete(ctx, before.objects()...)
	}
	return nil
}

// mostSeen is the number of the newest runs of a report among which reports are looked for that are no longer kept.
// Those of earlier runs expire.
const mostSeen = 200

// mostRemoved is the number of reports that are removed at once.
const mostRemoved = 20

// keep returns the changes that keep the report of a run, and remove those of all but the newest KeptReports runs.
func (s *Items) keep(ctx context.Context, e entry, f File) ([]table.Change, error) {
	list, err := s.List(ctx, e.Config, e.Report, mostSeen)
	if err != nil {
		return nil, err
	}
	changes := []table.Change{{Key: reportOf(e.ID), Attributes: table.Attributes{
		reportAttribute: f.Content, table.Expires: e.Due.Add(keep).Unix(),
	}}}
	others := slices.DeleteFunc(list, func(r Run) bool { return r.ID == e.ID || !r.HasReport })
	for _, r := range others[min(len(others), KeptReports-1):] {
		if len(changes) <= mostRemoved {
			changes = append(changes, table.Change{Key: reportOf(r.ID)})
		}
	}
	return changes, nil
}

// Report implements Store.
func (s *Items) Report(ctx context.Context, id string) ([]byte, error) {
	item, err := s.table.Get(ctx, reportOf(id))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the report of run %s: %w", id, err)
	case !item.Exists():
		return nil, NoReport(id)
	}
	r := table.Read(item)
	return r.Bytes(reportAttribute), r.Err()
}

// replace replaces a run, and makes more changes at the same time.
func (s *Items) replace(ctx context.Context, before, after entry, more ...table.Change) error {
	changes, err := after.writes(table.Where(revisionAttribute, int64(before.Revision)))
	if err != nil {
		return err
	}
	changes = append(changes, more...)
	moved := before.dueMs != after.dueMs
	if moved {
		changes = append(changes, table.Change{Key: before.listed()})
	}
	if !before.State.Ended() && (moved || after.State.Ended()) {
		changes = append(changes, table.Change{Key: before.unfinished()})
	}
	return s.table.Write(ctx, changes...)
}

// add stores files of a run, and returns all that it has then.
func (s *Items) add(ctx context.Context, before entry, files []File) ([]storedFile, error) {
	id, list := before.ID, slices.Clone(before.files)
	for _, f := range files {
		if s.files == nil {
			return nil, errNoBucket
		}
		sum := sha256.Sum256(f.Content)
		one := storedFile{f.Delivery, f.Name, hex.EncodeToString(sum[:]), before.Revision + 1}
		if err := s.files.Put(ctx, one.object(id), bytes.NewReader(f.Content), blob.Always); err != nil {
			return nil, fmt.Errorf("add a file of run %s: %w", id, err)
		}
		list = slices.DeleteFunc(list, func(f storedFile) bool { return f.Delivery == one.Delivery && f.Name == one.Name })
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b storedFile) int {
		if byDelivery := a.Delivery - b.Delivery; byDelivery != 0 {
			return byDelivery
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, nil
}

var errNoBucket = errors.New("runs: files need a bucket")

// Files implements Store.
func (s *Items) Files(ctx context.Context, id string) ([]File, error) {
	e, err := s.entry(ctx, id)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []File
	for _, f := range e.files {
		content, err := s.content(ctx, f, id)
		if err != nil {
			return nil, fmt.Errorf("read %s of run %s: %w", f.Name, id, err)
		}
		list = append(list, File{Delivery: f.Delivery, Name: f.Name, Content: content})
	}
	return list, nil
}

// content reads a file, and compares it with its sum.
func (s *Items) content(ctx context.Context, f storedFile, id string) ([]byte, error) {
	if s.files == nil {
		return nil, errNoBucket
	}
	body, _, err := s.files.Get(ctx, f.object(id), "", 0)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	case err != nil:
		return nil, err
	}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.Sum {
		return nil, fmt.Errorf("%w: %d bytes do not have the sum %s", ErrLost, len(content), f.Sum)
	}
	return content, nil
}

func isNotFound(err error) bool { return fault.KindOf(err) == fault.NotFound }
