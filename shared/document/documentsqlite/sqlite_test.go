package documentsqlite_test

import (
	"path/filepath"
	"slices"
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

func TestConfigurations(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "documents.db"))
	for _, id := range []document.ID{
		{Kind: "report", Config: "staging", Name: "b"}, {Kind: "report", Config: "prod", Name: "a"},
		{Kind: "report", Config: "prod", Name: "b"}, {Kind: "filter", Config: "other", Name: "a"},
		{Kind: "report2", Config: "more", Name: "a"},
	} {
		if err := s.Append(t.Context(), id, document.NewVersion(1, "x", "by", documenttest.At)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Configurations(t.Context(), "report")
	if !slices.Equal(got, []string{"prod", "staging"}) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
