package compaction

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	// listEvery is how often the objects of all days are listed, although no day is known to have changed: the life
	// cycle of the bucket removes objects once a day.
	listEvery = 24 * time.Hour
	// listAgain is when they are listed again if the state does not show which days have changed.
	listAgain = time.Hour
)

// wholeDays returns the first and the last day of the extent whose hours are all compacted. If there is none, the last
// day is before the first.
func wholeDays(s lakestate.State) (first, last lake.Day) {
	newest := lake.PartitionOf(s.Extent.MaxTsMs)
	return lake.PartitionOf(s.Extent.MinTsMs).Day(), min(newest.Day(), s.Watermark.Day()-1)
}

// countObjects counts the objects of each day whose hours are all compacted, for the status and for estimates. It lists
// the days that have changed since their last count, and all days if that is asked for, once a day, and if so many days
// have changed that the state has no versions of their own for them.
//
// A count has the version of the state that was read before the listing. Whatever makes objects visible or invisible
// increases the version of the day afterwards: the publication of an import after its objects have their names, a move
// of the watermark after the objects are merged. So a listing that is older than such a change, or has seen a part of
// it, makes a count that does not hold once the change is there, also if this process dies or saves the count late. A
// lost object is an exception, because it is removed after the version has increased: days with one are not counted.
// It returns the counts of the days that it has listed.
func (c *Compactor) countObjects(
	ctx context.Context, all bool, timeUp func() bool,
) (map[lake.Day]lakestate.DayCount, error) {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil || s.Extent.Rows == 0 {
		return nil, err
	}
	first, last := wholeDays(s)
	if last < first {
		return nil, nil
	}
	known, err := lakestate.ReadDayCounts(ctx, c.Table, first, last)
	if err != nil {
		return nil, err
	}
	listed, err := lakestate.ReadListed(ctx, c.Table)
	if err != nil {
		return nil, err
	}
	now := c.Now().UTC()
	switch age := now.Sub(listed.At); {
	case all, age >= listEvery, age >= listAgain && changedUnseen(s, known, listed):
	default:
		return c.countChanged(ctx, s, known, first, last, timeUp)
	}
	found, err := c.listDays(ctx, first, last, timeUp)
	if err != nil || found == nil {
		return nil, err
	}
	for day := range known {
		if _, there := found[day]; !there {
			found[day] = lakestate.DayCount{Day: day}
		}
	}
	if err := c.saveCounts(ctx, s, known, found); err != nil {
		return nil, err
	}
	return found, lakestate.SaveListed(ctx, c.Table, lakestate.Listed{At: now, Version: s.Version})
}

// changedUnseen reports whether days may have changed that have no version of their own.
func changedUnseen(s lakestate.State, known map[lake.Day]lakestate.DayCount, listed lakestate.Listed) bool {
	of := s.OfEngines()
	if otherDays(of) > listed.Version {
		return true
	}
	for day, count := range known {
		if _, own := s.Days.Latest[day]; !own && !count.Holds(of) && !hasLost(s, day) {
			return true
		}
	}
	return false
}

// countChanged counts the days with versions of their own whose counts do not hold.
func (c *Compactor) countChanged(
	ctx context.Context, s lakestate.State, known map[lake.Day]lakestate.DayCount, first, last lake.Day,
	timeUp func() bool,
) (map[lake.Day]lakestate.DayCount, error) {
	listed := map[lake.Day]lakestate.DayCount{}
	for _, day := range slices.Sorted(maps.Keys(s.Days.Latest)) {
		if day < first || day > last || known[day].Holds(s.OfEngines()) || hasLost(s, day) {
			continue
		}
		found, err := c.listDays(ctx, day, day, timeUp)
		if err != nil || found == nil {
			return listed, err
		}
		maps.Copy(listed, found)
		if len(found) == 0 {
			found[day] = lakestate.DayCount{Day: day}
		}
		if err := c.saveCounts(ctx, s, known, found); err != nil {
			return listed, err
		}
	}
	return listed, nil
}

// listDays lists the objects of days. It returns nil if the time is up.
func (c *Compactor) listDays(
	ctx context.Context, first, last lake.Day, timeUp func() bool,
) (map[lake.Day]lakestate.DayCount, error) {
	if timeUp() {
		return nil, nil
	}
	found := map[lake.Day]lakestate.DayCount{}
	for count, err := range lakestate.NewListing(c.Lake).Days(ctx, first, last, nil) {
		if err != nil {
			return nil, err
		}
		found[count.Day] = count
		if timeUp() {
			return nil, nil
		}
	}
	return found, nil
}

// saveCounts saves what was found of some days after state s was read. It leaves out days with lost objects, and counts
// that hold and will do so until the objects of all days are listed again.
func (c *Compactor) saveCounts(
	ctx context.Context, s lakestate.State, known, found map[lake.Day]lakestate.DayCount,
) error {
	now, of, next := c.Now(), s.OfEngines(), nextOthers(s)
	for _, day := range slices.Sorted(maps.Keys(found)) {
		before, count := known[day], found[day]
		same := !before.Saved.IsZero() && before.Digest == count.Digest
		if hasLost(s, day) || same && before.Holds(of) && before.Version >= next && !before.Old(now) {
			continue
		}
		count.Version = s.Version
		if same {
			count.Records = before.Records
		}
		if err := lakestate.SaveDayCount(ctx, c.Table, now, before, count); err != nil {
			return err
		}
	}
	return nil
}

// nextOthers returns the version that the days without one of their own have after the next days have changed.
func nextOthers(s lakestate.State) int64 {
	next := otherDays(s.OfEngines())
	if len(s.Days.Latest) > 0 {
		next = slices.Min(slices.Collect(maps.Values(s.Days.Latest)))
	}
	return next
}

// hasLost reports whether an object of a day is lost.
func hasLost(s lakestate.State, day lake.Day) bool {
	return slices.ContainsFunc(s.Lost, func(o lakestate.LostObject) bool { return isLost(o) && o.Hour.Day() == day })
}

// countsOf returns the counts of all days with objects whose hours are all compacted. It returns errNotCounted if one
// of them does not hold, or if there may be others.
func (c *Compactor) countsOf(ctx context.Context, s lakestate.State) (map[lake.Day]lakestate.DayCount, error) {
	first, last := wholeDays(s)
	if last < first {
		return nil, nil
	}
	counts, err := lakestate.ReadDayCounts(ctx, c.Table, first, last)
	if err != nil {
		return nil, err
	}
	listed, err := lakestate.ReadListed(ctx, c.Table)
	if err != nil {
		return nil, err
	}
	return counts, holding(s, counts, listed)
}

// holding returns errNotCounted unless all days of a state with objects have counts that hold.
func holding(s lakestate.State, counts map[lake.Day]lakestate.DayCount, listed lakestate.Listed) error {
	of := s.OfEngines()
	first, last := wholeDays(s)
	if last < first {
		return nil
	}
	missing := func(day lake.Day) bool {
		count, found := counts[day]
		return found && !count.Holds(of) || !found && of.VersionOfDay(day) > listed.Version
	}
	for day := range counts {
		if missing(day) {
			return errNotCounted
		}
	}
	for day := range s.Days.Latest {
		if first <= day && day <= last && missing(day) {
			return errNotCounted
		}
	}
	if otherDays(of) > listed.Version {
		return errNotCounted // of days that have neither a count nor a version of their own
	}
	return nil
}

// otherDays returns the version of the days that have no version of their own.
func otherDays(s engine.State) int64 {
	if s.Days.IsZero() {
		return s.Version
	}
	return s.Days.Others
}
