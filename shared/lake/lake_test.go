package lake_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/reader"
)

func TestSort_orders_by_time_then_place(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		rows := make([]lake.Row, r.IntN(40))
		for i := range rows {
			// Few values, so that every key decides now and then; Port tells rows apart.
			port := fmt.Sprint(i)
			rows[i] = lake.Row{TsMs: r.Int64N(3) - 1, TsNanos: r.Int64N(2), Source: string(rune('a' + r.IntN(2))), Line: r.Int64N(3), Port: &port}
		}
		want := slices.Clone(rows)
		slices.SortFunc(want, func(a, b lake.Row) int {
			return cmp.Compare(key(a), key(b))
		})
		lake.Sort(rows)
		for i := range rows {
			if key(rows[i]) != key(want[i]) {
				t.Fatalf("row %d is %s, want %s", i, key(rows[i]), key(want[i]))
			}
		}
		slices.SortFunc(rows, byPort)
		slices.SortFunc(want, byPort)
		if !reflect.DeepEqual(rows, want) {
			t.Fatal("sorting changed the set of rows")
		}
	}
}

func key(r lake.Row) string { return fmt.Sprintf("%d %d %s %d", r.TsMs+1, r.TsNanos, r.Source, r.Line) }

func byPort(a, b lake.Row) int { return cmp.Compare(*a.Port, *b.Port) }

func TestPartition(t *testing.T) {
	for _, c := range []struct {
		ms   int64
		want string
	}{
		{0, "1970/01/01/00"}, {-1, "1969/12/31/23"}, {-3_600_000, "1969/12/31/23"}, {-3_600_001, "1969/12/31/22"},
		{1_767_308_400_000, "2026/01/01/23"}, {1_767_311_999_999, "2026/01/01/23"}, {1_767_312_000_000, "2026/01/02/00"},
	} {
		p := lake.PartitionOf(c.ms)
		if p.String() != c.want {
			t.Errorf("%d lies in %s, want %s", c.ms, p, c.want)
		}
		if c.ms < p.Start() || c.ms >= (p+1).Start() {
			t.Errorf("%d is not within %d…%d", c.ms, p.Start(), (p + 1).Start())
		}
	}
}

func TestNames(t *testing.T) {
	p := lake.PartitionOf(1_767_308_400_000)
	if got := lake.ObjectName(p, "5f3a", 2); got != "fresh/2026/01/01/23/5f3a-2.parquet" {
		t.Error(got)
	}
	if got := lake.CompactName(p, "77aa"); got != "compact/2026/01/01/23/77aa.parquet" {
		t.Error(got)
	}
}

// TestNameOf: users were once shown where the server keeps its data.
func TestNameOf(t *testing.T) {
	p := lake.PartitionOf(1_767_308_400_000)
	fresh, compact := lake.ObjectName(p, "5f3a", 2), lake.CompactName(p, "77aa")
	for objectPath, want := range map[string]string{
		"/srv/orrery/lake/" + fresh:        fresh,
		"/srv/compact/fresh/" + compact:    compact,
		fresh:                              fresh,
		"s3://bucket/fresh/" + fresh:       fresh,
		"/home/me/fresh/other-1.parquet":   "other-1.parquet",
		"/home/me/data/2026/other.parquet": "other.parquet",
		"":                                 "",
	} {
		if got := lake.NameOf(objectPath); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", objectPath, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	if n := reflect.TypeFor[lake.Row]().NumField(); len(lake.Columns) != n || len(lake.ColumnNames) != n {
		t.Errorf("%d columns and %d names of %d fields", len(lake.Columns), len(lake.ColumnNames), n)
	}
	for name, want := range map[string]string{
		"ts_ms": "bigint", "ip": "string", "blocked": "boolean", "origin_null": "boolean", "tags": "array<string>", "upstream_status": "array<bigint>",
		"headers": "array<struct<name:string,value:string>>", "upstream_data": "array<struct<addr:string,response_us:bigint,status:bigint>>",
		"trigger_counters": "struct<acl:bigint,cf:bigint,cf_restrict:bigint,dr:bigint,gf:bigint,rl:bigint>",
	} {
		c, known := lake.ColumnByName(name)
		if !known || c.Type.String() != want {
			t.Errorf("%s is %s, want %s", name, c.Type, want)
		}
	}
	if _, known := lake.ColumnByName("ts"); known {
		t.Error("there is no column ts")
	}
}

func TestFile_reads_chosen_columns(t *testing.T) {
	rows := some()[:500]
	object := written(t, rows)
	r, size := bytes.NewReader(object), int64(len(object))
	got, err := reader.ReadColumns(r, size, []int64{7, 499}, []string{"ts_ms", "headers", "trigger_counters"})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{7, 499} {
		want := &lake.Row{TsMs: rows[n].TsMs, Headers: rows[n].Headers, TriggerCounters: rows[n].TriggerCounters}
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("row %d is %+v, want %+v", n, got[i], want)
		}
	}
	all, err := reader.ReadRows(r, size, []int64{3})
	if err != nil || !reflect.DeepEqual(all[0], &rows[3]) {
		t.Errorf("row 3 is %+v, %v", all, err)
	}
}

func TestFile_refuses_what_is_not_there(t *testing.T) {
	object := written(t, some()[:10])
	r, size := bytes.NewReader(object), int64(len(object))
	for _, n := range []int64{-1, 10} {
		if _, err := reader.ReadRows(r, size, []int64{n}); err == nil || !strings.Contains(err.Error(), "of 10") {
			t.Errorf("row %d: %v", n, err)
		}
	}
	if _, err := reader.ReadColumns(r, size, []int64{1}, []string{"ts"}); err == nil || !strings.Contains(err.Error(), `no column "ts"`) {
		t.Errorf("unknown column: %v", err)
	}
	if _, err := reader.ReadRows(r, size-1, nil); err == nil {
		t.Error("half a file opens")
	}
	if _, err := reader.New(r, size-1); err == nil {
		t.Error("half a file can be read")
	}
}

func TestReader_and_File_notice_damaged_pages(t *testing.T) {
	object := written(t, some()[:2_000])
	damaged := bytes.Clone(object)
	for i := 4; i < len(damaged)/2; i += 50 {
		damaged[i] ^= 0xff
	}
	all, err := reader.New(bytes.NewReader(damaged), int64(len(damaged)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Read(make([]lake.Row, 10)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Read: %v", err)
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadRows(bytes.NewReader(damaged), int64(len(damaged)), []int64{5}); err == nil {
		t.Error("ReadRows: no error")
	}
}

// brokenWriter takes so many bytes and no more.
type brokenWriter int

func (w *brokenWriter) Write(p []byte) (int, error) {
	if *w -= brokenWriter(len(p)); *w < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriter_reports_a_full_disk(t *testing.T) {
	rows := some()[:2_000]
	for _, room := range []brokenWriter{0, 10_000, 100_000} {
		w := lake.NewWriterGroups(&room, 500)
		if err := errors.Join(w.Write(rows), w.Close()); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("with %d bytes: %v", room, err)
		}
	}
}
