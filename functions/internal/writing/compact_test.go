package writing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/compaction"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/cloud/rollingup"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/bundle"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// TestCompactionUnderBacklog runs compact every 15 minutes by a virtual clock, with more hours to merge than it ever
// can. Before each run, a query fails at a damaged object. Each run logs the ages first, sets the object aside, merges
// groups, and ends before its deadline. Superseded objects are removed and lost rows are rebuilt in time.
func TestCompactionUnderBacklog(t *testing.T) {
	const runs, hours, group = 32, 200, 160 * time.Second
	w := newBacklog(t, hours, group)
	rebuilt, removed := 0, 0
	for run := range runs {
		damaged := w.damage(run)
		report := w.run()
		if !report.Unfinished {
			t.Fatalf("run %d: there is no backlog: %+v", run, report)
		}
		if !slices.Equal(report.Damaged, []string{damaged}) {
			t.Errorf("run %d has set %v aside, want %s", run, report.Damaged, damaged)
		}
		if report.Hours < 3 {
			t.Errorf("run %d has merged %d hours", run, report.Hours)
		}
		rebuilt += len(report.Rebuilt)
		removed += report.Removed
		w.time = w.began.Add(lambdas.LongestRun)
	}
	// An object is rebuilt an hour after it was set aside, and superseded ones are removed after six hours.
	if rebuilt < runs-6 {
		t.Errorf("%d objects were rebuilt", rebuilt)
	}
	if removed < 3*(runs-6*4-2) {
		t.Errorf("%d superseded objects were removed", removed)
	}
}

// TestDayOfBillions lets 2.6 billion records a day arrive by a virtual clock, each object of the test for 415,000 of them.
// Compaction bundles and merges them, one group after the other, in the time that the processors of the function need
// at the measured rate. No run is killed, and each hour is compacted at most three hours and a quarter after its begin.
func TestDayOfBillions(t *testing.T) {
	const (
		aDay, ofObject = 2_600_000_000, 415_000
		rate           = 35_000 // records a second and processor: BenchmarkCompaction
		perHour        = aDay / ofObject / 24
		bytesOfObject  = 21_500 // in the test
	)
	w := newBacklog(t, 0, 0, func(c *cloud.Config) {
		c.Group = 4 * bytesOfObject
		c.Bundling = cloud.DefaultBundling
		c.Bundling.Most = 4 // objects, of 256 MB together
		c.Bundling.Open, c.Bundling.Ended = 2, 2
	})
	w.time = testTime
	w.perRow = ofObject * time.Second / rate * lambdas.CoreMemory / lambdas.DefaultCompactMemory
	raw := &blobtest.Memory{}
	store, err := cloud.New(cloud.Config{
		Raw: raw, Lake: slowMerges{w.lake, w}, Table: w.table, Scratch: filepath.Join(t.TempDir(), "arriving"),
		Now:   func() time.Time { return w.time },
		Pause: func(_ context.Context, d time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	sizes := func() (bytes, objects int64) {
		for info, err := range w.lake.List(t.Context(), "lake/fresh/", "") {
			if err != nil {
				t.Fatal(err)
			}
			bytes, objects = bytes+info.Size, objects+1
		}
		return bytes, objects
	}
	hours := testlevel.Of(5, 5, 24)
	next, longest := 0, time.Duration(0)
	free := testTime
	for run := range hours * 20 {
		begins := testTime.Add(time.Duration(run+1) * 3 * time.Minute)
		for ; next < (run+1)*perHour/20; next++ {
			w.time = testTime.Add(time.Duration(next) * time.Hour / perHour)
			key := fmt.Sprintf("raw/%d", next)
			line := fmt.Sprintf(`{"timestamp":%q,"request_id":"r%d","processing_stage":6}`+"\n", w.time.Format(time.RFC3339), next)
			if err := raw.Put(t.Context(), key, strings.NewReader(line), blob.Always); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Import(t.Context(), rawlog.Log{Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		if bytes, n := sizes(); run == 0 && (bytes < n*bytesOfObject*9/10 || bytes > n*bytesOfObject*11/10) {
			t.Fatalf("%d objects have %d bytes, not %d each", n, bytes, bytesOfObject)
		}
		if begins.Before(free) {
			continue // another run is at work
		}
		w.time = begins
		w.run()
		free = w.time
		longest = max(longest, w.time.Sub(begins))
		state, _, err := lakestate.Load(t.Context(), w.table)
		if err != nil {
			t.Fatal(err)
		}
		if behind := state.Behind(begins); behind > 13*time.Hour/4 {
			t.Errorf("after run %d, compaction is %v behind", run, behind)
		}
	}
	t.Logf("the longest run took %v", longest)
}

// TestAgesAreLoggedFirst checks the log of a run that fails at its first request, and of a lake without records. The
// alarm compact-behind treats missing ages as too high.
func TestAgesAreLoggedFirst(t *testing.T) {
	w := newBacklog(t, 0, 0)
	w.run()
	if want := `"msg":"lake","behind_s":0}`; !strings.Contains(w.log.String(), want) {
		t.Errorf("the log of a lake without records lacks %s:\n%s", want, &w.log)
	}
	w = newBacklog(t, 1, 0)
	w.broken = errors.New("the queue is down")
	if _, err := w.invoke(); err == nil {
		t.Error("no error")
	}
	w.checkAges()
}

// TestOneRunAtATime begins a run while another one is at work, and again after that one was to end.
func TestOneRunAtATime(t *testing.T) {
	w := newBacklog(t, 2, time.Second)
	_, free, err := lakestate.BeginRun(t.Context(), w.table, w.time, w.time.Add(lambdas.LongestRun))
	if err != nil || !free {
		t.Fatal(free, err)
	}
	w.time = w.time.Add(3 * time.Minute)
	if report := w.run(); !report.Unfinished || report.Hours > 0 || !strings.Contains(w.log.String(), "another run is at work") {
		t.Errorf("a second run: %+v\n%s", report, &w.log)
	}
	w.time = w.time.Add(lambdas.LongestRun)
	for range 2 { // the second one finds that the first one has ended
		if report := w.run(); report.Unfinished {
			t.Errorf("a later run: %+v", report)
		}
	}
}

// TestKilledRunsLogHowFarTheyAreBehind merges groups that take longer than a run, so that Lambda kills every run. Each
// has logged before that compaction is behind, which raises an alarm from 6 hours on.
func TestKilledRunsLogHowFarTheyAreBehind(t *testing.T) {
	const hours = 12
	w := newBacklog(t, hours, 2*lambdas.LongestRun)
	for run := range 4 {
		if _, err := w.invoke(); !errors.Is(err, errKilled) {
			t.Fatalf("run %d was not killed: %v", run, err)
		}
		var ages struct {
			Behind int `json:"behind_s"`
		}
		first, _, _ := strings.Cut(w.log.String(), "\n")
		if err := json.Unmarshal([]byte(first), &ages); err != nil {
			t.Fatal(err)
		}
		if ages.Behind < (hours-1)*3600 {
			t.Errorf("run %d has logged first: %s", run, first)
		}
		w.time = w.began.Add(lambdas.LongestRun)
	}
}

// backlog is a lake with more hours to compact than a run can merge. It is also its own queue.
type backlog struct {
	t      *testing.T
	parts  parts
	lake   blob.Store
	table  lakestate.Table
	time   time.Time
	began  time.Time // of the latest run
	group  time.Duration
	perRow time.Duration // of merged objects; 0: each takes the time of a group
	log    bytes.Buffer
	broken error // of the queue
}

// newBacklog imports two logs with records of each hour. Merging the objects of an hour takes a time.
func newBacklog(t *testing.T, hours int, group time.Duration, options ...func(*cloud.Config)) *backlog {
	w := &backlog{
		t: t, lake: &blobtest.Memory{}, table: lakestate.Over(&tabletest.Memory{}), time: testTime.Add(3 * time.Hour), group: group,
	}
	raw := &blobtest.Memory{}
	now := func() time.Time { return w.time }
	config := cloud.Config{
		Raw: raw, Lake: slowMerges{w.lake, w}, Table: w.table, Scratch: filepath.Join(t.TempDir(), "scratch"), Now: now,
		Pause: func(_ context.Context, d time.Duration) error { w.time = w.time.Add(d); return nil },
	}
	for _, set := range options {
		set(&config)
	}
	store, err := cloud.New(config)
	if err != nil {
		t.Fatal(err)
	}
	for log := range 2 {
		var text strings.Builder
		for hour := range hours {
			at := testTime.Add(-time.Duration(hour) * time.Hour).Format(time.RFC3339)
			fmt.Fprintf(&text, `{"timestamp":%q,"request_id":"r%d-%d","processing_stage":6}`+"\n", at, log, hour)
		}
		key := fmt.Sprintf("raw/history/%d", log)
		if err := raw.Put(t.Context(), key, strings.NewReader(text.String()), blob.Always); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Import(t.Context(), rawlog.Log{Key: key}); err != nil && hours > 0 {
			t.Fatal(err)
		}
	}
	w.parts = parts{
		log: slog.New(slog.NewJSONHandler(w, nil)), cloud: store, table: w.table, queue: w, deadLetters: w,
		rollups: &rollingup.Maker{Lake: w.lake, Table: w.table, Scratch: t.TempDir(), Now: now},
	}
	return w
}

var testTime = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// damage spoils a fresh object of the hour n hours before testTime, and reports it as a query does that fails at it.
func (w *backlog) damage(n int) (name string) {
	w.t.Helper()
	hour := lake.PartitionOf(testTime.UnixMilli()) - lake.Partition(n)
	for info, err := range w.lake.List(w.t.Context(), "lake/fresh/"+hour.String(), "") {
		if err != nil {
			w.t.Fatal(err)
		}
		name = info.Name
	}
	if err := w.lake.Put(w.t.Context(), name, strings.NewReader("not Parquet"), blob.Always); err != nil {
		w.t.Fatal(err)
	}
	suspects := lakestate.NewDamageReports(w.table, func() time.Time { return w.time })
	failed := &engine.DamageError{Object: lake.NameOf(name), From: hour, To: hour, Err: errors.New("not Parquet")}
	if err := suspects.Report(w.t.Context(), failed); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// run lets the function run as Lambda does: until the deadline.
func (w *backlog) run() (report compaction.Report) {
	w.t.Helper()
	answer, err := w.invoke()
	if err == nil {
		err = json.Unmarshal(answer, &report)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.checkAges()
	if w.time.After(w.deadline()) {
		w.t.Errorf("a run was killed, because it took %v", w.time.Sub(w.began))
	}
	return report
}

func (w *backlog) invoke() ([]byte, error) {
	w.log.Reset()
	w.began = w.time
	now := func() time.Time { return w.time }
	return w.parts.compact(now).Invoke(deadline{w.t.Context(), w.deadline()}, []byte("{}"))
}

func (w *backlog) deadline() time.Time { return w.began.Add(lambdas.LongestRun) }

// Write adds to the log, unless the run is killed.
func (w *backlog) Write(text []byte) (int, error) {
	if w.time.After(w.deadline()) {
		return 0, errKilled
	}
	return w.log.Write(text)
}

// checkAges checks that the first line of the log of a run has the ages.
func (w *backlog) checkAges() {
	w.t.Helper()
	first, _, _ := strings.Cut(w.log.String(), "\n")
	if !strings.Contains(first, `"msg":"lake"`) || !strings.Contains(first, `"behind_s":`) {
		w.t.Errorf("a run did not log the ages first, but %s", first)
	}
}

func (w *backlog) Waiting(context.Context) (int, error)              { return 0, w.broken }
func (w *backlog) Send(context.Context, string, time.Time) error     { return nil }
func (w *backlog) Hide(context.Context, string, time.Duration) error { return nil }

// errKilled is the error of a run that has passed its deadline.
var errKilled = errors.New("killed")

// slowMerges is a bucket in which the object of a group is put after the time that merging takes, unless the run is
// killed meanwhile.
type slowMerges struct {
	blob.Store
	w *backlog
}

func (s slowMerges) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if strings.HasPrefix(name, "lake/compact/") || strings.HasPrefix(name, bundle.Root) {
		took := s.w.group
		if s.w.perRow > 0 {
			content, err := io.ReadAll(body)
			if err != nil {
				return err
			}
			rows, err := parquettest.Rows(content)
			if err != nil {
				return err
			}
			took, body = time.Duration(len(rows))*s.w.perRow, bytes.NewReader(content)
		}
		s.w.time = s.w.time.Add(took)
		if s.w.time.After(s.w.deadline()) {
			return errKilled
		}
	}
	return s.Store.Put(ctx, name, body, when)
}

// deadline is a context that has a deadline but never ends.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
