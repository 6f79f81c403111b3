package datadir

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/status"
)

func statusOf(t *testing.T, s *Store) status.Status {
	t.Helper()
	found, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStatus(t *testing.T) {
	t.Run("an empty directory has no records and no imports", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		want := status.Status{
			Complete: testTime, Hours: []status.Hour{}, Records: new(int64), Objects: new(int), Bytes: new(int64),
			Ingest: &status.Ingest{Rejected: new(int64)},
		}
		if diff := cmp.Diff(want, statusOf(t, s)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the figures are those of the index, and hours come newest first", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		importText(t, s, lines(0, 1500), ingest.Options{})
		importText(t, s, lines(0, 1500)+lines(1500, 100), ingest.Options{}) // the third hour has two objects
		objects, err := s.Index().Objects(t.Context(), 0, lake.Partition(1)<<40)
		if err != nil {
			t.Fatal(err)
		}
		extent, err := s.Index().Extent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var bytes int64
		for _, o := range objects {
			bytes += o.Bytes
		}
		found := statusOf(t, s)
		if found.Extent != extent || *found.Records != 1600 || *found.Objects != 4 || *found.Bytes != bytes {
			t.Errorf("%+v of %d objects, %d bytes, %+v", found, len(objects), bytes, extent)
		}
		var hours []string
		for _, h := range found.Hours {
			hours = append(hours, fmt.Sprint(h.Partition, " ", h.Objects, " ", *h.Records, " ", h.Compacted))
		}
		want := []string{"2026/04/01/12 2 400 false", "2026/04/01/11 1 600 true", "2026/04/01/10 1 600 true"}
		if diff := cmp.Diff(want, hours); diff != "" {
			t.Error(diff)
		}
		if _, err := s.Compact(t.Context(), CompactOptions{}); err != nil {
			t.Fatal(err)
		}
		if h := statusOf(t, s).Hours[0]; h.Objects != 1 || *h.Records != 400 || !h.Compacted {
			t.Errorf("after the compaction: %+v", h)
		}
	})
	t.Run("only the newest hours are listed", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		var text strings.Builder
		for _, hour := range []int{0, 9, 10, 80, 81} {
			at := time.Date(2026, 4, 1, hour, 30, 0, 0, time.UTC)
			fmt.Fprintf(&text, `{"processing_stage":6,"timestamp":"%s","path":"/"}`+"\n", at.Format(time.RFC3339))
		}
		importText(t, s, text.String(), ingest.Options{})
		var hours []lake.Partition
		found := statusOf(t, s)
		for _, h := range found.Hours {
			hours = append(hours, found.Hours[0].Partition-h.Partition)
		}
		if diff := cmp.Diff([]lake.Partition{0, 1, 71}, hours); diff != "" || *found.Objects != 5 {
			t.Errorf("%d objects\n%s", *found.Objects, diff)
		}
	})
	t.Run("the latest import and the newest rejected line", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		take := func(name, text string) ingest.Report {
			report, err := s.Import(t.Context(), name, strings.NewReader(text), ingest.Options{Format: "orrery"})
			if err != nil {
				t.Fatal(err)
			}
			return report
		}
		good := lines(0, 10)
		bad := take("bad.log", good+`{"processing_stage":6,"timestamp":"yesterday"}`+"\n{\n")
		s.now = func() time.Time { return testTime.Add(250 * time.Millisecond) }
		take("good.log", lines(20, 10))
		want := &status.Ingest{
			LastSource: "good.log", LastAt: testTime.Add(250 * time.Millisecond), Rejected: new(int64), Code: "bad_json",
		}
		*want.Rejected = 2
		if diff := cmp.Diff(want, statusOf(t, s).Ingest); diff != "" {
			t.Error(diff)
		}
		if err := os.Remove(bad.Quarantine); err != nil {
			t.Fatal(err)
		}
		if got := statusOf(t, s).Ingest; got.Code != "" || *got.Rejected != 2 {
			t.Errorf("without the file: %+v", got)
		}
	})
	t.Run("a damaged file of rejected lines is named", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		options := ingest.Options{Format: "orrery"}
		report, err := s.Import(t.Context(), "bad.log", strings.NewReader(lines(0, 10)+"{\n"), options)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(report.Quarantine, []byte("\x00\x00\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := statusOf(t, s).Ingest; got.Unreadable != "bad.log" || got.Code != "" || *got.Rejected != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("forgotten imports and lines that are records now do not count", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		take := func(name, text string) ingest.Report {
			report, err := s.Import(t.Context(), name, strings.NewReader(text), ingest.Options{Format: "orrery"})
			if err != nil {
				t.Fatal(err)
			}
			later := s.now().Add(time.Minute)
			s.now = func() time.Time { return later }
			return report
		}
		check := func(when string, rejected int64, last string, hasCode bool) {
			t.Helper()
			got := statusOf(t, s).Ingest
			if *got.Rejected != rejected || got.LastSource != last || (got.Code != "") != hasCode || got.Unreadable != "" {
				t.Errorf("%s: %d rejected lines, %+v", when, *got.Rejected, got)
			}
		}
		const combined = `192.0.2.7 - - [01/Apr/2026:10:30:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"` + "\n"
		first := take("first.log", lines(0, 10)+"{\n")
		second := take("second.log", lines(20, 10)+"garbage\n"+combined+combined)
		check("imported", 4, "second.log", true)
		report, err := s.Retry(t.Context(), second.Source, ingest.Options{Format: "combined"})
		if err != nil || report.Records != 2 || report.Rejected != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		check("imported again", 2, "second.log", true)
		if _, err := s.Forget(t.Context(), second.Source); err != nil {
			t.Fatal(err)
		}
		check("forgotten", 1, "first.log", true)
		if _, err := s.Forget(t.Context(), first.Source); err != nil {
			t.Fatal(err)
		}
		check("all forgotten", 0, "", false)
	})
	t.Run("a watcher is reported", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		if _, err := NewWatcher(s, ingest.Options{}); err != nil {
			t.Fatal(err)
		}
		if !statusOf(t, s).Ingest.Watching {
			t.Error("it is not")
		}
	})
}
