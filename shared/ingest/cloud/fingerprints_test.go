package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
)

// TestImportNoticesOverlaps: a part or a copy of an imported log is imported and counted.
func TestImportNoticesOverlaps(t *testing.T) {
	all := records(0, 3000, time.Second)
	lines := strings.SplitAfter(all, "\n")
	part := func(from, to int) string { return strings.Join(lines[from:to], "") }
	for _, test := range []struct {
		name, text string
		compacts   bool
		overlaps   bool
	}{
		{"the last lines", part(2000, 3000), false, true},
		{"the last lines, compacted", part(2000, 3000), true, true},
		{"a copy under another name", all, false, true},
		{"a tenth of the lines", part(1000, 1300), false, true},
		{"too few lines to judge", part(1000, 1020), false, false},
		{"most of the first lines are there", part(2200, 3000) + records(3000, 4000, time.Second), false, true},
		{"most of the first lines are new", part(2800, 3000) + records(3000, 4000, time.Second), false, false},
		{"other requests at the same times", strings.ReplaceAll(all, `"r`, `"q`), false, false},
		{"later requests", records(5000, 6000, time.Second), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			first := w.importLog("raw/a.log", all)
			if first.Overlaps() || first.Seen > 0 || first.Judged < 20 {
				t.Errorf("the first log: %+v", first)
			}
			if test.compacts {
				w.time = testTime.Add(12 * time.Hour)
				w.compact()
			}
			got := w.importLog("raw/b.log", test.text)
			if got.Overlaps() != test.overlaps || got.Records != int64(strings.Count(test.text, "\n")) {
				t.Errorf("%d of %d fingerprints are there: %+v", got.Seen, got.Judged, got)
			}
			if test.overlaps && got.SeenIn != first.Source {
				t.Errorf("in %s, want %s", got.SeenIn, first.Source)
			}
			if judged, seen, in := w.recordedOverlap(test.text); judged != got.Judged || seen != got.Seen || in != got.SeenIn {
				t.Errorf("the ledger has %d, %d, %q", judged, seen, in)
			}
		})
	}
}

// recordedOverlap returns what the entry of the latest import of raw/b.log has about records that were there.
func (w *world) recordedOverlap(text string) (judged, seen int, in string) {
	w.t.Helper()
	items, err := w.table.List(w.t.Context(), "ingest#"+ledger.LogFamily("raw/b.log", []byte(text)), "import#")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, item := range items {
		var entry struct {
			Name         string
			Judged, Seen int
			SeenIn       string `json:"seen_in"`
		}
		if err := json.Unmarshal(item.Body, &entry); err != nil {
			w.t.Fatal(err)
		}
		if entry.Name == "raw/b.log" {
			judged, seen, in = entry.Judged, entry.Seen, entry.SeenIn
		}
	}
	return judged, seen, in
}

// fingerprintsTable is a table that refuses the commits of imports, or to read or write fingerprints. It records the
// changes of fingerprints.
type fingerprintsTable struct {
	lakestate.Table
	commits, reads, writes error
	fingerprints           []lakestate.Change
}

func (m *fingerprintsTable) Write(ctx context.Context, changes ...lakestate.Change) error {
	of := func(c lakestate.Change) bool { return strings.HasPrefix(c.Key.Partition, "ingest#marks#") }
	if !slices.ContainsFunc(changes, of) {
		if m.commits != nil {
			return m.commits
		}
		return m.Table.Write(ctx, changes...)
	}
	if m.writes != nil {
		return m.writes
	}
	m.fingerprints = append(m.fingerprints, changes...)
	return m.Table.Write(ctx, changes...)
}

func (m *fingerprintsTable) Between(
	ctx context.Context, partition, from, to string,
) iter.Seq2[lakestate.Item, error] {
	if m.reads != nil && strings.HasPrefix(partition, "ingest#marks#") {
		return func(yield func(lakestate.Item, error) bool) { yield(lakestate.Item{}, m.reads) }
	}
	return m.Table.Between(ctx, partition, from, to)
}

// TestFingerprintsOfAnImportThatFails: records of an import that was not committed are in no log, so that no later log
// has them.
func TestFingerprintsOfAnImportThatFails(t *testing.T) {
	w := newWorld(t)
	table := &fingerprintsTable{Table: w.table, commits: errors.New("the table is down")}
	w.table = table
	w.put("raw/a.log", records(0, 2000, time.Second))
	if _, err := w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/a.log"}); err == nil || len(table.fingerprints) > 0 {
		t.Fatalf("%v, %d changes of fingerprints", err, len(table.fingerprints))
	}
	table.commits = nil
	if r := w.importLog("raw/b.log", records(0, 2000, time.Second)); r.Seen != 0 || r.Judged < 20 || r.Records != 2000 {
		t.Errorf("another log with the records: %+v", r)
	}
	if r := w.importLog("raw/c.log", records(1100, 2000, time.Second)); !r.Overlaps() {
		t.Errorf("a part of that log: %+v", r)
	}
	expired := func(c lakestate.Change) bool { return !c.Expires.Equal(w.now().Add(ingest.DefaultHorizon)) }
	if len(table.fingerprints) == 0 || slices.ContainsFunc(table.fingerprints, expired) {
		t.Error("fingerprints are not kept for the time in which logs arrive")
	}
}

// TestImportsWithoutFingerprints: no import fails because of fingerprints.
func TestImportsWithoutFingerprints(t *testing.T) {
	all := records(0, 2000, time.Second)
	slot := fmt.Sprintf("ingest#marks#%d", testTime.Unix()/300)
	// stored writes an item of fingerprints.
	stored := func(w *world, sort string, fingerprints int) {
		t.Helper()
		body, err := json.Marshal(map[string][]byte{"fingerprints": make([]byte, 8*fingerprints)})
		if err == nil {
			err = w.table.Write(t.Context(), lakestate.Change{
				Key: lakestate.Key{Partition: slot, Sort: sort}, Body: body,
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		prepare   func(w *world, table *fingerprintsTable)
		overlaps  bool
		unchecked string
	}{
		"they cannot be read": {
			func(_ *world, table *fingerprintsTable) { table.reads = errors.New("throttled") }, false, "throttled",
		},
		"they cannot be written": {
			func(_ *world, table *fingerprintsTable) { table.writes = errors.New("throttled") }, true, "throttled",
		},
		"an item is damaged": {
			func(w *world, _ *fingerprintsTable) {
				err := w.table.Write(t.Context(), lakestate.Change{
					Key: lakestate.Key{Partition: slot, Sort: "source#0#1"}, Body: []byte("{"),
				})
				if err != nil {
					t.Fatal(err)
				}
			}, false, "read item",
		},
		"there are too many": {
			func(w *world, _ *fingerprintsTable) {
				for i := range 40 {
					stored(w, fmt.Sprintf("source#0%d#1", i), 20_000)
				}
			}, false, "too many records",
		},
		"there are many": {
			func(w *world, _ *fingerprintsTable) {
				for i := range 15 {
					stored(w, fmt.Sprintf("source#0%d#1", i), 20_000)
				}
			}, true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			table := &fingerprintsTable{Table: w.table}
			w.table = table
			w.importLog("raw/a.log", all)
			test.prepare(w, table)
			r := w.importLog("raw/b.log", all)
			if r.Records != 2000 || r.Overlaps() != test.overlaps {
				t.Errorf("%+v", r)
			}
			if !strings.Contains(r.Unchecked, test.unchecked) || test.unchecked == "" && r.Unchecked != "" {
				t.Errorf("not checked because %q, want %q", r.Unchecked, test.unchecked)
			}
		})
	}
}
