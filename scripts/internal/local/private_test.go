//go:build unix

package local_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
)

// fill imports a log with a rejected line, compacts, and opens the keys, so that the folder has files of every kind.
func fill(t *testing.T, folder string) {
	t.Helper()
	product, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.log", "b.log"} {
		log := `{"processing_stage":6,"timestamp":"2026-01-01T10:00:00Z","request_id":"` + name + `"}` + "\ngarbage\n"
		_, err := product.Store.Import(t.Context(), name, strings.NewReader(log), ingest.Options{Format: "orrery"})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := product.Store.Compact(t.Context(), datadir.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	watcher, err := datadir.NewWatcher(product.Store, ingest.Options{})
	if err == nil {
		err = watcher.Poll(t.Context(), time.Now(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	known, err := local.OpenKeys(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := known.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkPrivate(t, folder)
	for _, closing := range []func() error{known.Close, product.Close} {
		if err := closing(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPrivate checks that other users have no permissions on the files of a folder.
func checkPrivate(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files++
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("%d files", files)
	}
}

func TestFilesOfADataFolderArePrivate(t *testing.T) {
	fill(t, filepath.Join(t.TempDir(), "data"))
}

func TestOpeningMakesAnEarlierFolderPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	fill(t, folder)
	theirs := []string{filepath.Join(folder, "raw", "access.log"), filepath.Join(folder, "notes.txt")}
	for _, path := range theirs {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	product, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, path := range theirs {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s has changed: %v, %v", path, info.Mode(), err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(folder, "raw"), 0o700); err != nil {
		t.Fatal(err)
	}
	checkPrivate(t, folder)
}
