package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// ExamineSuspects reads the objects at which queries have failed, and sets aside those that are damaged. If the time is
// up, the next run continues after the last object that was read.
func (r *Repairer) ExamineSuspects(ctx context.Context, timeUp func() bool, report *Report) error {
	suspects, err := lakestate.ListSuspects(ctx, r.Table)
	if err != nil {
		return err
	}
	for _, s := range suspects {
		names, err := r.suspectNames(ctx, s.Suspect)
		if err != nil {
			return err
		}
		before := len(report.Damaged)
		reached := s.Reached
		for _, name := range names {
			if !follows(name, s.Reached) {
				continue
			}
			if timeUp() {
				report.Unfinished = true
				return lakestate.MarkReached(ctx, r.Table, s, reached)
			}
			reached = name
			if err := r.examine(ctx, name, report); err != nil {
				return fmt.Errorf("examine %s: %w", name, err)
			}
		}
		if len(report.Damaged) == before {
			// Athena returns the failed execution of an equal query over the same version of the days.
			days := lake.DaysOf(s.From, s.To)
			_, err = r.ChangeState(ctx, func(s *lakestate.State) bool { s.Changed(days...); return true })
			if err != nil {
				return err
			}
		}
		if err := lakestate.MarkExamined(ctx, r.Table, s, r.Now()); err != nil {
			return err
		}
	}
	return nil
}

// follows reports whether an object comes after another one, which may be gone, in the order of suspectNames. Objects
// of the same hour in the other folder do, because readers may read them now. Every object follows "".
func follows(name, other string) bool {
	hour, isFresh, _ := placeOf(name)
	otherHour, otherFresh, known := placeOf(other)
	if !known || hour != otherHour {
		return !known || hour > otherHour
	}
	return isFresh != otherFresh || name > other
}

// suspectNames returns the names in the bucket of the objects that a suspect may be, by hour.
func (r *Repairer) suspectNames(ctx context.Context, s lakestate.Suspect) ([]string, error) {
	if s.Object != "" {
		return []string{bucket.LakeRoot + s.Object}, nil
	}
	var names []string
	for hour := s.From; hour <= s.To; hour++ {
		for _, folder := range []string{bucket.FreshFolder(hour), bucket.CompactFolder(hour)} {
			for info, err := range r.Lake.List(ctx, folder, "") {
				if err != nil {
					return nil, err
				}
				if bucket.IsObject(info) {
					names = append(names, info.Name)
				}
			}
		}
	}
	return names, nil
}

// examine reads all pages of an object that readers read. If the object is damaged, examine sets it aside, waits until
// every reader's state lists it as lost, and removes it. A merge at the same time leaves the object out, or fails and
// is repeated.
func (r *Repairer) examine(ctx context.Context, name string, report *Report) (err error) {
	hour, isFresh, ok := placeOf(name)
	if !ok {
		return nil
	}
	s, _, err := lakestate.Load(ctx, r.Table)
	if err != nil || isFresh != (hour >= s.Watermark) {
		return err // no reader reads the object: compaction removes it, or merges it
	}
	dir, err := os.MkdirTemp(r.Scratch, "examine-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	object := bucket.LocalCopy{Name: name, Path: filepath.Join(dir, "object.parquet")}
	if err := r.Lake.Download(ctx, name, object.Path); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil // it is removed already
		}
		return err
	}
	damage := ingest.Verify(object.Path)
	if damage == nil {
		return nil
	}
	if _, err := r.SetAsideDamaged(ctx, hour, []bucket.LocalCopy{object}, damage, report); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil // another compaction has set it aside and removed it
		}
		return err
	}
	if err := r.Pause(ctx, 2*engine.StateAge); err != nil {
		return err
	}
	return r.Lake.Delete(ctx, publication.ListsName(name), name)
}

// placeOf returns the hour of an object, and whether it is a fresh one.
func placeOf(name string) (hour lake.Partition, isFresh, ok bool) {
	below, isFresh := strings.CutPrefix(name, bucket.FreshRoot)
	if !isFresh {
		below = strings.TrimPrefix(name, bucket.CompactRoot)
	}
	hour, ok = bucket.HourOf(below)
	return hour, isFresh, ok
}
