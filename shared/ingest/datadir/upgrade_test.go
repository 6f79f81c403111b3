package datadir

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/ingest"
)

// openOldLedger opens a Store over testdata/ledger-by-content.db.gz. A version that identified logs by their content
// alone has written it, with the imports of oldLines(0, 3), of oldLines(100, 5) and then oldLines(100, 9), and of
// oldLines(2000, 1000) and then oldLines(2000, 1010).
func openOldLedger(t *testing.T) *Store { return openLedger(t, "ledger-by-content.db.gz") }

// openLedger opens a Store over a ledger in testdata.
func openLedger(t *testing.T, name string) *Store {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		content, err = gzipped.Text(content)
	}
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ledger.db"), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return openStore(t, dir)
}

// importAs imports a text as the log at a path.
func importAs(t *testing.T, s *Store, path, text string) ingest.Report {
	t.Helper()
	options := ingest.Options{Path: path}
	if strings.HasPrefix(text, "{") {
		options.Format = "orrery" // old lines would not be recognised
	}
	report, err := s.Import(t.Context(), filepath.Base(path), strings.NewReader(text), options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// oldLines returns lines as that version imported them, whose format would not be detected.
func oldLines(first, n int) string {
	return strings.ReplaceAll(lines(first, n), `"processing_stage":6,`, "")
}

// oldSource returns the id that an earlier version gave to a source with that head.
func oldSource(head string) string {
	sum := sha256.Sum256([]byte(head))
	return hex.EncodeToString(sum[:8])
}

func TestImportAfterUpgrade(t *testing.T) {
	imported := []string{
		oldLines(0, 3), oldLines(0, 2), oldLines(100, 5), oldLines(100, 9), oldLines(2000, 1000), oldLines(2000, 1010), oldLines(2000, 9),
	}
	t.Run("a log that was imported before is known under any name", func(t *testing.T) {
		s := openOldLedger(t)
		for _, path := range []string{"/srv/web1/access.log", "/srv/web2/access.log.1", "test.log"} {
			for _, text := range imported {
				if r := importAs(t, s, path, text); r.Records != 0 || r.Known != int64(strings.Count(text, "\n")) {
					t.Errorf("%s: %+v", path, r)
				}
			}
		}
		if rows := rowsOf(t, s); len(rows) != 0 {
			t.Errorf("%d rows, want none", len(rows))
		}
	})
	t.Run("a grown log continues its source", func(t *testing.T) {
		s := openOldLedger(t)
		for _, first := range []int{0, 100, 2000} {
			head := map[int]int{0: 3, 100: 5, 2000: 1000}[first]
			known := map[int]int64{0: 3, 100: 9, 2000: 1010}[first]
			for n := range int64(3) {
				r := importAs(t, s, "/srv/web1/access.log", oldLines(first, int(known+n)))
				if r.Records != min(n, 1) || r.Known != max(known, known+n-1) {
					t.Errorf("%+v", r)
				}
				if want := oldSource(oldLines(first, head)[:min(len(oldLines(first, head)), 64<<10)]); r.Source != want {
					t.Errorf("source %s, want %s", r.Source, want)
				}
			}
		}
		for _, text := range imported {
			if r := importAs(t, s, "/srv/web2/access.log", text); r.Records != 0 {
				t.Errorf("what was imported before is not known any more: %+v", r)
			}
		}
	})
	t.Run("a log with another name than the one that continued a source is another log", func(t *testing.T) {
		s := openOldLedger(t)
		importAs(t, s, "/srv/web1/access.log", oldLines(0, 4))
		for range 2 {
			importAs(t, s, "/srv/web2/access.log", oldLines(0, 4))
			importAs(t, s, "/srv/web3/access.log", oldLines(0, 3)+oldLines(500, 1))
		}
		if got := len(rowsOf(t, s)); got != 1+4+4 {
			t.Errorf("%d rows, want 9", got)
		}
	})
	t.Run("a log that may be an older copy is refused under any name", func(t *testing.T) {
		s := openOldLedger(t)
		got := refused(t, s, oldLines(2000, 900), ingest.Options{Path: "/srv/web7/access.log"})
		if !strings.Contains(got, "older copy") || !strings.Contains(got, "import it without the lines that both logs have") {
			t.Error(got)
		}
	})
	t.Run("a ledger is upgraded once", func(t *testing.T) {
		s := openOldLedger(t)
		importAs(t, s, "/srv/web1/access.log", oldLines(0, 4))
		again := openStore(t, s.dir)
		if r := importAs(t, again, "/srv/web1/access.log.1", oldLines(0, 4)); r.Records != 0 || r.Known != 4 {
			t.Errorf("%+v", r)
		}
	})
}
