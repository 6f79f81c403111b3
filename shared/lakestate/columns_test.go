package lakestate_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// firstHour is midnight of a day.
var firstHour = lake.PartitionOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())

// columnsWorld has the sizes of a lake in a table that counts its reads.
type columnsWorld struct {
	t       *testing.T
	memory  lakestate.Table
	table   *countingTable
	time    time.Time
	columns *lakestate.Columns
	counted map[lake.Partition]engine.ColumnBytes // by the last expect
}

func newColumnsWorld(t *testing.T) *columnsWorld {
	w := &columnsWorld{t: t, memory: lakestate.Over(&tabletest.Memory{}), time: noon}
	w.table = &countingTable{Table: w.memory}
	w.columns = lakestate.NewColumns(w.table, func() time.Time { return w.time })
	return w
}

func (w *columnsWorld) saveLake(objects int64, columns engine.ColumnBytes) {
	w.t.Helper()
	sizes := lakestate.ColumnSizes{Objects: objects, Columns: columns}
	if err := lakestate.SaveColumnSizes(w.t.Context(), w.table, sizes); err != nil {
		w.t.Fatal(err)
	}
}

func (w *columnsWorld) saveHours(sizes lakestate.ColumnsByHour) {
	w.t.Helper()
	if err := lakestate.SaveHours(w.t.Context(), w.table, w.time, sizes); err != nil {
		w.t.Fatal(err)
	}
}

func (w *columnsWorld) addFresh(watermark lake.Partition, sizes lakestate.ColumnsByHour) {
	w.t.Helper()
	change, err := lakestate.AddFresh(w.t.Context(), w.table, watermark, sizes)
	if err == nil {
		err = w.table.Write(w.t.Context(), change)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// expect compares the sizes of the columns of hours with the given bytes, and counts the reads of the table.
func (w *columnsWorld) expect(
	watermark lake.Partition, hours map[lake.Partition]int64, want engine.ColumnBytes, reads int,
) {
	w.t.Helper()
	sizes := map[lake.Partition]engine.Sizes{}
	for hour, bytes := range hours {
		sizes[hour] = engine.Sizes{Objects: 1, Bytes: bytes}
	}
	w.table.reads = 0
	got, counted, err := w.columns.Columns(w.t.Context(), watermark, sizes)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || w.table.reads != reads {
		w.t.Errorf("%d reads of the table, want %d; sizes (-want +got):\n%s", w.table.reads, reads, diff)
	}
	w.counted = counted
}

// expectCounted compares the sizes of the hours of the last expect whose objects were counted.
func (w *columnsWorld) expectCounted(want map[lake.Partition]engine.ColumnBytes) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.counted); diff != "" {
		w.t.Errorf("counted (-want +got):\n%s", diff)
	}
}

// oneHour are the sizes of the columns of an hour.
func oneHour(hour lake.Partition, objects int64, columns engine.ColumnBytes) lakestate.ColumnsByHour {
	return lakestate.ColumnsByHour{hour: {Objects: objects, Columns: columns}}
}

type (
	hourBytes   = map[lake.Partition]int64
	columnBytes = engine.ColumnBytes
)

func TestColumns(t *testing.T) {
	const h = 24
	t.Run("each hour has its own", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.saveLake(2000, columnBytes{"ip": 1000, "args": 500})
		w.saveHours(lakestate.ColumnsByHour{
			firstHour:     {Objects: 100, Columns: columnBytes{"ip": 40, "args": 10}},
			firstHour + 1: {Objects: 1000, Columns: columnBytes{"ip": 50, "args": 900}},
			firstHour + h: {Objects: 100, Columns: columnBytes{"ip": 41}},
		})
		w.addFresh(firstHour+h+1, oneHour(firstHour+h+1, 10, columnBytes{"ip": 7, "later": 2}))
		w.expect(firstHour+h+1, hourBytes{firstHour: 100}, columnBytes{"ip": 40, "args": 10}, 1)
		w.expect(firstHour+h+1, hourBytes{firstHour + 1: 1000}, columnBytes{"ip": 50, "args": 900}, 0)
		w.expect(firstHour+h+1, hourBytes{firstHour + 1: 1000, firstHour + h: 100, firstHour + h + 1: 10},
			columnBytes{"ip": 98, "args": 900, "later": 2}, 2)
		w.expectCounted(map[lake.Partition]columnBytes{
			firstHour + 1: {"ip": 50, "args": 900}, firstHour + h: {"ip": 41},
			firstHour + h + 1: {"ip": 7, "later": 2},
		})
	})
	t.Run("other objects are taken to be like those that were counted", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 40}))
		w.expect(firstHour+1, hourBytes{firstHour: 150}, columnBytes{"ip": 60}, 1)
		w.expect(firstHour+1, hourBytes{firstHour: 50}, columnBytes{"ip": 20}, 0)
		w.expectCounted(map[lake.Partition]columnBytes{})
	})
	t.Run("hours that were not counted are taken to be like the lake", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.saveHours(oneHour(firstHour, 100, columnBytes{"args": 10}))
		hours := hourBytes{firstHour: 100, firstHour + 1: 200}
		w.expect(firstHour+2, hours, nil, 2)
		w.saveLake(1000, columnBytes{"ip": 250, "args": 100})
		w.expect(firstHour+2, hours, nil, 0)
		w.time = w.time.Add(10 * time.Minute)
		w.expect(firstHour+2, hours, columnBytes{"ip": 50, "args": 30}, 2)
		w.expectCounted(map[lake.Partition]columnBytes{firstHour: {"args": 10}})
		w.saveLake(0, nil)
		w.time = w.time.Add(10 * time.Minute)
		w.expect(firstHour+2, hours, nil, 2)
	})
	t.Run("so are compacted hours of more than 31 days", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.saveLake(1000, columnBytes{"ip": 250})
		w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 40}))
		w.saveHours(oneHour(firstHour+31*h-1, 100, columnBytes{"ip": 41}))
		w.addFresh(firstHour+60*h, oneHour(firstHour+60*h, 10, columnBytes{"ip": 7}))
		w.expect(firstHour+60*h, hourBytes{firstHour: 100, firstHour + 31*h - 1: 100, firstHour + 60*h: 10},
			columnBytes{"ip": 88}, 2)
		w.expect(firstHour+60*h, hourBytes{firstHour: 100, firstHour + 31*h: 100, firstHour + 60*h: 10},
			columnBytes{"ip": 57}, 1)
	})
	t.Run("the watermark decides which objects are meant", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.addFresh(firstHour, oneHour(firstHour, 10, columnBytes{"ip": 7}))
		w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 40}))
		w.expect(firstHour, hourBytes{firstHour: 10}, columnBytes{"ip": 7}, 1)
		w.expect(firstHour+1, hourBytes{firstHour: 100}, columnBytes{"ip": 40}, 1)
	})
	t.Run("they are read again after a minute", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 40}))
		w.expect(firstHour+1, hourBytes{firstHour: 100}, columnBytes{"ip": 40}, 1)
		w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 41}))
		w.expect(firstHour+1, hourBytes{firstHour: 100}, columnBytes{"ip": 40}, 0)
		w.time = w.time.Add(time.Minute)
		w.expect(firstHour+1, hourBytes{firstHour: 100}, columnBytes{"ip": 41}, 1)
	})
	t.Run("no hours have none", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.expect(firstHour, nil, columnBytes{}, 0)
	})
	t.Run("a table that fails is an error", func(t *testing.T) {
		w := newColumnsWorld(t)
		w.table.err = errors.New("no table")
		for _, hour := range []lake.Partition{firstHour - 1, firstHour} {
			_, _, err := w.columns.Columns(t.Context(), firstHour, map[lake.Partition]engine.Sizes{hour: {Bytes: 1}})
			if !errors.Is(err, w.table.err) {
				t.Error(err)
			}
		}
		err := lakestate.SaveColumnSizes(t.Context(), w.table, lakestate.ColumnSizes{})
		if !errors.Is(err, w.table.err) {
			t.Error(err)
		}
		if err := lakestate.SaveHours(t.Context(), w.table, noon, oneHour(1, 1, nil)); !errors.Is(err, w.table.err) {
			t.Error(err)
		}
		if _, err := lakestate.AddFresh(t.Context(), w.table, 0, nil); !errors.Is(err, w.table.err) {
			t.Error(err)
		}
	})
}

func TestSaveColumnSizesAgainstAnotherWriter(t *testing.T) {
	w := newColumnsWorld(t)
	w.saveLake(100, columnBytes{"ip": 10})
	w.table.Table = conflictingTable{w.memory}
	w.saveLake(100, columnBytes{"ip": 90})
	w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 90}))
	w.table.Table = w.memory
	w.expect(firstHour+1, hourBytes{firstHour: 100}, columnBytes{"ip": 10}, 2)
}

// TestAddFresh: the sizes of imports are added up, and hours that are compacted leave.
func TestAddFresh(t *testing.T) {
	w := newColumnsWorld(t)
	w.saveLake(1000, columnBytes{"ip": 1000})
	w.addFresh(firstHour, oneHour(firstHour, 100, columnBytes{"ip": 10, "host": 20}))
	w.addFresh(firstHour, oneHour(firstHour, 100, columnBytes{"ip": 20, "args": 50}))
	w.expect(firstHour, hourBytes{firstHour: 200}, columnBytes{"ip": 30, "host": 20, "args": 50}, 1)
	w.time = w.time.Add(time.Hour)
	w.addFresh(firstHour+1, oneHour(firstHour+1, 100, columnBytes{"ip": 30}))
	w.expect(firstHour, hourBytes{firstHour: 200, firstHour + 1: 100}, columnBytes{"ip": 230}, 2)
	t.Run("the newest 48 hours are kept", func(t *testing.T) {
		many := lakestate.ColumnsByHour{}
		for i := range lake.Partition(60) {
			many[firstHour+10+i] = lakestate.ColumnSizes{Objects: 100, Columns: columnBytes{"ip": 1}}
		}
		w.addFresh(firstHour, many)
		w.time = w.time.Add(time.Hour)
		w.expect(firstHour, hourBytes{firstHour + 21: 100, firstHour + 22: 100, firstHour + 69: 100},
			columnBytes{"ip": 102}, 2)
	})
	t.Run("what cannot be decoded is replaced", func(t *testing.T) {
		key := lakestate.Key{Partition: "lake", Sort: "fresh"}
		for _, text := range []string{
			`[]`, `{"hours":[490896],"objects":[],"columns":{}}`,
			`{"hours":[490896],"objects":[1],"columns":{"ip":[]}}`,
		} {
			item, err := w.table.Get(t.Context(), key)
			if err == nil {
				err = w.table.Write(t.Context(), lakestate.Change{Key: key, Seen: item.Revision, Body: []byte(text)})
			}
			if err != nil {
				t.Fatal(err)
			}
			w.time = w.time.Add(time.Hour)
			hours := map[lake.Partition]engine.Sizes{firstHour: {Bytes: 100}}
			if _, _, err := w.columns.Columns(t.Context(), firstHour, hours); err == nil {
				t.Errorf("%s is no error", text)
			}
			w.addFresh(firstHour, oneHour(firstHour, 100, columnBytes{"ip": 10}))
			w.expect(firstHour, hourBytes{firstHour: 100}, columnBytes{"ip": 10}, 1)
		}
	})
}

// TestSaveHours: a day keeps its other hours, and is written again only if it has changed or is old.
func TestSaveHours(t *testing.T) {
	w := newColumnsWorld(t)
	writes := &expiringTable{Table: w.memory}
	w.table.Table = writes
	expect := func(what string, want ...time.Time) {
		t.Helper()
		if diff := cmp.Diff(want, writes.expires); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		writes.expires = nil
	}
	kept := func() time.Time { return w.time.AddDate(0, 0, 400) }
	w.saveHours(lakestate.ColumnsByHour{
		firstHour:      {Objects: 100, Columns: columnBytes{"ip": 40}},
		firstHour + 1:  {Objects: 100, Columns: columnBytes{"ip": 41}},
		firstHour + 24: {Objects: 100, Columns: columnBytes{"ip": 42}},
	})
	expect("two days", kept(), kept())
	w.time = w.time.Add(time.Hour)
	w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 40}))
	expect("the same sizes")
	w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 50}))
	expect("other sizes", kept())
	w.expect(firstHour+25, hourBytes{firstHour: 100, firstHour + 1: 100}, columnBytes{"ip": 91}, 1)
	w.time = w.time.AddDate(0, 0, 200)
	w.saveHours(oneHour(firstHour, 100, columnBytes{"ip": 50}))
	expect("the same sizes of an old item", kept())
	w.table.Table = &interruptedTable{Table: w.memory, before: func() {
		w.table.Table = w.memory
		w.saveHours(oneHour(firstHour+2, 100, columnBytes{"ip": 60}))
	}}
	w.saveHours(oneHour(firstHour+3, 100, columnBytes{"ip": 70}))
	w.time = w.time.Add(time.Hour)
	w.expect(firstHour+25, hourBytes{firstHour: 100, firstHour + 2: 100, firstHour + 3: 100}, columnBytes{"ip": 180}, 1)
}

// expiringTable records when the items that are written expire.
type expiringTable struct {
	lakestate.Table
	expires []time.Time
}

func (e *expiringTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	for _, c := range changes {
		e.expires = append(e.expires, c.Expires)
	}
	return e.Table.Write(ctx, changes...)
}

// interruptedTable is a table of which another writer is first, once.
type interruptedTable struct {
	lakestate.Table
	before func()
}

func (i *interruptedTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	i.before()
	return i.Table.Write(ctx, changes...)
}

// Between counts as one read.
func (c *countingTable) Between(
	ctx context.Context, partition, from, to string,
) iter.Seq2[lakestate.Item, error] {
	c.reads++
	if c.err != nil {
		return func(yield func(lakestate.Item, error) bool) { yield(lakestate.Item{}, c.err) }
	}
	return c.Table.Between(ctx, partition, from, to)
}

// conflictingTable is a table of which another writer is always first.
type conflictingTable struct{ lakestate.Table }

func (conflictingTable) Write(context.Context, ...lakestate.Change) error {
	return lakestate.ErrConflict
}
