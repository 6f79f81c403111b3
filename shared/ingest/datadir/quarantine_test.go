package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

func TestCautiousImportStops(t *testing.T) {
	const bad = "garbage\n"
	for _, test := range []struct {
		name, text string
		stops      bool
	}{
		{"most lines are rejected", strings.Repeat(bad, 6) + lines(0, 5), true},
		{"half of the lines are rejected", strings.Repeat(bad, 6) + lines(0, 6), false},
		{"blank lines do not count", strings.Repeat(bad, 6) + strings.Repeat("\n", 9) + lines(0, 5), true},
		{"too few lines to judge", strings.Repeat(bad, 8) + lines(0, 1), false},
		{"only later lines are rejected", lines(0, 14_000) + strings.Repeat(bad, 20_000), false},
		{"most of the first lines are rejected", strings.Repeat(bad, 40_000) + lines(0, 50_000), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			before := tree(t, s.dir)
			options := ingest.Options{Format: "orrery", Cautious: true}
			_, err := s.Import(t.Context(), "test.log", strings.NewReader(test.text), options)
			var doubt *ingest.UnconfirmedError
			if errors.As(err, &doubt) != test.stops || !test.stops && err != nil {
				t.Fatal(err)
			}
			if !test.stops {
				return
			}
			if !strings.Contains(err.Error(), " line 1: ") || !strings.Contains(err.Error(), "\n  garbage\n") {
				t.Errorf("the error has no example: %v", err)
			}
			if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
				t.Errorf("files have changed:\n%s", diff)
			}
			options.Cautious = false
			if report := importText(t, s, test.text, options); report.Records == 0 || report.RejectedLines() == 0 {
				t.Errorf("not cautious: %+v", report)
			}
		})
	}
}

func TestQuarantineIsBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	source := importText(t, s, lines(0, 10), ingest.Options{}).Source
	earlier := s.quarantinePath(source, 9)
	if err := os.MkdirAll(s.quarantineDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(earlier, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(earlier, ingest.QuarantineBytes-1000); err != nil {
		t.Fatal(err)
	}
	report := importText(t, s, lines(0, 10)+strings.Repeat("garbage\n", 500)+lines(10, 10), ingest.Options{})
	if report.RejectedLines() != 500 || report.Records != 10 || report.Unsaved < 480 || report.Unsaved > 499 {
		t.Errorf("%+v", report)
	}
	if size, err := s.quarantined(source, 0); err != nil || size > ingest.QuarantineBytes {
		t.Errorf("%d bytes, %v", size, err)
	}
	report = importText(t, s,
		lines(0, 10)+strings.Repeat("garbage\n", 500)+lines(10, 10)+strings.Repeat("garbage\n", 200), ingest.Options{})
	if report.RejectedLines() != 200 || report.Unsaved < 190 {
		t.Errorf("%+v", report)
	}
}

// TestQuarantineLosesCompletedLines: the beginning of a line that an import rejected is not in quarantine any more when
// a later import has read the whole line.
func TestQuarantineLosesCompletedLines(t *testing.T) {
	s := openStore(t, t.TempDir())
	whole := lines(0, 4)
	first := importText(t, s, zipped("garbage\n"+whole[:len(whole)-30]), ingest.Options{Format: "orrery"})
	if first.Records != 3 || first.RejectedLines() != 2 {
		t.Fatalf("%+v", first)
	}
	second := importText(t, s, zipped("garbage\n"+whole), ingest.Options{})
	if second.Records != 1 || second.RejectedLines() != 0 || second.Source != first.Source {
		t.Fatalf("%+v", second)
	}
	list, err := s.Quarantine(t.Context())
	if err != nil || len(list) != 1 || list[0].Lines != 1 || string(list[0].First.Text) != "garbage" {
		t.Errorf("%+v, %v", list, err)
	}
}

// pruning is a ledger that removes the quarantine of each source that is asked about, as a parallel import may do.
type pruning struct {
	ledger.Ledger
	of *Store
}

func (p pruning) LinesAfter(ctx context.Context, source string, generation int) (int64, error) {
	if err := p.of.removeQuarantine(source); err != nil {
		return 0, err
	}
	return p.Ledger.LinesAfter(ctx, source, generation)
}

// TestCompletedLinesOfAPrunedFile: it is no error if the file with the beginning of a line has gone meanwhile.
func TestCompletedLinesOfAPrunedFile(t *testing.T) {
	s := openStore(t, t.TempDir())
	whole := lines(0, 4)
	first := importText(t, s, zipped("garbage\n"+whole[:len(whole)-30]), ingest.Options{Format: "orrery"})
	s.ledger = pruning{s.ledger, s}
	if err := s.dropCompleted(t.Context(), ledger.Entry{Source: first.Source, Generation: 2}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(first.Quarantine); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was not removed meanwhile: %v", err)
	}
}

func TestCompactRemovesOldRejectedLines(t *testing.T) {
	s := openStore(t, t.TempDir())
	old := importFile(t, s, "a.log", lines(0, 3)+"garbage\n", ingest.Options{})
	young := importFile(t, s, "b.log", lines(0, 3)+"garbage\n", ingest.Options{})
	for path, age := range map[string]int{old.Quarantine: 91, young.Quarantine: 89} {
		at := testTime.AddDate(0, 0, -age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	compact(t, s, CompactOptions{})
	files, err := s.quarantineFiles("")
	if err != nil || len(files) != 1 || files[0].path != young.Quarantine {
		t.Errorf("%+v, %v", files, err)
	}
}

// TestImportRemovesOldRejectedLines: even a data directory that is never compacted keeps them for only 90 days. Their
// age counts from their import, by the clock of the Store, even if the beginning of a line among them was completed
// since.
func TestImportRemovesOldRejectedLines(t *testing.T) {
	s := openStore(t, t.TempDir())
	now := testTime
	s.now = func() time.Time { return now }
	left := func() (paths []string) {
		t.Helper()
		files, err := s.quarantineFiles("")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			paths = append(paths, f.path)
		}
		slices.Sort(paths)
		return paths
	}
	whole := lines(0, 4)
	old := importText(t, s, zipped("garbage\n"+whole[:len(whole)-30]), ingest.Options{Format: "orrery"})
	now = testTime.AddDate(0, 0, 30)
	importText(t, s, zipped("garbage\n"+whole), ingest.Options{}) // rewrites the file of the first import
	young := importFile(t, s, "b.log", lines(0, 3)+"garbage\n", ingest.Options{})
	both := []string{old.Quarantine, young.Quarantine}
	slices.Sort(both)
	for _, c := range []struct {
		days int
		want []string
	}{{89, both}, {90, []string{young.Quarantine}}, {120, nil}} {
		now = testTime.AddDate(0, 0, c.days)
		importFile(t, s, fmt.Sprintf("%d.log", c.days), lines(c.days, 1), ingest.Options{})
		if diff := cmp.Diff(c.want, left()); diff != "" {
			t.Errorf("after %d days (-want +got):\n%s", c.days, diff)
		}
	}
}

// TestImportsListTheQuarantineOnceAnHour: otherwise n logs would list n files n times.
func TestImportsListTheQuarantineOnceAnHour(t *testing.T) {
	s := openStore(t, t.TempDir())
	now := testTime
	s.now = func() time.Time { return now }
	old := importFile(t, s, "old.log", lines(0, 3)+"garbage\n", ingest.Options{}).Quarantine
	at := testTime.AddDate(0, 0, -91)
	if err := os.Chtimes(old, at, at); err != nil {
		t.Fatal(err)
	}
	for i, minutes := range []int{0, 59, 60} {
		now = testTime.Add(time.Duration(minutes) * time.Minute)
		importFile(t, s, fmt.Sprintf("%d.log", i), lines(i, 1), ingest.Options{})
		if _, err := os.Stat(old); (err == nil) != (minutes < 60) {
			t.Errorf("after %d minutes: %v", minutes, err)
		}
	}
}

func TestQuarantineLists(t *testing.T) {
	s := openStore(t, t.TempDir())
	text := lines(0, 3) + "garbage\nmore\n" + `{"request_id":"x"}` + "\n"
	report := importText(t, s, text+lines(3, 1), ingest.Options{})
	importText(t, s, text+lines(3, 1)+"garbage\n"+lines(4, 1), ingest.Options{})
	list, err := s.Quarantine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, strings.Join([]string{r.Source.ID, r.Source.Name, r.Code, string(r.First.Text)}, " "))
	}
	want := []string{
		report.Source + " test.log bad_json garbage",
		report.Source + ` test.log no_timestamp {"request_id":"x"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" || list[0].Lines != 3 || list[0].First.Line != 4 {
		t.Errorf("%+v\n%s", list, diff)
	}
}

func TestRetry(t *testing.T) {
	s := openStore(t, t.TempDir())
	set := ingest.Options{Defaults: []ingest.Default{{Field: "host", Value: "blog.example"}}}
	text := lines(0, 3) + "garbage\n" + accessLines(2) + "\xff\n" + lines(3, 1)
	report := importText(t, s, text, set)
	if report.RejectedLines() != 4 {
		t.Fatalf("%+v", report)
	}
	none, err := s.Retry(t.Context(), report.Source, ingest.Options{})
	if err != nil || none.Records != 0 || none.Rejected != 4 {
		t.Errorf("in the same format: %+v, %v", none, err)
	}
	got, err := s.Retry(t.Context(), report.Source, ingest.Options{Format: "combined"})
	if err != nil || got.Records != 2 || got.Rejected != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	rows := rowsOf(t, s)
	if len(rows) != 6 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if row.Host == nil || *row.Host != "blog.example" {
			t.Errorf("line %d of %s has not the host of the import", row.Line, row.Source)
		}
	}
	list, err := s.Quarantine(t.Context())
	if err != nil || len(list) != 1 || list[0].Source.ID != report.Source || list[0].First.Line != 4 ||
		list[0].Lines != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Retry(t.Context(), "none", ingest.Options{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown import: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(s.quarantineDir(), ".*")); err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}
