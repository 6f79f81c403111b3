package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/parquet-go/parquet-go"
)

// TestWriterMatchesParquetGo compares every value and its levels with the output of parquet-go. parquet-go splits a row
// into values by reflection, the writer one column at a time.
func TestWriterMatchesParquetGo(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	schema := parquet.SchemaOf(lake.Row{})
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 11))
		rows := make([]lake.Row, 300)
		for i := range rows {
			fillRandomly(r, reflect.ValueOf(&rows[i]).Elem(), r.Float64())
		}
		for i, got := range rawRows(t, writtenRandomly(t, r, rows)) {
			want := schema.Deconstruct(nil, &rows[i])
			if len(got) != len(want) {
				t.Fatalf("row %d has %d values, want %d", i, len(got), len(want))
			}
			for j := range want {
				if !parquet.DeepEqual(got[j], want[j]) {
					t.Fatalf("row %d: %+v, want %+v", i, got[j], want[j])
				}
			}
		}
	}
}

func rawRows(t *testing.T, object []byte) []parquet.Row {
	t.Helper()
	rows, err := readRaw(object)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// readRaw reads an object by RawReader and returns its rows as rows of parquet-go.
func readRaw(object []byte) (all []parquet.Row, err error) {
	in, err := NewRawReader(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	room := make([]Raw, 7) // the texts are valid until the next Read
	for {
		n, err := in.Read(room)
		for _, raw := range room[:n] {
			var row parquet.Row
			for i := range raw {
				row = append(row, raw[i].Parquet())
			}
			all = append(all, row)
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// TestWriterReusesMemorySafely: writers reuse the memory of earlier writers, but none of their values.
func TestWriterReusesMemorySafely(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	rows := some()
	alone := written(t, rows[:500])
	for range 3 {
		written(t, rows[500:])
		w := NewWriter(io.Discard) // never closed, as after a failure
		if err := w.Write(rows[:70]); err != nil {
			t.Fatal(err)
		}
		if again := written(t, rows[:500]); !bytes.Equal(alone, again) {
			t.Fatal("the same rows give different objects")
		}
	}
}

// TestWriterLimitsGroupsOfLargeRows: the memory of a writer stays small however large the rows are. The rows are
// written twice, because the second writer reuses the memory of the first.
func TestWriterLimitsGroupsOfLargeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	const records, size = 100, 1 << 20
	rows := make([]lake.Row, records)
	for i := range rows {
		text := fmt.Sprint(i, strings.Repeat("x", size))
		rows[i] = lake.Row{TsMs: int64(i), Source: "s", Line: int64(i + 1), UserAgent: &text}
	}
	object, err := verified(written(t, rows))
	if err != nil || object.Rows != records {
		t.Fatal(object.Rows, err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(written(t, rows)), object.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for i, group := range file.RowGroups() {
		if most := int64(34); group.NumRows() > most { // 32 MB of dictionary
			t.Errorf("row group %d has %d rows of 1 MB, more than %d", i, group.NumRows(), most)
		}
	}
}

func TestWriterWithoutRows(t *testing.T) {
	object := written(t, nil)
	if file, err := parquet.OpenFile(bytes.NewReader(object), int64(len(object))); err != nil || file.NumRows() != 0 {
		t.Fatal(file, err)
	}
}

func TestWriterStopsAtFirstError(t *testing.T) {
	for _, room := range []int{0, 3, 100_000} {
		disk := &full{room}
		w := newWriter(disk, 1_000)
		if err := w.Write(some()); !errors.Is(err, errFull) {
			t.Errorf("a disk with room for %d bytes: %v", room, err)
		}
		disk.room = 1 << 30
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("an object with a hole was closed: %v", err)
		}
	}
}

var errFull = errors.New("the disk is full")

// full is a disk with room for a number of bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return 0, errFull
	}
	f.room -= len(b)
	return len(b), nil
}
