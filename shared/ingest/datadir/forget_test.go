package datadir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// importFile imports a string as the log of a file.
func importFile(t testing.TB, s *Store, name, text string, options ingest.Options) ingest.Report {
	t.Helper()
	report, err := s.Import(t.Context(), name, strings.NewReader(text), options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// sourcesOf counts the rows of each source.
func sourcesOf(t testing.TB, s *Store) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, row := range rowsOf(t, s) {
		counts[row.Source]++
	}
	return counts
}

func forget(t testing.TB, s *Store, id string) ForgetReport {
	t.Helper()
	report, err := s.Forget(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestForget(t *testing.T) {
	for name, compacts := range map[string]int{"as imported": 0, "compacted once": 1, "compacted, grown and compacted": 2} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			kept := importFile(t, s, "b.log", lines(0, 1500), ingest.Options{})
			gone := importFile(t, s, "a.log", lines(0, 900)+"garbage\n", ingest.Options{})
			if compacts > 0 {
				compact(t, s, CompactOptions{})
			}
			grown := importFile(t, s, "a.log", lines(0, 900)+"garbage\n"+lines(900, 600), ingest.Options{})
			if grown.Source != gone.Source || grown.Records != 600 {
				t.Fatalf("%+v", grown)
			}
			if compacts > 1 {
				compact(t, s, CompactOptions{})
			}
			report := forget(t, s, gone.Source)
			if report.Records != 1500 || report.Hours != 3 || report.Before || report.Source.Imports != 2 {
				t.Errorf("%+v", report)
			}
			if diff := cmp.Diff(map[string]int{kept.Source: 1500}, sourcesOf(t, s)); diff != "" {
				t.Errorf("rows by source:\n%s", diff)
			}
			extent, err := s.Index().Extent(t.Context())
			if err != nil || extent.Rows != 1500 {
				t.Errorf("extent %+v, %v", extent, err)
			}
			if files := tree(t, s.quarantineDir()); files != "" {
				t.Errorf("rejected lines are left: %s", files)
			}
			if again := forget(t, s, gone.Source); !again.Before || again.Records != 0 {
				t.Errorf("again: %+v", again)
			}
			host := ingest.Options{Defaults: []ingest.Default{{Field: "host", Value: "blog.example"}}}
			anew := importFile(t, s, "a.log", lines(0, 1500), host)
			if anew.Records != 1500 || anew.Known != 0 || anew.Source == gone.Source {
				t.Errorf("anew: %+v", anew)
			}
			compact(t, s, CompactOptions{Grace: 1})
			want := map[string]int{kept.Source: 1500, anew.Source: 1500}
			if diff := cmp.Diff(want, sourcesOf(t, s)); diff != "" {
				t.Errorf("rows by source:\n%s", diff)
			}
			for _, row := range rowsOf(t, s) {
				if row.Source == anew.Source && (row.Host == nil || *row.Host != "blog.example") {
					t.Fatalf("line %d has no host", row.Line)
				}
			}
		})
	}
}

func TestForgetEverything(t *testing.T) {
	s := openStore(t, t.TempDir())
	report := importText(t, s, lines(0, 100), ingest.Options{})
	forget(t, s, report.Source)
	extent, err := s.Index().Extent(t.Context())
	if err != nil || extent.Rows != 0 || len(rowsOf(t, s)) != 0 {
		t.Errorf("extent %+v, %v", extent, err)
	}
	if _, err := s.Forget(t.Context(), "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown import: %v", err)
	}
}

func TestImportsLists(t *testing.T) {
	s := openStore(t, t.TempDir())
	set := ingest.Options{Defaults: []ingest.Default{{Field: "host", Value: "a"}, {Field: "branch", Value: "b=c"}}}
	first := importFile(t, s, "a.log", lines(0, 10), ingest.Options{})
	importFile(t, s, "a.log.1", lines(0, 10)+"garbage\n"+lines(10, 5), set)
	second := importFile(t, s, "b.log", lines(600, 3), ingest.Options{})
	forget(t, s, second.Source)
	got, err := s.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 4, 1, 10, 0, 0, 0, time.UTC)
	want := []ledger.Source{
		{
			ID: first.Source, Log: "a.log", Name: "a.log.1", Format: "orrery", Family: got[0].Family,
			Settings: []string{"host=a", "branch=b=c"}, Known: true, Imports: 2, Records: 15, Rejected: 1, Lines: 16,
			Before: &ledger.Source{Settings: []string{}, Known: true},
			From:   at, To: at.Add(84 * time.Second), First: testTime, Last: testTime,
		},
		{
			ID: second.Source, Log: "b.log", Name: "b.log", Format: "orrery", Family: got[1].Family,
			Settings: []string{}, Known: true, Imports: 1, Records: 3, Lines: 3,
			From: at.Add(time.Hour), To: at.Add(time.Hour + 12*time.Second), First: testTime, Last: testTime,
			Forgotten: testTime,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestImportsOfAnEarlierVersion: a ledger of an earlier version has neither settings nor periods of imports.
func TestImportsOfAnEarlierVersion(t *testing.T) {
	s := openOldLedger(t)
	sources, err := s.Imports(t.Context())
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		if source.Known || source.Records > 0 && !source.From.Before(source.To) {
			t.Errorf("%+v", source)
		}
	}
}

// TestForgetRefusesDamagedObjects: an object of which only some rows are to be removed must be readable, and nothing
// changes if it is not.
func TestForgetRefusesDamagedObjects(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("PAR1"), 0o600) },
		"lost":    os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			importFile(t, s, "b.log", lines(0, 1500), ingest.Options{})
			gone := importFile(t, s, "a.log", lines(0, 1500), ingest.Options{})
			compact(t, s, CompactOptions{})
			path := objectPaths(t, s)[1]
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			before := tree(t, s.dir)
			_, err = s.Forget(t.Context(), gone.Source)
			name := filepath.ToSlash(path[len(s.lakeDir())+1:])
			if fault.KindOf(err) != fault.Damaged || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want one with %s", err, name)
			}
			if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
				t.Errorf("files have changed:\n%s", diff)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if report := forget(t, s, gone.Source); report.Records != 1500 {
				t.Errorf("after the repair: %+v", report)
			}
		})
	}
}

// TestForgetRemovesDamagedObjectsOfTheSource: it need not read an object with no other rows.
func TestForgetRemovesDamagedObjectsOfTheSource(t *testing.T) {
	s := openStore(t, t.TempDir())
	gone := importFile(t, s, "a.log", lines(0, 1500), ingest.Options{})
	paths := objectPaths(t, s)
	if err := errors.Join(os.Remove(paths[0]), os.WriteFile(paths[1], []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if report := forget(t, s, gone.Source); report.Records != 1500 || report.Removed != 3 {
		t.Errorf("%+v", report)
	}
	if got := len(rowsOf(t, s)); got != 0 {
		t.Errorf("%d rows", got)
	}
}

func TestWatcherLeavesForgottenLogs(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatcherTest(t, s)
	none := map[string]int64{}
	w.expect(0, none)
	w.write("a.log", lines(0, 10))
	w.expect(time.Second, none)
	w.expect(SettleTime, map[string]int64{"a.log": 10})
	sources, err := s.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	forget(t, s, sources[0].ID)
	again := newWatcherTest(t, s) // as after a restart
	again.now = w.now
	again.expect(0, none)
	again.expect(SettleTime, none)
	again.write("a.log", lines(0, 15))
	again.write("b.log", lines(0, 15))
	again.expect(time.Second, none)
	again.expect(SettleTime, map[string]int64{"a.log": 0, "b.log": 15})
	again.write("a.log", lines(0, 16))
	again.expect(time.Second, none)
	again.expect(SettleTime, none)    // it was reported
	again.write("a.log", lines(5, 3)) // after its rotation
	again.expect(time.Second, none)
	again.expect(SettleTime, map[string]int64{"a.log": 3})
	again.write("a.log", lines(0, 20))
	path := filepath.Join(s.RawDir(), "a.log")
	anew := importFile(t, s, "a.log", lines(0, 17), ingest.Options{Path: path})
	if anew.Records != 17 {
		t.Errorf("%+v", anew)
	}
	again.expect(time.Second, none)
	again.expect(SettleTime, map[string]int64{"a.log": 3}) // what was imported again continues
}

// TestReadWhileForgetting counts the rows repeatedly, while logs are forgotten, imported anew and compacted.
func TestReadWhileForgetting(t *testing.T) {
	dir := t.TempDir()
	s, reader, compactor := openStore(t, dir), openStore(t, dir), openStore(t, dir)
	const kept, gone, rounds = 300, 700, 6
	importFile(t, s, "b.log", lines(0, kept), ingest.Options{})
	stop := make(chan struct{})
	var working sync.WaitGroup
	running := func() bool {
		select {
		case <-stop:
			return false
		default:
			return true
		}
	}
	working.Go(func() {
		for running() {
			if _, err := compactor.Compact(context.Background(), CompactOptions{}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	working.Go(func() {
		for running() {
			got, err := countRows(reader)
			if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && got != kept && got != kept+gone {
				t.Errorf("counted %d rows: %v", got, err)
				return
			}
		}
	})
	for range rounds {
		report := importFile(t, s, "a.log", lines(0, gone), ingest.Options{})
		if report.Records != gone {
			t.Errorf("%+v", report)
		}
		if report := forget(t, s, report.Source); report.Records != gone {
			t.Errorf("%+v", report)
		}
	}
	close(stop)
	working.Wait()
	if got, err := countRows(reader); err != nil || got != kept {
		t.Errorf("%d rows at the end, %v", got, err)
	}
	sources, err := s.Imports(t.Context())
	if err != nil || len(sources) != rounds+1 {
		t.Errorf("%d sources, %v", len(sources), err)
	}
	ids := map[string]bool{}
	for _, source := range sources {
		ids[source.ID] = true
	}
	if len(ids) != rounds+1 || slices.ContainsFunc(sources[1:], func(s ledger.Source) bool { return s.Forgotten.IsZero() }) {
		t.Errorf("%+v", sources)
	}
}

// TestForgetAfterACrashKeepsFiles: queries may have begun until the index changes, not only until the import was
// forgotten.
func TestForgetAfterACrashKeepsFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	gone := importFile(t, s, "a.log", lines(0, 1500), ingest.Options{})
	sources, err := s.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.planRemoval(t.Context(), sources[0], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := ledger.Removal{Source: gone.Source, Family: sources[0].Family, At: s.now()}
	for _, hour := range plan {
		r.Remove = append(r.Remove, hour.remove...)
	}
	if err := s.ledger.Forget(t.Context(), r); err != nil { // the process dies here
		t.Fatal(err)
	}
	paths := objectPaths(t, s)
	s.now = func() time.Time { return testTime.AddDate(0, 0, 1) }
	if err := s.recover(t.Context()); err != nil { // as by the next process
		t.Fatal(err)
	}
	compact(t, s, CompactOptions{Grace: 15 * time.Minute})
	if _, err := os.Stat(paths[0]); err != nil || len(rowsOf(t, s)) != 0 {
		t.Errorf("%d rows are left, %v", len(rowsOf(t, s)), err)
	}
}
