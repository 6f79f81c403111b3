package cloud_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
)

// BenchmarkRawObjectToRow is from the notification of a raw log of 1,000 records to the moment when readers see them,
// over S3's protocol; a network's delays come on top.
func BenchmarkRawObjectToRow(b *testing.B) {
	const records = 1000
	client := s3test.New(b, nil, "raw", "lake")
	w := &world{t: b, raw: s3.New(client, "raw"), lake: s3.New(client, "lake"), table: &lakestatetest.Table{}, time: testTime}
	c := w.cloud()
	for seed := uint64(0); b.Loop(); seed++ {
		b.StopTimer()
		text, err := io.ReadAll(gen.New(gen.Options{Records: records, Seed: seed}))
		if err != nil {
			b.Fatal(err)
		}
		key := fmt.Sprintf("raw/%d.gz", seed)
		w.put(key, gzipped(b, string(text)))
		b.StartTimer()
		if report, err := c.Import(b.Context(), cloud.Log{Key: key}); err != nil || report.Records != records {
			b.Fatal(report, err)
		}
	}
}

// TestAHugeLog imports a compressed log of ORRERY_TEST_HUGE bytes of text, with the memory limit that the function
// has, and tells what that took.
func TestAHugeLog(t *testing.T) {
	text := os.Getenv("ORRERY_TEST_HUGE")
	if text == "" {
		t.Skip("ORRERY_TEST_HUGE, the bytes of text of the log, is not set")
	}
	const perRecord = 2600
	records := number(t, text) / perRecord
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "huge.gz")
	size := writeHuge(t, path, records)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.raw.Put(t.Context(), "raw/huge.gz", f, false), f.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	debug.SetMemoryLimit(600 << 20)
	debug.SetGCPercent(200)
	runtime.GC()
	resetPeak(t)
	began := time.Now()
	report, err := w.cloud().Import(t.Context(), cloud.Log{Key: "raw/huge.gz"})
	if err != nil {
		t.Fatal(err)
	}
	spent := time.Since(began)
	t.Logf("%d MB of gzip, %d MB of text, %d records, %d objects: %.0f s, %.0f records/s, %.0f MB/s of text, peak of memory %.0f MB",
		size>>20, report.Bytes>>20, report.Records, report.Objects, spent.Seconds(), float64(report.Records)/spent.Seconds(), float64(report.Bytes>>20)/spent.Seconds(), peakMegabytes(t))
	if report.Records != int64(records) || w.state().Extent.Rows != int64(records) {
		t.Errorf("%+v", report)
	}
	if peak := peakMegabytes(t); peak > 768 {
		t.Errorf("the peak of memory was %.0f MB", peak)
	}
}

func writeHuge(t *testing.T, path string, records int) int64 {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(z, gen.New(gen.Options{Records: records, Seed: 1}))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// resetPeak begins the measurement of memory anew, where the system can.
func resetPeak(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		return
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak includes what came before: %v", err)
	}
}

// peakMegabytes is the most memory the process has had, where the system tells; 0 elsewhere.
func peakMegabytes(t testing.TB) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kb float64
	if _, err := fmt.Sscan(after, &kb); err != nil {
		t.Fatal(err)
	}
	return kb / 1024
}
