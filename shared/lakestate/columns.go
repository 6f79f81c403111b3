package lakestate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// ColumnSizes are the sizes of the columns of some objects together.
type ColumnSizes struct {
	Objects int64              `json:"objects"` // bytes of the whole objects
	Columns engine.ColumnBytes `json:"columns"`
}

// ColumnsByHour are the sizes of the columns of the objects of each hour. They cover only the objects that were
// counted. A listing has the bytes of all objects, and readers assume that the others are like those that were counted,
// so the sizes need not follow each change of the objects.
type ColumnsByHour map[lake.Partition]ColumnSizes

// Add adds an object of an hour.
func (c ColumnsByHour) Add(hour lake.Partition, bytes int64, columns engine.ColumnBytes) {
	sum := c[hour]
	if sum.Columns == nil {
		sum.Columns = make(engine.ColumnBytes, len(columns))
	}
	sum.Objects += bytes
	for name, n := range columns {
		sum.Columns[name] += n
	}
	c[hour] = sum
}

// Of returns the sums of the hours with objects. It reports whether all of these objects were counted.
func (c ColumnsByHour) Of(hours map[lake.Partition]engine.Sizes) (sum ColumnSizes, complete bool) {
	for hour, objects := range hours {
		if c[hour].Objects != objects.Bytes {
			return ColumnSizes{}, false
		}
		sum.Add(c[hour])
	}
	return sum, true
}

// Add adds the sizes of other objects.
func (s *ColumnSizes) Add(other ColumnSizes) {
	if s.Columns == nil {
		s.Columns = make(engine.ColumnBytes, len(other.Columns))
	}
	s.Objects += other.Objects
	for name, n := range other.Columns {
		s.Columns[name] += n
	}
}

// Total returns the sums of all hours.
func (c ColumnsByHour) Total() ColumnSizes {
	all := ColumnsByHour{}
	for _, sizes := range c {
		all.Add(0, sizes.Objects, sizes.Columns)
	}
	return all[0]
}

// maxFresh is the maximum number of fresh hours whose sizes are kept. Usually there are three or four. It keeps the
// item under 30 kB while a lake has many hours that were never compacted.
const maxFresh = 48

// Newest returns the hours from an hour on, at most the maxFresh newest ones.
func (c ColumnsByHour) Newest(from lake.Partition) ColumnsByHour {
	newest := ColumnsByHour{}
	for _, hour := range slices.Backward(slices.Sorted(maps.Keys(c))) {
		if hour < from || len(newest) == maxFresh {
			break
		}
		newest[hour] = c[hour]
	}
	return newest
}

// hourLists are ColumnsByHour as they are stored: each list has a number for each hour. Repeating the names of the
// columns for each hour would take three times the space.
type hourLists struct {
	Hours   []lake.Partition   `json:"hours"`
	Objects []int64            `json:"objects"`
	Columns map[string][]int64 `json:"columns"`
}

// MarshalJSON implements json.Marshaler.
func (c ColumnsByHour) MarshalJSON() ([]byte, error) {
	lists := hourLists{Hours: slices.Sorted(maps.Keys(c)), Columns: map[string][]int64{}}
	for i, hour := range lists.Hours {
		lists.Objects = append(lists.Objects, c[hour].Objects)
		for name, bytes := range c[hour].Columns {
			if lists.Columns[name] == nil {
				lists.Columns[name] = make([]int64, len(lists.Hours))
			}
			lists.Columns[name][i] = bytes
		}
	}
	return json.Marshal(lists)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *ColumnsByHour) UnmarshalJSON(text []byte) error {
	var lists hourLists
	if err := json.Unmarshal(text, &lists); err != nil {
		return err
	}
	*c = ColumnsByHour{}
	if len(lists.Objects) != len(lists.Hours) {
		return errors.New("the sizes of columns have lists of different lengths")
	}
	for i, hour := range lists.Hours {
		columns := make(engine.ColumnBytes, len(lists.Columns))
		for name, list := range lists.Columns {
			if len(list) != len(lists.Hours) {
				return errors.New("the sizes of columns have lists of different lengths")
			}
			if list[i] > 0 { // the objects of the hour have the column
				columns[name] = list[i]
			}
		}
		(*c)[hour] = ColumnSizes{lists.Objects[i], columns}
	}
	return nil
}

var (
	// columnSizesKey is the key of the item with the ColumnSizes of all objects of the lake, when they were counted
	// last.
	columnSizesKey = Key{Partition: "lake", Sort: "columns"}
	// freshSizesKey is the key of the item with the ColumnsByHour of fresh hours.
	freshSizesKey = Key{Partition: "lake", Sort: "fresh"}
)

// daySizes is the partition of the table with the ColumnsByHour of each day of compacted hours.
const daySizes = "sizes"

// SaveColumnSizes replaces the sizes of the whole lake in the table. If another writer is first, its sizes stay.
func SaveColumnSizes(ctx context.Context, table Table, sizes ColumnSizes) error {
	item, err := table.Get(ctx, columnSizesKey)
	if err == nil {
		err = Replace(ctx, table, item, sizes)
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("save the sizes of the columns: %w", err)
	}
	return nil
}

// AddFresh returns the change that adds the sizes of further objects to those of the fresh hours. It belongs in the
// transaction that publishes the objects. It leaves out hours before the watermark, which are no longer fresh. Sizes
// that cannot be decoded are replaced: no import waits for them.
func AddFresh(ctx context.Context, table Table, watermark lake.Partition, sizes ColumnsByHour) (Change, error) {
	item, err := table.Get(ctx, freshSizesKey)
	if err != nil {
		return Change{}, fmt.Errorf("add the sizes of the columns: %w", err)
	}
	all := ColumnsByHour{}
	if err := item.Read(&all); err != nil {
		all = ColumnsByHour{}
	}
	for hour, s := range sizes {
		all.Add(hour, s.Objects, s.Columns)
	}
	return ChangeOf(item, all.Newest(watermark))
}

// Items of days expire, because nothing removes them when the objects are removed. Until then they do no harm: readers
// look for the hours that have objects. They are written again before they expire.
const (
	dayKept    = 400 * 24 * time.Hour
	dayRenewed = 200 * 24 * time.Hour
)

// daySaves is how often the item of a day is written after conflicts.
const daySaves = 5

// savedDay is the content of the item of a day.
type savedDay struct {
	Saved time.Time     `json:"saved"`
	Sizes ColumnsByHour `json:"sizes"`
}

// SaveHours replaces the sizes of compacted hours. A conflict means that another writer has stored some hours of the
// day. After several conflicts, the day keeps what that writer has stored.
func SaveHours(ctx context.Context, table Table, now time.Time, sizes ColumnsByHour) error {
	days := map[string]ColumnsByHour{}
	for hour, s := range sizes {
		day := hour.Day().String()
		if days[day] == nil {
			days[day] = ColumnsByHour{}
		}
		days[day][hour] = s
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		err := ErrConflict
		for n := 0; n < daySaves && errors.Is(err, ErrConflict); n++ {
			err = saveDay(ctx, table, now, day, days[day])
		}
		if err != nil && !errors.Is(err, ErrConflict) {
			return fmt.Errorf("save the sizes of the columns of %s: %w", day, err)
		}
	}
	return nil
}

// saveDay replaces the sizes of hours of a day, unless the item has them and is young. An item that cannot be decoded
// is replaced.
func saveDay(ctx context.Context, table Table, now time.Time, day string, sizes ColumnsByHour) error {
	item, err := table.Get(ctx, Key{Partition: daySizes, Sort: day})
	if err != nil {
		return err
	}
	var saved savedDay
	if err := item.Read(&saved); err != nil {
		saved = savedDay{}
	}
	all := maps.Clone(saved.Sizes)
	if all == nil {
		all = ColumnsByHour{}
	}
	maps.Copy(all, sizes)
	same := maps.EqualFunc(all, saved.Sizes, func(a, b ColumnSizes) bool {
		return a.Objects == b.Objects && maps.Equal(a.Columns, b.Columns)
	})
	if same && now.Sub(saved.Saved) < dayRenewed {
		return nil
	}
	change, err := ChangeOf(item, savedDay{now.UTC(), all})
	if err != nil {
		return err
	}
	change.Expires = now.Add(dayKept)
	return table.Write(ctx, change)
}

// SavedHours yields the sizes that SaveHours has saved, for each of the days from first to last. It saves those again
// that the table would remove otherwise. Days that cannot be decoded are left out.
func SavedHours(ctx context.Context, table Table, now time.Time, first, last lake.Day) iter.Seq2[ColumnsByHour, error] {
	return func(yield func(ColumnsByHour, error) bool) {
		for item, err := range table.Between(ctx, daySizes, first.String(), last.String()) {
			var day savedDay
			if err == nil && item.Read(&day) != nil {
				continue
			}
			if err == nil && now.Sub(day.Saved) >= dayRenewed {
				err = SaveHours(ctx, table, now, day.Sizes)
			}
			if err != nil {
				err = fmt.Errorf("read the sizes of the columns of days: %w", err)
			}
			if !yield(day.Sizes, err) || err != nil {
				return
			}
		}
	}
}

const (
	// sharesAge is how long Columns keeps the sizes of the whole lake. They change once a day.
	sharesAge = 10 * time.Minute
	// hoursAge is how long Columns keeps the sizes of hours, so that the questions of a report read them once.
	hoursAge = time.Minute
	// maxDays is the maximum number of days from the first hour to the last whose sizes are read, with one request: an
	// item has about 10 kB, and a page of DynamoDB a megabyte.
	maxDays = 31
	// maxKept is the maximum number of periods that Columns keeps.
	maxKept = 8
)

// Columns knows the sizes of the columns of the objects of a lake.
type Columns struct {
	table Table
	now   func() time.Time

	mu     sync.Mutex
	shares aged[map[string]float64]
	fresh  aged[ColumnsByHour]
	days   map[[2]string]aged[ColumnsByHour] // by the first and the last day
}

// aged is a value and when it was read. The zero time means never.
type aged[T any] struct {
	value T
	read  time.Time
}

func (a aged[T]) young(now time.Time, than time.Duration) bool {
	age := now.Sub(a.read)
	return !a.read.IsZero() && age >= 0 && age < than
}

var _ engine.ColumnsOfHours = (*Columns)(nil)

// NewColumns returns Columns from the sizes in a table. now is the clock by which they age.
func NewColumns(table Table, now func() time.Time) *Columns {
	return &Columns{table: table, now: now, days: map[[2]string]aged[ColumnsByHour]{}}
}

// Columns returns the bytes of each column in the objects of hours, whose sizes it is given. If the objects of an hour
// are not those that were counted, they are taken to be like them. Hours that were not counted, and all compacted hours
// of more than 31 days of UTC, from the first to the last, are taken to be like the whole lake. If that was not counted
// either, no size is known.
func (c *Columns) Columns(
	ctx context.Context, watermark lake.Partition, hours map[lake.Partition]engine.Sizes,
) (all engine.ColumnBytes, counted map[lake.Partition]engine.ColumnBytes, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, err := c.known(ctx, watermark, hours)
	if err != nil {
		return nil, nil, fmt.Errorf("read the sizes of the columns: %w", err)
	}
	all, counted = engine.ColumnBytes{}, map[lake.Partition]engine.ColumnBytes{}
	var others int64 // bytes of the objects of hours that were not counted
	for hour, objects := range hours {
		of := known[hour]
		switch of.Objects {
		case 0:
			others += objects.Bytes
			continue
		case objects.Bytes:
			counted[hour] = of.Columns
		}
		for name, bytes := range of.Columns {
			all[name] += inProportion(float64(bytes)/float64(of.Objects), objects.Bytes)
		}
	}
	if others == 0 {
		return all, counted, nil
	}
	shares, err := c.sharesOfLake(ctx)
	if err != nil || shares == nil {
		return nil, counted, err
	}
	for name, share := range shares {
		all[name] += inProportion(share, others)
	}
	return all, counted, nil
}

func inProportion(share float64, bytes int64) int64 { return int64(math.Round(share * float64(bytes))) }

// known returns the sizes that were counted, also of other hours.
func (c *Columns) known(
	ctx context.Context, watermark lake.Partition, hours map[lake.Partition]engine.Sizes,
) (ColumnsByHour, error) {
	known := ColumnsByHour{}
	first, last, fresh := watermark, lake.Partition(math.MinInt64), false
	for hour := range hours {
		if hour >= watermark {
			fresh = true
			continue
		}
		first, last = min(first, hour), max(last, hour)
	}
	if first <= last && last.Day()-first.Day() < maxDays {
		compacted, err := c.readDays(ctx, first.Day().String(), last.Day().String())
		if err != nil {
			return nil, err
		}
		maps.Copy(known, compacted)
		maps.DeleteFunc(known, func(hour lake.Partition, _ ColumnSizes) bool { return hour >= watermark })
	}
	if !fresh {
		return known, nil
	}
	counted, err := c.readFresh(ctx)
	for hour, sizes := range counted {
		if hour >= watermark {
			known[hour] = sizes
		}
	}
	return known, err
}

func (c *Columns) readDays(ctx context.Context, first, last string) (ColumnsByHour, error) {
	now, key := c.now(), [2]string{first, last}
	if kept := c.days[key]; kept.young(now, hoursAge) {
		return kept.value, nil
	}
	all := ColumnsByHour{}
	for item, err := range c.table.Between(ctx, daySizes, first, last) {
		var day savedDay
		if err == nil {
			err = item.Read(&day)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, day.Sizes)
	}
	if len(c.days) >= maxKept {
		clear(c.days)
	}
	c.days[key] = aged[ColumnsByHour]{all, now}
	return all, nil
}

func (c *Columns) readFresh(ctx context.Context) (ColumnsByHour, error) {
	now := c.now()
	if c.fresh.young(now, hoursAge) {
		return c.fresh.value, nil
	}
	sizes, _, err := Get[ColumnsByHour](ctx, c.table, freshSizesKey)
	if err == nil {
		c.fresh = aged[ColumnsByHour]{sizes, now}
	}
	return sizes, err
}

// sharesOfLake returns the bytes of each column per byte of all objects of the lake, or nil if they were not counted.
func (c *Columns) sharesOfLake(ctx context.Context) (map[string]float64, error) {
	now := c.now()
	if c.shares.young(now, sharesAge) {
		return c.shares.value, nil
	}
	sizes, _, err := Get[ColumnSizes](ctx, c.table, columnSizesKey)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of the columns: %w", err)
	}
	var shares map[string]float64
	if sizes.Objects > 0 {
		shares = make(map[string]float64, len(sizes.Columns))
		for name, bytes := range sizes.Columns {
			shares[name] = float64(bytes) / float64(sizes.Objects)
		}
	}
	c.shares = aged[map[string]float64]{shares, now}
	return shares, nil
}
