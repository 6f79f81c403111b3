package parquet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/parquet-go/parquet-go"
)

func verified(object []byte) (lake.Object, error) {
	return Verify(bytes.NewReader(object), int64(len(object)))
}

func TestVerify(t *testing.T) {
	rows := some()[:5_000]
	object := written(t, rows)
	got, err := verified(object)
	if err != nil {
		t.Fatal(err)
	}
	want := lake.Object{
		Partition:   lake.PartitionOf(rows[0].TsMs),
		Rows:        5_000,
		Bytes:       int64(len(object)),
		MinTsMs:     rows[0].TsMs,
		MaxTsMs:     rows[4_999].TsMs,
		ColumnBytes: got.ColumnBytes,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(got.ColumnBytes) != len(lake.Columns) {
		t.Errorf("bytes of %d columns, want %d", len(got.ColumnBytes), len(lake.Columns))
	}
	sum := int64(0)
	for name, n := range got.ColumnBytes {
		if n <= 0 {
			t.Errorf("column %s has %d bytes", name, n)
		}
		sum += n
	}
	if sum >= got.Bytes {
		t.Errorf("columns have %d bytes of %d", sum, got.Bytes)
	}
}

func TestVerifyRefusesInvalidObjects(t *testing.T) {
	at := func(ms int64) lake.Row { return lake.Row{TsMs: ms, Source: "s"} }
	place := func(ms, nanos int64, source string, line int64) lake.Row {
		return lake.Row{TsMs: ms, TsNanos: nanos, Source: source, Line: line}
	}
	for name, c := range map[string]struct {
		rows []lake.Row
		want string
	}{
		"no rows":              {nil, "no rows"},
		"times out of order":   {[]lake.Row{at(2), at(1)}, "row 1 is out of order"},
		"nanos out of order":   {[]lake.Row{place(1, 2, "a", 1), place(1, 1, "a", 2)}, "out of order"},
		"sources out of order": {[]lake.Row{place(1, 1, "b", 1), place(1, 1, "a", 2)}, "out of order"},
		"lines out of order":   {[]lake.Row{place(1, 1, "a", 2), place(1, 1, "a", 1)}, "out of order"},
		"two partitions": {
			[]lake.Row{at(3_599_999), at(3_600_000)},
			"rows are in partitions 1970/01/01/00 to 1970/01/01/01",
		},
		"out of order after many rows": {append(make([]lake.Row, 300), at(-1)), "row 300 is out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verified(written(t, c.rows))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestVerifyRefusesOtherTables(t *testing.T) {
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []struct{ A int }{{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := verified(buf.Bytes()); !errors.Is(err, ErrSchema) {
		t.Errorf("Verify: %v", err)
	}
	if _, err := OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len())); !errors.Is(err, ErrSchema) {
		t.Errorf("OpenFile: %v", err)
	}
}

// TestVerifyDetectsDamage flips single bits. If Verify accepts an object, its rows must still be the original ones.
func TestVerifyDetectsDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := some()[:200]
	object := written(t, rows)
	r := rand.New(rand.NewPCG(6, 7))
	passed := 0
	for range 300 {
		damaged := bytes.Clone(object)
		at := r.IntN(len(damaged))
		damaged[at] ^= byte(1 << r.IntN(8))
		if _, err := verified(damaged); err != nil {
			continue
		}
		passed++
		if got := readAll(t, damaged); !reflect.DeepEqual(got, rows) {
			t.Fatalf("damage of byte %d of %d is not detected", at, len(object))
		}
	}
	t.Logf("%d of 300 flips did no harm", passed)
	for _, n := range []int{0, 3, 8, len(object) / 2, len(object) - 1} {
		if _, err := verified(object[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(object))
		}
	}
}
