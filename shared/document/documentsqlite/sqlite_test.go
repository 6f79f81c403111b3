package documentsqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/document/documentsqlite"
	"github.com/orrery/orrery/shared/document/documenttest"
)

func open(t testing.TB, path string) *documentsqlite.Store {
	t.Helper()
	s, err := documentsqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	documenttest.Run(t, func(t *testing.T) document.Store { return open(t, filepath.Join(t.TempDir(), "documents.db")) })
}

func TestSeveralHandlesRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "documents.db")
	documenttest.Race(t, open(t, path), open(t, path), open(t, path))
}

func TestOpenFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "documents.db")
	if _, err := documentsqlite.Open(t.Context(), missing); err == nil {
		t.Error("a directory that does not exist was accepted")
	}
}
