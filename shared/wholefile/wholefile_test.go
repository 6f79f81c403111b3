package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/orrery/orrery/shared/wholefile"
)

func has(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(want) {
		t.Errorf("the folder has %v, not %v", entries, want)
	}
	for name, content := range want {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != content {
			t.Errorf("%s has %q, not %q; %v", name, got, content, err)
		}
	}
}

// TestWrite: a file is replaced or created, and whatever fails leaves the folder as it was.
func TestWrite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "list")
	for _, content := range []string{"one", "", "two"} {
		if err := wholefile.Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		has(t, folder, map[string]string{"list": content})
	}
	if err := wholefile.Create(path, []byte("three")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	has(t, folder, map[string]string{"list": "two"})
	if err := wholefile.Create(filepath.Join(folder, "key"), []byte("four")); err != nil {
		t.Error(err)
	}
	has(t, folder, map[string]string{"list": "two", "key": "four"})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, error %v", info, err)
	}
	if err := wholefile.Replace(filepath.Join(folder, "none", "list"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Replace(filepath.Join(folder, "sub"), []byte("five")); err == nil {
		t.Error("a folder was replaced")
	}
	if found, err := filepath.Glob(filepath.Join(folder, wholefile.Prefix("sub")+"*")); err != nil || len(found) > 0 {
		t.Errorf("%v is left, error %v", found, err)
	}
}
