package cloud_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// BenchmarkRawObjectToRow measures the time from the notification of a raw log of 1,000 records until readers see the
// rows, over S3's protocol. It does not include the delays of a network.
func BenchmarkRawObjectToRow(b *testing.B) {
	const records = 1000
	client := s3test.New(b, nil, "raw", "lake")
	w := &world{
		t:     b,
		raw:   s3.New(client, "raw"),
		lake:  s3.New(client, "lake"),
		table: lakestate.Over(&tabletest.Memory{}),
		time:  testTime,
	}
	c := w.cloud()
	for seed := uint64(0); b.Loop(); seed++ {
		b.StopTimer()
		text, err := io.ReadAll(gen.New(gen.Options{Records: records, Seed: seed}))
		if err != nil {
			b.Fatal(err)
		}
		key := fmt.Sprintf("raw/%d.gz", seed)
		w.put(key, zipped(string(text)))
		b.StartTimer()
		if report, err := c.Import(b.Context(), rawlog.Log{Key: key}); err != nil || report.Records != records {
			b.Fatal(report, err)
		}
	}
}

// BenchmarkCompaction bundles the objects of an hour while it is open, and compacts it, with the merges that the function
// compact makes at the same time. 64 logs have 12,500 records each, and addresses, paths and agents that occur once.
func BenchmarkCompaction(b *testing.B) {
	const logs, records = 64, 12_500
	for b.Loop() {
		b.StopTimer()
		w := &world{
			t: b, raw: &blobtest.Memory{}, lake: &diskBucket{dir: b.TempDir()}, table: lakestate.Over(&tabletest.Memory{}),
			time: testTime,
		}
		c := w.cloud()
		for i := range logs {
			text, err := io.ReadAll(gen.New(gen.Options{
				Records: records, Seed: uint64(i), From: testTime, To: testTime.Add(time.Hour), Tail: 20,
			}))
			if err != nil {
				b.Fatal(err)
			}
			key := fmt.Sprintf("raw/%d", i)
			w.put(key, string(text))
			if report, err := c.Import(b.Context(), rawlog.Log{Key: key}); err != nil || report.Records != records {
				b.Fatal(report, err)
			}
		}
		config := w.config()
		config.AtOnce, config.Memory = 2, 1000<<20
		c = w.cloudOf(config)
		for _, step := range []struct {
			name  string
			after time.Duration
		}{{"bundle", 30 * time.Minute}, {"compact", 4 * time.Hour}} {
			w.time = testTime.Add(step.after)
			before := cpuTime(b)
			b.StartTimer()
			report, err := c.Compact(b.Context(), time.Time{})
			b.StopTimer()
			objects := report.Bundled + report.Objects
			if err != nil || objects < logs/2 {
				b.Fatalf("%+v, %v", report, err)
			}
			b.ReportMetric(float64(objects*records)/(cpuTime(b)-before).Seconds(), step.name+"-records/cpu-s")
		}
		b.StartTimer()
	}
}

// cpuTime returns the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestImportHugeLog imports a compressed log of ORRERY_TEST_HUGE bytes of text, with the memory limit of the function,
// and logs the time and the memory that the import took.
func TestImportHugeLog(t *testing.T) {
	text := os.Getenv("ORRERY_TEST_HUGE")
	if text == "" {
		t.Skip("set ORRERY_TEST_HUGE to the number of bytes of text of the log")
	}
	const perRecord = 2600
	records := number(t, text) / perRecord
	w := newWorld(t)
	w.raw, w.lake = &diskBucket{dir: t.TempDir()}, &diskBucket{dir: t.TempDir()}
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
	report, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/huge.gz"})
	if err != nil {
		t.Fatal(err)
	}
	spent := time.Since(began)
	seconds := spent.Seconds()
	t.Logf("%d MB of gzip, %d MB of text, %d records, %d objects",
		size>>20, report.Bytes>>20, report.Records, report.Objects)
	t.Logf("%.0f s, %.0f records/s, %.0f MB/s of text, peak of memory %.0f MB",
		seconds, float64(report.Records)/seconds, float64(report.Bytes>>20)/seconds, peakMegabytes(t))
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

// diskBucket is a blob.Store that keeps the contents of objects in files, so that they do not count as memory of the
// process. The bucket in memory holds a storedFile for each object. Files are removed with dir, at the end of the test.
type diskBucket struct {
	blobtest.Memory
	dir string
}

// storedFile describes the file of an object.
type storedFile struct {
	Path string
	Size int64
	Sum  string
}

func (d *diskBucket) find(ctx context.Context, name string) (file storedFile, info blob.Info, err error) {
	content, info, err := d.Memory.Get(ctx, name, "", 0)
	if err != nil {
		return storedFile{}, blob.Info{}, err
	}
	err = errors.Join(json.NewDecoder(content).Decode(&file), content.Close())
	info.Size = file.Size
	return file, info, err
}

func (d *diskBucket) Get(ctx context.Context, name, _ string, offset int64) (io.ReadCloser, blob.Info, error) {
	file, info, err := d.find(ctx, name)
	if err != nil {
		return nil, blob.Info{}, err
	}
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, blob.Info{}, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, blob.Info{}, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func (d *diskBucket) GetRange(
	ctx context.Context, name, etag string, offset, length int64,
) (io.ReadCloser, error) {
	file, info, err := d.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.ETag != etag {
		return nil, fmt.Errorf("get %s: %w", name, blob.ErrChanged)
	}
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, offset, length), f}, nil
}

func (d *diskBucket) Head(ctx context.Context, name string) (blob.Info, error) {
	file, info, err := d.find(ctx, name)
	info.Sum = file.Sum
	return info, err
}

func (d *diskBucket) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	f, err := os.CreateTemp(d.dir, "")
	if err != nil {
		return err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, sum), body)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	content, err := json.Marshal(storedFile{Path: f.Name(), Size: size, Sum: hex.EncodeToString(sum.Sum(nil))})
	if err != nil {
		return err
	}
	return d.Memory.Put(ctx, name, bytes.NewReader(content), when)
}

func (d *diskBucket) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		for info, err := range d.Memory.List(ctx, prefix, after) {
			if err == nil {
				_, info, err = d.find(ctx, info.Name)
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func TestDiskBucket(t *testing.T) {
	blobtest.Test(t, func(t *testing.T) blob.Store { return &diskBucket{dir: t.TempDir()} })
}

// resetPeak begins a new measurement of the peak of memory, where the system can.
func resetPeak(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		return
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak includes what came before: %v", err)
	}
}

// peakMegabytes returns the peak of the memory of the process in megabytes, or 0 where the system does not report it.
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
