package local_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

const hours = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"

// oneAddress is a condition that the scan leaves to DuckDB.
const oneAddress = `, ip="192.0.2.1"`

var shapes = []query.Shape{
	query.Logs{Limit: 1000},
	query.Stats{SegmentSeconds: 60},
	query.Timeline{SegmentSeconds: 60},
	query.TopX{Limit: 9},
	query.TopX{Limit: 9, Percentiles: true},
	query.Stats{SegmentSeconds: 300, By: dimension("ip"), Percentiles: true},
	query.Facets{Limit: 9, By: querytest.Dimensions("ip,tags")},
	query.Diff{Least: 1, By: querytest.Dimensions("ip,tags"), Select: querytest.Selection("status>=400")},
	query.Counts{
		SegmentSeconds: 60, By: querytest.Dimensions("host")[0],
		Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection("status>=400")},
	},
	query.Histogram{SegmentSeconds: 60, Measure: query.MeasureRequests, Limit: 5, By: dimension("ip")},
	query.Sequences{Key: querytest.Dimensions("ip"), With: querytest.Dimensions("path"), Over: 2},
}

func bind(t testing.TB, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// allObjects returns the objects of a store.
func allObjects(t testing.TB, store *enginetest.Store) []lake.Object {
	t.Helper()
	objects, err := store.Objects(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestReplacedObjects: compaction replaces all objects after the engine has listed them. The engine lists them again.
func TestReplacedObjects(t *testing.T) {
	rows := enginetest.Records(t, 300, 1)
	eachEngine(t, func(t *testing.T, open openFunc) {
		for _, shape := range shapes {
			store := enginetest.NewStore(t, rows)
			e := open(t, &replacing{Store: store, t: t})
			q := bind(t, hours, shape)
			got, cost, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := enginetest.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
				t.Errorf("%T while objects are replaced (-want +got):\n%s", shape, diff)
			}
			if len(cost.Skipped) > 0 {
				t.Errorf("%T: replaced objects are skipped: %v", shape, cost.Skipped)
			}
		}
	})
}

// replacing is a store that renames all objects after its first listing, as compaction replaces them.
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

// damages are ways to make an object unreadable.
var damages = []struct {
	name string
	harm func(path string) error
}{
	{"missing", os.Remove},
	{"empty", func(path string) error { return os.WriteFile(path, nil, 0o644) }},
	{"not Parquet", func(path string) error {
		return os.WriteFile(path, []byte(strings.Repeat("hello ", 1000)), 0o644)
	}},
	{"truncated", func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	}},
	{"replaced by another object", func(path string) error {
		others, err := filepath.Glob(filepath.Join(filepath.Dir(path), "../*/*.parquet"))
		if err != nil {
			return err
		}
		for _, other := range others {
			raw, err := os.ReadFile(other)
			if err == nil && filepath.Dir(other) != filepath.Dir(path) {
				return os.WriteFile(path, raw, 0o644)
			}
		}
		return errors.New("there is no other object")
	}},
	{"replaced by another object of the same size", func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		others, err := filepath.Glob(filepath.Join(filepath.Dir(path), "../*/*.parquet"))
		if err != nil {
			return err
		}
		for _, other := range others {
			raw, err := os.ReadFile(other)
			if err != nil {
				return err
			}
			if filler := int(info.Size()) - len(raw); filler >= 0 && other != path {
				footer := len(raw) - 8 - int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
				return os.WriteFile(path, slices.Insert(raw, footer, make([]byte, filler)...), 0o644)
			}
		}
		return errors.New("there is no smaller object")
	}},
	{"pages overwritten", func(path string) error {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := 4; i < len(raw)*2/3; i++ {
			raw[i] = 0xff
		}
		return os.WriteFile(path, raw, 0o644)
	}},
}

// TestUnreadableObjectIsSkipped: an object that cannot be read is named, and the other objects give the answer.
func TestUnreadableObjectIsSkipped(t *testing.T) {
	rows := enginetest.Records(t, 300, 2)
	every := testlevel.Of(6, 4, 1)
	eachEngine(t, func(t *testing.T, open openFunc) {
		for i, damage := range damages {
			t.Run(damage.name, func(t *testing.T) {
				for n := i % every; n < len(shapes); n += every {
					testUnreadableObject(t, open, rows, damage.harm, shapes[n])
				}
			})
		}
	})
}

func testUnreadableObject(
	t *testing.T, open openFunc, rows []lake.Row, harm func(path string) error, shape query.Shape,
) {
	t.Helper()
	store := enginetest.NewStore(t, rows)
	e := open(t, store)
	objects := allObjects(t, store)
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
	if *cost.Objects != len(objects)-1 {
		t.Errorf("%T: %d objects are counted as read of %d", shape, *cost.Objects, len(objects))
	}
	others := without(rows, bad)
	if diff := enginetest.Diff(reference.Evaluate(&q, others), got); diff != "" {
		t.Errorf("%T (-want +got):\n%s", shape, diff)
	}
}

// TestHugeSums: sums of more than 64 bits equal the sums of the reference and cause no error, in every shape with a
// sum.
func TestHugeSums(t *testing.T) {
	huge, status, blocked := int64(math.MaxInt64), int64(200), true
	var rows []lake.Row
	for line := range int64(4) {
		rows = append(rows, lake.Row{
			TsMs: enginetest.Start.UnixMilli() + line, Source: "s", Line: line + 1, Status: &status, Blocked: &blocked,
			BytesSent: &huge, TotalUs: &huge,
		})
	}
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, enginetest.NewStore(t, rows))
		for _, shape := range []query.Shape{
			query.Stats{SegmentSeconds: 3600}, query.Timeline{SegmentSeconds: 3600}, query.TopX{Limit: 3},
			query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureBytesSent, Limit: 1},
		} {
			q := bind(t, hours, shape)
			got, _, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatalf("%T: %v", shape, err)
			}
			if diff := enginetest.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
				t.Errorf("%T (-want +got):\n%s", shape, diff)
			}
		}
	})
}

// TestRandomDamage changes random bytes of an object. The engine answers or names the object, and never panics.
func TestRandomDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := enginetest.Records(t, 60, 3)
	eachEngine(t, func(t *testing.T, open openFunc) {
		random := rand.New(rand.NewPCG(1, 1))
		for range 12 {
			store := enginetest.NewStore(t, rows)
			e := open(t, store)
			objects := allObjects(t, store)
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
				wrong := len(cost.Skipped) > 1 || len(cost.Skipped) == 1 && cost.Skipped[0] != lake.NameOf(path)
				if err == nil && wrong {
					t.Errorf("%s was damaged, %v are skipped", path, cost.Skipped)
				}
			}
		}
	})
}

// without returns the rows that are not in an object.
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

// TestOnlyObjectsOfThePeriodAreRead: all objects outside the period are unreadable.
func TestOnlyObjectsOfThePeriodAreRead(t *testing.T) {
	rows := enginetest.Records(t, 200, 5)
	const period = "timestamp between 2026-01-01 22:00 and 2026-01-01 23:59:59.999"
	q := bind(t, period, query.Stats{SegmentSeconds: 60})
	eachEngine(t, func(t *testing.T, open openFunc) {
		store := enginetest.NewStore(t, rows)
		e := open(t, store)
		inside := 0
		for _, o := range allObjects(t, store) {
			if o.MinTsMs >= q.Scope.FromMs && o.MaxTsMs <= q.Scope.ToMs {
				inside++
			} else if err := os.WriteFile(o.Path, []byte("not Parquet"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, cost, err := e.Run(t.Context(), q)
		if err != nil || *cost.Objects != inside || len(cost.Skipped) > 0 {
			t.Errorf("cost %+v, %v; want %d objects", cost, err, inside)
		}
		if diff := enginetest.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestCost: the cost counts the bytes of the columns touched, and the rows of the objects read.
func TestCost(t *testing.T) {
	rows := enginetest.Records(t, 200, 6)
	store := enginetest.NewStore(t, rows)
	objects := allObjects(t, store)
	var want int64
	for _, o := range objects {
		for _, c := range []string{"ts_ms", "hostname", "host", "bytes_sent", "request_length", "total_us", "country"} {
			want += o.ColumnBytes[c]
		}
	}
	q := bind(t, hours+`, country!="x"`, query.Stats{SegmentSeconds: 60})
	eachEngine(t, func(t *testing.T, open openFunc) {
		_, cost, err := open(t, store).Run(t.Context(), q)
		if err != nil || cost.BytesScanned != want || *cost.RowsConsidered != int64(len(rows)) ||
			*cost.Objects != len(objects) {
			t.Errorf("cost %+v, %v; want %d bytes, %d rows, %d objects", cost, err, want, len(rows), len(objects))
		}
	})
}

// TestCostOfShapes: figures cost the bytes of the columns that they are computed from. The tests of package scan prove
// that it reads no others.
func TestCostOfShapes(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 200, 6))
	flags := []string{"blocked", "human", "challenge", "ichallenge", "monitor", "monitor_reasons"}
	topx := append(slices.Clone(flags), "bot", "bytes_sent", "request_length", "origin_us", "svc_us", "total_us", "asn",
		"country", "organization", "host", "ip", "svcid", "reason", "referer", "url", "user_agent")
	record := allObjects(t, store)[1] // one of two with records of its time
	ref := lake.RefTo(record.MinTsMs, "a", 1)
	for _, c := range []struct {
		name    string
		shape   query.Shape
		columns []string
	}{
		{"topx", query.TopX{Limit: 3}, topx},
		{"topx with percentiles", query.TopX{Limit: 3, Percentiles: true}, topx},
		{
			"stats with percentiles", query.Stats{SegmentSeconds: 60, Percentiles: true},
			[]string{"hostname", "host", "bytes_sent", "request_length", "total_us", "origin_us", "svc_us"},
		},
		{
			"stats by a field with percentiles",
			query.Stats{SegmentSeconds: 60, Percentiles: true, By: &querytest.Dimensions("country")[0]},
			[]string{"country", "bytes_sent", "request_length", "total_us", "origin_us", "svc_us"},
		},
		{"stats", query.Stats{SegmentSeconds: 60}, []string{"hostname", "host", "bytes_sent", "request_length", "total_us"}},
		{
			"timeline", query.Timeline{SegmentSeconds: 60}, []string{
				"status", "upstream_status", "blocked", "challenge", "ichallenge", "human", "ip", "session", "bytes_sent",
			},
		},
		{"facets", query.Facets{By: querytest.Dimensions("country,tags"), Limit: 3}, append(flags, "country", "tags")},
		{
			"histogram", query.Histogram{SegmentSeconds: 60, By: &querytest.Dimensions("status")[0], Limit: 3},
			[]string{"status"},
		},
		{
			"diff", query.Diff{
				By: querytest.Dimensions("country,tags"), Select: querytest.Selection("blocked is true"), Least: 1, Limit: 3,
			},
			[]string{"country", "tags", "blocked"},
		},
		{
			"values with counts", query.Values{
				By: querytest.Dimensions("country")[0], Find: query.Beginning(""), Limit: 3, Counts: true,
			},
			append(flags, "country"),
		},
	} {
		var want int64
		for _, o := range allObjects(t, store) {
			for _, column := range append(c.columns, "ts_ms") {
				want += o.ColumnBytes[column]
			}
		}
		q := bind(t, hours, c.shape)
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, open openFunc) {
				e := open(t, store)
				var cost engine.Cost
				var err error
				if _, values := c.shape.(query.Values); values {
					_, cost, err = e.FindValues(t.Context(), q, never)
				} else {
					_, cost, err = e.Run(t.Context(), q)
				}
				if err != nil || cost.BytesScanned != want {
					t.Errorf("%d bytes, %v; want %d", cost.BytesScanned, err, want)
				}
			})
		})
	}
	t.Run("a reference costs source and line, of the objects with its time", func(t *testing.T) {
		var want int64
		for _, o := range allObjects(t, store) {
			if o.MinTsMs <= ref.TsMs && ref.TsMs <= o.MaxTsMs {
				want += o.ColumnBytes["ts_ms"] + o.ColumnBytes["source"] + o.ColumnBytes["line"] + o.ColumnBytes["status"]
			}
		}
		q := bind(t, hours+fmt.Sprintf(", record_ref=%q", ref), query.Histogram{
			SegmentSeconds: 60, By: &querytest.Dimensions("status")[0], Limit: 3,
		})
		eachEngine(t, func(t *testing.T, open openFunc) {
			if _, cost, err := open(t, store).Run(t.Context(), q); err != nil || cost.BytesScanned != want || want == 0 {
				t.Errorf("%d bytes, %v; want %d", cost.BytesScanned, err, want)
			}
		})
	})
	t.Run("values without counts cost less than the column", func(t *testing.T) {
		var column int64
		for _, o := range allObjects(t, store) {
			column += o.ColumnBytes["country"]
		}
		_, cost, err := openWithout(t, store).FindValues(t.Context(), bind(t, hours, valuesOf("country")), never)
		if err != nil || cost.BytesScanned == 0 || cost.BytesScanned >= column {
			t.Errorf("%d bytes, %v; want some of %d", cost.BytesScanned, err, column)
		}
	})
}

// TestCostOfLogs: the scan finds the newest record in the two newest objects, so the others cost nothing. For a single
// address, DuckDB reads the objects of the newest four hours, and all objects if the former have too few records.
func TestCostOfLogs(t *testing.T) {
	rows := enginetest.Records(t, 200, 6)
	store := enginetest.NewStore(t, rows)
	objects := allObjects(t, store)
	finding := func(objects []lake.Object, columns ...string) (bytes, count int64) {
		for _, o := range objects {
			count += o.Rows
			for _, c := range append(columns, query.OrderColumns...) {
				bytes += o.ColumnBytes[c]
			}
		}
		return bytes, count
	}
	newest := objects[len(objects)-2:] // the two sources of the last hour
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, store)
		q := bind(t, hours, query.Logs{Limit: 1, Fields: []string{"timestamp"}})
		_, cost, err := e.Run(t.Context(), q)
		bytes, count := finding(newest)
		if err != nil || *cost.Objects != 2 || *cost.RowsConsidered != count || cost.Skipped != nil {
			t.Errorf("cost %+v, %v; want %d rows in 2 objects", cost, err, count)
		}
		if cost.BytesScanned < bytes || cost.BytesScanned > 2*bytes {
			t.Errorf("%d bytes scanned; want %d and a little more for the record", cost.BytesScanned, bytes)
		}

		_, cost, err = e.Run(t.Context(), bind(t, hours+oneAddress, query.Logs{Limit: 1}))
		bytes, count = finding(objects, "ip")
		if err != nil || *cost.Objects != len(objects) || *cost.RowsConsidered != count || cost.BytesScanned != bytes {
			t.Errorf("one address: cost %+v, %v; want %d rows and %d bytes in %d objects",
				cost, err, count, bytes, len(objects))
		}
	})
	newestRow, address := &rows[0], "192.0.2.1"
	for i := range rows {
		if rows[i].TsMs > newestRow.TsMs {
			newestRow = &rows[i]
		}
	}
	newestRow.IP = &address
	store = enginetest.NewStore(t, rows)
	objects = allObjects(t, store)
	partitions := map[lake.Partition]bool{}
	for _, o := range objects {
		partitions[o.Partition] = true
	}
	last := slices.Sorted(maps.Keys(partitions))
	if len(last) <= 4 {
		t.Fatalf("only %d hours", len(last))
	}
	few := slices.DeleteFunc(slices.Clone(objects), func(o lake.Object) bool { return o.Partition < last[len(last)-4] })
	_, cost, err := open(t, store).Run(t.Context(), bind(t, hours+oneAddress, query.Logs{Limit: 1}))
	if err != nil || *cost.Objects != len(few) {
		t.Errorf("one address in the newest hours: cost %+v, %v; want %d objects", cost, err, len(few))
	}
}

// TestCostOfPages: a page after a place costs the columns of the objects with its hour and its share of the records in
// them, however long the period is.
func TestCostOfPages(t *testing.T) {
	rows := enginetest.Records(t, 400, 6)
	store := enginetest.NewStore(t, rows)
	const limit = 3
	whole := bind(t, hours, query.Logs{Limit: len(rows)})
	all := reference.Evaluate(&whole, pointers(rows)).Logs
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, store)
		seen := map[lake.Partition]bool{}
		for i := range all[:len(all)-limit] {
			hour := lake.PartitionOf(all[i].TsMs)
			if seen[hour] || hour != lake.PartitionOf(all[i+limit].TsMs) {
				continue
			}
			seen[hour] = true
			var finding, records, count int64
			objects := 0
			for _, o := range allObjects(t, store) {
				if o.Partition != hour || o.MinTsMs > all[i].TsMs {
					continue
				}
				objects, count = objects+1, count+o.Rows
				for _, column := range query.OrderColumns {
					finding += o.ColumnBytes[column]
				}
				for _, column := range append([]string{"status", "extra"}, query.OrderColumns...) {
					records += o.ColumnBytes[column]
				}
			}
			want := finding + records*limit/count
			place := query.PlaceOf(all[i])
			page := query.Logs{Limit: limit, Fields: []string{"status"}, OlderThan: &place}
			for _, period := range []string{
				hours, "timestamp between 2025-01-01 and 2027-01-01",
				"timestamp between " + time.UnixMilli(hour.Start()).UTC().Format("2006-01-02 15:04") + " and 2026-01-02 03:00",
			} {
				got, cost, err := e.Run(t.Context(), bind(t, period, page))
				if err != nil || len(got.Logs) != limit || cost.BytesScanned != want || *cost.Objects != objects {
					t.Errorf("%s, page after record %d: %d bytes in %d objects, %v; want %d bytes in %d",
						period, i, cost.BytesScanned, *cost.Objects, err, want, objects)
				}
			}
		}
		if len(seen) < 5 {
			t.Errorf("pages in only %d hours", len(seen))
		}
	})
}

// TestCostOfExport: an export costs the columns that find its records, of every object, and the share of the records in
// the columns that are printed. Each is read once, however many parts there are.
func TestCostOfExport(t *testing.T) {
	rows := enginetest.Records(t, 400, 6)
	store := enginetest.NewStore(t, rows)
	var every []string // all columns of a record; log_rest repeats others
	for _, name := range lake.ColumnNames {
		if name != "log_rest" {
			every = append(every, name)
		}
	}
	for name, c := range map[string]struct {
		condition       string
		fields          []string
		finding, record []string
	}{
		"whole records":      {"", nil, nil, every},
		"two fields":         {"", []string{"status", "ip"}, nil, []string{"status", "ip", "extra"}},
		"a part of the data": {", status<400", []string{"ip"}, []string{"status"}, []string{"ip", "extra"}},
		"without a record":   {", status=99999", []string{"ip"}, []string{"status"}, []string{"ip", "extra"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, open openFunc) {
				for _, most := range []int{len(rows), 50} { // records of a part
					e := open(t, store)
					e.SetSizes(1<<30, 4<<20, most, 30_000)
					q := bind(t, hours+c.condition, query.Logs{Limit: len(rows), Fields: c.fields})
					got, cost := exported(t, e, q)
					var finding, record, count int64
					for _, o := range allObjects(t, store) {
						count += o.Rows
						for _, column := range append(slices.Clone(query.OrderColumns), c.finding...) {
							finding += o.ColumnBytes[column]
						}
						for _, column := range union(c.record, query.OrderColumns) {
							record += o.ColumnBytes[column]
						}
					}
					if want := finding + record*int64(len(got))/count; cost.BytesScanned != want {
						t.Errorf("%d records in parts of %d: %d bytes, want %d", len(got), most, cost.BytesScanned, want)
					}
				}
			})
		})
	}
}

// union returns the elements of both lists once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// TestConcurrentQueries: many callers get the same answers as one.
func TestConcurrentQueries(t *testing.T) {
	rows := enginetest.Records(t, 300, 7)
	shapes := []query.Shape{
		query.Logs{Limit: 50},
		query.Stats{SegmentSeconds: 60},
		query.Timeline{SegmentSeconds: 60},
		query.TopX{Limit: 5},
	}
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, enginetest.NewStore(t, rows))
		var wait sync.WaitGroup
		for i := range 12 {
			wait.Go(func() {
				for n := range 4 {
					q := bind(t, hours, shapes[(i+n)%len(shapes)])
					got, _, err := e.Run(t.Context(), q)
					if err != nil {
						t.Error(err)
					} else if diff := enginetest.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
						t.Errorf("%T (-want +got):\n%s", q.Shape, diff)
					}
				}
			})
		}
		wait.Wait()
	})
}

// TestCheckingObjectsEndsWithTheQuery: a query that is cancelled opens no further file.
func TestCheckingObjectsEndsWithTheQuery(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	missing := []lake.Object{{Path: filepath.Join(t.TempDir(), "missing.parquet")}}
	if err := local.CheckObjects(ctx, missing); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestErrorWithoutDuckDB: the error of a query that the scan does not support names what is missing and the remedy.
func TestErrorWithoutDuckDB(t *testing.T) {
	least, url := int64(math.MinInt64), "/"
	start := enginetest.Start.UnixMilli()
	rows := []lake.Row{
		{TsMs: start, Source: "s", Line: 1, URL: &url, TotalUs: &least},
		{TsMs: start, Source: "s", Line: 2, URL: &url, TotalUs: &least},
	}
	e := openWithout(t, enginetest.NewStore(t, rows))
	_, _, err := e.Run(t.Context(), bind(t, hours, query.TopX{Limit: 3}))
	if fault.KindOf(err) != fault.EngineLimit {
		t.Fatalf("error %v, want one of kind EngineLimit", err)
	}
	for _, words := range []string{"DuckDB", "install a C compiler", "CGO_ENABLED=1", "more than 64 bits"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one that contains %q", err, words)
		}
	}
}

func TestNewNeedsIndex(t *testing.T) {
	if _, err := local.New(nil, nil, scan.Options{}); err == nil {
		t.Error("no error without an index")
	}
}

// TestQueriesWaitForMemory: without DuckDB, a query waits until other queries of the caller have ended, but not for ever.
func TestQueriesWaitForMemory(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 100, 5))
	q := bind(t, hours, query.Stats{SegmentSeconds: 60})
	for name, c := range map[string]struct {
		ends            bool // of the other queries
		patience, limit time.Duration
		want            fault.Kind // Internal: no error
	}{
		"they end":             {ends: true, patience: time.Hour, limit: time.Hour},
		"they do not end soon": {patience: time.Millisecond, limit: time.Hour, want: fault.Unavailable},
		"the time is over":     {patience: time.Hour, limit: time.Millisecond, want: fault.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			e := openWithout(t, store)
			e.SetPatience(c.patience)
			giveBack := e.UseMemory("a")
			ctx, stop := context.WithTimeout(engine.WithCaller(t.Context(), "a"), c.limit)
			defer stop()
			failed := make(chan error)
			go func() {
				_, _, err := e.Run(ctx, q)
				failed <- err
			}()
			if c.ends {
				giveBack()
			}
			err := <-failed
			if (err == nil) != (c.want == fault.Internal) || err != nil && fault.KindOf(err) != c.want {
				t.Errorf("error %v, want kind %v", err, c.want)
			}
			if _, _, err := e.Run(engine.WithCaller(t.Context(), "b"), q); err != nil {
				t.Errorf("another caller: %v", err)
			}
		})
	}
}
