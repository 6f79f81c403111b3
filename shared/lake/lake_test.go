package lake_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		rows := make([]lake.Row, r.IntN(40))
		for i := range rows {
			// Few values, so that every key decides sometimes. Port identifies a row.
			port := fmt.Sprint(i)
			rows[i] = lake.Row{
				TsMs:    r.Int64N(3) - 1,
				TsNanos: r.Int64N(2),
				Source:  string(rune('a' + r.IntN(2))),
				Line:    r.Int64N(3),
				Port:    &port,
			}
		}
		want := slices.Clone(rows)
		slices.SortFunc(want, func(a, b lake.Row) int {
			return cmp.Compare(key(a), key(b))
		})
		slices.SortFunc(rows, func(a, b lake.Row) int { return lake.Compare(&a, &b) })
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
		{0, "1970/01/01/00"},
		{-1, "1969/12/31/23"},
		{-3_600_000, "1969/12/31/23"},
		{-3_600_001, "1969/12/31/22"},
		{1_767_308_400_000, "2026/01/01/23"},
		{1_767_311_999_999, "2026/01/01/23"},
		{1_767_312_000_000, "2026/01/02/00"},
	} {
		p := lake.PartitionOf(c.ms)
		if p.String() != c.want {
			t.Errorf("%d is in %s, want %s", c.ms, p, c.want)
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

// TestNameOf: names do not show where the server keeps its data, which messages once did.
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

func TestSourceOf(t *testing.T) {
	for name, want := range map[string]string{
		"fresh/2026/03/01/10/7e1728c3660efedc-0.parquet":             "7e1728c3660efedc 0 true",
		"lake/compact/2026/03/01/10/7e1728c3660efedc-2-12.parquet":   "7e1728c3660efedc-2 12 true",
		"compact/2026/03/01/10/7e1728c3660efedc.parquet":             " 0 false",
		"fresh/2026/03/01/10/7e1728c3660efedc-x.parquet":             " 0 false",
		"s3://b-1/lake/fresh/2026/03/01/10/7e1728c3660efedc.parquet": " 0 false",
	} {
		source, part, ok := lake.SourceOf(name)
		if got := fmt.Sprint(source, " ", part, " ", ok); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	if n := reflect.TypeFor[lake.Row]().NumField(); len(lake.Columns) != n || len(lake.ColumnNames) != n {
		t.Errorf("%d columns and %d names of %d fields", len(lake.Columns), len(lake.ColumnNames), n)
	}
	for name, want := range map[string]string{
		"ts_ms":            "bigint",
		"ip":               "string",
		"blocked":          "boolean",
		"origin_null":      "boolean",
		"tags":             "array<string>",
		"upstream_status":  "array<bigint>",
		"headers":          "array<struct<name:string,value:string>>",
		"upstream_data":    "array<struct<addr:string,response_us:bigint,status:bigint>>",
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
