package lakestate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/status"
)

// Overview knows the status of a lake from its state and a listing of its bucket.
type Overview struct {
	table   Table
	listing *Listing
}

var _ status.Source = (*Overview)(nil)

// NewOverview returns an Overview of the lake with that table and listing.
func NewOverview(table Table, listing *Listing) *Overview { return &Overview{table, listing} }

// Status describes the lake. The numbers of records of hours are not known. The number of all records is not known once
// objects have been removed or are lost, and those of objects and bytes are not known of a lake with too many objects to
// list them.
func (o *Overview) Status(ctx context.Context) (status.Status, error) {
	s, _, err := Load(ctx, o.table)
	if err != nil {
		return status.Status{}, err
	}
	found := status.Status{
		Extent: s.Extent, Complete: s.CompleteThrough(), Records: s.records(), Ingest: s.imports(),
	}
	if s.Extent.Rows == 0 {
		found.Objects, found.Bytes, found.Hours = new(int), new(int64), []status.Hour{}
		return found, nil
	}
	first, last := lake.PartitionOf(s.Extent.MinTsMs), lake.PartitionOf(s.Extent.MaxTsMs)
	newest := max(first, last-status.NewestHours+1)
	hours, known, err := o.listing.hours(ctx, s.Watermark, newest, last)
	if err != nil || !known {
		return found, err
	}
	found.Hours = hours
	earlier, begin, known, err := o.listing.sizes(ctx, s.Watermark, first, newest-1)
	if err != nil || !known {
		return found, err
	}
	if earlier.Objects == 0 {
		begin = last + 1
		if len(hours) > 0 {
			begin = hours[len(hours)-1].Partition
		}
	}
	if begin > first { // the life cycle of the bucket has removed objects since the last compaction
		found.Records = nil
		found.Extent.MinTsMs = min(begin.Start(), s.Extent.MaxTsMs)
	}
	for _, h := range hours {
		earlier.Objects += h.Objects
		earlier.Bytes += h.Bytes
	}
	found.Objects, found.Bytes = &earlier.Objects, &earlier.Bytes
	return found, nil
}

// records returns the number of the records that readers see, or nil if it is not known.
func (s State) records() *int64 {
	isLost := func(o LostObject) bool { return o.Rebuilt.IsZero() }
	if s.Shrunk || slices.ContainsFunc(s.Lost, isLost) {
		return nil
	}
	return &s.Extent.Rows
}

// imports describes the imports. Logs that are put into the bucket of raw logs are always imported.
func (s State) imports() *status.Ingest {
	found := &status.Ingest{
		Watching: true, LastSource: s.Imports.Last, LastAt: s.Imports.At, Code: s.Imports.Code,
	}
	if s.Imports.Whole || s.Version == 0 && len(s.Open) == 0 {
		found.Rejected = &s.Imports.Rejected
	}
	return found
}

// hours returns the sizes of the objects of each hour that has some, newest first. It returns false if there are too
// many objects to find out.
func (l *Listing) hours(
	ctx context.Context, watermark, from, to lake.Partition,
) (hours []status.Hour, known bool, _ error) {
	hours = []status.Hour{}
	n := 0
	for info, err := range l.Objects(ctx, watermark, from, to) {
		if err != nil {
			return nil, false, fmt.Errorf("list the objects of the newest hours: %w", err)
		}
		hour, ok := hourOf(info.Name)
		if !ok {
			continue
		}
		if n++; n > maxListed {
			return nil, false, nil
		}
		if last := len(hours) - 1; last < 0 || hours[last].Partition != hour {
			hours = append(hours, status.Hour{Partition: hour, Compacted: hour < watermark})
		}
		h := &hours[len(hours)-1]
		h.Objects++
		h.Bytes += info.Size
	}
	slices.Reverse(hours)
	return hours, true, nil
}

// hourOf returns the hour of an object of the lake by its name, such as lake/fresh/2026/01/02/03/a.parquet. Engines do
// not read objects whose names have no hour.
func hourOf(name string) (hour lake.Partition, ok bool) {
	const layout = "2006/01/02/15"
	text := name[len(rootOf(name)):]
	t, err := time.Parse(layout, text[:min(len(text), len(layout))])
	if err != nil {
		return 0, false
	}
	return lake.PartitionOf(t.UnixMilli()), true
}
