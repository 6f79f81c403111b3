package compaction

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// sweep removes fresh objects that were superseded so long ago that no query reads them any more, and the staged
// objects of abandoned imports.
func (c *Compactor) sweep(ctx context.Context, timeUp func() bool, report *Report) error {
	if err := c.sweepSuperseded(ctx, timeUp, report); err != nil {
		return err
	}
	return c.sweepStaged(ctx, report)
}

// sweepSuperseded removes the objects in the plans of old moves, then the plans, and then the moves in the state.
func (c *Compactor) sweepSuperseded(ctx context.Context, timeUp func() bool, report *Report) error {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	old := func(m lakestate.Move) bool { return c.Now().Sub(m.Last) >= c.Keep }
	var upTo lake.Partition
	for _, m := range s.Moves {
		if old(m) {
			upTo = max(upTo, m.To)
		}
	}
	if upTo == 0 {
		return nil
	}
	for info, err := range c.Lake.List(ctx, bucket.PlanRoot, "") {
		if err != nil {
			return err
		}
		hour, ok := bucket.HourOf(strings.TrimPrefix(info.Name, bucket.PlanRoot))
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
	_, err = c.ChangeState(ctx, func(s *lakestate.State) bool {
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

func (c *Compactor) sweepHour(ctx context.Context, hour lake.Partition, report *Report) error {
	var p bucket.Plan
	err := c.Lake.ReadJSON(ctx, bucket.PlanName(hour), &p)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // another sweep has removed the plan and its objects
	}
	if err != nil {
		return err
	}
	// Rebuilding a merged object needs its sources after the plan is gone.
	if err := c.Lake.CopyTo(ctx, bucket.PlanName(hour), bucket.MergedName(hour)); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil // another sweep has removed the plan and its objects
		}
		return err
	}
	if err := c.sweepBundles(ctx, hour); err != nil {
		return err
	}
	for _, group := range p.Groups {
		names := slices.Concat(
			publication.ListsNames(group), group, []string{versionsName(hour, bucket.GroupName(hour, group))},
		)
		if err := c.Lake.Delete(ctx, names...); err != nil {
			return err
		}
		report.Removed += len(group)
	}
	return c.Lake.Delete(ctx, bucket.PlanName(hour))
}

// sweepStaged removes the staged objects of abandoned attempts.
func (c *Compactor) sweepStaged(ctx context.Context, report *Report) error {
	var abandoned []string
	before := c.Now().Add(-publication.AbandonedAfter)
	for info, err := range c.Lake.List(ctx, bucket.StagingRoot, "") {
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
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	committed := map[string]bool{}
	for _, o := range s.Open {
		committed[o.Attempt] = true
	}
	var names []string
	for _, name := range abandoned {
		attempt, _, _ := strings.Cut(strings.TrimPrefix(name, bucket.StagingRoot), "/")
		if !committed[attempt] {
			names = append(names, name)
		}
	}
	report.Removed += len(names)
	return c.Lake.Delete(ctx, names...)
}
