package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
)

// mixedLog is a log of five records with four other lines, of which two are records of the format combined.
var mixedLog = records(0, 5, time.Second) + "garbage\n" +
	`192.0.2.7 - - [01/Mar/2026:10:00:03 +0000] "GET /<a> HTTP/1.1" 200 512` + "\nmore garbage\n" +
	`192.0.2.8 - - [01/Mar/2026:10:00:04 +0000] "GET /b HTTP/1.1" 404 7` + "\n"

// quarantined returns what is in quarantine: the name, the reason, the number of lines and the first one.
func (w *world) quarantined() []string {
	w.t.Helper()
	all, err := w.cloud().Quarantine(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	list := []string{}
	for _, r := range all {
		list = append(list, fmt.Sprint(r.Source.Name, " ", r.Source.Format, " ", r.Code, " ", r.Lines, " ", r.First.Line))
	}
	return list
}

// importRetried imports the logs that retries have put, and returns the number of their records.
func (w *world) importRetried() (records int64) {
	w.t.Helper()
	for info, err := range w.raw.List(w.t.Context(), "raw/history/quarantine/", "") {
		if err != nil {
			w.t.Fatal(err)
		}
		report, err := w.cloud().Import(w.t.Context(), rawlog.Log{Key: info.Name})
		if err != nil || report.RejectedLines() > 0 {
			w.t.Fatalf("%+v, %v", report, err)
		}
		records += report.Records
	}
	return records
}

func TestRetry(t *testing.T) {
	w := newWorld(t)
	id := w.importLog("raw/a.log", mixedLog).Source
	w.importLog("raw/b.log", records(10, 12, time.Second)+"other garbage\n")
	expect := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, w.quarantined()); diff != "" {
			t.Errorf("quarantine (-want +got):\n%s", diff)
		}
	}
	byName := []string{"raw/a.log orrery bad_json 4 6", "raw/b.log orrery bad_json 1 3"}
	if w.quarantined()[0] != byName[0] { // the order is that of the IDs
		byName[0], byName[1] = byName[1], byName[0]
	}
	expect(byName...)
	t.Run("nothing changes if no line is a record", func(t *testing.T) {
		report, err := w.cloud().Retry(t.Context(), id, ingest.Options{})
		if err != nil || report.Records != 0 || report.Rejected != 4 || report.Logs != nil || w.importRetried() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		expect(byName...)
	})
	t.Run("lines that are records now are put as a log", func(t *testing.T) {
		report, err := w.cloud().Retry(t.Context(), id[:8], ingest.Options{Format: "combined"})
		if err != nil || report.Source != id || report.Records != 2 || report.Rejected != 2 || len(report.Logs) != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		body, _, err := w.raw.Get(t.Context(), report.Logs[0], "", 0)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(string(text), "\n"); len(lines) != 3 || !strings.Contains(lines[0], "192.0.2.7") ||
			!strings.Contains(lines[1], "192.0.2.8") {
			t.Errorf("the log:\n%s", text)
		}
		if n := w.importRetried(); n != 2 || w.state().Extent.Rows != 9 {
			t.Errorf("%d records; the lake has %d", n, w.state().Extent.Rows)
		}
	})
	t.Run("they are not put again", func(t *testing.T) {
		report, err := w.cloud().Retry(t.Context(), id, ingest.Options{Format: "combined"})
		if err != nil || report.Records != 0 || report.Rejected != 2 || w.importRetried() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("an unknown import", func(t *testing.T) {
		if _, err := w.cloud().Retry(t.Context(), "none", ingest.Options{}); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if _, err := w.cloud().Retry(t.Context(), "", ingest.Options{}); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
	})
}

// dyingStore is a bucket that fails after some writes, as if the program were ended there.
type dyingStore struct {
	blob.Store
	writes *int // that are left
}

var errDied = errors.New("the program was ended")

func (d dyingStore) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if *d.writes--; *d.writes < 0 {
		return errDied
	}
	return d.Store.Put(ctx, name, body, when)
}

func (d dyingStore) Delete(ctx context.Context, names ...string) error {
	if *d.writes--; *d.writes < 0 {
		return errDied
	}
	return d.Store.Delete(ctx, names...)
}

// TestRetryCountsOnce: each line is imported once, at whatever step a retry ends, even if the next retry is by a
// version that finds no records, or if the lines are in quarantine again.
func TestRetryCountsOnce(t *testing.T) {
	for writes := range 4 {
		t.Run(fmt.Sprintf("after %d writes", writes), func(t *testing.T) {
			w := newWorld(t)
			id := w.importLog("raw/a.log", mixedLog).Source
			object := "quarantine/lines/" + id + ".ndjson"
			before := w.content(object)
			left := writes
			config := w.config()
			config.Lake, config.Raw = dyingStore{w.lake, &left}, dyingStore{w.raw, &left}
			_, err := w.cloudOf(config).Retry(t.Context(), id, ingest.Options{Format: "combined"})
			if died := writes < 3; errors.Is(err, errDied) != died || !died && err != nil {
				t.Fatal(err)
			}
			if writes > 0 { // the list decides, whatever the lines would be now
				if _, err := w.cloud().Retry(t.Context(), id, ingest.Options{Format: "alb"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.lake.Put(t.Context(), object, strings.NewReader(before), blob.Always); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := w.cloud().Retry(t.Context(), id, ingest.Options{Format: "combined"}); err != nil {
					t.Fatal(err)
				}
			}
			if n := w.importRetried(); n != 2 {
				t.Errorf("%d records", n)
			}
			if diff := cmp.Diff([]string{"raw/a.log orrery bad_json 2 6"}, w.quarantined()); diff != "" {
				t.Errorf("quarantine (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRetryLeavesNothing: an object without lines is removed.
func TestRetryLeavesNothing(t *testing.T) {
	w := newWorld(t)
	lines := strings.SplitAfter(mixedLog, "\n")
	id := w.importLog("raw/a.log", strings.Join(lines[:5], "")+lines[6]).Source
	report, err := w.cloud().Retry(t.Context(), id, ingest.Options{Format: "combined"})
	if err != nil || report.Records != 1 || report.Rejected != 0 || len(w.quarantined()) > 0 {
		t.Errorf("%+v, %v; left %q", report, err, w.quarantined())
	}
}

// TestRelease: a log that was refused or has no records is sent again, and leaves the quarantine.
func TestRelease(t *testing.T) {
	w := newWorld(t)
	w.put("raw/x.csv", "a,b\n")
	if _, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/x.csv"}); fault.KindOf(err) != fault.Invalid {
		t.Fatal(err)
	}
	w.importLog("raw/old.log", `{"processing_stage":6,"timestamp":"1960-01-01T00:00:00Z"}`+"\n")
	want := []string{"raw/old.log  time_out_of_range 1 1", "raw/x.csv  refused 0 0"}
	if diff := cmp.Diff(want, w.quarantined()); diff != "" {
		t.Errorf("quarantine (-want +got):\n%s", diff)
	}
	full := errors.New("the queue refuses it")
	refusing := func(context.Context, rawlog.Log, time.Time) error { return full }
	for _, key := range []string{"raw/x.csv", "raw/old.log"} {
		if err := w.cloud().Release(t.Context(), key, refusing); !errors.Is(err, full) {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, w.quarantined()); diff != "" {
		t.Errorf("quarantine after logs that could not be sent (-want +got):\n%s", diff)
	}
	var sent []string
	send := func(_ context.Context, log rawlog.Log, _ time.Time) error {
		sent = append(sent, log.Key)
		return nil
	}
	for _, key := range []string{"raw/x.csv", "raw/old.log"} {
		if err := w.cloud().Release(t.Context(), key, send); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"raw/x.csv", "raw/old.log"}, sent); diff != "" || len(w.quarantined()) > 0 {
		t.Errorf("left %q; sent (-want +got):\n%s", w.quarantined(), diff)
	}
	if err := w.cloud().Release(t.Context(), "raw/none", send); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// TestReleaseWithFormat: a log in JSON of no known format stays in the bucket. The list has its members and mappings
// that fit, with which the log is imported.
func TestReleaseWithFormat(t *testing.T) {
	w := newWorld(t)
	const first = `{"timestamp":"2026-03-01T10:00:00Z","client_ip":"192.0.2.1","status":200,"request_id":"r0"}` + "\n"
	w.put("raw/cdn.jsonl", first)
	if _, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/cdn.jsonl"}); fault.KindOf(err) != fault.Invalid {
		t.Fatal(err)
	}
	if _, err := w.raw.Head(t.Context(), "raw/cdn.jsonl"); err != nil {
		t.Fatal(err)
	}
	all, err := w.cloud().Quarantine(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	const advice = "; its members are timestamp, client_ip, status, request_id; these mappings fit: --map ip=client_ip"
	if !strings.HasSuffix(all[0].First.Message, advice) {
		t.Errorf("the list has %q", all[0].First.Message)
	}
	var sent rawlog.Log
	send := func(_ context.Context, log rawlog.Log, _ time.Time) error {
		sent = log
		return nil
	}
	if err := w.cloud().Release(t.Context(), "raw/cdn.jsonl", send); err != nil {
		t.Fatal(err)
	}
	sent.Format = `map:["ip=client_ip"]`
	report, err := w.cloud().Import(t.Context(), sent)
	if err != nil || report.Records != 1 || !slices.Equal(report.Absent, []string{"method", "host", "path"}) {
		t.Fatalf("%+v, %v", report, err)
	}
	w.expect(map[string]int{"r0": 1})
	t.Run("the rest of the log has the format, too", func(t *testing.T) {
		report := w.importLog("raw/cdn.jsonl", first+
			`{"timestamp":"2026-03-01T10:00:01Z","client_ip":"192.0.2.2","status":200,"request_id":"r1"}`+"\n")
		if report.Records != 1 || report.Format != sent.Format || slices.Contains(report.Absent, "address") {
			t.Errorf("%+v", report)
		}
	})
}

// TestRetriedRecordsNeedNoDetection: the log that a retry puts is imported as records, whatever members they have.
func TestRetriedRecordsNeedNoDetection(t *testing.T) {
	w := newWorld(t)
	id := w.importLog("raw/a.log", records(0, 3, time.Second)+"2026-03-01T10:00:05Z started\n").Source
	report, err := w.cloud().Retry(t.Context(), id, ingest.Options{Format: `pattern:(?P<timestamp>\S+)`})
	if err != nil || report.Records != 1 || report.Rejected != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if n := w.importRetried(); n != 1 {
		t.Errorf("%d records", n)
	}
}
