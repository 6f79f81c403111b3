package record_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/record/recordtest"
)

var start = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func BenchmarkDecode(b *testing.B) {
	lines := recordtest.Lines(20_000, start, time.Hour)
	d := record.NewDecoder()
	rows := make([]lake.Row, 4_096)
	var bytes int64
	for _, line := range lines {
		bytes += int64(len(line))
	}
	b.SetBytes(bytes / int64(len(lines)))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := d.Decode(lines[i%len(lines)], &rows[i%len(rows)]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkAppendJSON(b *testing.B) {
	d := record.NewDecoder()
	lines := recordtest.Lines(4_096, start, time.Hour)
	rows := make([]lake.Row, len(lines))
	for i, line := range lines {
		if _, err := d.Decode(line, &rows[i]); err != nil {
			b.Fatal(err)
		}
	}
	var out []byte
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		out = record.AppendJSON(out[:0], &rows[i%len(rows)], nil)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
