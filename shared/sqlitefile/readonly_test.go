package sqlitefile_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/sqlitefile"
	"github.com/orrery/orrery/shared/testkit/readonlytest"
)

// writing are the options of a file that OpenReadOnly opens.
var writing = sqlitefile.Options{Mode: sqlitefile.Create, WAL: true, BusyTimeout: time.Second, Connections: 1}

// insert writes a row in a transaction of its own.
func insert(t *testing.T, f *sqlitefile.File, n int) {
	t.Helper()
	if _, err := f.Exec("INSERT INTO numbers VALUES (?)", n); err != nil {
		t.Fatal(err)
	}
}

// rows returns the number of rows.
func rows(t *testing.T, f *sqlitefile.File) (n int) {
	t.Helper()
	if err := f.QueryRow("SELECT count(*) FROM numbers").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// prepared returns a new file with a table, which the caller closes.
func prepared(t *testing.T, path string) *sqlitefile.File {
	t.Helper()
	f, err := sqlitefile.Open(path, writing)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Prepare(t.Context(), 1, createTable); err != nil {
		t.Fatal(err)
	}
	return f
}

func openReadOnly(t *testing.T, path string) *sqlitefile.File {
	t.Helper()
	f, err := sqlitefile.OpenReadOnly(t.Context(), path, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// copyFiles copies files to another folder, as a backup of a running program does.
func copyFiles(t *testing.T, to string, files ...string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFileInAReadOnlyFolder: it is read whole, and a write is refused in words of the folder.
func TestFileInAReadOnlyFolder(t *testing.T) { readonlytest.BothWays(t, fileInAReadOnlyFolder) }

func fileInAReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a name with ?, % and #.db")
	f := prepared(t, path)
	insert(t, f, 1)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	readonlytest.Folder(t, folder)
	f = openReadOnly(t, path)
	if n := rows(t, f); n != 1 {
		t.Errorf("%d rows", n)
	}
	err := f.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO numbers VALUES (2)")
		return err
	})
	if fault.KindOf(err) != fault.ReadOnly || !strings.HasPrefix(err.Error(), "the data folder is read-only") {
		t.Errorf("a write: %v", err)
	}
	if _, err := sqlitefile.OpenReadOnly(t.Context(), path, 2); err == nil || !strings.Contains(err.Error(), "format 1") {
		t.Errorf("a file of another version: %v", err)
	}
	missing := filepath.Join(folder, "none.db")
	if _, err := sqlitefile.OpenReadOnly(t.Context(), missing, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestFileInUseInAReadOnlyFolder: what another process writes through another mount is seen at once.
func TestFileInUseInAReadOnlyFolder(t *testing.T) {
	readonlytest.BothWays(t, fileInUseInAReadOnlyFolder)
}

func fileInUseInAReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "numbers.db")
	writer := prepared(t, path)
	insert(t, writer, 1)
	readonlytest.Folder(t, folder)
	f := openReadOnly(t, path)
	for want := 1; want < 4; want++ {
		if n := rows(t, f); n != want {
			t.Errorf("%d rows, want %d", n, want)
		}
		insert(t, writer, want+1)
	}
	if err := writer.Close(); err != nil {
		t.Log(err) // it cannot remove its log
	}
	if n := rows(t, f); n != 4 {
		t.Errorf("%d rows after the writer has ended, want 4", n)
	}
}

// TestLogInAReadOnlyFolder: the newest writes of a process that was killed are in the log. They are read, or the error
// says that they are missing.
func TestLogInAReadOnlyFolder(t *testing.T) { readonlytest.BothWays(t, logInAReadOnlyFolder) }

func logInAReadOnlyFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	writer := prepared(t, path)
	defer func() {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}()
	insert(t, writer, 1)
	killed, backup := t.TempDir(), t.TempDir()
	copyFiles(t, killed, path, path+"-wal", path+"-shm")
	copyFiles(t, backup, path, path+"-wal")
	readonlytest.Folder(t, killed)
	readonlytest.Folder(t, backup)
	if n := rows(t, openReadOnly(t, filepath.Join(killed, "numbers.db"))); n != 1 {
		t.Errorf("%d rows of a killed process", n)
	}
	_, err := sqlitefile.OpenReadOnly(t.Context(), filepath.Join(backup, "numbers.db"), 1)
	const want = "the data folder is read-only, and numbers.db-wal has changes that are not in numbers.db yet"
	if fault.KindOf(err) != fault.ReadOnly || !strings.Contains(err.Error(), want) {
		t.Errorf("with the log alone: %v", err)
	}
}

// TestUnfinishedFileInAReadOnlyFolder: a process that died before Prepare has left an empty file.
func TestUnfinishedFileInAReadOnlyFolder(t *testing.T) {
	readonlytest.BothWays(t, unfinishedFileInAReadOnlyFolder)
}

func unfinishedFileInAReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "numbers.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	readonlytest.Folder(t, folder)
	if _, err := sqlitefile.OpenReadOnly(t.Context(), path, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
