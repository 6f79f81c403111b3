package sqlitefile_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/sqlitefile"
)

func open(t *testing.T, path string, o sqlitefile.Options) *sqlitefile.File {
	t.Helper()
	f, err := sqlitefile.Open(path, o)
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

func createTable(tx *sql.Tx) error {
	_, err := tx.Exec("CREATE TABLE numbers (n INTEGER)")
	return err
}

// TestSettingsOfEveryConnection: SQLite keeps the settings per connection, not per file.
func TestSettingsOfEveryConnection(t *testing.T) {
	const connections = 3
	f := open(t, filepath.Join(t.TempDir(), "a name with ?, % and #.db"), sqlitefile.Options{
		Mode:        sqlitefile.Create,
		WAL:         true,
		ForeignKeys: true,
		BusyTimeout: 7 * time.Second,
		Connections: connections,
	})
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "7000", "foreign_keys": "1"}
	for range connections {
		c, err := f.Conn(t.Context()) // stays open, so that the next one is another connection
		if err != nil {
			t.Fatal(err)
		}
		for setting, value := range want {
			var got string
			err := c.QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&got)
			if err != nil || got != value {
				t.Errorf("%s is %q, %v, want %q", setting, got, err, value)
			}
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
}

func TestWriteToAFullDisk(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "full.db"), sqlitefile.Options{
		Mode: sqlitefile.Create, BusyTimeout: time.Second, Connections: 1,
	})
	if err := f.Write(t.Context(), createTable); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Exec("PRAGMA max_page_count = 3"); err != nil { // SQLite fails as if the disk were full
		t.Fatal(err)
	}
	err := f.Write(t.Context(), func(tx *sql.Tx) error {
		for n := range 100_000 {
			if _, err := tx.Exec("INSERT INTO numbers VALUES (?)", n); err != nil {
				return err
			}
		}
		return nil
	})
	if fault.KindOf(err) != fault.Full || !strings.HasPrefix(err.Error(), "the disk is full") {
		t.Errorf("got %v, want Full", err)
	}
	var n int
	if err := f.QueryRow("SELECT count(*) FROM numbers").Scan(&n); err != nil || n != 0 {
		t.Errorf("afterwards: %d rows, %v", n, err)
	}
}

func TestPrepare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	options := sqlitefile.Options{Mode: sqlitefile.Create, BusyTimeout: time.Second, Connections: 1}
	created := 0
	create := func(tx *sql.Tx) error {
		created++
		return createTable(tx)
	}
	for range 2 {
		if err := open(t, path, options).Prepare(t.Context(), 1, create); err != nil {
			t.Fatal(err)
		}
	}
	if created != 1 {
		t.Errorf("the table was created %d times", created)
	}
	if err := open(t, path, options).Prepare(t.Context(), 2, create); err == nil || created != 1 {
		t.Errorf("a file of another version: %v, created %d times", err, created)
	}
}

func TestWriteIsUndoneAfterAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	f := open(t, path, sqlitefile.Options{Mode: sqlitefile.Create, BusyTimeout: time.Second, Connections: 1})
	failure := errors.New("failure")
	err := f.Write(t.Context(), func(tx *sql.Tx) error { return errors.Join(createTable(tx), failure) })
	if !errors.Is(err, failure) {
		t.Errorf("error is %v", err)
	}
	if err := f.Write(t.Context(), createTable); err != nil {
		t.Errorf("the table exists already: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	readOnly := sqlitefile.Options{Mode: sqlitefile.ReadOnly, BusyTimeout: time.Second, Connections: 1}
	if err := open(t, path, readOnly).Ping(); err == nil {
		t.Error("a file that does not exist was opened")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was created")
	}
	writable := sqlitefile.Options{Mode: sqlitefile.Create, BusyTimeout: time.Second, Connections: 1}
	if err := open(t, path, writable).Write(t.Context(), createTable); err != nil {
		t.Fatal(err)
	}
	f := open(t, path, readOnly)
	var n int
	if err := f.QueryRow("SELECT count(*) FROM numbers").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
	if _, err := f.Exec("INSERT INTO numbers VALUES (1)"); err == nil {
		t.Error("a row was written")
	}
}

// TestChangeToWriteAheadLogWaits: SQLite itself does not wait for the locks of other connections at this change.
func TestChangeToWriteAheadLogWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.db")
	options := sqlitefile.Options{Mode: sqlitefile.Create, BusyTimeout: time.Minute, Connections: 1}
	tx, err := open(t, path, options).Begin()
	if err != nil {
		t.Fatal(err)
	}
	options.WAL = true
	second := open(t, path, options)
	prepared := make(chan error, 1)
	go func() { prepared <- second.Prepare(t.Context(), 1, createTable) }()
	select {
	case err := <-prepared:
		t.Fatalf("the second connection did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := errors.Join(createTable(tx), tx.Rollback()); err != nil {
		t.Fatal(err)
	}
	if err := <-prepared; err != nil {
		t.Error(err)
	}
}
