// Package planetsqlite stores planets in a SQLite file. Several processes may open the file at once. When Append
// returns, the version is on the disk, so a process that is killed later does not lose it.
package planetsqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Store implements planet.Store over a SQLite file.
type Store struct{ file *sqlitefile.File }

var _ planet.Store = (*Store)(nil)

// schemaVersion is the version of the file's format.
const schemaVersion = 1

// connections is the maximum number of concurrent readers and writers in this process.
const connections = 8

// The settings are the last column, so that listing versions does not read the pages that hold them.
const schema = `
CREATE TABLE planet_versions (
  config   TEXT    NOT NULL,
  number   INTEGER NOT NULL,
  at_ms    INTEGER NOT NULL,
  by       TEXT    NOT NULL,
  etag     TEXT    NOT NULL,
  bytes    INTEGER NOT NULL,
  settings TEXT    NOT NULL,
  PRIMARY KEY (config, number)
) STRICT`

// Open opens the file at path, whose directory must exist. If the file does not exist, Open creates it with the default
// planet in configuration planet.FirstConfig, written at the time now.
func Open(ctx context.Context, path string, now time.Time) (*Store, error) {
	file, err := sqlitefile.Open(path, sqlitefile.Options{
		Mode:        sqlitefile.Create,
		WAL:         true,
		BusyTimeout: 10 * time.Second,
		Connections: connections,
	})
	if err != nil {
		return nil, fmt.Errorf("open planets %s: %w", path, err)
	}
	create := func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		return insert(ctx, tx, planet.FirstConfig, planet.NewVersion(1, planet.Default(), "orrery", now))
	}
	if err := file.Prepare(ctx, schemaVersion, create); err != nil {
		return nil, errors.Join(fmt.Errorf("open planets %s: %w", path, err), file.Close())
	}
	return &Store{file}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

const columns = "number, at_ms, by, etag, bytes"

// Newest implements planet.Store.
func (s *Store) Newest(ctx context.Context, config string) (planet.Version, error) {
	const newest = "SELECT " + columns + ", settings FROM planet_versions WHERE config = ? ORDER BY number DESC LIMIT 1"
	return scanVersion(s.file.QueryRowContext(ctx, newest, config), config, 0)
}

// Version implements planet.Store.
func (s *Store) Version(ctx context.Context, config string, number int) (planet.Version, error) {
	const one = "SELECT " + columns + ", settings FROM planet_versions WHERE config = ? AND number = ?"
	return scanVersion(s.file.QueryRowContext(ctx, one, config, number), config, number)
}

// Versions implements planet.Store.
func (s *Store) Versions(ctx context.Context, config string) (_ []planet.Info, err error) {
	const all = "SELECT " + columns + " FROM planet_versions WHERE config = ? ORDER BY number DESC"
	rows, err := s.file.QueryContext(ctx, all, config)
	if err != nil {
		return nil, fmt.Errorf("list versions of planet %s: %w", config, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var infos []planet.Info
	for rows.Next() {
		var info planet.Info
		if err := rows.Scan(destinations(&info)...); err != nil {
			return nil, fmt.Errorf("list versions of planet %s: %w", config, err)
		}
		infos = append(infos, info)
	}
	return infos, rows.Err()
}

// Append implements planet.Store.
func (s *Store) Append(ctx context.Context, config string, v planet.Version) error {
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		var newest int
		row := tx.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM planet_versions WHERE config = ?", config)
		if err := row.Scan(&newest); err != nil {
			return err
		}
		if v.Number != newest+1 {
			return planet.Taken(config, v.Number)
		}
		return insert(ctx, tx, config, v)
	})
}

func insert(ctx context.Context, tx *sql.Tx, config string, v planet.Version) error {
	const statement = "INSERT INTO planet_versions (config, " + columns + ", settings) VALUES (?, ?, ?, ?, ?, ?, ?)"
	_, err := tx.ExecContext(ctx, statement,
		config, v.Number, v.At.UnixMilli(), v.By, v.ETag, v.Bytes, v.Settings.Text())
	if err != nil {
		return fmt.Errorf("append version %d of planet %s: %w", v.Number, config, err)
	}
	return nil
}

func scanVersion(row *sql.Row, config string, number int) (planet.Version, error) {
	var v planet.Version
	var text string
	err := row.Scan(append(destinations(&v.Info), &text)...)
	if errors.Is(err, sql.ErrNoRows) {
		return planet.Version{}, planet.NotFound(config, number)
	}
	if err != nil {
		return planet.Version{}, fmt.Errorf("read planet %s: %w", config, err)
	}
	v.Settings = planet.Stored(text)
	return v, nil
}

// destinations returns the arguments of Scan for the columns in columns.
func destinations(info *planet.Info) []any {
	return []any{&info.Number, (*millis)(&info.At), &info.By, &info.ETag, &info.Bytes}
}

// millis scans epoch milliseconds into a UTC time.
type millis time.Time

func (m *millis) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", value)
	}
	*m = millis(time.UnixMilli(ms).UTC())
	return nil
}
