package lakestate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run is a run of compaction. Any number may work at the same time without harm, but they would merge the same objects.
type Run struct {
	table Table
	item  Item
	until time.Time
}

var runKey = Key{Partition: "lake", Sort: "compacting"}

// storedRun is a Run as it is stored.
type storedRun struct {
	Until time.Time `json:"until"`
}

// BeginRun begins a run that ends before a time, unless another one is at work, in which case free is false.
func BeginRun(ctx context.Context, table Table, now, until time.Time) (run Run, free bool, err error) {
	before, item, err := Get[storedRun](ctx, table, runKey)
	if err == nil && before.Until.After(now) {
		return Run{}, false, nil
	}
	if err == nil {
		run = Run{table, item, until}
		err = run.save(ctx, until)
	}
	switch {
	case errors.Is(err, ErrConflict):
		return Run{}, false, nil
	case err != nil:
		return Run{}, false, fmt.Errorf("begin a run of compaction: %w", err)
	}
	run.item.Revision++
	return run, true, nil
}

// End ends the run, so that the next one can begin. A run that is killed ends at the time that it was given.
func (r Run) End(ctx context.Context, now time.Time) error {
	if !now.Before(r.until) {
		return nil // another one may have begun
	}
	if err := r.save(ctx, now); err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("end a run of compaction: %w", err)
	}
	return nil
}

func (r Run) save(ctx context.Context, until time.Time) error {
	return Replace(ctx, r.table, r.item, storedRun{until.UTC()})
}
