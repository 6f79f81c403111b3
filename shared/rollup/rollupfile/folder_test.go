package rollupfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

const start = 1_767_225_600 // 2026-01-01

func TestFolder(t *testing.T) {
	folder := rollupfile.Folder(filepath.Join(t.TempDir(), "rollups"))
	if days, err := folder.Days(); len(days) > 0 || err != nil {
		t.Errorf("a folder that does not exist has %v: %v", days, err)
	}
	day := &rollup.Day{Start: start, Objects: []rollup.Object{{Name: "a"}}, Hosts: []rollup.Host{}, Segments: []rollup.Segment{}}
	for range 2 { // the second replaces the first
		if err := folder.Write(day); err != nil {
			t.Fatal(err)
		}
	}
	got, err := folder.Read(start)
	if diff := cmp.Diff(day, got); err != nil || diff != "" {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	if err := os.Rename(folder.Path(start), folder.Path(start+86400)); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Read(start + 86400); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("the rollup of another day: %v", err)
	}

	fresh, old := filepath.Join(string(folder), "1.tmp"), filepath.Join(string(folder), "2.tmp")
	for _, name := range []string{fresh, old} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	days, err := folder.Days()
	if diff := cmp.Diff([]int64{start + 86400}, days); err != nil || diff != "" {
		t.Errorf("days: %v\n%s", err, diff)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a file that is being written: %v", err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was left: %v", err)
	}
	for range 2 {
		if err := folder.Remove(start + 86400); err != nil {
			t.Error(err)
		}
	}
}
