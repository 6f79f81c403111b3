//go:build unix

package parquet

import (
	"bytes"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/record/recordtest"
)

// BenchmarkImport measures all steps of an importer for an hour of records: decode, sort, write, verify. records/cpu-s
// is per second of processor time, including garbage collection, so it is meaningful on a busy machine, too.
func BenchmarkImport(b *testing.B) {
	lines := recordtest.Lines(hourOfRows, start, time.Hour)
	rows := make([]lake.Row, len(lines))
	var object bytes.Buffer
	b.ResetTimer()
	before := cpuTime(b)
	for range b.N {
		d := record.NewDecoder()
		for i, line := range lines {
			if _, err := d.Decode(line, &rows[i]); err != nil {
				b.Fatal(err)
			}
			rows[i].Source, rows[i].Line = "source-1", int64(i+1)
		}
		parquettest.Sort(rows)
		object.Reset()
		w := NewWriter(&object)
		if err := w.Write(rows); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		if _, err := Verify(bytes.NewReader(object.Bytes()), int64(object.Len())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(lines))/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(b.N*len(lines))/(cpuTime(b)-before).Seconds(), "records/cpu-s")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
}

// cpuTime returns the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
