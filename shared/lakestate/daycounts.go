package lakestate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"iter"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// dayCounts is the partition of the table with the DayCount of each day of compacted hours, and the Listed.
const dayCounts = "counts"

// DayCount counts the objects of a day, all of whose hours are compacted.
//
// The objects of a day change only with its version. So a count that was made at a version of the lake holds as long as
// the version of the day is not greater. There is an exception: nothing changes the version when objects are removed by
// the life cycle of the bucket, or by hand. Such a count is wrong until all objects are listed again, within a day.
type DayCount struct {
	Day     lake.Day
	Version int64 // of the lake at which the objects were counted, or were found to be the same
	Hours   map[lake.Partition]engine.Sizes
	Records *int64 // of all the objects; nil: their footers were not read
	// Digest is of the names, the sizes and the ETags of the objects. Days with the same digest have the same objects.
	Digest string
	Saved  time.Time // zero for a count that is not in the table

	item Item
}

// Holds reports whether the objects of the day are still those that were counted.
func (c DayCount) Holds(s engine.State) bool {
	return !c.Saved.IsZero() && c.Version >= s.VersionOfDay(c.Day)
}

// Objects returns the number of the objects.
func (c DayCount) Objects() int {
	n := 0
	for _, hour := range c.Hours {
		n += hour.Objects
	}
	return n
}

// Old reports whether the count, although it holds, must be saved again lest the table removes it.
func (c DayCount) Old(now time.Time) bool { return now.Sub(c.Saved) >= dayRenewed }

// Days yields the counts of the days from first to last that have objects, by a listing. All their hours must be before
// the watermark. The objects of each are passed to visit, unless that is nil.
func (l *Listing) Days(
	ctx context.Context, first, last lake.Day, visit func(lake.Day, blob.Info),
) iter.Seq2[DayCount, error] {
	return func(yield func(DayCount, error) bool) {
		var day DayCount
		var digest hash.Hash
		done := func() bool {
			if day.Hours == nil {
				return true
			}
			day.Digest = hex.EncodeToString(digest.Sum(nil))
			return yield(day, nil)
		}
		end := (last + 1).First()
		for info, err := range l.Objects(ctx, end, first.First(), end-1) {
			if err != nil {
				yield(DayCount{}, err)
				return
			}
			hour, ok := HourOf(info.Name)
			if !ok {
				continue
			}
			if day.Hours == nil || hour.Day() != day.Day {
				if !done() {
					return
				}
				day = DayCount{Day: hour.Day(), Hours: map[lake.Partition]engine.Sizes{}}
				digest = fnv.New128a()
			}
			fmt.Fprintf(digest, "%s\n%d %s\n", info.Name, info.Size, info.ETag)
			add(day.Hours, hour, info)
			if visit != nil {
				visit(day.Day, info)
			}
		}
		done()
	}
}

// add adds an object to the sizes of its hour.
func add(hours map[lake.Partition]engine.Sizes, hour lake.Partition, info blob.Info) {
	h := hours[hour]
	h.Objects++
	h.Bytes += info.Size
	hours[hour] = h
}

// storedCount is a DayCount as it is stored. The lists have an entry for each hour of the day.
type storedCount struct {
	Version int64     `json:"version"`
	Objects []int     `json:"objects"`
	Bytes   []int64   `json:"bytes"`
	Records *int64    `json:"records,omitempty"`
	Digest  string    `json:"digest"`
	Saved   time.Time `json:"saved"`
}

const hoursOfDay = 24

// ReadDayCounts reads the counts of the days from first to last. Days that were not counted have only their items. An
// item that cannot be decoded is one of a day that was not counted.
func ReadDayCounts(ctx context.Context, table Table, first, last lake.Day) (map[lake.Day]DayCount, error) {
	counts := map[lake.Day]DayCount{}
	for item, err := range table.Between(ctx, dayCounts, first.String(), last.String()) {
		if err != nil {
			return nil, fmt.Errorf("read the counts of days: %w", err)
		}
		at, err := time.Parse(time.DateOnly, item.Key.Sort)
		if err != nil {
			continue
		}
		c := DayCount{Day: lake.PartitionOf(at.UnixMilli()).Day(), item: item}
		var stored storedCount
		if item.Read(&stored) == nil && len(stored.Objects) == hoursOfDay && len(stored.Bytes) == hoursOfDay {
			c.Version, c.Records, c.Digest, c.Saved = stored.Version, stored.Records, stored.Digest, stored.Saved
			c.Hours = map[lake.Partition]engine.Sizes{}
			for i, n := range stored.Objects {
				if n > 0 {
					c.Hours[c.Day.First()+lake.Partition(i)] = engine.Sizes{Objects: n, Bytes: stored.Bytes[i]}
				}
			}
		}
		counts[c.Day] = c
	}
	return counts, nil
}

// SaveDayCount replaces the count of a day that was read before, or that was not in the table. If another writer has
// replaced it meanwhile, its count stays.
func SaveDayCount(ctx context.Context, table Table, now time.Time, before, c DayCount) error {
	stored := storedCount{
		Version: c.Version, Objects: make([]int, hoursOfDay), Bytes: make([]int64, hoursOfDay),
		Records: c.Records, Digest: c.Digest, Saved: now.UTC(),
	}
	for hour, sizes := range c.Hours {
		i := hour - c.Day.First()
		stored.Objects[i], stored.Bytes[i] = sizes.Objects, sizes.Bytes
	}
	item := before.item
	item.Key = Key{Partition: dayCounts, Sort: c.Day.String()}
	change, err := ChangeOf(item, stored)
	if err == nil {
		change.Expires = now.Add(dayKept)
		err = table.Write(ctx, change)
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("save the count of %s: %w", c.Day, err)
	}
	return nil
}

// Listed is when the objects of all days were listed last. Days without a count had no objects then, unless they have
// changed after that version.
type Listed struct {
	At      time.Time `json:"at"`
	Version int64     `json:"version"`
}

var listedKey = Key{Partition: dayCounts, Sort: "listed"}

// ReadListed reads when the objects of all days were listed last. It is zero for never.
func ReadListed(ctx context.Context, table Table) (Listed, error) {
	l, _, err := Get[Listed](ctx, table, listedKey)
	if err != nil {
		return Listed{}, fmt.Errorf("read when the objects were listed: %w", err)
	}
	return l, nil
}

// SaveListed replaces when the objects of all days were listed last, unless another writer has done so meanwhile.
func SaveListed(ctx context.Context, table Table, l Listed) error {
	item, err := table.Get(ctx, listedKey)
	if err == nil {
		err = Replace(ctx, table, item, l)
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("save when the objects were listed: %w", err)
	}
	return nil
}
