package cloud

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
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// examineSuspects reads the objects at which queries have failed, and sets aside those that are damaged. If the time is
// up, the next run continues after the last object that was read.
func (c *Store) examineSuspects(ctx context.Context, timeUp func() bool, report *CompactReport) error {
	suspects, err := lakestate.ListSuspects(ctx, c.table)
	if err != nil {
		return err
	}
	for _, s := range suspects {
		names, err := c.suspectNames(ctx, s.Suspect)
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
				return lakestate.MarkReached(ctx, c.table, s, reached)
			}
			reached = name
			if err := c.examine(ctx, name, report); err != nil {
				return fmt.Errorf("examine %s: %w", name, err)
			}
		}
		if len(report.Damaged) == before {
			// Athena returns the failed execution of an equal query over the same version of the data.
			_, err = c.changeState(ctx, func(s *lakestate.State) bool { s.Version++; return true })
			if err != nil {
				return err
			}
		}
		if err := lakestate.MarkExamined(ctx, c.table, s, c.config.Now()); err != nil {
			return err
		}
	}
	return nil
}

// follows reports whether an object comes after another one, which may be gone, in the order of suspectNames. Objects of
// the same hour in the other folder do, because readers may read them now. Every object follows "".
func follows(name, other string) bool {
	hour, isFresh, _ := placeOf(name)
	otherHour, otherFresh, known := placeOf(other)
	if !known || hour != otherHour {
		return !known || hour > otherHour
	}
	return isFresh != otherFresh || name > other
}

// suspectNames returns the names in the bucket of the objects that a suspect may be, by hour.
func (c *Store) suspectNames(ctx context.Context, s lakestate.Suspect) ([]string, error) {
	if s.Object != "" {
		return []string{lakeRoot + s.Object}, nil
	}
	var names []string
	for hour := s.From; hour <= s.To; hour++ {
		for _, folder := range []string{freshFolder(hour), compactFolder(hour)} {
			for info, err := range c.lake.List(ctx, folder, "") {
				if err != nil {
					return nil, err
				}
				if isObject(info) {
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
func (c *Store) examine(ctx context.Context, name string, report *CompactReport) (err error) {
	hour, isFresh, ok := placeOf(name)
	if !ok {
		return nil
	}
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil || isFresh != (hour >= s.Watermark) {
		return err // no reader reads the object: compaction removes it, or merges it
	}
	dir, err := os.MkdirTemp(c.config.Scratch, "examine-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	object := localCopy{name: name, path: filepath.Join(dir, "object.parquet")}
	if err := c.download(ctx, name, object.path); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil // it is removed already
		}
		return err
	}
	damage := ingest.Verify(object.path)
	if damage == nil {
		return nil
	}
	if _, err := c.setAsideDamaged(ctx, hour, []localCopy{object}, damage, report); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil // another compaction has set it aside and removed it
		}
		return err
	}
	if err := c.config.Pause(ctx, 2*engine.StateAge); err != nil {
		return err
	}
	return c.lake.Delete(ctx, listsName(name), name)
}

// placeOf returns the hour of an object, and whether it is a fresh one.
func placeOf(name string) (hour lake.Partition, isFresh, ok bool) {
	below, isFresh := strings.CutPrefix(name, freshRoot)
	if !isFresh {
		below = strings.TrimPrefix(name, compactRoot)
	}
	hour, ok = hourOf(below)
	return hour, isFresh, ok
}
