package cloud

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// abandonedAfter is the age from which an attempt that is not committed is considered abandoned. No import runs that
// long.
const abandonedAfter = 24 * time.Hour

// sweep removes fresh objects that were superseded so long ago that no query reads them any more, and the staged
// objects of abandoned imports.
func (c *Store) sweep(ctx context.Context, timeUp func() bool, report *CompactReport) error {
	if err := c.sweepSuperseded(ctx, timeUp, report); err != nil {
		return err
	}
	return c.sweepStaged(ctx, report)
}

// sweepSuperseded removes the objects in the plans of old moves, then the plans, and then the moves in the state.
func (c *Store) sweepSuperseded(ctx context.Context, timeUp func() bool, report *CompactReport) error {
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	old := func(m lakestate.Move) bool { return c.config.Now().Sub(m.Last) >= c.config.Keep }
	var upTo lake.Partition
	for _, m := range s.Moves {
		if old(m) {
			upTo = max(upTo, m.To)
		}
	}
	if upTo == 0 {
		return nil
	}
	for info, err := range c.lake.List(ctx, planRoot, "") {
		if err != nil {
			return err
		}
		hour, ok := hourOf(strings.TrimPrefix(info.Name, planRoot))
		if !ok || hour >= upTo {
			continue
		}
		if timeUp() {
			report.Unfinished = true
			return nil // the moves stay, so that the next run continues
		}
		if err := c.sweepHour(ctx, hour, report); err != nil {
			return err
		}
	}
	_, err = c.changeState(ctx, func(s *lakestate.State) bool {
		var recent []lakestate.Move
		for _, m := range s.Moves {
			if m.To > upTo {
				recent = append(recent, m)
			}
		}
		changed := len(recent) < len(s.Moves)
		s.Moves = recent
		return changed
	})
	return err
}

func (c *Store) sweepHour(ctx context.Context, hour lake.Partition, report *CompactReport) error {
	var p plan
	err := c.readJSON(ctx, planName(hour), &p)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // another sweep has removed the plan and its objects
	}
	if err != nil {
		return err
	}
	// Rebuilding a merged object needs its sources after the plan is gone.
	if err := c.copyTo(ctx, planName(hour), mergedName(hour)); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil // another sweep has removed the plan and its objects
		}
		return err
	}
	for _, group := range p.Groups {
		names := slices.Concat(listsNames(group), group, []string{versionsName(hour, groupName(hour, group))})
		if err := c.lake.Delete(ctx, names...); err != nil {
			return err
		}
		report.Removed += len(group)
	}
	return c.lake.Delete(ctx, planName(hour))
}

// sweepStaged removes the staged objects of abandoned attempts.
func (c *Store) sweepStaged(ctx context.Context, report *CompactReport) error {
	var abandoned []string
	before := c.config.Now().Add(-abandonedAfter)
	for info, err := range c.lake.List(ctx, stagingRoot, "") {
		if err != nil {
			return err
		}
		if info.Modified.Before(before) {
			abandoned = append(abandoned, info.Name)
		}
	}
	if len(abandoned) == 0 {
		return nil
	}
	// The state must be read after the listing: every attempt that is committed by now is open in it, or published.
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	committed := map[string]bool{}
	for _, o := range s.Open {
		committed[o.Attempt] = true
	}
	var names []string
	for _, name := range abandoned {
		attempt, _, _ := strings.Cut(strings.TrimPrefix(name, stagingRoot), "/")
		if !committed[attempt] {
			names = append(names, name)
		}
	}
	report.Removed += len(names)
	return c.lake.Delete(ctx, names...)
}
