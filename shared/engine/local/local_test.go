package local_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/reference"
)

const hours = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"

func bind(t testing.TB, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestObjectThatIsGone: compaction replaces objects under a reader, which asks the index once more and finds them.
func TestObjectThatIsGone(t *testing.T) {
	rows := enginetest.Records(t, 300, 1)
	for _, shape := range []query.Shape{query.Logs{Limit: 1000}, query.Stats{SegmentSeconds: 60}, query.Timeline{SegmentSeconds: 60}, query.TopX{Limit: 9}} {
		store := enginetest.NewStore(t, rows)
		e := open(t, &replacing{Store: store, t: t})
		q := bind(t, hours, shape)
		got, cost, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
			t.Errorf("%T while objects are replaced (-want +got):\n%s", shape, diff)
		}
		if len(cost.Skipped) > 0 {
			t.Errorf("%T: objects that were only replaced are skipped: %v", shape, cost.Skipped)
		}
	}
}

// replacing is a store whose first listing is out of date at once: all objects are renamed behind it.
type replacing struct {
	*enginetest.Store
	t    *testing.T
	once sync.Once
}

func (r *replacing) Objects(ctx context.Context, from, to lake.Partition) ([]lake.Object, error) {
	objects, err := r.Store.Objects(ctx, from, to)
	r.once.Do(func() {
		for _, o := range objects {
			renamed := o
			renamed.Path = strings.TrimSuffix(o.Path, ".parquet") + "-compact.parquet"
			if err := os.Rename(o.Path, renamed.Path); err != nil {
				r.t.Error(err)
			}
			r.Replace(o.Path, renamed)
		}
	})
	return objects, err
}

// TestUnreadableObjects: an object that cannot be read is named, and the answer is that of all others.
func TestUnreadableObjects(t *testing.T) {
	damage := map[string]func(path string) error{
		"missing":   os.Remove,
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"not ours":  func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("hello ", 1000)), 0o644) },
		"truncated": func(path string) error { return cut(path, 2) },
		"one page destroyed": func(path string) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i := 4; i < len(raw)*2/3; i++ {
				raw[i] = 0xff
			}
			return os.WriteFile(path, raw, 0o644)
		},
	}
	rows := enginetest.Records(t, 300, 2)
	shapes := []query.Shape{query.Logs{Limit: 1000}, query.Stats{SegmentSeconds: 60}, query.Timeline{SegmentSeconds: 60}, query.TopX{Limit: 9}}
	if testing.Short() {
		shapes = shapes[:2]
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			for _, shape := range shapes {
				store := enginetest.NewStore(t, rows)
				e := open(t, store)
				objects, err := store.Objects(t.Context(), 0, 1<<40)
				if err != nil {
					t.Fatal(err)
				}
				bad := objects[3]
				if err := harm(bad.Path); err != nil {
					t.Fatal(err)
				}
				q := bind(t, hours, shape)
				got, cost, err := e.Run(t.Context(), q)
				if err != nil {
					t.Fatalf("%T: %v", shape, err)
				}
				if diff := cmp.Diff([]string{lake.NameOf(bad.Path)}, cost.Skipped); diff != "" {
					t.Errorf("%T: skipped objects (-want +got):\n%s", shape, diff)
				}
				if cost.Objects != len(objects)-1 {
					t.Errorf("%T: %d objects are counted as read of %d", shape, cost.Objects, len(objects))
				}
				others := without(rows, bad)
				if diff := cmp.Diff(reference.Evaluate(&q, others), got); diff != "" {
					t.Errorf("%T (-want +got):\n%s", shape, diff)
				}
			}
		})
	}
}

// TestRandomDamage: whatever bytes change, the engine answers or says what it skipped; it never crashes.
func TestRandomDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := enginetest.Records(t, 60, 3)
	random := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		store := enginetest.NewStore(t, rows)
		e := open(t, store)
		objects, err := store.Objects(t.Context(), 0, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		path := objects[random.IntN(len(objects))].Path
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(20) {
			raw[random.IntN(len(raw))] ^= byte(1 << random.IntN(8))
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, shape := range []query.Shape{query.Logs{Limit: 1000}, query.TopX{Limit: 3}} {
			_, cost, err := e.Run(t.Context(), bind(t, hours, shape))
			if err == nil && len(cost.Skipped) > 0 && (len(cost.Skipped) != 1 || cost.Skipped[0] != lake.NameOf(path)) {
				t.Errorf("%s was damaged, %v are skipped", path, cost.Skipped)
			}
		}
	}
}

func cut(path string, parts int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/parts)
}

// without are the rows that are not in an object.
func without(rows []lake.Row, o lake.Object) []*lake.Row {
	var others []*lake.Row
	for _, r := range pointers(rows) {
		if lake.PartitionOf(r.TsMs) != o.Partition || !strings.Contains(filepath.Base(o.Path), r.Source) {
			others = append(others, r)
		}
	}
	return others
}

func pointers(rows []lake.Row) []*lake.Row {
	out := make([]*lake.Row, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}

// TestOnlyHoursOfThePeriodAreRead: objects outside of the period are not looked at, so they may be anything.
func TestOnlyHoursOfThePeriodAreRead(t *testing.T) {
	rows := enginetest.Records(t, 200, 5)
	store := enginetest.NewStore(t, rows)
	e := open(t, store)
	q := bind(t, "timestamp between 2026-01-01 22:00 and 2026-01-01 23:59:59.999", query.Stats{SegmentSeconds: 60})
	objects, err := store.Objects(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for _, o := range objects {
		if o.MinTsMs >= q.Scope.FromMs && o.MaxTsMs <= q.Scope.ToMs {
			inside++
		} else if err := os.WriteFile(o.Path, []byte("not Parquet"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, cost, err := e.Run(t.Context(), q)
	if err != nil || cost.Objects != inside || len(cost.Skipped) > 0 {
		t.Errorf("cost %+v, %v; want %d objects", cost, err, inside)
	}
	if diff := cmp.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCost: the bytes are those of the columns touched, the rows those of the objects read.
func TestCost(t *testing.T) {
	rows := enginetest.Records(t, 200, 6)
	store := enginetest.NewStore(t, rows)
	e := open(t, store)
	objects, err := store.Objects(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for _, o := range objects {
		for _, column := range []string{"ts_ms", "hostname", "host", "bytes_sent", "request_length", "total_us", "country"} {
			want += o.ColumnBytes[column]
		}
	}
	_, cost, err := e.Run(t.Context(), bind(t, hours+`, country!="x"`, query.Stats{SegmentSeconds: 60}))
	if err != nil || cost.BytesScanned != want || cost.RowsConsidered != int64(len(rows)) || cost.Objects != len(objects) {
		t.Errorf("cost %+v, %v; want %d bytes, %d rows, %d objects", cost, err, want, len(rows), len(objects))
	}
}

// TestConcurrent: many callers get the same answers as one.
func TestConcurrent(t *testing.T) {
	rows := enginetest.Records(t, 300, 7)
	e := open(t, enginetest.NewStore(t, rows))
	shapes := []query.Shape{query.Logs{Limit: 50}, query.Stats{SegmentSeconds: 60}, query.Timeline{SegmentSeconds: 60}, query.TopX{Limit: 5}}
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			for n := range 4 {
				q := bind(t, hours, shapes[(i+n)%len(shapes)])
				got, _, err := e.Run(t.Context(), q)
				if err != nil {
					t.Error(err)
				} else if diff := cmp.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
					t.Errorf("%T (-want +got):\n%s", q.Shape, diff)
				}
			}
		})
	}
	wait.Wait()
}

func TestNewNeedsIndex(t *testing.T) {
	if _, err := local.New(nil, nil); err == nil {
		t.Error("no error without an index")
	}
}
