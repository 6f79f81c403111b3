package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// newReconciled returns a world in which the bucket has the clock of the world. An arrived log begins the time from
// which on arrivals are recorded.
func newReconciled(t *testing.T) *world {
	w := newWorld(t)
	w.raw = &blobtest.Memory{Now: w.now}
	w.importLog("raw/0", records(900, 901, 0))
	return w
}

// reconcile runs a reconciliation with a limit, 0 for the default, and returns the keys that were sent.
func (w *world) reconcile(ctx context.Context, limit int) ([]string, arrivals.Report) {
	w.t.Helper()
	sent := []string{}
	report, err := arrivals.Reconciliation{
		Raw: w.raw, Table: w.table, Now: w.now, Limit: limit,
		Send: func(_ context.Context, log rawlog.Log, _ time.Time) error {
			sent = append(sent, log.Key)
			return nil
		},
	}.Run(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return sent, report
}

// expectSent checks the keys that a run with the default limit sends.
func (w *world) expectSent(want ...string) {
	w.t.Helper()
	sent, _ := w.reconcile(w.t.Context(), 0)
	if diff := cmp.Diff(want, sent, cmpopts.EquateEmpty()); diff != "" {
		w.t.Errorf("sent logs differ (-want +got):\n%s", diff)
	}
}

func expectReport(t *testing.T, got, want arrivals.Report) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(got, "Elapsed")); diff != "" {
		t.Errorf("the report differs (-want +got):\n%s", diff)
	}
}

func TestReconcileSendsLostLogs(t *testing.T) {
	t.Run("a lost log is sent in every run until it has arrived", func(t *testing.T) {
		w := newReconciled(t)
		w.put("raw/lost", records(0, 3, 0))
		w.pass(7 * time.Hour)
		w.expectSent("raw/lost")
		w.expectSent("raw/lost")
		w.importLog("raw/lost", records(0, 3, 0))
		w.pass(7 * time.Hour)
		sent, report := w.reconcile(t.Context(), 0)
		if len(sent) > 0 {
			t.Errorf("sent %v", sent)
		}
		expectReport(t, report, arrivals.Report{Listed: 2, Arrived: 2})
	})
	t.Run("the test file of a load balancer is no log", func(t *testing.T) {
		w := newReconciled(t)
		w.put("raw/AWSLogs/123456789012/ELBAccessLogTestFile", "Enable AccessLog for ELB")
		w.pass(7 * time.Hour)
		w.expectSent()
	})
	t.Run("a log that may be on its way is not sent", func(t *testing.T) {
		w := newReconciled(t)
		w.put("raw/lost", records(0, 3, 0))
		w.pass(6*time.Hour - time.Second)
		_, report := w.reconcile(t.Context(), 0)
		expectReport(t, report, arrivals.Report{Listed: 2, Arrived: 1, Recent: 1})
		w.pass(time.Second)
		w.expectSent("raw/lost")
	})
	t.Run("a log that was replaced is sent", func(t *testing.T) {
		w := newReconciled(t)
		w.importLog("raw/a", records(0, 3, 0))
		w.pass(time.Hour)
		w.put("raw/a", records(0, 3, 0)+records(5, 6, 0))
		w.pass(7 * time.Hour)
		w.expectSent("raw/a")
		w.importLog("raw/a", records(0, 3, 0)+records(5, 6, 0))
		w.expectSent()
	})
	t.Run("a log whose import has failed is sent", func(t *testing.T) {
		w := newReconciled(t)
		w.put("raw/a", records(0, 3, 0))
		config := w.config()
		config.Table = failingWrites{w.table}
		if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"}); err == nil {
			t.Fatal("the import has not failed")
		}
		w.pass(7 * time.Hour)
		w.expectSent("raw/a")
	})
	t.Run("a log of which only the beginning is imported is sent", func(t *testing.T) {
		w := newReconciled(t)
		w.put("raw/a", records(0, 30_000, time.Millisecond))
		config := w.config()
		config.Now = func() time.Time { w.pass(time.Minute); return w.now() }
		ctx := deadline{t.Context(), w.time.Add(15 * time.Minute)}
		if _, err := w.cloudOf(config).Import(ctx, rawlog.Log{Key: "raw/a"}); !errors.Is(err, cloud.ErrUnfinished) {
			t.Fatal(err)
		}
		w.pass(7 * time.Hour)
		w.expectSent("raw/a")
	})
	t.Run("folders of consoles are no logs", func(t *testing.T) {
		w := newReconciled(t)
		w.put("raw/2026/", "")
		w.put("other/a", "")
		w.pass(7 * time.Hour)
		_, report := w.reconcile(t.Context(), 0)
		expectReport(t, report, arrivals.Report{Listed: 1, Arrived: 1})
	})
	t.Run("an earlier version of a log that is imported late changes nothing", func(t *testing.T) {
		w := newReconciled(t)
		config := w.config()
		config.Raw = putAt{w.raw, w.time.Add(-time.Hour)} // the earlier version
		late := w.cloudOf(config)
		w.importLog("raw/a", records(0, 3, 0)+records(3, 4, 0))
		w.put("raw/a", records(0, 3, 0))
		if _, err := late.Import(t.Context(), rawlog.Log{Key: "raw/a"}); err != nil {
			t.Fatal(err)
		}
		w.put("raw/a", records(0, 3, 0)+records(3, 4, 0))
		w.pass(7 * time.Hour)
		w.expectSent()
	})
}

// failingWrites is a table that refuses every write.
type failingWrites struct{ lakestate.Table }

func (failingWrites) Write(context.Context, ...lakestate.Change) error {
	return errors.New("the table is down")
}

// TestReconcileProvesCompleteness compares while the queue has messages all the time, so that nothing else moves the
// time to which the lake is complete.
func TestReconcileProvesCompleteness(t *testing.T) {
	through := func(w *world) string {
		at := w.state().CompleteThrough
		if at.IsZero() {
			return "unknown"
		}
		return at.Sub(testTime).String()
	}
	// expect runs a reconciliation and checks the time, which is given after testTime.
	expect := func(t *testing.T, w *world, want string) {
		t.Helper()
		w.reconcile(t.Context(), 0)
		if got := through(w); got != want {
			t.Errorf("complete through %s after the start, want %s", got, want)
		}
	}
	world := func(t *testing.T) *world {
		w := newReconciled(t)
		w.time = testTime.Add(time.Hour)
		return w
	}
	t.Run("without missing logs up to the run, less the difference of clocks", func(t *testing.T) {
		w := world(t)
		if got := through(w); got != "unknown" {
			t.Fatal(got)
		}
		expect(t, w, "59m0s")
	})
	t.Run("up to the oldest log on its way", func(t *testing.T) {
		w := world(t)
		w.put("raw/a", records(0, 3, 0))
		w.time = testTime.Add(2 * time.Hour)
		w.put("raw/b", records(0, 3, 0))
		w.time = testTime.Add(3 * time.Hour)
		expect(t, w, "1h0m0s")
	})
	t.Run("a lost log moves it back until the log has arrived", func(t *testing.T) {
		w := world(t)
		for range 2 { // looks at empty queues: S3 has sent no message about the log
			if err := w.cloud().ObserveQueues(t.Context(), waiting(0)); err != nil {
				t.Fatal(err)
			}
			w.put("raw/a", records(0, 3, 0))
			w.pass(8 * time.Hour)
		}
		w.put("raw/a", records(0, 3, 0))
		w.pass(8 * time.Hour)
		expect(t, w, "17h0m0s")
		w.importLog("raw/a", records(0, 3, 0))
		expect(t, w, "24h59m0s")
	})
	t.Run("a run that is cut off proves nothing", func(t *testing.T) {
		w := world(t)
		w.importLog("raw/a", records(0, 3, 0))
		w.reconcile(deadline{t.Context(), w.time}, 0)
		if got := through(w); got != "unknown" {
			t.Error(got)
		}
	})
}

// TestScheduledReconciliation runs reconciliations as the schedule does.
func TestScheduledReconciliation(t *testing.T) {
	w := newReconciled(t)
	run := func(after time.Duration, due bool, why string) {
		t.Helper()
		w.time = testTime.Add(after)
		report, err := arrivals.Reconciliation{Raw: w.raw, Table: w.table, Now: w.now, Scheduled: true}.Run(t.Context())
		if err != nil || report.NotDue == due || (report.Listed > 0) != due {
			t.Errorf("after %v: %s: %+v %v", after, why, report, err)
		}
	}
	look := func(after time.Duration) {
		t.Helper()
		w.time = testTime.Add(after)
		if err := w.cloud().ObserveQueues(t.Context(), waiting(0)); err != nil {
			t.Fatal(err)
		}
	}
	hour := time.Hour
	run(1*hour, true, "the first run")
	run(2*hour-2*time.Minute, false, "the time to which the lake is complete is less than an hour ago")
	run(2*hour, true, "the queue has not been empty for an hour")
	look(3*hour - 20*time.Minute)
	look(3*hour - 10*time.Minute)
	run(3*hour, false, "the queue was empty")
	look(26*hour - 20*time.Minute)
	look(26*hour - 10*time.Minute)
	run(26*hour, true, "the last comparison was a day ago")
}

// TestReconcileKnowsFinishedLogs imports logs with every final result.
func TestReconcileKnowsFinishedLogs(t *testing.T) {
	for name, text := range map[string]string{
		"a log of records":                records(0, 3, 0),
		"a log with rejected lines":       records(0, 3, 0) + "garbage\n" + records(3, 4, 0),
		"a log without records":           `{"processing_stage":6,"timestamp":"yesterday"}` + "\n",
		"an empty log":                    "",
		"an unknown format":               "a b c\nd e f\n",
		"a log that is cut off":           zipped(records(0, 5000, time.Second))[:1000],
		"a log that was imported already": records(900, 901, 0),
	} {
		t.Run(name, func(t *testing.T) {
			w := newReconciled(t)
			key := "raw/a"
			if strings.Contains(name, "already") {
				key = "raw/0.1"
			}
			w.put(key, text)
			_, err := w.cloud().Import(t.Context(), rawlog.Log{Key: key})
			if err != nil && fault.KindOf(err) != fault.Invalid {
				t.Fatal(err)
			}
			w.pass(7 * time.Hour)
			sent, report := w.reconcile(t.Context(), 0)
			if len(sent) > 0 || report.Arrived != 2 {
				t.Errorf("sent %v: %+v", sent, report)
			}
		})
	}
}

func TestReconcileLimit(t *testing.T) {
	w := newReconciled(t)
	for _, key := range []string{"raw/a", "raw/b", "raw/c", "raw/d", "raw/e"} {
		w.put(key, "x\n")
	}
	w.pass(7 * time.Hour)
	for _, want := range []string{"raw/a raw/b", "raw/c raw/d", "raw/e raw/a", "raw/b raw/c"} {
		sent, report := w.reconcile(t.Context(), 2)
		if got := strings.Join(sent, " "); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		expectReport(t, report, arrivals.Report{Listed: 6, Arrived: 1, Lost: 2, Left: 3})
	}
}

// TestReconcileContinuesAfterDeadline lets the time be up after each log.
func TestReconcileContinuesAfterDeadline(t *testing.T) {
	w := newReconciled(t)
	for n := range 3 {
		w.put(fmt.Sprintf("raw/lost %d", n), "x\n")
	}
	w.pass(7 * time.Hour)
	var all []string
	for range 5 {
		sent, report := w.reconcile(deadline{t.Context(), w.time}, 0)
		if !report.Unfinished || report.Listed != 1 {
			t.Errorf("a run without time: %+v", report)
		}
		all = append(all, sent...)
	}
	want := []string{"raw/lost 0", "raw/lost 1", "raw/lost 2"} // the first and the last run compare raw/0
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if _, report := w.reconcile(t.Context(), 0); report.Unfinished || report.Listed != 4 || report.Lost != 3 {
		t.Errorf("a run with time compares all logs, wherever it begins: %+v", report)
	}
}

// TestReconcileLogsOfEarlierVersions has logs that were put before the first log whose arrival was recorded.
func TestReconcileLogsOfEarlierVersions(t *testing.T) {
	t.Run("they are sent once, whether or not they arrive", func(t *testing.T) {
		w := newOldWorld(t)
		w.raw = &blobtest.Memory{Now: w.now}
		w.put("raw/imported", oldRecords(0, 3, time.Second))
		w.put("raw/lost", records(50, 52, time.Second))
		w.put("raw/poison", "a b c\n")
		w.pass(24 * time.Hour)
		w.importLog("raw/new", records(60, 61, time.Second))
		w.pass(24 * time.Hour)
		sent, report := w.reconcile(t.Context(), 2)
		if diff := cmp.Diff([]string{"raw/imported", "raw/lost"}, sent); diff != "" {
			t.Error(diff)
		}
		expectReport(t, report, arrivals.Report{Listed: 4, Arrived: 1, Earlier: 2, Left: 1})
		for _, key := range sent {
			if _, err := w.cloud().Import(t.Context(), rawlog.Log{Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		w.expect(map[string]int{"r50": 1, "r51": 1, "r60": 1}) // an earlier version has imported the other rows
		w.expectSent("raw/poison")
		_, report = w.reconcile(t.Context(), 0)
		expectReport(t, report, arrivals.Report{Listed: 4, Arrived: 3, EarlierSent: 1})
		w.pass(30 * 24 * time.Hour)
		w.expectSent("raw/poison")
	})
	t.Run("they do not delay lost logs", func(t *testing.T) {
		w := newWorld(t)
		w.raw = &blobtest.Memory{Now: w.now}
		for n := range 10 {
			w.put(fmt.Sprintf("raw/1/%d", n), "x\n")
		}
		w.pass(time.Hour)
		w.importLog("raw/2/new", records(0, 1, 0))
		w.put("raw/3/lost", "x\n")
		w.pass(7 * time.Hour)
		sent, report := w.reconcile(t.Context(), 1)
		if diff := cmp.Diff([]string{"raw/1/0", "raw/3/lost"}, sent); diff != "" {
			t.Error(diff)
		}
		expectReport(t, report, arrivals.Report{Listed: 12, Arrived: 1, Lost: 1, Earlier: 1, Left: 9})
	})
	t.Run("one that arrives during the run is not marked as sent", func(t *testing.T) {
		w := newReconciled(t)
		w.pass(-time.Hour)
		w.put("raw/a", records(0, 3, 0))
		w.pass(8 * time.Hour)
		for range 2 {
			_, err := arrivals.Reconciliation{
				Raw: w.raw, Table: w.table, Now: w.now,
				Send: func(ctx context.Context, log rawlog.Log, _ time.Time) error {
					_, err := w.cloud().Import(ctx, log)
					return err
				},
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
		}
		_, report := w.reconcile(t.Context(), 0)
		expectReport(t, report, arrivals.Report{Listed: 2, Arrived: 2})
	})
}

// TestReconcileManyLogs compares more logs than a page has, with items of logs that do not exist any more between them.
func TestReconcileManyLogs(t *testing.T) {
	const logs = 2500
	w := newReconciled(t)
	for n := range logs {
		w.put(fmt.Sprintf("raw/%04d/a", n), "x\n")
	}
	arrived := map[string]bool{}
	for n := 0; n < logs; n += 250 {
		key := fmt.Sprintf("raw/%04d/a", n)
		w.importLog(key, records(n, n+1, 0))
		arrived[key] = true
		gone := fmt.Sprintf("raw/%04d/gone", n)
		w.importLog(gone, records(n, n+1, 0))
		if err := w.raw.Delete(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(7 * time.Hour)
	sent, report := w.reconcile(t.Context(), logs)
	expectReport(t, report, arrivals.Report{Listed: logs + 1, Arrived: 11, Lost: logs - 10})
	if !slices.IsSorted(sent) || slices.ContainsFunc(sent, func(key string) bool { return arrived[key] }) {
		t.Errorf("sent logs that have arrived, or in another order")
	}
}

func TestReconcileReturnsErrors(t *testing.T) {
	w := newReconciled(t)
	w.put("raw/lost", "x\n")
	w.pass(7 * time.Hour)
	down := errors.New("the queue is down")
	run := arrivals.Reconciliation{
		Raw: w.raw, Table: w.table, Now: w.now,
		Send: func(context.Context, rawlog.Log, time.Time) error { return down },
	}
	if _, err := run.Run(t.Context()); !errors.Is(err, down) {
		t.Errorf("got %v, want %v", err, down)
	}
	w.expectSent("raw/lost")
}

// TestReconcileUnderFaults loses notifications, and has a fault at every request of a reconciliation and of the imports
// before and after it. A task that fails is run again.
func TestReconcileUnderFaults(t *testing.T) {
	for name, test := range map[string]struct {
		arrived, want string // keys of logs
	}{
		"lost logs":                  {"raw/a", "raw/a.1 raw/b"},
		"logs of an earlier version": {"", "raw/a raw/a.1 raw/b"},
	} {
		for harm, script := range map[string]func(int) faulttest.Script{
			"the response is lost":      func(n int) faulttest.Script { return faulttest.At(n, faulttest.Lose) },
			"the request arrives twice": func(n int) faulttest.Script { return faulttest.At(n, faulttest.Duplicate) },
			"the network breaks":        func(n int) faulttest.Script { return faulttest.From(n, faulttest.Break) },
			"requests are throttled":    func(n int) faulttest.Script { return faulttest.From(n, faulttest.Throttle) },
		} {
			t.Run(name+", "+harm, func(t *testing.T) {
				n := 0
				for reached := true; reached; n += stride() {
					reached = testReconcileUnderFault(t, n, script, test.arrived, strings.Fields(test.want))
				}
				if n < 40 {
					t.Errorf("the test reached only %d requests", n)
				}
			})
		}
	}
}

func testReconcileUnderFault(
	t *testing.T, n int, script func(int) faulttest.Script, arrived string, want []string,
) (reached bool) {
	d := newDeployment(t)
	d.prepare()
	first := d.network.Requests() + n
	harmed := false
	do := func(task func() error) {
		if !harmed {
			d.network.Script = script(first)
		}
		if err := task(); err != nil {
			harmed, d.network.Script = true, faulttest.Never
			if err := task(); err != nil {
				t.Fatalf("fault at request %d: second attempt: %v", n, err)
			}
		}
	}
	if arrived != "" {
		do(d.importing(arrived))
	}
	var sent []string
	do(d.reconciling(&sent))
	slices.Sort(sent) // by both attempts
	if diff := cmp.Diff(want, slices.Compact(sent)); diff != "" {
		t.Fatalf("fault at request %d: sent logs differ (-want +got):\n%s", n, diff)
	}
	for _, key := range want {
		do(d.importing(key))
	}
	reached = d.network.Requests() > first
	d.network.Script = faulttest.Never
	var again []string
	if err := d.reconciling(&again)(); err != nil || len(again) > 0 {
		t.Fatalf("fault at request %d: sent %v, %v after all logs have arrived", n, again, err)
	}
	d.check(fmt.Sprintf("request %d", n))
	return reached
}
