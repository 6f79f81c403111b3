package cloud

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// CompactReport is what a compaction did.
type CompactReport struct {
	Hours      int // that the watermark passed and that had objects
	Objects    int // that these hours had before
	Merged     int // that they have now, without those of late records
	Removed    int // superseded objects and leftovers of imports that came to nothing
	Unfinished bool
	Watermark  lake.Partition
	Elapsed    time.Duration
}

// Compact merges the objects of every hour that ended the grace before now, and before until unless that is zero, and
// removes what was superseded long enough ago. It also publishes what imports have committed and then died. Readers and
// imports go on, and several compactions may run at once: they help each other.
//
// It ends in good time before the context's deadline, Unfinished then; another call goes on.
func (c *Store) Compact(ctx context.Context, until time.Time) (report CompactReport, err error) {
	began := c.config.Now()
	enough := c.enough(ctx)
	due := lake.PartitionOf(began.Add(-c.config.Grace).UnixMilli())
	if !until.IsZero() {
		due = min(due, lake.PartitionOf(until.UnixMilli()))
	}
	for more := true; more && err == nil; {
		if report.Unfinished = enough(); report.Unfinished {
			break
		}
		more, err = c.compactNext(ctx, due, enough, &report)
	}
	if err == nil {
		err = c.settle(ctx, func(lakestate.OpenImport) bool { return true })
	}
	if err == nil && !report.Unfinished {
		err = c.sweep(ctx, &report)
	}
	report.Elapsed = c.config.Now().Sub(began)
	if err != nil {
		return report, fmt.Errorf("compact: %w", err)
	}
	return report, nil
}

// compactNext does what the state of the lake asks for next, and says whether there may be more:
//
//	watermark = closed   close the first fresh hour that is due
//	watermark < closed   publish what may still come to hours before closed; then merge the first of them and move the
//	                     watermark past it, or to closed when none has objects
//
// Whatever dies, the next call finds one of the two.
func (c *Store) compactNext(ctx context.Context, due lake.Partition, enough func() bool, report *CompactReport) (more bool, err error) {
	s, _, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return false, err
	}
	report.Watermark = s.Watermark
	if s.Watermark == s.Closed {
		// Imports that died are published first: their hours are fresh ones too.
		if err := c.settle(ctx, func(lakestate.OpenImport) bool { return true }); err != nil {
			return false, err
		}
		hour, found, err := c.firstFresh(ctx, s.Watermark, due)
		if err != nil || !found {
			return false, err
		}
		return true, c.close(ctx, s.Watermark, hour+1)
	}
	if err := c.settle(ctx, func(o lakestate.OpenImport) bool { return o.Boundary < s.Closed }); err != nil {
		return false, err
	}
	hour, found, err := c.firstFresh(ctx, s.Watermark, s.Closed)
	if err != nil {
		return false, err
	}
	if !found {
		return true, c.moveWatermark(ctx, s.Watermark, s.Closed)
	}
	return c.compactHour(ctx, s.Watermark, hour, enough, report)
}

// close binds the imports that are committed from now on to bring nothing to fresh hours before the boundary.
func (c *Store) close(ctx context.Context, watermark, boundary lake.Partition) error {
	_, err := c.changeState(ctx, func(s *lakestate.State) bool {
		if s.Watermark != watermark || s.Closed >= boundary {
			return false // another compaction has got on
		}
		s.Closed = boundary
		return true
	})
	return err
}

// compactHour merges a closed hour and moves the watermark past it.
func (c *Store) compactHour(ctx context.Context, watermark, hour lake.Partition, enough func() bool, report *CompactReport) (more bool, err error) {
	p, err := c.planFor(ctx, hour)
	if err != nil {
		return false, err
	}
	// A plan made now may be one that was carried out and forgotten long ago.
	if s, _, err := lakestate.Load(ctx, c.table); err != nil || s.Watermark != watermark {
		return true, err
	}
	for _, group := range p.Groups {
		if report.Unfinished = enough(); report.Unfinished {
			return false, nil
		}
		if err := c.merge(ctx, hour, group); err != nil {
			return false, fmt.Errorf("hour %s: %w", hour, err)
		}
	}
	if err := c.moveWatermark(ctx, watermark, hour+1); err != nil {
		return false, err
	}
	report.Hours++
	report.Merged += len(p.Groups)
	for _, group := range p.Groups {
		report.Objects += len(group)
	}
	return true, nil
}

// moveWatermark makes readers take the hours before a boundary from the compacted objects.
func (c *Store) moveWatermark(ctx context.Context, from, to lake.Partition) error {
	now := c.config.Now().UTC()
	_, err := c.changeState(ctx, func(s *lakestate.State) bool {
		if s.Watermark != from {
			return false // another compaction has moved it
		}
		s.Watermark = to
		s.Version++
		s.Moves = withMove(s.Moves, lakestate.Move{To: to, First: now, Last: now})
		return true
	})
	return err
}

// movesTogether is for how long moves of the watermark are noted as one: the list stays short however many hours one
// run compacts, and what they superseded stays that much longer.
const movesTogether = 10 * time.Minute

func withMove(moves []lakestate.Move, m lakestate.Move) []lakestate.Move {
	if n := len(moves); n > 0 && m.Last.Sub(moves[n-1].First) < movesTogether {
		m.First = moves[n-1].First
		moves = moves[:n-1]
	}
	return append(moves, m)
}

// firstFresh finds the first hour from…to, to not included, that has fresh objects.
func (c *Store) firstFresh(ctx context.Context, from, to lake.Partition) (lake.Partition, bool, error) {
	for info, err := range c.lake.List(ctx, freshRoot, freshFolder(from)) {
		if err != nil {
			return 0, false, err
		}
		hour, ok := hourOf(strings.TrimPrefix(info.Name, freshRoot))
		if !ok || !isObject(info) {
			continue
		}
		return hour, hour < to, nil
	}
	return 0, false, nil
}
