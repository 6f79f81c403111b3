package documentsqlite_test

import (
	"os"
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

// TestExistingFileIsRead: a file of an earlier version is read and continued.
func TestExistingFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "documents.db")
	file, err := os.ReadFile("testdata/documents.db")
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	want := document.NewVersion(2, `{"filters":"human=false and \"ä\""}`, "console", documenttest.At)
	list, err := s.List(t.Context(), "filter", "prod")
	if err != nil || len(list) != 1 || list[0].Name != "bots" || list[0].Version != want {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := s.Configurations(t.Context(), "report"); err != nil || !slices.Equal(list, []string{"staging"}) {
		t.Errorf("%v, %v", list, err)
	}
	id := document.ID{Kind: "filter", Config: "prod", Name: "gone"}
	if v, err := document.Restore(t.Context(), s, id, 1, document.Change{At: documenttest.At}); err != nil || v.Number != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}
