package datadir

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest"
)

// BenchmarkImport imports a generated day of records of 2.6 kB from gzip. It includes inflating, decoding, sorting,
// writing, syncing, opening again, verifying every page, and publishing. ORRERY_BENCH_RECORDS is the number of records.
// Use -cpu 1,2 to compare one core with two.
func BenchmarkImport(b *testing.B) {
	records := 100_000
	if text, ok := os.LookupEnv("ORRERY_BENCH_RECORDS"); ok {
		if _, err := fmt.Sscan(text, &records); err != nil {
			b.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "day.ndjson.gz"))
	if err != nil {
		b.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(z, gen.New(gen.Options{Records: records, Seed: 1})); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			b.Error(err)
		}
	}()
	var spent time.Duration
	var last ingest.Report
	for b.Loop() {
		b.StopTimer()
		s := openStore(b, b.TempDir())
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		began := time.Now()
		last, err = s.Import(b.Context(), "day", f, ingest.Options{})
		if err != nil || last.Records != int64(records) {
			b.Fatal(last, err)
		}
		spent += time.Since(began)
	}
	b.ReportMetric(float64(b.N)*float64(records)/spent.Seconds(), "records/s")
	b.ReportMetric(float64(last.Objects), "objects")
	b.ReportMetric(peakMegabytes(b), "MB-peak")
}

// peakMegabytes returns the peak of the memory of the process in megabytes, or 0 where the system does not report it.
func peakMegabytes(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kb float64
	if _, err := fmt.Sscan(after, &kb); err != nil {
		b.Fatal(err)
	}
	return kb / 1024
}

// BenchmarkCompactHour merges an hour of the objects of 64 logs, with addresses, paths and agents that occur once, with
// the memory of orrery compact.
func BenchmarkCompactHour(b *testing.B) {
	const objects, records = 64, 12_500
	debug.SetMemoryLimit(600 << 20)
	debug.SetGCPercent(200)
	for b.Loop() {
		b.StopTimer()
		s := openStore(b, b.TempDir())
		for i := range objects {
			log := gen.New(gen.Options{
				Records: records, Seed: uint64(i), From: testTime, To: testTime.Add(time.Hour), Tail: 20,
			})
			if _, err := s.Import(b.Context(), fmt.Sprint(i), log, ingest.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		report, err := s.Compact(b.Context(), CompactOptions{Memory: 448 << 20})
		if err != nil || report.Rows != objects*records {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(b.N)*objects*records/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkCompact merges the hours of a day, each with four objects that overlap in time, and verifies the results.
func BenchmarkCompact(b *testing.B) {
	const records, objects = 40_000, 4
	for b.Loop() {
		b.StopTimer()
		s := openStore(b, b.TempDir())
		for seed := range uint64(objects) {
			log := gen.New(gen.Options{Records: records / objects, Seed: seed})
			if _, err := s.Import(b.Context(), "day", log, ingest.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if report, err := s.Compact(b.Context(), CompactOptions{}); err != nil || report.Rows != records {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
}
