package datadir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ingesttest"
)

// testLake is a Store as a lake of package ingesttest.
type testLake struct{ *Store }

func (l testLake) Import(t *testing.T, path string, content []byte) {
	t.Helper()
	if _, err := l.Store.Import(t.Context(), path, bytes.NewReader(content), ingest.Options{}); err != nil {
		t.Fatal(err)
	}
}

func (l testLake) Rows(t *testing.T) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for _, row := range rowsOf(t, l.Store) {
		seen[*row.RequestID]++
	}
	return seen
}

func TestIdentityOfLogs(t *testing.T) {
	ingesttest.Test(t, func(t *testing.T) ingesttest.Lake { return testLake{openStore(t, t.TempDir())} })
}

func TestImportIdentifiesFilesByPath(t *testing.T) {
	text := ingesttest.Text("h a")
	expect := func(t *testing.T, s *Store, path string, records int64) {
		t.Helper()
		if r := importAs(t, s, path, text); r.Records != records {
			t.Errorf("%s has %d new records, want %d", path, r.Records, records)
		}
	}
	t.Run("a relative path is that of the absolute one", func(t *testing.T) {
		s, dir := openStore(t, t.TempDir()), t.TempDir()
		t.Chdir(dir)
		expect(t, s, filepath.Join(dir, "web1", "access.log"), 2)
		expect(t, s, filepath.Join("web1", "access.log.1"), 0)
		expect(t, s, filepath.Join("web2", "..", "web1", "access.log"), 0)
		expect(t, s, "access.log", 2)
	})
	t.Run("a path over a symbolic link is that of its target", func(t *testing.T) {
		s, dir := openStore(t, t.TempDir()), t.TempDir()
		err := errors.Join(os.Mkdir(filepath.Join(dir, "releases"), 0o755),
			os.Symlink("releases", filepath.Join(dir, "current")))
		if err != nil {
			t.Skip(err)
		}
		expect(t, s, filepath.Join(dir, "releases", "access.log"), 2)
		expect(t, s, filepath.Join(dir, "current", "access.log"), 0)
	})
	t.Run("a file in the data directory keeps its name when the directory is moved", func(t *testing.T) {
		parent := t.TempDir()
		before, after := filepath.Join(parent, "before"), filepath.Join(parent, "after")
		s := openStore(t, before)
		expect(t, s, filepath.Join(s.RawDir(), "web1", "access.log"), 2)
		if err := errors.Join(s.ledger.Close(), os.Rename(before, after)); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, after)
		expect(t, s, filepath.Join(s.RawDir(), "web1", "access.log"), 0)
	})
	t.Run("an input without a path is identified by its name", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		testLake{s}.Import(t, "standard input", []byte(text))
		testLake{s}.Import(t, "standard input", []byte(text))
		expect(t, s, "/srv/access.log", 2)
		if got := len(rowsOf(t, s)); got != 4 {
			t.Errorf("%d rows, want 4", got)
		}
	})
}

func TestWatcherAndImportIdentifyFilesEqually(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := NewWatcher(s, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.RawDir(), "web1", "access.log")
	text := ingesttest.Text("h a")
	err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if r := importAs(t, s, path, text); r.Records != 2 {
		t.Errorf("%+v", r)
	}
	var results []FileResult
	for _, at := range []time.Duration{0, SettleTime, 2 * SettleTime} {
		if err := w.Poll(t.Context(), testTime.Add(at), func(r FileResult) { results = append(results, r) }); err != nil {
			t.Fatal(err)
		}
	}
	if len(results) != 1 || results[0].Err != nil || results[0].Report.Known != 2 || results[0].Report.Records != 0 {
		t.Errorf("%+v", results)
	}
}
