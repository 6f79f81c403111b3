// Package compaction merges the objects of each hour of a lake into few, while it is read, and removes the superseded
// ones.
package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/ingest/cloud/repair"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// Compactor compacts a lake.
type Compactor struct {
	*publication.Publisher
	Repairer *repair.Repairer

	Grace     time.Duration // how long after its end an hour waits for late records
	Keep      time.Duration // how long superseded objects are kept
	Group     int64         // the maximum size in bytes of the objects that are merged into one
	GroupTime time.Duration // how long the merge of a group of that size is expected to take
	Reserve   time.Duration // how long before the deadline of the context work stops
	Footers   int           // footers read at a time
	Bundling  Bundling
	AtOnce    int   // groups merged at a time
	Memory    int64 // bytes that each of these merges may take; 0: ingest.DefaultMergeMemory
}

// Report is the result of a compaction.
type Report struct {
	Hours   int // hours with objects that the watermark passed
	Objects int // objects of these hours before
	Merged  int // objects of these hours now, without objects of late records
	Removed int // removed objects: superseded, or left by abandoned imports
	Bundled int // objects that became members of bundles
	repair.Report
	// Newer lists the objects that this compaction has copied as they are, because a newer program wrote them with
	// columns that this program does not know.
	Newer []string `json:",omitempty"`
	// Unbundled tells which objects could not be bundled, and why. Readers read them one by one.
	Unbundled []string `json:",omitempty"`
	Watermark lake.Partition
	Elapsed   time.Duration
}

// Compact merges the objects of every hour that ended longer ago than the grace, and before until unless until is zero.
// Objects of a newer schema are copied instead.
// It examines the objects at which queries have failed, sets damaged ones aside, and rebuilds their rows from the raw
// logs. It removes the objects that were superseded long enough ago. It also publishes the imports that were committed
// and then interrupted. Readers and imports can continue, and several compactions may run at the same time: they share
// the work.
//
// It bundles the small objects of hours that are not due, and those that arrived after their hours were compacted.
//
// It stops before the deadline of the context and sets Unfinished. The next call continues. Repairs come first, so that
// each call makes some, however many hours are left to be compacted.
func (c *Compactor) Compact(ctx context.Context, until time.Time) (report Report, err error) {
	began := c.Now()
	due := lake.PartitionOf(began.Add(-c.Grace).UnixMilli())
	if !until.IsZero() {
		due = min(due, lake.PartitionOf(until.UnixMilli()))
	}
	p := c.newPace(ctx)
	s, _, err := lakestate.Load(ctx, c.Table)
	backlog := false
	if err == nil {
		_, backlog, err = c.firstFresh(ctx, s.Watermark, due)
	}
	if err != nil {
		return report, fmt.Errorf("compact: %w", err)
	}
	unrepaired := c.makeRepairs(ctx, p, backlog, &report) // which must not stop the watermark
	if err = c.bundleFresh(ctx, due, p.bundles(backlog), &report); err == nil {
		err = c.compactDue(ctx, due, p, &report)
	}
	if err == nil {
		err = c.Settle(ctx, func(lakestate.OpenImport) bool { return true })
	}
	if err == nil {
		err = c.narrowExtent(ctx)
	}
	if err == nil {
		err = c.count(ctx, p.stop, &report)
	}
	report.Elapsed = c.Now().Sub(began)
	if err = errors.Join(err, unrepaired); err != nil {
		return report, fmt.Errorf("compact: %w", err)
	}
	return report, nil
}

// makeRepairs examines suspects, removes superseded objects, and rebuilds lost ones, until the time is up. Suspects get
// at most half of the time, and suspects and superseded objects together three quarters. A failure of one of the three
// does not keep the others from their work.
func (c *Compactor) makeRepairs(ctx context.Context, p *pace, backlog bool, report *Report) error {
	stop := p.repairs(backlog)
	quarters := func(n time.Duration) func() bool {
		if stop.IsZero() {
			return deadline.Passed(stop, c.Now)
		}
		return deadline.Passed(p.began.Add(n*stop.Sub(p.began)/4), c.Now)
	}
	return errors.Join(
		c.Repairer.ExamineSuspects(ctx, quarters(2), &report.Report),
		c.sweep(ctx, quarters(3), report),
		c.Repairer.Rebuild(ctx, quarters(4), &report.Report),
	)
}

// compactDue compacts the hours before due, until the time is up.
func (c *Compactor) compactDue(ctx context.Context, due lake.Partition, p *pace, report *Report) error {
	timeUp := deadline.Passed(p.stop, c.Now)
	for more := true; more; {
		if timeUp() {
			report.Unfinished = true
			return nil
		}
		var err error
		if more, err = c.compactNext(ctx, due, p, report); err != nil {
			return err
		}
	}
	return nil
}

// pace is the time of a compaction, and the longest time of its groups.
type pace struct {
	began, stop time.Time     // stop is zero if there is no deadline
	longest     time.Duration // that a group has taken so far
}

func (c *Compactor) newPace(ctx context.Context) *pace {
	now := c.Now()
	return &pace{began: now, stop: deadline.Stop(ctx, c.Reserve, now)}
}

// repairShare divides the time of a compaction: the result is what repairs may take while there are hours to compact.
const repairShare = 3

// bundlesShare divides it in the same way: the result is what repairs and bundles may take.
const bundlesShare = 2

// repairs returns when repairs must stop.
func (p *pace) repairs(backlog bool) time.Time {
	if p.stop.IsZero() || !backlog {
		return p.stop
	}
	return p.began.Add(p.stop.Sub(p.began) / repairShare)
}

// bundles returns when the bundling of fresh objects must stop, which follows the repairs.
func (p *pace) bundles(backlog bool) time.Time {
	if p.stop.IsZero() || !backlog {
		return p.stop
	}
	return p.began.Add(p.stop.Sub(p.began) / bundlesShare)
}

// expected returns how long the merge of objects of a size is expected to take.
func (c *Compactor) expected(size int64) time.Duration {
	return time.Duration(float64(c.GroupTime) * float64(size) / float64(c.Group))
}

// fits reports whether there is time to merge group n of a plan. A group is expected to take as long as usual for its
// size, and as long as any group before it. Half of the time of the compaction is always enough, so that every group is
// begun some time.
func (c *Compactor) fits(p *pace, of bucket.Plan, n int) bool {
	if p.stop.IsZero() {
		return true
	}
	size := c.Group
	if n < len(of.Bytes) {
		size = of.Bytes[n]
	}
	expected := min(max(c.expected(size), p.longest), p.stop.Sub(p.began)/2)
	return !c.Now().Add(expected).After(p.stop)
}

// compactNext makes the next step, which depends on the state of the lake, and reports whether there may be more steps:
//
//	watermark = closed   close the first fresh hour that is due
//	watermark < closed   publish the imports that may still add to hours before closed; then merge the first of these
//	                     hours and move the watermark past it, or to closed if none of them has objects
//
// If a process dies in the middle of a step, the state is still one of these two, and the next call continues from it.
func (c *Compactor) compactNext(
	ctx context.Context, due lake.Partition, p *pace, report *Report,
) (more bool, err error) {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return false, err
	}
	report.Watermark = s.Watermark
	if s.Watermark == s.Closed {
		// Interrupted imports are published first, because their objects also belong to fresh hours.
		if err := c.Settle(ctx, func(lakestate.OpenImport) bool { return true }); err != nil {
			return false, err
		}
		hour, found, err := c.firstFresh(ctx, s.Watermark, due)
		if err != nil || !found {
			return false, err
		}
		return true, c.close(ctx, s.Watermark, hour+1)
	}
	if err := c.Settle(ctx, func(o lakestate.OpenImport) bool { return o.Boundary < s.Closed }); err != nil {
		return false, err
	}
	hour, found, err := c.firstFresh(ctx, s.Watermark, s.Closed)
	if err != nil {
		return false, err
	}
	if !found {
		return true, c.moveWatermark(ctx, s.Watermark, s.Closed)
	}
	return c.compactHour(ctx, s.Watermark, hour, p, report)
}

// close makes boundary the first hour to which imports may add fresh objects. It applies to imports that are committed
// afterwards.
func (c *Compactor) close(ctx context.Context, watermark, boundary lake.Partition) error {
	_, err := c.ChangeState(ctx, func(s *lakestate.State) bool {
		if s.Watermark != watermark || s.Closed >= boundary {
			return false // another compaction has made progress
		}
		s.Closed = boundary
		return true
	})
	return err
}

// compactHour merges a closed hour and moves the watermark past it.
func (c *Compactor) compactHour(
	ctx context.Context, watermark, hour lake.Partition, p *pace, report *Report,
) (more bool, err error) {
	of, err := c.planFor(ctx, hour)
	if err != nil {
		return false, err
	}
	// If the watermark has moved, the hour may have been compacted and swept, and this plan may be a new one for it.
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil || s.Watermark != watermark {
		return true, err
	}
	var mu sync.Mutex // of the pace and the report
	inTime, err := c.each(ctx, len(of.Groups), func(ctx context.Context, n int) (began bool, _ error) {
		mu.Lock()
		fits := c.fits(p, of, n)
		mu.Unlock()
		if !fits {
			return false, nil
		}
		start, found := c.Now(), Report{}
		err := c.merge(ctx, hour, of.Groups[n], withoutLost(s, of.Groups[n]), &found)
		mu.Lock()
		defer mu.Unlock()
		p.longest = max(p.longest, c.Now().Sub(start))
		report.Damaged = append(report.Damaged, found.Damaged...)
		report.Newer = append(report.Newer, found.Newer...)
		return true, err
	})
	if err != nil {
		return false, fmt.Errorf("hour %s: %w", hour, err)
	}
	if !inTime {
		report.Unfinished = true
		return false, nil
	}
	if err := c.saveHour(ctx, hour, deadline.Passed(p.stop, c.Now)); err != nil {
		return false, err
	}
	if err := c.moveWatermark(ctx, watermark, hour+1); err != nil {
		return false, err
	}
	report.Hours++
	report.Merged += len(of.Groups)
	for _, group := range of.Groups {
		report.Objects += len(group)
	}
	return true, nil
}

// each calls work for n groups, AtOnce at a time, until it returns an error or that there is no time left to begin a
// group. inTime reports whether all groups were begun.
func (c *Compactor) each(
	ctx context.Context, n int, work func(ctx context.Context, i int) (began bool, _ error),
) (inTime bool, _ error) {
	var late atomic.Bool
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(c.AtOnce)
	for i := range n {
		group.Go(func() error {
			if err := working.Err(); err != nil || late.Load() {
				return err
			}
			began, err := work(working, i)
			if !began && err == nil {
				late.Store(true)
			}
			return err
		})
	}
	err := group.Wait()
	return !late.Load(), err
}

// moveWatermark makes readers read the hours before to from the compacted objects.
func (c *Compactor) moveWatermark(ctx context.Context, from, to lake.Partition) error {
	now := c.Now().UTC()
	_, err := c.ChangeState(ctx, func(s *lakestate.State) bool {
		if s.Watermark != from {
			return false // another compaction has moved it
		}
		s.Watermark = to
		s.Changed(lake.DaysOf(from, to-1)...)
		s.Moves = withMove(s.Moves, lakestate.Move{To: to, First: now, Last: now})
		return true
	})
	return err
}

// movesTogether is the period in which moves of the watermark are recorded as one move. It keeps the list short,
// however many hours one run compacts. The objects that they superseded are kept longer by up to this time.
const movesTogether = 10 * time.Minute

func withMove(moves []lakestate.Move, m lakestate.Move) []lakestate.Move {
	if n := len(moves); n > 0 && m.Last.Sub(moves[n-1].First) < movesTogether {
		m.First = moves[n-1].First
		moves = moves[:n-1]
	}
	return append(moves, m)
}

// firstFresh returns the first hour with fresh objects that is at or after from and before to.
func (c *Compactor) firstFresh(ctx context.Context, from, to lake.Partition) (lake.Partition, bool, error) {
	hour, found, err := c.firstFilled(ctx, bucket.FreshRoot, from)
	return hour, found && hour < to, err
}

// withoutLost returns the names of objects that the state does not list as lost.
func withoutLost(s lakestate.State, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.HasLost(lake.NameOf(name)) })
}
