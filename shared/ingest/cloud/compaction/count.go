package compaction

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	// countEvery is how often the records are counted, although no object is known to be removed: the life cycle of the
	// bucket removes objects once a day, also between others.
	countEvery = 24 * time.Hour
	// countAgain is when the records are counted again after a count that has not succeeded.
	countAgain = 6 * time.Hour
	// maxCounted is the maximum number of objects whose footers a compaction reads to count their records. It takes a
	// minute, and costs five cents. Days keep their counts, so that the next compaction continues.
	maxCounted = 100_000
	// quietTries is how often the objects of the newest hours are listed if imports are published meanwhile.
	quietTries = 3
)

// count counts the objects of days. Once a day, and after objects were removed, it also counts the records of the lake
// and adds up the sizes of columns. Of several compactions, one counts the records at a time, and its correction is
// made once. Then it bundles the objects that arrived late on the days that it has listed.
func (c *Compactor) count(ctx context.Context, stop time.Time, report *Report) error {
	timeUp := deadline.Passed(stop, c.Now)
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	now := c.Now().UTC()
	mine := false
	if recordsDue(s, now) {
		_, err := c.ChangeState(ctx, func(current *lakestate.State) bool {
			mine = current.CountBegan.Equal(s.CountBegan) && current.Counted.Equal(s.Counted)
			current.CountBegan = now
			return mine
		})
		if err != nil {
			return err
		}
	}
	listed, err := c.countObjects(ctx, mine, timeUp)
	if err == nil {
		err = c.bundleLate(ctx, listed, stop, report)
	}
	if err != nil || !mine {
		return err
	}
	err = c.countRecords(ctx, now, timeUp)
	if errors.Is(err, errLeft) {
		_, err := c.ChangeState(ctx, func(current *lakestate.State) bool {
			mine = current.CountBegan.Equal(now)
			current.CountBegan = time.Time{} // the next compaction continues
			return mine
		})
		return err
	}
	if errors.Is(err, errNotCounted) {
		return nil
	}
	return err
}

// recordsDue reports whether it is time to count the records.
func recordsDue(s lakestate.State, now time.Time) bool {
	switch {
	case s.Extent.Rows == 0 || slices.ContainsFunc(s.Lost, isLost):
		return false
	case now.Sub(s.CountBegan) < countAgain:
		return false
	}
	return s.Shrunk || now.Sub(s.Counted) >= countEvery
}

// countRecords corrects the number of records of the extent from the footers of the objects that readers see, and
// records the sizes of their columns for estimates. It reads the footers of days that have changed since their last
// count, and of the newest hours. If an object is lost or cannot be read, the error is errNotCounted. Then the number
// stays unknown, if it is.
func (c *Compactor) countRecords(ctx context.Context, began time.Time, timeUp func() bool) error {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	counts, err := c.countsOf(ctx, s)
	if err != nil {
		return err
	}
	days, err := c.recordsOfDays(ctx, s, counts, timeUp)
	if err != nil {
		return err
	}
	s, objects, err := c.newestObjects(ctx, counts)
	if err != nil {
		return err
	}
	sum, err := c.sizesOf(ctx, objects, timeUp)
	if err != nil {
		return err
	}
	total := sum.hours.Total()
	total.Add(days.columns)
	if total.Objects == 0 {
		return errNotCounted // nothing is left, or the bucket has removed what was counted
	}
	_, err = c.ChangeState(ctx, func(current *lakestate.State) bool {
		if !current.CountBegan.Equal(began) || hasShrunk(s, *current) || slices.ContainsFunc(current.Lost, isLost) {
			return false
		}
		current.Extent.Rows += days.records + sum.rows - s.Extent.Rows // imports may have been published meanwhile
		current.Shrunk, current.Counted, current.CountBegan = false, began, time.Time{}
		return true
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(sum.hours, func(hour lake.Partition, _ lakestate.ColumnSizes) bool { return hour >= s.Watermark })
	if err := lakestate.SaveColumnSizes(ctx, c.Table, total); err != nil {
		return err
	}
	return lakestate.SaveHours(ctx, c.Table, began, sum.hours)
}

// daysCounted is the sum of what days have.
type daysCounted struct {
	records int64
	columns lakestate.ColumnSizes
}

// recordsOfDays adds up the records and the columns of days. It reads the footers of the days that were never counted
// with the objects that they have now. The error is errLeft if the time is up, or if they have too many objects, and
// errNotCounted if some of them cannot be read.
func (c *Compactor) recordsOfDays(
	ctx context.Context, s lakestate.State, counts map[lake.Day]lakestate.DayCount, timeUp func() bool,
) (all daysCounted, _ error) {
	if len(counts) == 0 {
		return all, nil
	}
	first, last := wholeDays(s)
	counted := map[lake.Day]lakestate.ColumnSizes{}
	for hours, err := range lakestate.SavedHours(ctx, c.Table, c.Now(), first, last) {
		if err != nil {
			return all, err
		}
		for hour := range hours {
			day := hour.Day()
			if sizes, complete := hours.Of(counts[day].Hours); complete {
				counted[day] = sizes
			}
			break
		}
	}
	left, unreadable := maxCounted, false
	for _, day := range slices.Sorted(maps.Keys(counts)) {
		count := counts[day]
		n := count.Objects()
		if n == 0 {
			continue
		}
		if columns, known := counted[day]; known && count.Records != nil {
			all.records += *count.Records
			all.columns.Add(columns)
			continue
		}
		if left -= n; left < 0 && left+n < maxCounted || timeUp() {
			return all, errLeft
		}
		sum, err := c.recordsOfDay(ctx, count, timeUp)
		switch {
		case errors.Is(err, errNotCounted):
			unreadable = true // the other days are counted all the same
		case err != nil:
			return all, err
		default:
			all.records += sum.rows
			all.columns.Add(sum.hours.Total())
		}
	}
	if unreadable {
		return all, errNotCounted
	}
	return all, nil
}

// recordsOfDay reads the footers of the objects of a day, and saves the number of their records and the sizes of their
// columns. The error is errNotCounted if the day does not have the objects of its count any more.
func (c *Compactor) recordsOfDay(
	ctx context.Context, count lakestate.DayCount, timeUp func() bool,
) (*contents, error) {
	var objects []blob.Info
	keep := func(_ lake.Day, info blob.Info) { objects = append(objects, info) }
	digest := ""
	for found, err := range lakestate.NewListing(c.Lake).Days(ctx, count.Day, count.Day, keep) {
		if err != nil {
			return nil, err
		}
		digest = found.Digest
	}
	if digest != count.Digest {
		return nil, errNotCounted
	}
	sum, err := c.sizesOf(ctx, objects, timeUp)
	if err != nil {
		return nil, err
	}
	if err := lakestate.SaveHours(ctx, c.Table, c.Now(), sum.hours); err != nil {
		return nil, err
	}
	with := count
	with.Records = &sum.rows
	return sum, lakestate.SaveDayCount(ctx, c.Table, c.Now(), count, with)
}

// newestObjects lists the objects that readers see in the hours after the days with counts. It returns the state of
// which that is true, and of which the counts hold, and no import is open: a listing may have objects of imports that
// readers do not see yet. If no such moment is found, the error is errNotCounted.
func (c *Compactor) newestObjects(
	ctx context.Context, counts map[lake.Day]lakestate.DayCount,
) (s lakestate.State, objects []blob.Info, err error) {
	listed, err := lakestate.ReadListed(ctx, c.Table)
	if err != nil {
		return s, nil, err
	}
	s, _, err = lakestate.Load(ctx, c.Table)
	for range quietTries {
		if err != nil {
			return s, nil, err
		}
		first, last := lake.PartitionOf(s.Extent.MinTsMs), lake.PartitionOf(s.Extent.MaxTsMs)
		if _, day := wholeDays(s); len(counts) > 0 {
			first = max(first, (day + 1).First())
		}
		objects = objects[:0]
		for info, err := range lakestate.NewListing(c.Lake).Objects(ctx, s.Watermark, first, last) {
			if err != nil {
				return s, nil, err
			}
			if len(objects) == maxCounted {
				return s, nil, errNotCounted
			}
			if bucket.IsObject(info) {
				objects = append(objects, info)
			}
		}
		before := s
		s, _, err = lakestate.Load(ctx, c.Table)
		if err == nil && s.Version == before.Version && len(s.Open) == 0 {
			return s, objects, holding(s, counts, listed)
		}
	}
	return s, nil, errors.Join(err, errNotCounted)
}

// hasShrunk reports whether objects were removed between two states.
func hasShrunk(before, after lakestate.State) bool {
	return after.Shrunk && !before.Shrunk || after.Extent.Rows < before.Extent.Rows ||
		after.Extent.MinTsMs > before.Extent.MinTsMs || after.Extent.MaxTsMs < before.Extent.MaxTsMs
}

// errNotCounted means that the records of an object cannot be counted now.
var errNotCounted = errors.New("not counted")

// errLeft means that the next compaction continues the count.
var errLeft = errors.New("objects are left to be counted")

// contents is the sum of the rows of objects, and the sizes of their columns.
type contents struct {
	mu    sync.Mutex
	rows  int64
	hours lakestate.ColumnsByHour
}

func (s *contents) add(name string, size, rows int64, columns map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows += rows
	if hour, ok := lakestate.HourOf(name); ok {
		s.hours.Add(hour, size, columns)
	}
}

// saveHour records the sizes of the columns of an hour that was just compacted, from the footers of its objects.
// Nothing waits for them: if they cannot be read or stored now, they are recorded when the records are counted. The
// error is only that of ctx.
func (c *Compactor) saveHour(ctx context.Context, hour lake.Partition, timeUp func() bool) error {
	objects, err := c.objectsIn(ctx, bucket.CompactFolder(hour))
	if err != nil {
		return ctx.Err()
	}
	sum, err := c.sizesOf(ctx, objects, timeUp)
	if err == nil {
		err = lakestate.SaveHours(ctx, c.Table, c.Now(), sum.hours)
	}
	if err != nil {
		return ctx.Err()
	}
	return nil
}

// sizesOf returns the sums of the rows of objects and of the sizes of their columns.
func (c *Compactor) sizesOf(ctx context.Context, objects []blob.Info, timeUp func() bool) (*contents, error) {
	sum := &contents{hours: lakestate.ColumnsByHour{}}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(c.Footers)
	for _, info := range objects {
		if timeUp() {
			group.Go(func() error { return errNotCounted })
			break
		}
		group.Go(func() error { return c.addSizes(working, info, sum) })
	}
	return sum, group.Wait()
}

// addSizes adds the rows and columns of an object. The error is errNotCounted if the object is gone or replaced, also
// while it is read, or is no object that this version can read.
func (c *Compactor) addSizes(ctx context.Context, info blob.Info, sum *contents) (err error) {
	in, err := blob.Open(ctx, c.Lake, info.Name, "")
	if errors.Is(err, blob.ErrNotFound) {
		return errNotCounted
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	r := &readerAt{in: in}
	rows, columns, err := ingest.SizesIn(r, in.Info().Size)
	gone := errors.Is(r.failed, blob.ErrNotFound) || errors.Is(r.failed, blob.ErrChanged)
	switch {
	case err == nil:
		sum.add(info.Name, in.Info().Size, rows, columns)
	case r.failed == nil || gone:
		return errNotCounted
	}
	return err
}
