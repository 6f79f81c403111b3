package parquet

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/record/recordtest"
)

var start = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// hourOfRows is one hour of a site with a million records a day.
const hourOfRows = 42_000

var hour = sync.OnceValue(func() []lake.Row { return decoded(hourOfRows) })

// some returns fewer rows, for tests in which their number does not matter.
var some = sync.OnceValue(func() []lake.Row { return decoded(6_000) })

// decoded returns n records of one hour as rows.
func decoded(n int) []lake.Row {
	d := record.NewDecoder()
	rows := make([]lake.Row, n)
	for i, line := range recordtest.Lines(n, start, time.Hour) {
		if _, err := d.Decode(line, &rows[i]); err != nil {
			panic(err)
		}
		rows[i].Source, rows[i].Line = "source-1", int64(i+1)
	}
	return rows
}

func written(t testing.TB, rows []lake.Row) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for batch := range batches(rows) {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// batches splits rows into pieces of different lengths, as an importer writes them.
func batches(rows []lake.Row) func(yield func([]lake.Row) bool) {
	return func(yield func([]lake.Row) bool) {
		for n := 1; len(rows) > 0; n = n*3%4_999 + 1 {
			n := min(n, len(rows))
			if !yield(rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	rows := hour()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		w := NewWriter(io.Discard)
		if err := w.Write(rows); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(rows))/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkVerify(b *testing.B) {
	object := written(b, hour())
	b.ReportMetric(0, "ns/op")
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := Verify(bytes.NewReader(object), int64(len(object))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*hourOfRows)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(len(object))/hourOfRows, "bytes/record")
}
