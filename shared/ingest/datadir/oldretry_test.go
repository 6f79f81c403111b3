package datadir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// TestRetriesOfAnEarlierVersion: an earlier version imported rejected lines as a log of their own, in the folder of the
// quarantine, and removed them from there. They belong to the import that has rejected them.
func TestRetriesOfAnEarlierVersion(t *testing.T) {
	const name = "/logs/shop/access.log"
	take := func(t *testing.T, s *Store, name, path, text string) ingest.Report {
		t.Helper()
		report, err := s.Import(t.Context(), name, strings.NewReader(text), ingest.Options{Format: "orrery", Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	retry := func(t *testing.T, s *Store, of, letters string) ingest.Report {
		t.Helper()
		path := filepath.Join(s.quarantineDir(), strings.Repeat(letters, 16))
		return take(t, s, "quarantine of "+of, path, lines(50, 2)+"{\n")
	}
	listed := func(t *testing.T, s *Store) (sources []ledger.Source) {
		t.Helper()
		sources, err := s.Imports(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return sources
	}
	rejected := func(t *testing.T, s *Store) int64 {
		t.Helper()
		return *statusOf(t, s).Ingest.Rejected
	}
	t.Run("are listed with the import", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		first := take(t, s, name, name, lines(0, 3)+"x\nx\n{\n")
		retry(t, s, name, "ap")
		got := listed(t, s)
		if len(got) != 1 || got[0].ID != first.Source || got[0].Records != 5 || got[0].Retried != 2 || got[0].Rejected != 1 {
			t.Errorf("%+v", got)
		}
		if n, last := rejected(t, s), statusOf(t, s).Ingest.LastSource; n != 1 || last != name {
			t.Errorf("the status has %d rejected lines, and the latest import %q", n, last)
		}
	})
	t.Run("are forgotten with the import", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		first := take(t, s, name, name, lines(0, 3)+"x\nx\n{\n")
		take(t, s, "other.log", "/logs/other.log", lines(100, 1))
		retry(t, s, name, "ap")
		retry(t, s, first.Source, "bp") // of an import that was not in the ledger when it was made
		report, err := s.Forget(t.Context(), first.Source)
		if err != nil || report.Records != 7 {
			t.Errorf("%+v, %v", report, err)
		}
		if rows, n := len(rowsOf(t, s)), rejected(t, s); rows != 1 || n != 0 {
			t.Errorf("%d rows and %d rejected lines are left", rows, n)
		}
	})
	t.Run("of a forgotten import are an import", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		first := take(t, s, name, name, lines(0, 3)+"x\nx\n{\n")
		if _, err := s.Forget(t.Context(), first.Source); err != nil {
			t.Fatal(err)
		}
		again := retry(t, s, name, "ap")
		if got := listed(t, s); len(got) != 2 || got[1].ID != again.Source || got[1].Records != 2 {
			t.Errorf("%+v", got)
		}
		if report, err := s.Forget(t.Context(), again.Source); err != nil || report.Records != 2 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("of one of two logs with the same name are an import", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		take(t, s, "standard input", "/a/x.log", lines(0, 3)+"x\nx\n{\n")
		take(t, s, "standard input", "/b/x.log", lines(100, 3)+"x\n")
		retry(t, s, "standard input", "ap")
		if got := listed(t, s); len(got) != 3 {
			t.Errorf("%+v", got)
		}
		if n := rejected(t, s); n != 2 {
			t.Errorf("%d rejected lines", n)
		}
	})
	t.Run("are not any log with such a name", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		take(t, s, name, name, lines(0, 3)+"x\n")
		take(t, s, "quarantine of "+name, "/logs/"+strings.Repeat("ap", 16), lines(50, 2))
		if got := listed(t, s); len(got) != 2 {
			t.Errorf("%+v", got)
		}
		if n := rejected(t, s); n != 1 {
			t.Errorf("%d rejected lines", n)
		}
	})
}
