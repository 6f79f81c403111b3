package compaction

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// narrowExtent removes hours without objects from both ends of the extent of the lake, so that queries for all times do
// not list them. Such hours are left when objects are removed. The extent never grows here. Its number of rows stays,
// unless no object is left, because the rows of removed objects are not known.
//
// An import that is published meanwhile changes the version of the state. Then nothing is changed.
func (c *Compactor) narrowExtent(ctx context.Context) error {
	s, _, err := lakestate.Load(ctx, c.Table)
	if err != nil || s.Extent.Rows == 0 {
		return err
	}
	narrowed, err := c.extentWithin(ctx, s)
	if errors.Is(err, blob.ErrNotFound) {
		return nil // another compaction has removed an object; the next run tries again
	}
	if err != nil || narrowed == s.Extent {
		return err
	}
	_, err = c.ChangeState(ctx, func(current *lakestate.State) bool {
		if current.Version != s.Version {
			return false
		}
		current.Extent = narrowed
		// If no object is left, no row is counted, so that the count is right again. Lost objects are an exception:
		// rows that are rebuilt were counted before, and are not counted again.
		current.Shrunk = narrowed.Rows > 0 || slices.ContainsFunc(current.Lost, isLost)
		current.ChangedAll() // objects may have been removed in any hour
		return true
	})
	return err
}

func isLost(o lakestate.LostObject) bool { return o.Rebuilt.IsZero() }

// extentWithin returns the extent of the objects that readers see, as far as the extent of the state covers it.
func (c *Compactor) extentWithin(ctx context.Context, s lakestate.State) (lake.Extent, error) {
	e := s.Extent
	first, last := lake.PartitionOf(e.MinTsMs), lake.PartitionOf(e.MaxTsMs)
	from, found, err := c.firstVisible(ctx, s.Watermark, first, last)
	if err != nil {
		return lake.Extent{}, err
	}
	if !found {
		return lake.Extent{}, nil
	}
	to, err := c.lastVisible(ctx, s.Watermark, from, last)
	if err != nil {
		return lake.Extent{}, err
	}
	if from != first {
		hour, err := c.extentOfHour(ctx, s.Watermark, from)
		if err != nil {
			return lake.Extent{}, err
		}
		e.MinTsMs = hour.MinTsMs
	}
	if to != last {
		hour, err := c.extentOfHour(ctx, s.Watermark, to)
		if err != nil {
			return lake.Extent{}, err
		}
		e.MaxTsMs = hour.MaxTsMs
	}
	return e, nil
}

// firstVisible returns the first hour from from to to, both included, with objects that readers see.
func (c *Compactor) firstVisible(
	ctx context.Context, watermark, from, to lake.Partition,
) (hour lake.Partition, found bool, err error) {
	for _, part := range []struct {
		root     string
		from, to lake.Partition
	}{
		{bucket.CompactRoot, from, min(to, watermark-1)},
		{bucket.FreshRoot, max(from, watermark), to},
	} {
		if part.from > part.to {
			continue
		}
		hour, found, err := c.firstFilled(ctx, part.root, part.from)
		if err != nil || found && hour <= part.to {
			return hour, err == nil, err
		}
	}
	return 0, false, nil
}

// lastVisible returns the last hour from from to to, both included, with objects that readers see. Hour from has some.
// Because objects are listed in ascending order, it bisects the hours, unless the last one has objects.
func (c *Compactor) lastVisible(ctx context.Context, watermark, from, to lake.Partition) (lake.Partition, error) {
	for middle := to; from < to; middle = from + (to-from+1)/2 {
		hour, found, err := c.firstVisible(ctx, watermark, middle, to)
		if err != nil {
			return 0, err
		}
		if found {
			from = hour
		} else {
			to = middle - 1
		}
	}
	return from, nil
}

// firstFilled returns the first hour at or after from with objects under a root.
func (c *Compactor) firstFilled(ctx context.Context, root string, from lake.Partition) (lake.Partition, bool, error) {
	for info, err := range c.Lake.List(ctx, root, root+from.String()+"/") {
		if err != nil {
			return 0, false, err
		}
		hour, ok := bucket.HourOf(strings.TrimPrefix(info.Name, root))
		if ok && bucket.IsObject(info) {
			return hour, true, nil
		}
	}
	return 0, false, nil
}

// extentOfHour returns the extent of the objects of an hour that readers see. It downloads one object at a time.
func (c *Compactor) extentOfHour(ctx context.Context, watermark, hour lake.Partition) (e lake.Extent, err error) {
	dir, err := os.MkdirTemp(c.Scratch, "extent-")
	if err != nil {
		return lake.Extent{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "object.parquet")
	for info, err := range c.Lake.List(ctx, bucket.VisibleFolder(watermark, hour), "") {
		if err != nil {
			return lake.Extent{}, err
		}
		if !bucket.IsObject(info) {
			continue
		}
		if err := c.Lake.Download(ctx, info.Name, file); err != nil {
			return lake.Extent{}, err
		}
		object, err := ingest.ExtentOf(file)
		if local := (*fs.PathError)(nil); errors.As(err, &local) {
			return lake.Extent{}, err // of the local disk
		}
		if err != nil { // The object is damaged, so its records may be anywhere in its hour.
			object = lake.Extent{MinTsMs: hour.Start(), MaxTsMs: (hour + 1).Start() - 1, Rows: 1}
		}
		e = e.Union(object)
	}
	return e, nil
}
