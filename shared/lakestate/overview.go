package lakestate

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/status"
)

// Overview knows the status of a lake from its state and the sizes of its objects.
type Overview struct {
	table Table
	sizes *Sizes
}

var _ status.Source = (*Overview)(nil)

// NewOverview returns an Overview of the lake with that table and listing.
func NewOverview(table Table, listing *Listing) *Overview {
	return &Overview{table, NewSizes(table, listing)}
}

// Status describes the lake. The numbers of records of hours are not known. The number of all records is not known once
// objects have been removed or are lost, and those of objects and bytes are not known of a lake with too many objects
// that are not counted.
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
	newest, of := max(first, last-status.NewestHours+1), s.OfEngines()
	hours, known, err := o.sizes.Sizes(ctx, of, newest, last)
	if err != nil || !known {
		return found, err
	}
	found.Hours = newestFirst(hours, s.Watermark)
	earlier, known, err := o.sizes.Sizes(ctx, of, first, newest-1)
	if err != nil || !known {
		return found, err
	}
	maps.Copy(hours, earlier)
	begin, all := last+1, engine.Sizes{}
	for hour, sizes := range hours {
		begin = min(begin, hour)
		all.Objects += sizes.Objects
		all.Bytes += sizes.Bytes
	}
	if begin > first { // the life cycle of the bucket has removed objects since the last compaction
		found.Records = nil
		found.Extent.MinTsMs = min(begin.Start(), s.Extent.MaxTsMs)
	}
	found.Objects, found.Bytes = &all.Objects, &all.Bytes
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

// newestFirst returns the sizes of the objects of hours, newest first.
func newestFirst(sizes map[lake.Partition]engine.Sizes, watermark lake.Partition) []status.Hour {
	hours := []status.Hour{}
	for _, hour := range slices.Backward(slices.Sorted(maps.Keys(sizes))) {
		hours = append(hours, status.Hour{
			Partition: hour, Objects: sizes[hour].Objects, Bytes: sizes[hour].Bytes, Compacted: hour < watermark,
		})
	}
	return hours
}

// HourOf returns the hour of an object of the lake by its name, such as lake/fresh/2026/01/02/03/a.parquet. Engines do
// not read objects whose names have no hour.
func HourOf(name string) (hour lake.Partition, ok bool) {
	const layout = "2006/01/02/15"
	text := name[len(rootOf(name)):]
	t, err := time.Parse(layout, text[:min(len(text), len(layout))])
	if err != nil {
		return 0, false
	}
	return lake.PartitionOf(t.UnixMilli()), true
}
