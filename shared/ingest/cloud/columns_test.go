package cloud_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lakestate"
)

// hourAt returns the hour n hours after that of the first record.
func hourAt(n int) lake.Partition { return lake.PartitionOf(testTime.UnixMilli()) + lake.Partition(n) }

// attack returns a log of 60 records in hour n, each with a query of the given number of random bytes. Its first line
// begins with a name, so that logs with different names differ.
func attack(name string, n, length int) string {
	random := rand.NewChaCha8([32]byte{byte(n)})
	var b strings.Builder
	for i := range 60 {
		query := make([]byte, length)
		_, _ = random.Read(query)
		at := testTime.Add(time.Duration(n)*time.Hour + time.Duration(i)*time.Minute)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%q,"request_id":"%s%d","host":"shop.example","query":"q=%s"}`+"\n",
			at.Format(time.RFC3339), name, i, hex.EncodeToString(query))
	}
	return b.String()
}

// columnSizes returns the sizes of the columns of some hours twice: as estimates have them, and as they are in the
// objects that readers see.
func (w *world) columnSizes(hours ...lake.Partition) (estimated, actual engine.ColumnBytes) {
	w.t.Helper()
	s := w.state()
	listing := lakestate.NewListing(w.lake)
	inBucket := lakestate.NewSizes(w.table, listing)
	sizes, actual := map[lake.Partition]engine.Sizes{}, engine.ColumnBytes{}
	for _, hour := range hours {
		found, known, err := inBucket.Sizes(w.t.Context(), s, hour, hour)
		if err != nil || !known || found[hour].Objects == 0 {
			w.t.Fatalf("%+v, %v, %v", found, known, err)
		}
		sizes[hour] = found[hour]
		for info, err := range listing.Objects(w.t.Context(), s.Watermark, hour, hour) {
			if err != nil {
				w.t.Fatal(err)
			}
			object, err := parquet.Verify(strings.NewReader(w.content(info.Name)), info.Size)
			if err != nil {
				w.t.Fatal(err)
			}
			for name, bytes := range object.ColumnBytes {
				actual[name] += bytes
			}
		}
	}
	estimated, _, err := lakestate.NewColumns(w.table, w.now).Columns(w.t.Context(), s.Watermark, sizes)
	if err != nil {
		w.t.Fatal(err)
	}
	return estimated, actual
}

// expectCountedColumns checks that the sizes of the columns of the hours that were counted are those in the objects. It
// returns the number of these hours.
func (p *play) expectCountedColumns() (checked int) {
	p.t.Helper()
	w := &world{t: p.t, lake: p.lake, table: p.table, time: p.time}
	s := w.state()
	sizes := lakestate.NewSizes(p.table, lakestate.NewListing(p.lake))
	hours, _, err := sizes.Sizes(p.t.Context(), s, hourAt(-100), hourAt(100))
	if err != nil {
		p.t.Fatal(err)
	}
	_, counted, err := lakestate.NewColumns(p.table, p.now).Columns(p.t.Context(), s.Watermark, hours)
	if err != nil {
		p.t.Fatal(err)
	}
	for hour, columns := range counted {
		_, actual := w.columnSizes(hour)
		if diff := cmp.Diff(actual, columns); diff != "" {
			p.t.Errorf("columns of hour %s differ (-want +got):\n%s", hour, diff)
		}
	}
	return len(counted)
}

// expectColumns checks that estimates have the actual sizes of the columns of some hours.
func (w *world) expectColumns(when string, hours ...lake.Partition) {
	w.t.Helper()
	estimated, actual := w.columnSizes(hours...)
	if diff := cmp.Diff(actual, estimated); diff != "" || len(actual) < 50 {
		w.t.Errorf("%s, of %d columns (-want +got):\n%s", when, len(actual), diff)
	}
}

// TestColumnsOfAnAttack: the columns of an hour with an attack have other shares than those of an ordinary hour, and
// each has its own sizes. Those of the whole lake would be far too large for one and too small for the other.
func TestColumnsOfAnAttack(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a.log", attack("a", 0, 4))
	w.importLog("raw/b.log", attack("b", 1, 2000))
	w.importLog("raw/c.log", attack("c", 1, 2500))
	w.expectColumns("fresh ordinary hour", hourAt(0))
	w.expectColumns("fresh hour of an attack", hourAt(1))
	w.expectColumns("both fresh hours", hourAt(0), hourAt(1))
	w.pass(24 * time.Hour)
	w.compact()
	w.importLog("raw/d.log", attack("d", 24, 100))
	w.expectColumns("ordinary hour", hourAt(0))
	w.expectColumns("hour of an attack", hourAt(1))
	w.expectColumns("compacted and fresh hours", hourAt(0), hourAt(1), hourAt(24))
	w.forgetSizes()
	shares, actual := w.columnSizes(hourAt(0))
	if shares["query"] < 5*actual["query"] {
		t.Errorf("the queries of an ordinary hour have %d bytes and as much as %d by their share in the lake",
			actual["query"], shares["query"])
	}
	shares, actual = w.columnSizes(hourAt(1))
	if shares["ts_ms"] < actual["ts_ms"]*3/2 {
		t.Errorf("the times of an attack have %d bytes and as much as %d by their share in the lake",
			actual["ts_ms"], shares["ts_ms"])
	}
}

// forgetSizes removes the sizes of the columns of hours, which earlier versions do not write.
func (w *world) forgetSizes() {
	w.t.Helper()
	items, err := w.table.List(w.t.Context(), "sizes", "20")
	if err == nil && len(items) == 0 {
		err = errors.New("no sizes are known")
	}
	for _, item := range items {
		if err == nil {
			err = w.table.Write(w.t.Context(), lakestate.Change{Key: item.Key, Seen: item.Revision, Body: []byte(`{}`)})
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestColumnsOfChangedHours: late records are taken to be like the others of their hour until the next count. It also
// counts the hours that an earlier version has compacted.
func TestColumnsOfChangedHours(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a.log", attack("a", 0, 400)+attack("a", 1, 40))
	w.pass(24 * time.Hour)
	w.compact()
	w.importLog("raw/b.log", attack("b", 0, 4000))
	before, actual := w.columnSizes(hourAt(0))
	if before["query"] >= actual["query"] || before["query"] <= actual["query"]/2 {
		t.Errorf("with late records: %d bytes of queries, estimated %d", actual["query"], before["query"])
	}
	w.expectColumns("another hour", hourAt(1))
	w.pass(24 * time.Hour)
	w.compact()
	w.expectColumns("late records that were counted", hourAt(0))
	w.forgetSizes()
	w.pass(24 * time.Hour)
	w.compact()
	w.expectColumns("hours of an earlier version", hourAt(0), hourAt(1))
}

// TestCompactionWithoutSizes: the watermark does not wait for sizes that cannot be stored, and the next count has them.
func TestCompactionWithoutSizes(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a.log", attack("a", 0, 400))
	w.pass(24 * time.Hour)
	whole := w.table
	w.table = noSizes{whole}
	_, err := w.cloud().Compact(t.Context(), time.Time{})
	w.table = whole
	if got := w.state().Watermark; got <= hourAt(0) {
		t.Errorf("the watermark is at %s: %v", got, err)
	}
	w.pass(24 * time.Hour)
	w.compact()
	w.expectColumns("after the next count", hourAt(0))
}

// noSizes is a table that cannot store the sizes of the columns of days.
type noSizes struct{ lakestate.Table }

func (n noSizes) Write(ctx context.Context, changes ...lakestate.Change) error {
	if slices.ContainsFunc(changes, func(c lakestate.Change) bool { return c.Key.Partition == "sizes" }) {
		return errors.New("no sizes can be stored")
	}
	return n.Table.Write(ctx, changes...)
}

// TestColumnsAfterInterruptions: wherever an import or a compaction is interrupted, the sizes are right in the end, and
// no object counts twice.
func TestColumnsAfterInterruptions(t *testing.T) {
	for _, made := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newWorld(t)
			whole := w.table
			interrupted := func(run func(*cloud.Store) error) (finished bool) {
				w.t.Helper()
				failing := &failingWrite{Table: whole, left: n, made: made}
				w.table = failing
				err := run(w.cloud())
				w.table = whole
				if failing.left > 0 {
					if err != nil {
						t.Fatal(err)
					}
					return true
				}
				if err := run(w.cloud()); err != nil {
					t.Fatal(err)
				}
				return false
			}
			w.put("raw/a.log", attack("a", 0, 400)+attack("a", 1, 40))
			imported := interrupted(func(c *cloud.Store) error {
				_, err := c.Import(t.Context(), rawlog.Log{Key: "raw/a.log"})
				return err
			})
			w.importLog("raw/b.log", attack("b", 1, 4))
			when := fmt.Sprintf("write %d, made: %t", n, made)
			w.expectColumns(when+", import", hourAt(0), hourAt(1))
			w.pass(24 * time.Hour)
			compacted := interrupted(func(c *cloud.Store) error {
				_, err := c.Compact(t.Context(), time.Time{})
				return err
			})
			w.expectColumns(when+", compaction", hourAt(0))
			w.expectColumns(when+", compaction", hourAt(1))
			if imported && compacted {
				break
			}
			if n > 100 {
				t.Fatal("there is no end of writes")
			}
		}
	}
}

// failingWrite is a table of which one write fails. It may have been made.
type failingWrite struct {
	lakestate.Table
	left int // writes until then
	made bool
}

func (f *failingWrite) Write(ctx context.Context, changes ...lakestate.Change) error {
	if f.left--; f.left != 0 {
		return f.Table.Write(ctx, changes...)
	}
	if f.made {
		if err := f.Table.Write(ctx, changes...); err != nil {
			return err
		}
	}
	return errors.New("the table does not answer")
}
