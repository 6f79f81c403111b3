// Package runssqlite stores runs of scheduled reports in a SQLite file. Several processes may open the file at once.
package runssqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Store implements runs.Store.
type Store struct{ file *sqlitefile.File }

var (
	_ runs.Store   = (*Store)(nil)
	_ runs.Trimmer = (*Store)(nil)
)

const schemaVersion = 1

// The columns besides run, which is the run in JSON, are those that queries need.
const schema = `
CREATE TABLE runs (
  id TEXT NOT NULL PRIMARY KEY,
  config TEXT NOT NULL,
  report TEXT NOT NULL,
  due_ms INTEGER NOT NULL,
  scheduled INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  run TEXT NOT NULL
) STRICT;
CREATE INDEX runs_of_report ON runs (config, report, due_ms);
CREATE INDEX unfinished_runs ON runs (due_ms) WHERE ended = 0;
CREATE TABLE files (
  run_id TEXT NOT NULL,
  delivery INTEGER NOT NULL,
  name TEXT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (run_id, delivery, name)
) STRICT;
`

// Open opens the file at path, whose directory must exist. If the file does not exist, Open creates it.
func Open(ctx context.Context, path string) (*Store, error) {
	options := sqlitefile.Options{Mode: sqlitefile.Create, WAL: true, BusyTimeout: 10 * time.Second, Connections: 4}
	file, err := sqlitefile.OpenPrepared(ctx, path, options, schemaVersion, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, schema)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open runs %s: %w", path, err)
	}
	return &Store{file}, nil
}

// OpenReadOnly opens an existing file without writing to it. Its error is fs.ErrNotExist if there is none.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	file, err := sqlitefile.OpenReadOnly(ctx, path, schemaVersion)
	if err != nil {
		return nil, fmt.Errorf("open runs %s: %w", path, err)
	}
	return &Store{file}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

// Create implements runs.Store.
func (s *Store) Create(ctx context.Context, r runs.Run) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			r.ID, r.Config, r.Report, r.Due.UnixMilli(), r.By == "", r.State.Ended(), r.Revision, string(text))
		return one(result, err, runs.Exists(r.ID))
	})
}

// one returns the error missing if a statement has changed no row.
func one(result sql.Result, err, missing error) error {
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return missing
	}
	return err
}

// Run implements runs.Store.
func (s *Store) Run(ctx context.Context, id string) (runs.Run, error) {
	list, err := s.query(ctx, "SELECT run FROM runs WHERE id = ?", id)
	if err == nil && len(list) == 0 {
		err = runs.NotFound(id)
	}
	if err != nil {
		return runs.Run{}, err
	}
	return list[0], nil
}

// List implements runs.Store.
func (s *Store) List(ctx context.Context, config, report string, limit int) ([]runs.Run, error) {
	return s.query(ctx, "SELECT run FROM runs WHERE config = ? AND report = ? ORDER BY due_ms DESC, id LIMIT ?",
		config, report, limit)
}

// Latest implements runs.Store.
func (s *Store) Latest(ctx context.Context, config, report string) (time.Time, error) {
	var ms sql.NullInt64
	err := s.file.QueryRowContext(ctx, "SELECT max(due_ms) FROM runs WHERE config = ? AND report = ? AND scheduled = 1",
		config, report).Scan(&ms)
	if err != nil || !ms.Valid {
		return time.Time{}, err
	}
	return time.UnixMilli(ms.Int64).UTC(), nil
}

// Unfinished implements runs.Store.
func (s *Store) Unfinished(ctx context.Context) ([]runs.Run, error) {
	return s.query(ctx, "SELECT run FROM runs WHERE ended = 0 ORDER BY due_ms, id")
}

func (s *Store) query(ctx context.Context, statement string, args ...any) ([]runs.Run, error) {
	list, err := sqlitefile.Rows(ctx, s.file, func(row *sql.Rows) (r runs.Run, err error) {
		var text []byte
		if err = row.Scan(&text); err == nil {
			err = json.Unmarshal(text, &r)
		}
		return r, err
	}, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return list, nil
}

// Update implements runs.Store.
func (s *Store) Update(ctx context.Context, r runs.Run, files ...runs.File) error {
	before := r.Revision
	r.Revision++
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		// A scheduled run keeps the time of its schedule when it is requested again.
		result, err := tx.ExecContext(ctx, `UPDATE runs SET ended = ?1, revision = ?2, run = ?3,
			due_ms = CASE WHEN ?4 THEN ?5 ELSE due_ms END, scheduled = scheduled OR ?4 WHERE id = ?6 AND revision = ?7`,
			r.State.Ended(), r.Revision, string(text), r.By == "", r.Due.UnixMilli(), r.ID, before)
		if err := one(result, err, runs.Changed(r.ID, before)); err != nil {
			return err
		}
		if r.State != runs.Rendered {
			_, err := tx.ExecContext(ctx, "DELETE FROM files WHERE run_id = ? AND delivery <> ?", r.ID, runs.KeptReport)
			if err != nil {
				return fmt.Errorf("remove the files of run %s: %w", r.ID, err)
			}
		}
		for _, f := range files {
			if r.State != runs.Rendered && f.Delivery != runs.KeptReport {
				continue
			}
			_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", r.ID, f.Delivery, f.Name, f.Content)
			if err != nil {
				return fmt.Errorf("add a file of run %s: %w", r.ID, err)
			}
		}
		return nil
	})
}

// Files implements runs.Store.
func (s *Store) Files(ctx context.Context, id string) ([]runs.File, error) {
	list, err := sqlitefile.Rows(ctx, s.file, func(row *sql.Rows) (f runs.File, err error) {
		err = row.Scan(&f.Delivery, &f.Name, &f.Content)
		return f, err
	}, "SELECT delivery, name, content FROM files WHERE run_id = ? AND delivery <> ? ORDER BY delivery, name", id, runs.KeptReport)
	if err != nil {
		return nil, fmt.Errorf("read the files of run %s: %w", id, err)
	}
	return list, nil
}

// Report implements runs.Store.
func (s *Store) Report(ctx context.Context, id string) ([]byte, error) {
	var content []byte
	err := s.file.QueryRowContext(ctx, "SELECT content FROM files WHERE run_id = ? AND delivery = ?", id, runs.KeptReport).
		Scan(&content)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, runs.NoReport(id)
	case err != nil:
		return nil, fmt.Errorf("read the report of run %s: %w", id, err)
	}
	return content, nil
}

// Trim implements runs.Trimmer. Runs that have ended have no files, except their reports.
func (s *Store) Trim(ctx context.Context, keep int, before time.Time) error {
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE ended = 1 AND id IN (
			SELECT id FROM (
				SELECT id, due_ms, scheduled,
					row_number() OVER (PARTITION BY config, report ORDER BY due_ms DESC, id) AS place,
					max(CASE WHEN scheduled THEN due_ms END) OVER (PARTITION BY config, report) AS latest
				FROM runs)
			WHERE (place > ? OR due_ms < ?) AND NOT (scheduled AND due_ms = latest))`, keep, before.UnixMilli())
		if err != nil {
			return fmt.Errorf("remove old runs: %w", err)
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM files WHERE delivery = ?1 AND run_id NOT IN (
			SELECT id FROM (
				SELECT id, row_number() OVER (PARTITION BY config, report ORDER BY due_ms DESC, id) AS place
				FROM runs JOIN files ON id = run_id WHERE delivery = ?1)
			WHERE place <= ?2)`, runs.KeptReport, runs.KeptReports)
		if err != nil {
			return fmt.Errorf("remove old reports: %w", err)
		}
		return nil
	})
}
