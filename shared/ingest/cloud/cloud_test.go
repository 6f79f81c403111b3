package cloud_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/compaction"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// testTime is the time of the first record of the logs of tests: the beginning of an hour.
var testTime = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// world is a deployment with buckets, a table and a clock.
type world struct {
	t         testing.TB
	raw, lake blob.Store
	table     lakestate.Table
	clock     sync.Mutex // of time, while functions run
	time      time.Time
	clouds    int
	format    string // of all logs; "" to detect it
}

func newWorld(t testing.TB) *world {
	return &world{
		t:     t,
		raw:   &blobtest.Memory{},
		lake:  &blobtest.Memory{},
		table: lakestate.Over(&tabletest.Memory{}),
		time:  testTime.Add(30 * time.Minute),
	}
}

func (w *world) now() time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.time
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.clock.Lock()
	defer w.clock.Unlock()
	w.time = w.time.Add(d)
}

func (w *world) config() cloud.Config {
	w.clouds++
	return cloud.Config{
		Raw:     w.raw,
		Lake:    w.lake,
		Table:   w.table,
		Now:     w.now,
		Scratch: filepath.Join(w.t.TempDir(), fmt.Sprint(w.clouds)),
		Pause:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Options: ingest.Options{Format: w.format},
	}
}

func (w *world) cloud() *cloud.Store {
	w.t.Helper()
	return w.cloudOf(w.config())
}

func (w *world) cloudOf(config cloud.Config) *cloud.Store {
	w.t.Helper()
	c, err := cloud.New(config)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) put(key, content string) {
	w.t.Helper()
	if err := w.raw.Put(w.t.Context(), key, strings.NewReader(content), blob.Always); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) importLog(key, content string) ingest.Report {
	w.t.Helper()
	w.put(key, content)
	report, err := w.cloud().Import(w.t.Context(), rawlog.Log{Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

func (w *world) compact() compaction.Report {
	w.t.Helper()
	report, err := w.cloud().Compact(w.t.Context(), time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

func (w *world) state() engine.State {
	w.t.Helper()
	s, err := lakestate.NewStates(w.table, w.now).State(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// rows counts the rows that a reader with that state sees, by request id.
func (w *world) rows(s engine.State) map[string]int {
	w.t.Helper()
	seen := map[string]int{}
	for _, name := range readable(w.t, w.lake, s) {
		ids, err := requestIDs(w.lake, name)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, id := range ids {
			seen[id]++
		}
	}
	return seen
}

// readable returns the names of the objects that a reader reads: compacted ones before the watermark, and fresh ones
// from the watermark on.
func readable(t testing.TB, store blob.Store, s engine.State) []string {
	t.Helper()
	var names []string
	for _, folder := range []string{"lake/compact/", "lake/fresh/"} {
		for info, err := range store.List(context.Background(), folder, "") {
			if err != nil {
				t.Fatal(err)
			}
			hour, err := time.Parse("2006/01/02/15", strings.TrimPrefix(info.Name, folder)[:13])
			if err != nil {
				t.Fatal(err)
			}
			if before := lake.PartitionOf(hour.UnixMilli()) < s.Watermark; before == (folder == "lake/compact/") {
				names = append(names, info.Name)
			}
		}
	}
	return names
}

// requestIDs returns the request ids of the rows of an object.
func requestIDs(store blob.Store, name string) ([]string, error) {
	body, _, err := store.Get(context.Background(), name, "", 0)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	rows, err := parquettest.Rows(content)
	var ids []string
	for _, row := range rows {
		ids = append(ids, *row.RequestID)
	}
	return ids, err
}

// records returns log lines with the ids from…to-1. Line i has the time testTime + i × every.
func records(from, to int, every time.Duration) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		at := testTime.Add(time.Duration(i) * every)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%q,"request_id":"r%d","host":"shop.example"}`+"\n",
			at.Format(time.RFC3339), i)
	}
	return b.String()
}

// each returns the count 1 for the ids from…to-1.
func each(from, to int) map[string]int {
	ids := map[string]int{}
	for i := from; i < to; i++ {
		ids[fmt.Sprintf("r%d", i)] = 1
	}
	return ids
}

func (w *world) expect(want map[string]int) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.rows(w.state())); diff != "" {
		w.t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

// names returns the names of objects in the bucket of the lake.
func (w *world) names(prefix string) []string {
	w.t.Helper()
	names := []string{}
	for info, err := range w.lake.List(w.t.Context(), prefix, "") {
		if err != nil {
			w.t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

func zipped(text string) string { return string(gzipped.Of([]byte(text))) }

func TestImportTwiceChangesNothing(t *testing.T) {
	w := newWorld(t)
	text := records(0, 50, 5*time.Minute)
	first := w.importLog("raw/a.log", text)
	if first.Records != 50 || first.Objects != 5 || first.Format != "orrery" {
		t.Errorf("%+v", first)
	}
	s := w.state()
	last := testTime.Add(245 * time.Minute)
	want := lake.Extent{MinTsMs: testTime.UnixMilli(), MaxTsMs: last.UnixMilli(), Rows: 50}
	if s.Extent != want || s.Version != 1 || s.Watermark != 0 {
		t.Errorf("%+v", s)
	}
	objects := w.names("lake/")
	for key, content := range map[string]string{"raw/a.log": text, "raw/2026/03/01/a.log.7.gz": zipped(text)} {
		if again := w.importLog(key, content); again.Records != 0 || again.Known != 50 || again.Source != first.Source {
			t.Errorf("%s again: %+v", key, again)
		}
	}
	w.expect(each(0, 50))
	if diff := cmp.Diff(objects, w.names("lake/")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(s, w.state()); diff != "" {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
}

func TestImportGrownLog(t *testing.T) {
	for name, key := range map[string]string{"the same key": "raw/a.log", "another key": "raw/a.log.1"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.importLog("raw/a.log", records(0, 20, 5*time.Minute))
			w.time = testTime.Add(12 * time.Hour)
			w.compact()
			grown := w.importLog(key, zipped(records(0, 33, 5*time.Minute)))
			if grown.Records != 13 || grown.Known != 20 || grown.Source != first.Source {
				t.Errorf("%+v", grown)
			}
			w.expect(each(0, 33))
			older := w.importLog("raw/a.log-20260301", records(0, 20, 5*time.Minute))
			if older.Records != 0 || older.Known != 20 {
				t.Errorf("older copy: %+v", older)
			}
			w.expect(each(0, 33))
		})
	}
}

func TestImportSnapshotsInAnyOrder(t *testing.T) {
	w := newWorld(t)
	// The text of 2000 lines is longer than the head that the ledger keeps.
	for i, lines := range []int{2000, 6000, 3000, 5000, 1, 6000} {
		w.importLog(fmt.Sprintf("raw/a.%d.gz", i), zipped(records(0, lines, time.Second)))
	}
	w.expect(each(0, 6000))
	if err := w.raw.Delete(t.Context(), "raw/a.1.gz"); err != nil {
		t.Fatal(err)
	}
	w.put("raw/a", records(0, 4000, time.Second))
	_, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/a"})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a copy of a log that is gone: %v, want kind Invalid", err)
	}
	w.expect(each(0, 6000))
}

// putAt is a bucket whose objects were put at a certain time.
type putAt struct {
	blob.Store
	at time.Time
}

func (b putAt) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	body, info, err := b.Store.Get(ctx, name, version, offset)
	info.Modified = b.at
	return body, info, err
}

func TestImportQuarantinesRecordsBeforeTheHorizon(t *testing.T) {
	const horizon = 10 * 24 * time.Hour
	atTime := func(at time.Time) string {
		return fmt.Sprintf(`{"processing_stage":6,"timestamp":%q,"request_id":"r"}`+"\n", at.Format(time.RFC3339Nano))
	}
	arrival := newWorld(t).time
	text := atTime(arrival.Add(-horizon-time.Millisecond)) + atTime(arrival.Add(-horizon)) + atTime(arrival) +
		atTime(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, test := range []struct {
		name    string
		key     string
		horizon time.Duration
		waits   time.Duration // between the log's arrival and its import
		tooOld  int64
	}{
		{"a log that arrives now", "raw/a.log", horizon, 0, 2},
		{"a log that waited for its import", "raw/a.log", horizon, 300 * 24 * time.Hour, 2},
		{"a log under the prefix of old logs", "raw/history/a.log", horizon, 0, 0},
		{"a deployment without a horizon", "raw/a.log", 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.put(test.key, text)
			config := w.config()
			config.Horizon, config.Raw = test.horizon, putAt{w.raw, arrival}
			w.pass(test.waits)
			report, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: test.key})
			if err != nil {
				t.Fatal(err)
			}
			if report.Rejected[ingest.TooOld] != test.tooOld || report.RejectedLines() != test.tooOld ||
				report.Records != 4-test.tooOld {
				t.Errorf("%d records and %v rejected, want %d too old", report.Records, report.Rejected, test.tooOld)
			}
		})
	}
	t.Run("a log that is put under the prefix of old logs, too, is imported once", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", atTime(arrival))
		w.put("raw/history/a.log", atTime(arrival))
		report, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/history/a.log"})
		if err != nil || report.Records != 0 || report.Known != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("a log with only such records can be put under the prefix of old logs", func(t *testing.T) {
		w := newWorld(t)
		config := w.config()
		config.Horizon = horizon
		c := w.cloudOf(config)
		for _, test := range []struct {
			key     string
			records int64
		}{{"raw/a.log", 0}, {"raw/history/a.log", 1}} {
			w.put(test.key, atTime(arrival.Add(-2*horizon)))
			report, err := c.Import(t.Context(), rawlog.Log{Key: test.key})
			if err != nil || report.Records != test.records || report.RejectedLines() != 1-test.records {
				t.Errorf("%s: %+v, %v", test.key, report, err)
			}
		}
	})
}

func TestImportShorterLogInPlaceOfTheImportedOne(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a.log", records(0, 6000, time.Second))
	// The first 4000 lines are longer than the head, so the ledger cannot distinguish the log from an older copy.
	w.put("raw/a.log", records(0, 4000, time.Second)+records(9000, 9010, time.Second))
	_, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/a.log"})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v, want kind Invalid: the imported log is gone, so that its copies cannot be known", err)
	}
	if notes := w.names("quarantine/whole/"); len(notes) != 1 {
		t.Errorf("got the notes %v, want one", notes)
	}
	w.expect(each(0, 6000))
}

func TestImportQuarantinesRejectedLines(t *testing.T) {
	w := newWorld(t)
	old := `{"processing_stage":6,"timestamp":"1999-12-31T23:59:59Z","request_id":"old"}` + "\n"
	tooLate := w.time.Add(lake.ProjectedAhead + time.Second).Format(time.RFC3339)
	ahead := fmt.Sprintf(`{"processing_stage":6,"timestamp":%q,"request_id":"ahead"}`+"\n", tooLate)
	text := records(0, 3, time.Minute) + "garbage\n" + old + ahead + records(3, 5, time.Minute)
	report := w.importLog("raw/a.log", text)
	want := map[string]int64{"bad_json": 1, "time_out_of_range": 2}
	if report.Records != 5 || report.RejectedLines() != 3 || len(report.Rejected) != len(want) {
		t.Errorf("%+v", report)
	}
	body, _, err := w.lake.Get(t.Context(), report.Quarantine, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	quarantine, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"line":4,"code":"bad_json"`, `"line":5,"code":"time_out_of_range"`, "2000-01-01T00:00:00Z", `"line":6,`,
	} {
		if !strings.Contains(string(quarantine), want) {
			t.Errorf("quarantine lacks %s:\n%s", want, quarantine)
		}
	}
	w.expect(each(0, 5))
	grown := w.importLog("raw/a.log", text+"worse\n"+records(5, 6, time.Minute))
	if grown.Quarantine != "quarantine/lines/"+report.Source+".2.ndjson" || grown.Records != 1 {
		t.Errorf("%+v", grown)
	}
}

// TestFailedImportReportsNoQuarantine: an import that is tried again reports its rejected lines once.
func TestFailedImportReportsNoQuarantine(t *testing.T) {
	for rule, text := range map[string]string{
		"with records": records(0, 3, time.Minute) + "garbage\n", "without records": `{"processing_stage":6,"timestamp":"yesterday"}` + "\n",
	} {
		t.Run(rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("raw/a.log", text)
			config := w.config()
			config.Table, config.Lake = failingWrites{w.table}, refusingStore{w.lake, "quarantine/"}
			report, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a.log"})
			if err == nil || report.Quarantine != "" {
				t.Errorf("%+v, %v", report, err)
			}
			if report, err = w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/a.log"}); err != nil || report.Quarantine == "" {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

func TestImportWithoutRecordsLeavesNoEntry(t *testing.T) {
	w := newWorld(t)
	text := `{"processing_stage":6,"timestamp":"yesterday"}` + "\n"
	report := w.importLog("raw/a.log", text)
	if report.Records != 0 || report.Quarantine != "quarantine/whole/raw/a.log.ndjson" {
		t.Errorf("%+v", report)
	}
	report = w.importLog("raw/a.log", text+records(0, 2, time.Minute))
	if report.Records != 2 || report.Known != 0 {
		t.Errorf("%+v", report)
	}
	w.expect(each(0, 2))
}

// archived returns a tar archive with a log.
func archived(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "a.log", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestImportWritesNotesAboutRefusedLogs(t *testing.T) {
	whole := zipped(records(0, 5000, time.Second))
	for name, content := range map[string]string{
		"truncated gzip":  whole[:len(whole)-len(whole)/4],
		"unknown format":  "a b c\nd e f\n",
		"tar":             archived(t, records(0, 50, time.Second)),
		"compressed tar":  zipped(archived(t, records(0, 50, time.Second))),
		"zip":             "PK\x03\x04\x14\x00\n" + records(0, 50, time.Second),
		"bad gzip header": "\x1f\x8b\x08\x00 garbage",
		"damaged gzip":    whole[:len(whole)/2] + "damage" + whole[len(whole)/2+6:],
		"damaged zstd":    "\x28\xb5\x2f\xfd garbage and more garbage",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("raw/a.gz", content)
			for range 2 {
				_, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/a.gz"})
				if err == nil {
					t.Fatal("the log was imported")
				}
				if fault.KindOf(err) != fault.Invalid {
					t.Errorf("%v", err)
				}
			}
			w.expect(map[string]int{})
			if left := w.names("lake/"); len(left) > 0 {
				t.Errorf("objects are left: %v", left)
			}
			if notes := w.names("quarantine/"); len(notes) != 1 {
				t.Errorf("got the notes %v, want one", notes)
			}
			w.importLog("raw/whole.gz", whole)
			w.expect(each(0, 5000))
		})
	}
}

// brokenStore is a store whose connections always break at the same byte of an object.
type brokenStore struct {
	blob.Store
	at int64
}

func (b brokenStore) Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, blob.Info, error) {
	body, info, err := b.Store.Get(ctx, name, version, offset)
	if err != nil {
		return nil, info, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(body, max(0, b.at-offset)), iotest.ErrReader(io.ErrUnexpectedEOF)), body}, info, nil
}

func TestImportFailsWhenConnectionsBreak(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	text := records(0, 20_000, time.Second)
	for name, content := range map[string]string{"plain": text, "gzip": zipped(text)} {
		for _, share := range []int{0, 1, 2, 3} {
			t.Run(fmt.Sprintf("%s after %d quarters", name, share), func(t *testing.T) {
				w := newWorld(t)
				w.put("raw/a", content)
				config := w.config()
				config.Raw = brokenStore{w.raw, int64(len(content) * share / 4)}
				_, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"})
				if !errors.Is(err, blob.ErrBroken) || fault.KindOf(err) == fault.Invalid {
					t.Errorf("%v", err)
				}
				w.expect(map[string]int{})
				w.importLog("raw/a", content)
				w.expect(each(0, 20_000))
			})
		}
	}
}

func TestCompactMergesPastHours(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.importLog(fmt.Sprintf("raw/%d", i), records(i*20, i*20+20, 3*time.Minute)) // one hour each
		w.importLog(fmt.Sprintf("raw/%d.more", i), records(1000+i, 1001+i, 0))       // and a record of the first hour
	}
	all := each(0, 80)
	for i := range 4 {
		all[fmt.Sprintf("r%d", 1000+i)] = 1
	}
	w.time = testTime.Add(4*time.Hour + time.Minute) // with two hours of grace the hours 10 and 11 are due
	report := w.compact()
	if report.Hours != 2 || report.Objects != 6 || report.Merged != 2 || report.Unfinished {
		t.Errorf("%+v", report)
	}
	w.expect(all)
	if s := w.state(); s.Watermark != lake.PartitionOf(testTime.Add(2*time.Hour).UnixMilli()) || s.Extent.Rows != 84 {
		t.Errorf("%+v", s)
	}
	if compacted := w.names("lake/compact/"); len(compacted) != 2 {
		t.Errorf("%v", compacted)
	}
	if again := w.compact(); again.Hours != 0 || again.Removed != 0 {
		t.Errorf("again: %+v", again)
	}
	w.importLog("raw/late", records(2000, 2001, 0))
	all["r2000"] = 1
	w.expect(all)
	w.pass(engine.KeepSuperseded - time.Minute)
	if early := w.compact(); early.Removed != 0 {
		t.Errorf("objects were removed too early: %+v", early)
	}
	w.pass(2 * time.Minute)
	if swept := w.compact(); swept.Removed != 6 {
		t.Errorf("swept: %+v", swept)
	}
	w.expect(all)
	w.pass(engine.KeepSuperseded + time.Minute) // the hours 12 and 13 were compacted, one object each
	if swept := w.compact(); swept.Removed != 2 {
		t.Errorf("swept: %+v", swept)
	}
	w.expect(all)
	if plans := w.names("lake/_plans/"); len(plans) != 0 {
		t.Errorf("%v", plans)
	}
}

func TestCompactSplitsLargeHours(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		w.importLog(fmt.Sprintf("raw/%d", i), records(i*10, i*10+10, time.Second))
	}
	var size int64
	for info, err := range w.lake.List(t.Context(), "lake/fresh/", "") {
		if err != nil {
			t.Fatal(err)
		}
		size = max(size, info.Size)
	}
	w.time = testTime.Add(24 * time.Hour)
	config := w.config()
	config.Group = 3*size + size/2
	report, err := w.cloudOf(config).Compact(t.Context(), time.Time{})
	if err != nil || report.Merged != 3 || report.Objects != 7 {
		t.Errorf("%+v, %v", report, err)
	}
	w.expect(each(0, 70))
}

// TestImportContinuesAfterTimeIsUp gives every attempt little time.
func TestImportContinuesAfterTimeIsUp(t *testing.T) {
	w := newWorld(t)
	text := records(0, 20_000, time.Second) // several batches
	w.put("raw/a.gz", zipped(text))
	config := w.config()
	// The clock advances by a second at every call.
	config.Now = func() time.Time { w.pass(time.Second); return w.now() }
	c := w.cloudOf(config)
	parts := 0
	for ; ; parts++ {
		_, err := c.Import(deadline{t.Context(), w.time.Add(5 * time.Second)}, rawlog.Log{Key: "raw/a.gz"})
		if err == nil {
			break
		}
		if !errors.Is(err, cloud.ErrUnfinished) {
			t.Fatal(err)
		}
		if parts > 50 {
			t.Fatal("the import makes no progress")
		}
	}
	if parts < 2 {
		t.Errorf("the import took %d parts, want at least 2", parts)
	}
	w.expect(each(0, 20_000))
}

// TestImportWithoutProgressIsNotUnfinished imports a log of which the time allows only lines that are rejected. Nothing
// of it can be committed, and every further import would begin at its first line.
func TestImportWithoutProgressIsNotUnfinished(t *testing.T) {
	w := newWorld(t)
	w.put("raw/old", strings.ReplaceAll(records(0, 20_000, time.Second), "2026-", "1999-"))
	config := w.config()
	config.Now = func() time.Time { w.pass(time.Second); return w.now() }
	_, err := w.cloudOf(config).Import(deadline{t.Context(), w.time.Add(5 * time.Second)}, rawlog.Log{Key: "raw/old"})
	if err == nil || errors.Is(err, cloud.ErrUnfinished) || fault.KindOf(err) == fault.Invalid {
		t.Errorf("%v", err)
	}
}

// TestCompactContinuesAfterTimeIsUp gives every call little time.
func TestCompactContinuesAfterTimeIsUp(t *testing.T) {
	w := newWorld(t)
	const hours = 6
	for i := range 2 * hours {
		w.importLog(fmt.Sprintf("raw/%d", i), records(i*10, i*10+10, 3*time.Minute)) // half an hour each
	}
	config := w.config()
	w.time = testTime.Add(24 * time.Hour)
	config.Now = func() time.Time { w.pass(time.Second); return w.now() }
	calls, compacted := 0, 0
	for unfinished := true; unfinished; calls++ {
		report, err := w.cloudOf(config).Compact(deadline{t.Context(), w.time.Add(10 * time.Second)}, time.Time{})
		if err != nil || calls > 50 {
			t.Fatal(report, err)
		}
		unfinished = report.Unfinished
		compacted += report.Hours
		w.expect(each(0, 20*hours))
	}
	if calls < 3 || compacted != hours {
		t.Errorf("%d calls compacted %d hours", calls, compacted)
	}
}

// TestGroupsAtTheSameTime merges the groups of an hour at the same time, of which one has a damaged object.
func TestGroupsAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	const logs = 12
	for i := range logs {
		w.importLog(fmt.Sprintf("raw/%d", i), records(i*10, i*10+10, time.Second))
	}
	var largest int64
	for info, err := range w.lake.List(t.Context(), "lake/fresh/", "") {
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, info.Size)
	}
	w.spoil(w.names("lake/fresh/")[4], func(text string) string { return text[:len(text)/2] })
	config := w.config()
	config.AtOnce, config.Group = 4, 2*largest
	w.time = testTime.Add(4 * time.Hour)
	report, err := w.cloudOf(config).Compact(t.Context(), time.Time{})
	if err != nil || report.Hours != 1 || report.Merged < logs/3 || len(report.Damaged) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	want := each(0, 10*logs)
	if got := w.rows(w.state()); len(got) != len(want)-10 {
		t.Errorf("readers see %d records, want all but the 10 of the damaged object", len(got))
	}
}

// TestGroupsThatCannotEndAreNotBegun merges many small groups, and then a large one, for which not enough time is left.
// No merge before it took long, so only its size shows how much time it needs.
func TestGroupsThatCannotEndAreNotBegun(t *testing.T) {
	const small, timeout = 39, 15 * time.Minute
	for _, plansHaveSizes := range []bool{true, false} {
		t.Run(fmt.Sprintf("plans have sizes: %t", plansHaveSizes), func(t *testing.T) {
			w := newWorld(t)
			w.time = testTime.Add(100 * time.Hour)
			for i := range 24 {
				w.importLog(fmt.Sprintf("raw/%d", i), records(small, small+1, time.Hour))
			}
			for i := range 2 {
				w.importLog(fmt.Sprintf("raw/all%d", i), records(0, small, time.Hour))
			}
			large := testTime.Add(small * time.Hour).Format("2006/01/02/15")
			config := w.config()
			var group []string
			for info, err := range w.lake.List(t.Context(), "lake/fresh/"+large, "") {
				if err != nil {
					t.Fatal(err)
				}
				config.Group += info.Size
				group = append(group, info.Name)
			}
			if !plansHaveSizes {
				text, err := json.Marshal(map[string]any{"groups": [][]string{group}})
				if err != nil {
					t.Fatal(err)
				}
				err = w.lake.Put(t.Context(), "lake/_plans/"+large+".json", bytes.NewReader(text), blob.Always)
				if err != nil {
					t.Fatal(err)
				}
			}
			config.Lake = &merging{Store: w.lake, merged: func(hour string) {
				w.pass(20 * time.Second)
				if hour == large {
					w.pass(140 * time.Second)
				}
			}}
			for run, hours := range []int{small, 1} {
				ends := w.time.Add(timeout)
				report, err := w.cloudOf(config).Compact(deadline{t.Context(), ends}, testTime.Add((small+1)*time.Hour))
				if err != nil || report.Hours != hours {
					t.Errorf("run %d: %+v, %v", run, report, err)
				}
				if w.time.After(ends) {
					t.Errorf("run %d was killed, because it took %v too long", run, w.time.Sub(ends))
				}
				w.time = ends
			}
		})
	}
}

// merging is a bucket that reports the merged objects before it keeps them.
type merging struct {
	blob.Store
	merged func(hour string)
}

func (m *merging) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if below, ok := strings.CutPrefix(name, "lake/compact/"); ok {
		m.merged(path.Dir(below))
	}
	return m.Store.Put(ctx, name, body, when)
}

// deadline is a context that has a deadline but never ends.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }

func TestNewEmptiesItsScratchDirectory(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	old := filepath.Join(config.Scratch, "import-old")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.cloudOf(config)
	left, err := os.ReadDir(config.Scratch)
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestCompactNarrowsTheExtent(t *testing.T) {
	year := func(n int) string {
		return fmt.Sprintf(`{"processing_stage":6,"timestamp":"%d-06-01T00:30:00Z","request_id":"y%d"}`+"\n", n, n)
	}
	t.Run("after the removal of a record with a wrong clock", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", year(2001)+records(0, 50, 5*time.Minute))
		w.pass(24 * time.Hour)
		w.compact()
		if got := time.UnixMilli(w.state().Extent.MinTsMs).UTC().Year(); got != 2001 {
			t.Fatalf("the extent begins in %d", got)
		}
		wide := w.state().Version
		for _, name := range w.names("lake/compact/2001/") {
			if err := w.lake.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		w.compact()
		s := w.state()
		last := testTime.Add(245 * time.Minute)
		if s.Extent.MinTsMs != testTime.UnixMilli() || s.Extent.MaxTsMs != last.UnixMilli() || s.Version <= wide {
			t.Errorf("extent %+v, version %d after %d", s.Extent, s.Version, wide)
		}
	})
	t.Run("to an hour whose object is damaged", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", year(2001)+records(0, 50, 5*time.Minute))
		w.pass(24 * time.Hour)
		w.compact()
		for _, name := range w.names("lake/compact/2001/") {
			if err := w.lake.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		hour := lake.PartitionOf(testTime.UnixMilli())
		for _, name := range w.names("lake/compact/" + hour.String() + "/") {
			if err := w.lake.Put(t.Context(), name, strings.NewReader("not Parquet"), blob.Always); err != nil {
				t.Fatal(err)
			}
		}
		w.compact()
		if got := w.state().Extent.MinTsMs; got != hour.Start() {
			t.Errorf("the extent begins at %d, want the begin of the hour, %d", got, hour.Start())
		}
	})
	t.Run("to the objects that readers see, whatever was imported, compacted and removed", func(t *testing.T) {
		for seed := range testlevel.Of[uint64](1, 3, 12) {
			random := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t)
			for step := range 25 {
				switch random.IntN(5) {
				case 0, 1:
					var text string
					for i := range 1 + random.IntN(4) {
						at := w.time.Add(-time.Duration(random.IntN(10)*random.IntN(2000)) * time.Hour)
						at = at.Add(time.Duration(random.IntN(3600)) * time.Second)
						text += fmt.Sprintf(`{"processing_stage":6,"timestamp":%q,"request_id":"r%d.%d"}`+"\n",
							at.Format(time.RFC3339), step, i)
					}
					w.importLog(fmt.Sprintf("raw/%d.log", step), text)
				case 2:
					w.pass(time.Duration(random.IntN(9)) * time.Hour)
				case 3:
					names := readable(t, w.lake, w.state())
					for _, i := range random.Perm(len(names))[:len(names)/2] {
						if err := w.lake.Delete(t.Context(), names[i]); err != nil {
							t.Fatal(err)
						}
					}
				}
				w.compact()
				w.checkExtent(fmt.Sprintf("seed %d, step %d", seed, step))
			}
		}
	})
}

// checkExtent checks that the extent covers the rows that readers see, and begins and ends in an hour of theirs.
func (w *world) checkExtent(when string) {
	w.t.Helper()
	s := w.state()
	var want lake.Extent
	for _, name := range readable(w.t, w.lake, s) {
		file := filepath.Join(w.t.TempDir(), "object.parquet")
		body, _, err := w.lake.Get(w.t.Context(), name, "", 0)
		if err != nil {
			w.t.Fatal(err)
		}
		content, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close(), os.WriteFile(file, content, 0o600)); err != nil {
			w.t.Fatal(err)
		}
		rows, err := parquettest.Rows(content)
		if err != nil {
			w.t.Fatal(err)
		}
		var e lake.Extent
		for _, row := range rows {
			e = e.Union(lake.Extent{MinTsMs: row.TsMs, MaxTsMs: row.TsMs, Rows: 1})
		}
		if got, err := ingest.ExtentOf(file); err != nil || got != e {
			w.t.Errorf("%s: ExtentOf(%s) is %+v, %v; want %+v", when, name, got, err, e)
		}
		want = want.Union(e)
	}
	got := s.Extent
	if got.Rows == 0 || want.Rows == 0 {
		if got.Rows != want.Rows {
			w.t.Fatalf("%s: the extent is %+v, want %+v", when, got, want)
		}
		return
	}
	if got.MinTsMs > want.MinTsMs || got.MaxTsMs < want.MaxTsMs ||
		lake.PartitionOf(got.MinTsMs) != lake.PartitionOf(want.MinTsMs) ||
		lake.PartitionOf(got.MaxTsMs) != lake.PartitionOf(want.MaxTsMs) {
		w.t.Fatalf("%s: the extent is %+v, want %+v to the hour", when, got, want)
	}
}
