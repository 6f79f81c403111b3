package scan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	lakeparquet "github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// orderOf has the values that decide the place of a record in an answer.
type orderOf struct {
	TsMs, TsNanos int64
	Source        string
	Line          int64
}

// newest finds the newest records of q, compares them with the reference evaluation, and returns how many objects were
// read.
func (s objectSet) newest(t *testing.T, q query.Query, o scan.Options) (read int) {
	t.Helper()
	found, err := scan.Newest(t.Context(), q, s.objects, o)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	all := make([]*lake.Row, len(s.rows))
	for i := range s.rows {
		all[i] = &s.rows[i]
	}
	var want, got []orderOf
	for _, r := range reference.Evaluate(&q, all).Logs {
		want = append(want, orderOf{r.TsMs, r.TsNanos, r.Source, r.Line})
	}
	for _, p := range found.Places {
		got = append(got, s.orders[p])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-reference +scan):\n%s", q, diff)
	}
	return len(found.Objects)
}

// objectSet is rows and the objects that hold them.
type objectSet struct {
	rows    []lake.Row
	objects []lake.Object
	orders  map[engine.Place]orderOf // of the rows, by where they are
}

// setOf reads where each row is.
func setOf(t *testing.T, rows []lake.Row, objects []lake.Object) objectSet {
	t.Helper()
	orders := map[engine.Place]orderOf{}
	for _, o := range objects {
		raw, err := os.ReadFile(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		numbers := make([]int64, o.Rows)
		for i := range numbers {
			numbers[i] = int64(i)
		}
		stored, err := lakeparquet.ReadColumns(bytes.NewReader(raw), int64(len(raw)), numbers, query.OrderColumns)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range stored {
			orders[engine.Place{Path: o.Path, Row: int64(i)}] = orderOf{r.TsMs, r.TsNanos, r.Source, r.Line}
		}
	}
	return objectSet{rows, objects, orders}
}

// TestNewest: for each limit, the scan finds the same records as the reference, even if many records share an instant
// or objects overlap in time.
func TestNewest(t *testing.T) {
	limits := []int{1, 2, 7, 99, 100, 101, 2_500}
	if testing.Short() {
		limits = []int{7}
	}
	generated := enginetest.Records(t, 400, 37)
	sameInstant := make([]lake.Row, 300)
	for i := range sameInstant {
		sameInstant[i] = generated[i]
		sameInstant[i].TsMs = enginetest.Start.UnixMilli() + int64(i/100)
		sameInstant[i].TsNanos = int64(i % 3)
	}
	for _, set := range []struct {
		name    string
		rows    []lake.Row
		objects []lake.Object
	}{
		{"objects of the importer", generated, stored(t, generated)},
		{"equal instants", sameInstant, stored(t, sameInstant)},
		{"overlapping objects of several row groups", generated, overlapping(t, generated)},
		{"equal instants in several row groups", sameInstant, overlapping(t, sameInstant)},
	} {
		records := setOf(t, set.rows, set.objects)
		t.Run(set.name, func(t *testing.T) {
			for _, condition := range []string{
				"",
				`, status>=400`,
				`, url~"a"`,
				`, blocked is true, country!="Germany"`,
				`, headers["user-agent"]~"."`,
				`, timestamp between 2026-01-01 21:00:00.001 and 2026-01-01 22:00`,
				`, status=99999`,
				`, ip="192.0.2.1"`,
				`, request_id~"7"`,
			} {
				for _, limit := range limits {
					q := bind(t, hours+condition, query.Logs{Limit: limit})
					records.newest(t, q, scan.Options{NoFallback: true})
				}
			}
		})
	}
}

// overlapping writes rows as objects of all hours, with small row groups. The objects are in no order.
func overlapping(t *testing.T, rows []lake.Row) (objects []lake.Object) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 5))
	parts := make([][]lake.Row, 9)
	for _, r := range rows {
		i := random.IntN(len(parts))
		parts[i] = append(parts[i], r)
	}
	for i, part := range parts {
		parquettest.Sort(part)
		path := filepath.Join(t.TempDir(), fmt.Sprint(i, ".parquet"))
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := parquet.NewGenericWriter[lake.Row](file, parquettest.PresentVersion(),
			parquet.Compression(&zstd.Codec{}), parquet.DataPageVersion(1), parquet.DataPageStatistics(true),
			parquet.MaxRowsPerRowGroup(1+random.Int64N(9)))
		_, err = w.Write(part)
		if err := errors.Join(err, w.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, lake.Object{
			Path: path, Rows: int64(len(part)), MinTsMs: part[0].TsMs, MaxTsMs: part[len(part)-1].TsMs,
		})
	}
	return objects
}

// TestNewestStopsEarly: objects that hold only older records are not read, so they may be unreadable. An object of the
// same millisecond as the last record found is read.
func TestNewestStopsEarly(t *testing.T) {
	start := enginetest.Start.UnixMilli()
	var rows []lake.Row
	for object := range int64(20) {
		for line := range int64(10) {
			source := fmt.Sprintf("s%02d", object)
			rows = append(rows, lake.Row{TsMs: start + object*10 + line, Source: source, Line: line})
		}
	}
	objects := stored(t, rows)
	records := setOf(t, rows, objects)
	for _, c := range []struct {
		name        string
		limit, want int
	}{
		{"fewer than in the first object", 5, 2},
		{"as many as in the first two", 20, 2},
		{"one more", 21, 6},
		{"as many as in the first two batches", 60, 6},
		{"three batches", 61, 14},
		{"all", 1_000, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := bind(t, hours, query.Logs{Limit: c.limit})
			if read := records.newest(t, q, scan.Options{}); read != c.want {
				t.Errorf("%d objects are read, want %d", read, c.want)
			}
		})
	}
	t.Run("the same millisecond", func(t *testing.T) {
		same := make([]lake.Row, len(rows))
		for i, r := range rows {
			same[i] = lake.Row{TsMs: start, Source: r.Source, Line: r.Line}
		}
		q := bind(t, hours, query.Logs{Limit: 5})
		if read := setOf(t, same, stored(t, same)).newest(t, q, scan.Options{}); read != len(objects) {
			t.Errorf("%d objects are read, want all %d", read, len(objects))
		}
	})
	t.Run("older objects are unreadable", func(t *testing.T) {
		for _, o := range objects {
			if o.MaxTsMs < start+180 {
				if err := os.Truncate(o.Path, 100); err != nil {
					t.Fatal(err)
				}
			}
		}
		records.newest(t, bind(t, hours, query.Logs{Limit: 20}), scan.Options{})
	})
}

// TestNewestNamesUnreadableObjects: the error names the object.
func TestNewestNamesUnreadableObjects(t *testing.T) {
	objects := stored(t, enginetest.Records(t, 100, 41))
	if err := os.Truncate(objects[1].Path, 1000); err != nil {
		t.Fatal(err)
	}
	_, err := scan.Newest(t.Context(), bind(t, hours, query.Logs{Limit: 100}), objects, scan.Options{})
	var named *engine.ObjectError
	if !errors.As(err, &named) || named.Path != objects[1].Path {
		t.Errorf("error %v, want one that names %s", err, objects[1].Path)
	}
}

// TestNewestUnsupported: records out of order are never returned, and patterns on many texts only without another
// engine.
func TestNewestUnsupported(t *testing.T) {
	t.Run("an object out of order", func(t *testing.T) {
		path, last := outOfOrder(t)
		objects := []lake.Object{{Path: path, Rows: 4, MinTsMs: last - 130_000, MaxTsMs: last}}
		for _, o := range []scan.Options{{}, {NoFallback: true}} {
			_, err := scan.Newest(t.Context(), bind(t, hours, query.Logs{Limit: 2}), objects, o)
			if !errors.Is(err, scan.ErrUnsupported) {
				t.Errorf("error %v, want ErrUnsupported", err)
			}
		}
	})
	t.Run("patterns on many texts", func(t *testing.T) {
		rows := manyTexts(4_500)
		objects := stored(t, rows)
		if _, err := scan.Newest(t.Context(), bind(t, hours+`, url~"7"`, query.Logs{Limit: 10}), objects, scan.Options{}); err != nil {
			t.Errorf("a pattern that looks for a text: %v", err)
		}
		q := bind(t, hours+`, url~"7.*"`, query.Logs{Limit: 10})
		if _, err := scan.Newest(t.Context(), q, objects, scan.Options{}); !errors.Is(err, scan.ErrUnsupported) {
			t.Errorf("error %v, want ErrUnsupported", err)
		}
		setOf(t, rows, objects).newest(t, q, scan.Options{NoFallback: true})
	})
}

func TestNewestEndsWithItsContext(t *testing.T) {
	objects := stored(t, enginetest.Records(t, 100, 43))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := scan.Newest(ctx, bind(t, hours, query.Logs{Limit: 10}), objects, scan.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestEveryFieldHasColumns: the scan can test conditions on every field, which it must without another engine.
func TestEveryFieldHasColumns(t *testing.T) {
	for _, f := range catalog.Fields {
		for _, s := range f.Sources {
			for _, name := range s.Columns() {
				if _, ok := lakeparquet.ColumnOf(name, ""); !ok && s.Layout == catalog.Place {
					t.Errorf("field %s has no column %s", f.Name, name)
				}
			}
			member := s.Member
			if s.Layout == catalog.Pairs {
				member = "value"
			}
			if _, ok := lakeparquet.ColumnOf(s.Column, member); !ok {
				t.Errorf("field %s has no column %s %s", f.Name, s.Column, member)
			}
		}
	}
}
