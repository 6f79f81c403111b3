package cloud_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
)

// TestQuarantineIsBounded: of a log that grows, a limited number of rejected lines is kept, however often it is
// imported.
func TestQuarantineIsBounded(t *testing.T) {
	garbage := strings.Repeat("garbage\n", 500)
	beginning := records(0, 10, time.Second) + garbage
	// imported is a world with the beginning of a log, whose rejected lines have a size.
	imported := func(t *testing.T, size int64) *world {
		w := newWorld(t)
		report := w.importLog("raw/a.log", beginning)
		name := "quarantine/lines/" + report.Source + ".ndjson"
		if report.Unsaved != 0 || report.RejectedLines() != 500 || report.Quarantine != name {
			t.Fatalf("%+v", report)
		}
		items, err := w.table.List(t.Context(), "ingest#"+ledger.LogFamily("raw/a.log", []byte(beginning)), "import#")
		if err != nil || len(items) != 1 {
			t.Fatalf("%d imports, %v", len(items), err)
		}
		var entry map[string]any
		if err := items[0].Read(&entry); err != nil {
			t.Fatal(err)
		}
		if kept := int64(len(w.content(name))); entry["quarantined"] != float64(kept) {
			t.Errorf("the ledger has %v bytes, want %d", entry["quarantined"], kept)
		}
		entry["quarantined"] = size
		body, err := json.Marshal(entry)
		if err == nil {
			err = w.table.Write(t.Context(), lakestate.Change{Key: items[0].Key, Seen: items[0].Revision, Body: body})
		}
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	grown := beginning + records(10, 20, time.Second) + garbage
	t.Run("further lines are only counted", func(t *testing.T) {
		w := imported(t, ingest.QuarantineBytes-1000)
		report := w.importLog("raw/a.log", grown)
		if report.RejectedLines() != 500 || report.Records != 10 || report.Unsaved < 480 || report.Unsaved > 499 {
			t.Errorf("%+v", report)
		}
		if kept := len(w.content(report.Quarantine)); kept > 1000 {
			t.Errorf("%d bytes were kept", kept)
		}
	})
	t.Run("nothing is kept if there is no space at all", func(t *testing.T) {
		w := imported(t, ingest.QuarantineBytes)
		report := w.importLog("raw/a.log", grown)
		if report.RejectedLines() != 500 || report.Records != 10 || report.Unsaved != 500 {
			t.Errorf("%+v", report)
		}
	})
	t.Run("there is space again when the bucket has removed the lines", func(t *testing.T) {
		w := imported(t, ingest.QuarantineBytes)
		w.pass((ingest.QuarantineDays + 1) * 24 * time.Hour)
		if report := w.importLog("raw/a.log", grown); report.Unsaved != 0 || report.Records != 10 {
			t.Errorf("%+v", report)
		}
	})
}
