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
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	// countEvery is how often the records are counted, although no object is known to be removed: the life cycle of the
	// bucket removes objects once a day, also between others.
	countEvery = 24 * time.Hour
	// countAgain is when the records are counted again after a count that has not succeeded.
	countAgain = 6 * time.Hour
	// maxCounted is the maximum number of objects whose records are counted, two years of compacted hours. It takes
	// some ten seconds, and costs a cent.
	maxCounted = 20_000
)

// countRecords corrects the number of records of the extent from the footers of the objects that readers see, and
// records the sizes of their columns for estimates. It does nothing while an object is lost or an import is open, and
// with more objects than maxCounted. Then the number stays unknown, if it is. Of several compactions, one counts at a
// time, and its correction is made once.
func (c *Compactor) countRecords(ctx context.Context, timeUp func() bool) error {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	now := c.Now().UTC()
	switch {
	case !s.Shrunk && now.Sub(s.Counted) < countEvery, now.Sub(s.CountBegan) < countAgain:
		return nil
	case slices.ContainsFunc(s.Lost, isLost) || len(s.Open) > 0:
		return nil
	}
	objects, err := c.countable(ctx, s)
	if err != nil || len(objects) == 0 {
		return err
	}
	mine := false
	_, err = c.ChangeState(ctx, func(current *lakestate.State) bool {
		mine = current.CountBegan.Equal(s.CountBegan) && current.Counted.Equal(s.Counted)
		current.CountBegan = now
		return mine
	})
	if err != nil || !mine {
		return err
	}
	sum, err := c.sizesOf(ctx, objects, timeUp)
	if errors.Is(err, errNotCounted) {
		return nil
	}
	if err != nil {
		return err
	}
	total := sum.hours.Total()
	_, err = c.ChangeState(ctx, func(current *lakestate.State) bool {
		if !current.CountBegan.Equal(now) || hasShrunk(s, *current) || slices.ContainsFunc(current.Lost, isLost) {
			return false
		}
		current.Extent.Rows += sum.rows - s.Extent.Rows // imports may have been published meanwhile
		current.Shrunk, current.Counted, current.CountBegan = false, now, time.Time{}
		return true
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(sum.hours, func(hour lake.Partition, _ lakestate.ColumnSizes) bool { return hour >= s.Watermark })
	if err := lakestate.SaveColumnSizes(ctx, c.Table, total); err != nil {
		return err
	}
	return lakestate.SaveHours(ctx, c.Table, now, sum.hours)
}

// hasShrunk reports whether objects were removed between two states.
func hasShrunk(before, after lakestate.State) bool {
	return after.Shrunk && !before.Shrunk || after.Extent.Rows < before.Extent.Rows ||
		after.Extent.MinTsMs > before.Extent.MinTsMs || after.Extent.MaxTsMs < before.Extent.MaxTsMs
}

// countable lists the objects that readers of a state see. It returns nil if there are too many, or if the lake has
// changed meanwhile: a listing may have objects of imports that readers do not see yet.
func (c *Compactor) countable(ctx context.Context, s lakestate.State) ([]blob.Info, error) {
	first, last := lake.PartitionOf(s.Extent.MinTsMs), lake.PartitionOf(s.Extent.MaxTsMs)
	var objects []blob.Info
	for info, err := range lakestate.NewListing(c.Lake).Objects(ctx, s.Watermark, first, last) {
		if err != nil {
			return nil, err
		}
		if !bucket.IsObject(info) {
			continue
		}
		if len(objects) == maxCounted {
			return nil, nil
		}
		objects = append(objects, info)
	}
	now, _, err := lakestate.Load(ctx, c.Table)
	if err != nil || now.Version != s.Version || len(now.Open) > 0 {
		return nil, err
	}
	return objects, nil
}

// errNotCounted means that the records of an object cannot be counted now.
var errNotCounted = errors.New("not counted")

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
	var objects []blob.Info
	for info, err := range c.Lake.List(ctx, bucket.CompactFolder(hour), "") {
		if err != nil {
			return ctx.Err()
		}
		if bucket.IsObject(info) {
			objects = append(objects, info)
		}
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
