// Package planetsqlite stores planets in a SQLite file. Several processes may open the file at once. When Append returns, the
// version is on the disk, so a process that is killed later does not lose it.
package planetsqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/orrery/orrery/shared/planet"
)

// Store implements planet.Store over a SQLite file.
type Store struct{ db *sql.DB }

var _ planet.Store = (*Store)(nil)

// schemaVersion is the file's PRAGMA user_version.
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
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, fmt.Errorf("open planets %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s := &Store{db}
	if err := s.prepare(ctx, now); err != nil {
		return nil, errors.Join(fmt.Errorf("open planets %s: %w", path, err), db.Close())
	}
	return s, nil
}

// dataSource returns the data source name of the file. WAL allows reads during a write. Synchronous FULL puts every
// commit on the disk. Immediate transactions wait for the lock at their start instead of failing later.
func dataSource(path string) string {
	options := url.Values{
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_busy_timeout": {"10000"}, // milliseconds
		"_txlock":       {"immediate"},
	}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	return file.String()
}

// prepare creates the table and the first planet unless the version of the file shows that they exist.
func (s *Store) prepare(ctx context.Context, now time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		switch version {
		case schemaVersion:
			return nil
		case 0:
		default:
			return fmt.Errorf("the file has format %d, but this program supports only format %d: a newer version created it",
				version, schemaVersion)
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
			return err
		}
		return insert(ctx, tx, planet.FirstConfig, planet.NewVersion(1, planet.Default(), "orrery", now))
	})
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

const columns = "number, at_ms, by, etag, bytes"

// Newest implements planet.Store.
func (s *Store) Newest(ctx context.Context, config string) (planet.Version, error) {
	row := s.db.QueryRowContext(ctx, "SELECT "+columns+", settings FROM planet_versions WHERE config = ? ORDER BY number DESC LIMIT 1", config)
	return scanVersion(row, config, 0)
}

// Version implements planet.Store.
func (s *Store) Version(ctx context.Context, config string, number int) (planet.Version, error) {
	row := s.db.QueryRowContext(ctx, "SELECT "+columns+", settings FROM planet_versions WHERE config = ? AND number = ?", config, number)
	return scanVersion(row, config, number)
}

// Versions implements planet.Store.
func (s *Store) Versions(ctx context.Context, config string) (_ []planet.Info, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM planet_versions WHERE config = ? ORDER BY number DESC", config)
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
	return s.write(ctx, func(tx *sql.Tx) error {
		var newest int
		if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM planet_versions WHERE config = ?", config).Scan(&newest); err != nil {
			return err
		}
		if v.Number != newest+1 {
			return planet.Taken(config, v.Number)
		}
		return insert(ctx, tx, config, v)
	})
}

// write runs f in a transaction and commits it if f succeeds.
func (s *Store) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write planets: %w", err)
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func insert(ctx context.Context, tx *sql.Tx, config string, v planet.Version) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO planet_versions (config, "+columns+", settings) VALUES (?, ?, ?, ?, ?, ?, ?)",
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
