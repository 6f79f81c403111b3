package planetsqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// TestExistingFileIsRead: a file with the first format of the table, written with plain SQL, is read and continued.
func TestExistingFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planets.db")
	options := sqlitefile.Options{
		Mode: sqlitefile.Create, WAL: true, BusyTimeout: time.Second, Connections: 1,
	}
	file, err := sqlitefile.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	want := planet.NewVersion(1, planettest.Settings(t, "old"), "terraform", planettest.At)
	err = file.Prepare(t.Context(), 1, func(tx *sql.Tx) error {
		_, err := tx.Exec(`CREATE TABLE planet_versions (
  config   TEXT    NOT NULL,
  number   INTEGER NOT NULL,
  at_ms    INTEGER NOT NULL,
  by       TEXT    NOT NULL,
  etag     TEXT    NOT NULL,
  bytes    INTEGER NOT NULL,
  settings TEXT    NOT NULL,
  PRIMARY KEY (config, number)
) STRICT`)
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO planet_versions VALUES (?, ?, ?, ?, ?, ?, ?)",
			"shop", 1, want.At.UnixMilli(), want.By, want.ETag, want.Bytes, want.Settings.Text())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if got, err := s.Newest(t.Context(), "shop"); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	change := planet.Change{Settings: planettest.Settings(t, "new"), By: "key", At: planettest.At}
	if info, err := planet.Put(t.Context(), s, "shop", change); err != nil || info.Number != 2 {
		t.Errorf("%+v, %v", info, err)
	}
}
