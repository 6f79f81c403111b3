package lakestate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// Sizes knows the sizes of the objects of a lake: those of days from their counts, and all others from listings.
type Sizes struct {
	table   Table
	listing *Listing
}

var _ engine.SizesOfHours = (*Sizes)(nil)

// NewSizes returns the Sizes of a lake with that table and listing.
func NewSizes(table Table, listing *Listing) *Sizes { return &Sizes{table, listing} }

const (
	// maxListed is the number of objects up to which they are listed. S3 lists 1,000 objects in a request, which takes
	// some tens of milliseconds and costs a tenth of the least that Athena charges for a query.
	maxListed = 20_000
	// fewDays is the number of days up to which no counts are read: one or two requests list their objects.
	fewDays = 3
)

// Sizes returns the sizes of the objects that queries of the hours read. It may count late objects that readers do not
// see for some minutes.
//
// Counts stand for whole days before the watermark. The other hours are listed, and so is the first day with objects,
// because the life cycle of a bucket removes objects where the lake begins.
func (z *Sizes) Sizes(
	ctx context.Context, s engine.State, from, to lake.Partition,
) (hours map[lake.Partition]engine.Sizes, known bool, _ error) {
	counts, err := z.counts(ctx, s, from, to)
	if err != nil {
		return nil, false, err
	}
	l := &sizesListing{listing: z.listing, watermark: s.Watermark, hours: map[lake.Partition]engine.Sizes{}}
	next := from
	if len(counts) > 0 {
		first, err := l.firstDay(ctx, from, to)
		if err != nil || l.tooMany() {
			return nil, false, err
		}
		next = max(from, (first + 1).First())
	}
	for _, day := range slices.Sorted(maps.Keys(counts)) {
		if day.First() < next {
			continue
		}
		if err := l.list(ctx, next, day.First()-1); err != nil || l.tooMany() {
			return nil, false, err
		}
		maps.Copy(l.hours, counts[day].Hours)
		next = (day + 1).First()
	}
	if err := l.list(ctx, next, to); err != nil || l.tooMany() {
		return nil, false, err
	}
	return l.hours, true, nil
}

// counts returns the counts that hold of the whole days from…to before the watermark.
func (z *Sizes) counts(
	ctx context.Context, s engine.State, from, to lake.Partition,
) (map[lake.Day]DayCount, error) {
	first, last := (from + hoursOfDay - 1).Day(), min(to+1, s.Watermark).Day()-1
	if last-first < fewDays {
		return nil, nil
	}
	counts, err := ReadDayCounts(ctx, z.table, first, last)
	maps.DeleteFunc(counts, func(_ lake.Day, c DayCount) bool { return !c.Holds(s) })
	return counts, err
}

// sizesListing adds up the sizes of listed objects.
type sizesListing struct {
	listing   *Listing
	watermark lake.Partition
	hours     map[lake.Partition]engine.Sizes
	listed    int
}

func (l *sizesListing) tooMany() bool { return l.listed > maxListed }

// list lists the objects of the hours from…to, which may be none.
func (l *sizesListing) list(ctx context.Context, from, to lake.Partition) error {
	return l.listUntil(ctx, from, to, func(lake.Partition) bool { return false })
}

// firstDay lists the objects of the first day with objects in the hours from…to, and returns that day. If there are no
// objects, it is the last day.
func (l *sizesListing) firstDay(ctx context.Context, from, to lake.Partition) (lake.Day, error) {
	first, found := to.Day(), false
	err := l.listUntil(ctx, from, to, func(hour lake.Partition) bool {
		if !found {
			first, found = hour.Day(), true
		}
		return hour.Day() > first
	})
	return first, err
}

// listUntil lists the objects of the hours from…to until one of an hour is beyond, or until they are too many.
func (l *sizesListing) listUntil(
	ctx context.Context, from, to lake.Partition, beyond func(lake.Partition) bool,
) error {
	for info, err := range l.listing.Objects(ctx, l.watermark, from, to) {
		if err != nil {
			return fmt.Errorf("list the objects of some hours: %w", err)
		}
		hour, ok := HourOf(info.Name)
		if !ok {
			continue
		}
		if beyond(hour) {
			return nil
		}
		if l.listed++; l.tooMany() {
			return nil
		}
		add(l.hours, hour, info)
	}
	return nil
}
