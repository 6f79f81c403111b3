package tablesqlite_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tablesqlite"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/readonlytest"
)

// layouts are the layouts with and without a write-ahead log.
var layouts = map[string]tablesqlite.Layout{
	"with a log": tablesqlite.Documents, "without a log": tablesqlite.Keys,
}

func open(t testing.TB, path string, l tablesqlite.Layout) *tablesqlite.Table {
	t.Helper()
	in, err := tablesqlite.Open(t.Context(), path, l)
	return opened(t, in, err)
}

func openReadOnly(t testing.TB, path string, l tablesqlite.Layout) *tablesqlite.Table {
	t.Helper()
	in, err := tablesqlite.OpenReadOnly(t.Context(), path, l)
	return opened(t, in, err)
}

// opened closes a table when the test ends.
func opened(t testing.TB, in *tablesqlite.Table, err error) *tablesqlite.Table {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return in
}

// newPath returns the path of a file that does not exist.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "a name with ?, % and #.db") }

func TestTable(t *testing.T) {
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			tabletest.Run(t, func(t *testing.T) table.Table { return open(t, newPath(t), l) })
		})
	}
}

// TestSeveralProcesses: several processes write to one file.
func TestSeveralProcesses(t *testing.T) {
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			tabletest.Race(t, open(t, path, l), open(t, path, l), open(t, path, l))
		})
	}
}

// TestWriteWhileReading: a caller of Range may write, also what is read later.
func TestWriteWhileReading(t *testing.T) {
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			in, count := open(t, newPath(t), l), 0
			for n := range 40 {
				write(t, in, fmt.Sprintf("%02d", n))
			}
			for item, err := range in.Range(t.Context(), table.Range{Partition: "p"}) {
				if err != nil {
					t.Fatal(err)
				}
				count++
				if count == 1 {
					write(t, in, "99")
				}
				if err := in.Write(t.Context(), table.Change{Key: item.Key}); err != nil {
					t.Fatal(err)
				}
			}
			if count != 41 {
				t.Errorf("%d items", count)
			}
		})
	}
}

func write(t *testing.T, in table.Table, sort string) {
	t.Helper()
	key := table.Key{Partition: "p", Sort: sort}
	if err := in.Write(t.Context(), table.Change{Key: key, Attributes: table.Attributes{"n": int64(1)}}); err != nil {
		t.Fatal(err)
	}
}

// TestMalformedItemIsAnError: it is not read as a missing one.
func TestMalformedItemIsAnError(t *testing.T) {
	for what, text := range map[string]string{
		"no JSON": "{", "no object": "1", "a fraction": `{"a":0.5}`, "a number in a list": `{"a":[1]}`, "null": `{"a":null}`,
		"a truth value": `{"a":true}`,
	} {
		path := newPath(t)
		in := open(t, path, tablesqlite.Documents)
		execute(t, path, "INSERT INTO items VALUES ('p', 's', ?)", text)
		_, getting := in.Get(t.Context(), table.Key{Partition: "p", Sort: "s"})
		_, listing := table.List(t.Context(), in, table.Range{Partition: "p"})
		for _, err := range []error{getting, listing} {
			if err == nil || !strings.Contains(err.Error(), "item p s") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestOpenFails: a file of keys that cannot be read must not be taken for a file without keys.
func TestOpenFails(t *testing.T) {
	for name, l := range layouts {
		garbage, other, newer := newPath(t), newPath(t), newPath(t)
		if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database, but longer than the header of one ", 5)), 0o600); err != nil {
			t.Fatal(err)
		}
		execute(t, other, "CREATE TABLE others (a)")
		execute(t, newer, "PRAGMA user_version = 2")
		for what, path := range map[string]string{
			"no folder": filepath.Join(newPath(t), "x.db"), "no database": garbage, "a newer format": newer,
		} {
			if _, err := tablesqlite.Open(t.Context(), path, l); err == nil {
				t.Errorf("%s, %s was opened", name, what)
			}
		}
		for what, path := range map[string]string{
			"no file": newPath(t), "no database": garbage, "another database": other, "a newer format": newer,
		} {
			if _, err := tablesqlite.OpenReadOnly(t.Context(), path, l); err == nil {
				t.Errorf("%s, %s was opened for reading", name, what)
			} else if what == "no file" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, no file: %v", name, err)
			}
		}
	}
}

// TestFileIsReadableByOwnerOnly, and so is its log.
func TestFileIsReadableByOwnerOnly(t *testing.T) {
	path := newPath(t)
	write(t, open(t, path, tablesqlite.Documents), "s")
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

// TestNewFileInAReadOnlyFolder: its items are read, and no other file is created.
func TestNewFileInAReadOnlyFolder(t *testing.T) { readonlytest.BothWays(t, newFileInAReadOnlyFolder) }

func newFileInAReadOnlyFolder(t *testing.T) {
	for _, l := range layouts {
		path := newPath(t)
		in, err := tablesqlite.Open(t.Context(), path, l)
		if err != nil {
			t.Fatal(err)
		}
		write(t, in, "s")
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		readonlytest.Folder(t, filepath.Dir(path))
		in = openReadOnly(t, path, l)
		if item, err := in.Get(t.Context(), table.Key{Partition: "p", Sort: "s"}); err != nil || !item.Exists() {
			t.Errorf("%v, %v", item, err)
		}
		refused(t, in)
		if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
			t.Errorf("the folder holds %v, %v", files, err)
		}
	}
}
