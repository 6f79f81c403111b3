package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/parquet-go/parquet-go"
)

// rawOf reads every row of an object as a Raw.
func rawOf(t *testing.T, object []byte) []Raw {
	t.Helper()
	r, err := NewRawReader(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	var all []Raw
	for {
		room := make([]Raw, 7)
		n, err := r.Read(room)
		all = append(all, room[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// randomRows returns sorted rows with every pattern of absent values.
func randomRows(seed uint64, n int) []lake.Row {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]lake.Row, n)
	for i := range rows {
		fillRandomly(r, reflect.ValueOf(&rows[i]).Elem(), 0.6)
		rows[i].TsMs, rows[i].Line = int64(i/3), int64(i)
	}
	parquettest.Sort(rows)
	return rows
}

func TestWriteRawWritesTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for seed := range uint64(5) {
		rows := randomRows(seed, 300)
		object := written(t, rows)
		raw := rawOf(t, object)
		if !slices.IsSortedFunc(raw, CompareRaw) {
			t.Error("CompareRaw and Compare differ")
		}
		var copied bytes.Buffer
		w := NewWriter(&copied)
		for chunk := range slices.Chunk(raw, 64) {
			if err := w.WriteRaw(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		compareRows(t, rows, readAll(t, copied.Bytes()))
		if !bytes.Equal(copied.Bytes(), object) {
			t.Errorf("seed %d: the copy differs from the original: %d and %d bytes", seed, copied.Len(), len(object))
		}
	}
}

func TestRawSumDetectsEveryDifference(t *testing.T) {
	seed := maphash.MakeSeed()
	sumOf := func(rows ...lake.Row) uint64 {
		sum := RawSum{Seed: seed}
		for _, row := range rawOf(t, written(t, rows)) {
			sum.Add(row)
		}
		return sum.Sum
	}
	status, path := int64(200), "/x"
	one := lake.Row{TsMs: 1, Line: 1, Status: &status}
	two := lake.Row{TsMs: 1, Line: 2, Path: &path, Headers: []lake.Pair{{Name: "a", Value: "b"}}}
	changed := func(change func(*lake.Row)) lake.Row {
		row := two
		change(&row)
		return row
	}
	whole := sumOf(one, two)
	if whole != sumOf(one, two) {
		t.Error("equal rows have different sums")
	}
	empty := ""
	for name, sum := range map[string]uint64{
		"a row lost":      sumOf(one),
		"a row twice":     sumOf(one, two, two),
		"another order":   sumOf(two, one),
		"a value lost":    sumOf(one, changed(func(r *lake.Row) { r.Path = nil })),
		"an empty text":   sumOf(one, changed(func(r *lake.Row) { r.Path = &empty })),
		"an empty list":   sumOf(one, changed(func(r *lake.Row) { r.Headers = []lake.Pair{} })),
		"a list lost":     sumOf(one, changed(func(r *lake.Row) { r.Headers = nil })),
		"a boundary":      sumOf(one, changed(func(r *lake.Row) { r.Headers = []lake.Pair{{Name: "ab", Value: ""}} })),
		"another column":  sumOf(one, changed(func(r *lake.Row) { r.Path, r.Query = nil, &path })),
		"a flag set":      sumOf(one, changed(func(r *lake.Row) { r.OriginNull = true })),
		"a number for 0":  sumOf(one, changed(func(r *lake.Row) { r.TsDigits = 3 })),
		"another element": sumOf(one, changed(func(r *lake.Row) { r.Tags = []string{"x"} })),
	} {
		if sum == whole {
			t.Errorf("%s is not detected", name)
		}
	}
}

// TestWriterLimitsGroupSize: 2,600 records of 90 kB needed 1.2 GB of memory as one group.
func TestWriterLimitsGroupSize(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	const rows, size = 1500, 64 << 10
	var object bytes.Buffer
	w := NewWriter(&object)
	for i := range rows {
		text := fmt.Sprintf("%d", i) + strings.Repeat("x", size)
		if err := w.Write([]lake.Row{{TsMs: int64(i), UserAgent: &text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := verified(object.Bytes()); err != nil || got.Rows != rows {
		t.Error(got, err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(object.Bytes()), int64(object.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range file.Metadata().RowGroups {
		if g.TotalByteSize > 34<<20 {
			t.Errorf("group %d holds %d bytes", i, g.TotalByteSize)
		}
	}
	if n := len(file.RowGroups()); n != 3 {
		t.Errorf("%d groups", n)
	}
}

func TestRowMemoryCountsEveryText(t *testing.T) {
	empty := (&lake.Row{}).Memory()
	text := strings.Repeat("x", 10_000)
	columns := reflect.TypeFor[lake.Row]()
	for i := range columns.NumField() {
		var row lake.Row
		column := reflect.ValueOf(&row).Elem().Field(i)
		switch column.Interface().(type) {
		case *string:
			column.Set(reflect.ValueOf(&text))
		case []string:
			column.Set(reflect.ValueOf([]string{text}))
		case []lake.Pair:
			column.Set(reflect.ValueOf([]lake.Pair{{Value: text}}))
		case []lake.Upstream:
			column.Set(reflect.ValueOf([]lake.Upstream{{Addr: &text}}))
		default:
			continue
		}
		if got := row.Memory() - empty; got < 10_000 || got > 10_100 {
			t.Errorf("%s counts for %d bytes", columns.Field(i).Name, got)
		}
	}
}
