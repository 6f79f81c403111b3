package datadir

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
)

// TestLedgerJoinsOldImports: a log that is imported again and again as it grows has few rows in the ledger, and the
// ledger reports the same of it.
func TestLedgerJoinsOldImports(t *testing.T) {
	s := openStore(t, t.TempDir())
	const newest, perHour = 120, 10
	first := lake.PartitionOf(testTime.UnixMilli())
	head := []byte("first line\n")
	for g := 1; g <= newest; g++ {
		hour := first + lake.Partition(g/perHour)
		o := lake.Object{Path: lake.ObjectName(hour, "busy", g), Partition: hour, Rows: 2}
		o.MinTsMs, o.MaxTsMs = hour.Start()+int64(g), hour.Start()+int64(g)+1
		e := ledger.Entry{
			Source: "busy", Log: "a.log", Format: "orrery", Family: ledger.Family(head), Generation: g, Name: "a.log",
			At: testTime.Add(time.Duration(g) * time.Second), Length: int64(100 * g), Lines: int64(g), Records: 2, Parts: g,
			Objects: []lake.Object{o},
		}
		if g == 1 {
			e.Head = head
		}
		if g%50 == 0 {
			e.Rejected = 1
		}
		if err := s.ledger.Commit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if err := s.ledger.MarkPublished(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.ledger.Candidates(t.Context(), "a.log", head)
	if err != nil || len(entries) > 30 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	for g := 1; g <= newest; g++ {
		kept := 0 // the last one up to g
		for _, e := range entries {
			if e.Generation <= g {
				kept = max(kept, e.Generation)
			}
		}
		if 7*(g-kept) > 2*(newest-g) {
			t.Errorf("the last import up to number %d that is kept is %d", g, kept)
		}
	}
	sources, err := s.Imports(t.Context())
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	last := first + newest/perHour
	want := ledger.Source{
		ID: "busy", Log: "a.log", Family: ledger.Family(head), Format: "orrery", Name: "a.log", Settings: []string{},
		Known: true, Before: &ledger.Source{Settings: []string{}, Known: true}, Imports: newest, Records: 2 * newest,
		Rejected: 2, Lines: newest, From: time.UnixMilli(first.Start() + 1).UTC(),
		To: time.UnixMilli(last.Start() + newest + 1).UTC(), First: testTime.Add(time.Second),
		Last: testTime.Add(newest * time.Second),
	}
	if diff := cmp.Diff(want, sources[0]); diff != "" {
		t.Errorf("the source (-want +got):\n%s", diff)
	}
	hours, err := s.ledger.HoursOf(t.Context(), "busy")
	slices.Sort(hours)
	if err != nil || len(hours) != newest/perHour+1 || hours[0] != first || hours[len(hours)-1] != last {
		t.Errorf("hours %v, %v", hours, err)
	}
	for _, g := range []int{50, 100, newest} {
		if n, err := s.ledger.LinesAfter(t.Context(), "busy", g); err != nil || n != int64(g) {
			t.Errorf("%d lines after import %d, %v", n, g, err)
		}
	}
}

// TestForgetAfterManyImports: imports of which the ledger has joined the rows are forgotten, too.
func TestForgetAfterManyImports(t *testing.T) {
	s := openStore(t, t.TempDir())
	const imports, perHour = 24, 600
	var report ingest.Report
	for i := range imports {
		report = importText(t, s, lines(0, (i+1)*perHour), ingest.Options{})
		if report.Records != perHour {
			t.Fatalf("import %d: %+v", i, report)
		}
	}
	entries, err := s.ledger.Candidates(t.Context(), "test.log", []byte(lines(0, perHour)))
	if err != nil || len(entries) == 0 || len(entries) == imports {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if again := importText(t, s, lines(0, imports*perHour), ingest.Options{}); again.Known != imports*perHour {
		t.Errorf("again: %+v", again)
	}
	if r := forget(t, s, report.Source); r.Records != imports*perHour || r.Hours != imports {
		t.Errorf("%+v", r)
	}
	if left := len(rowsOf(t, s)); left > 0 {
		t.Errorf("%d rows are left", left)
	}
}
