package datadir

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
)

// iisPath and iisLog return the path and the text of log n with a number of lines. Logs of IIS begin with the same
// lines.
func iisPath(n int) string { return fmt.Sprintf("/srv/W3SVC%d/u_ex260301.log", n) }

func iisLog(n, lines int) string {
	var b strings.Builder
	b.WriteString("#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n" +
		"#Date: 2026-03-01 10:00:00\n#Fields: date time cs-method cs-uri-stem c-ip sc-status\n")
	for i := range lines {
		fmt.Fprintf(&b, "2026-03-01 10:00:%02d GET /%d/%d 203.0.113.9 200\n", i, n, i)
	}
	return b.String()
}

// TestImportAfterFamilies opens testdata/ledger-by-first-line.db.gz. The version before families of logs has written
// it, over ledger-by-content.db.gz. Two of the logs have grown between two imports.
func TestImportAfterFamilies(t *testing.T) {
	for _, log := range []struct {
		path, known, grown string
	}{
		{iisPath(0), iisLog(0, 2), iisLog(0, 3)},
		{iisPath(1), iisLog(1, 2), iisLog(1, 3)},
		{iisPath(2), iisLog(2, 4), iisLog(2, 5)},
		{"/srv/web1/access.log", oldLines(5000, 3), oldLines(5000, 4)},
		{"/srv/web1/access.log", oldLines(100, 10), oldLines(100, 11)},
		{"/srv/web7/access.log", oldLines(0, 3), oldLines(0, 4)}, // the source has no name
	} {
		s := openLedger(t, "ledger-by-first-line.db.gz")
		known := importAs(t, s, log.path, log.known)
		if known.Records != 0 || known.Known != int64(strings.Count(log.known, "\n")) {
			t.Errorf("%s again: %+v", log.path, known)
		}
		for n := range int64(2) {
			if r := importAs(t, s, log.path, log.grown); r.Records != 1-n || n == 0 && r.Known != known.Known {
				t.Errorf("%s grown: %+v", log.path, r)
			}
		}
		if rows := rowsOf(t, s); len(rows) != 1 {
			t.Errorf("%s: %d rows, want 1", log.path, len(rows))
		}
	}
}

// TestGrowingFirstLine imports a log while its first records are written, and copies of it in another order.
func TestGrowingFirstLine(t *testing.T) {
	header, first, whole := iisLog(0, 0), iisLog(0, 1), iisLog(0, 2)
	cut := strings.TrimSuffix(first, "00\n") // a record whose last field is cut off
	for name, copies := range map[string][]string{
		"the header, then records":      {header, whole, header},
		"a cut first record":            {cut, first, whole},
		"an older copy of it":           {first, cut, whole, cut},
		"the header after the records":  {first, header, whole, header},
		"a first record without an end": {strings.TrimSuffix(first, "\n"), first, whole},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			for range 2 {
				for _, text := range copies {
					options := ingest.Options{Path: iisPath(0)}
					_, err := s.Import(t.Context(), "u_ex.log", strings.NewReader(text), options)
					if err != nil && fault.KindOf(err) != fault.Invalid {
						t.Fatal(err)
					}
				}
			}
			if rows := rowsOf(t, s); len(rows) != 2 {
				t.Errorf("%d rows, want 2", len(rows))
			}
		})
	}
}
