package rollupfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query/querytest"
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
	var lists rollup.Lists
	d := querytest.Dimensions("country")[0]
	lists.AddValues(d, rollup.Values{Values: []rollup.Value{{Hash: rollup.Hash{First: 1}}}}, 2)
	for range 2 { // the second replaces the first
		if err := folder.Write(day, lists); err != nil {
			t.Fatal(err)
		}
	}
	day.Bytes = len(day.Encode())
	got, err := read(t, folder, start)
	if diff := cmp.Diff(day, got); err != nil || diff != "" {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	section, found := got.Section(rollup.ValuesPartName(d, 0))
	content, err := readSection(t, folder, got, section)
	if !found || err != nil || len(content) == 0 {
		t.Errorf("a section: %t, %x: %v", found, content, err)
	}
	damage(t, folder.Path(start, rollup.Subset{}), got.Bytes+int(section.Offset))
	if _, err := readSection(t, folder, got, section); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("a damaged section: %v", err)
	}
	if _, err := read(t, folder, start); err != nil {
		t.Errorf("figures before a damaged section: %v", err)
	}
	damage(t, folder.Path(start, rollup.Subset{}), 50)
	if _, err := read(t, folder, start); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("damaged figures: %v", err)
	}
	if err := folder.Write(day, lists); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(folder.Path(start, rollup.Subset{}), int64(got.Bytes)); err != nil {
		t.Fatal(err)
	}
	if _, err := readSection(t, folder, got, section); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("a missing section: %v", err)
	}

	if err := os.Rename(folder.Path(start, rollup.Subset{}), folder.Path(start+86400, rollup.Subset{})); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, folder, start+86400); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("the rollup of another day: %v", err)
	}

	subsets := strings.TrimSuffix(folder.Path(start+86400, rollup.Subset{}), ".rollup")
	if err := os.MkdirAll(subsets, 0o700); err != nil {
		t.Fatal(err)
	}
	fresh := []string{filepath.Join(string(folder), "1.tmp"), filepath.Join(subsets, "1.tmp")}
	left := []string{filepath.Join(string(folder), "2.tmp"), filepath.Join(subsets, "2.tmp")}
	for _, name := range append(fresh, left...) {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range left {
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	days, err := folder.Days()
	if diff := cmp.Diff([]int64{start + 86400}, days); err != nil || diff != "" {
		t.Errorf("days: %v\n%s", err, diff)
	}
	for i := range fresh {
		if _, err := os.Stat(fresh[i]); err != nil {
			t.Errorf("a file that is being written: %v", err)
		}
		if _, err := os.Stat(left[i]); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file that was left: %v", err)
		}
	}
	for range 2 {
		if err := folder.Remove(start + 86400); err != nil {
			t.Error(err)
		}
	}
}

// read reads the rollup of a day.
func read(t *testing.T, folder rollupfile.Folder, start int64) (*rollup.Day, error) {
	t.Helper()
	file, err := os.Open(folder.Path(start, rollup.Subset{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return rollup.Read(file, start)
}

// readSection reads a section of the lists of a day.
func readSection(t *testing.T, folder rollupfile.Folder, d *rollup.Day, s rollup.Section) ([]byte, error) {
	t.Helper()
	file, err := os.Open(folder.Path(d.Start, rollup.Subset{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return d.ReadSection(file, s, nil)
}

// damage changes a byte of a file.
func damage(t *testing.T, path string, at int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[at] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHashKey: a key is made once. One that was damaged is replaced.
func TestHashKey(t *testing.T) {
	folder := rollupfile.Folder(filepath.Join(t.TempDir(), "rollups"))
	if _, err := folder.HashKey(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
	made, err := folder.MakeHashKey()
	if err != nil || made == (rollup.HashKey{}) {
		t.Fatalf("made %x: %v", made, err)
	}
	for range 2 {
		if again, err := folder.MakeHashKey(); again != made || err != nil {
			t.Errorf("made %x, then %x: %v", made, again, err)
		}
	}
	if err := os.WriteFile(folder.HashKeyPath(), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.HashKey(); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("a damaged key: %v", err)
	}
	if other, err := folder.MakeHashKey(); other == made || err != nil {
		t.Errorf("made %x again: %v", other, err)
	}
	entries, err := os.ReadDir(string(folder))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files were left: %v", len(entries), err)
	}
}
