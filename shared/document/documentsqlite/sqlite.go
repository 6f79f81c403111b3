// Package documentsqlite stores documents in a SQLite file. Several processes may open the file at once. When Append
// returns, the version is on the disk, so a process that is killed later does not lose it.
package documentsqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Table is a table of versions. Its columns are the key of the document, number, at_ms, by, etag, bytes and the text.
type Table struct {
	Name string
	Key  string // the column of the key
	Text string // the column of the text

	KeyOf func(document.ID) string
}

// documents is the table of all kinds, in files that Open creates. The key is kind/configuration/name. Kinds and
// configurations contain no slash.
var documents = Table{
	Name: "document_versions", Key: "id", Text: "text",
	KeyOf: func(id document.ID) string { return prefix(id.Kind, id.Config) + id.Name },
}

func prefix(kind document.Kind, config string) string { return string(kind) + "/" + config + "/" }

// columns are all columns but the key and the text.
const columns = "number, at_ms, by, etag, bytes"

// Create returns the statement that creates the table. The text is the last column, so that listing versions does not
// read the pages that hold it.
func (t Table) Create() string {
	return fmt.Sprintf(`
CREATE TABLE %s (
  %s TEXT NOT NULL,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  by TEXT NOT NULL,
  etag TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  %s TEXT NOT NULL,
  PRIMARY KEY (%s, number)
) STRICT`, t.Name, t.Key, t.Text, t.Key)
}

// Store implements document.Store over a table.
type Store struct {
	file  *sqlitefile.File
	table Table
}

var _ document.Store = (*Store)(nil)

// schemaVersion is the version of the format of files that Open creates.
const schemaVersion = 1

// Connections is the maximum number of concurrent readers and writers in this process.
const Connections = 8

// Options are the settings of a file of documents.
var Options = sqlitefile.Options{
	Mode: sqlitefile.Create, WAL: true, BusyTimeout: 10 * time.Second, Connections: Connections,
}

// Open opens the file at path, whose directory must exist. If the file does not exist, Open creates it.
func Open(ctx context.Context, path string) (*Store, error) {
	file, err := sqlitefile.OpenPrepared(ctx, path, Options, schemaVersion, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, documents.Create())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open documents %s: %w", path, err)
	}
	return Over(file, documents), nil
}

// OpenReadOnly opens an existing file without writing to it. Its error is fs.ErrNotExist if there is none.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	file, err := sqlitefile.OpenReadOnly(ctx, path, schemaVersion)
	if err != nil {
		return nil, fmt.Errorf("open documents %s: %w", path, err)
	}
	return Over(file, documents), nil
}

// Over returns the store of an existing table.
func Over(file *sqlitefile.File, table Table) *Store { return &Store{file, table} }

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

// Newest implements document.Store.
func (s *Store) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	newest := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ? ORDER BY number DESC LIMIT 1",
		columns, s.table.Text, s.table.Name, s.table.Key)
	return scanVersion(s.file.QueryRowContext(ctx, newest, s.table.KeyOf(id)), id, 0)
}

// Version implements document.Store.
func (s *Store) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	one := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ? AND number = ?",
		columns, s.table.Text, s.table.Name, s.table.Key)
	return scanVersion(s.file.QueryRowContext(ctx, one, s.table.KeyOf(id), number), id, number)
}

// Versions implements document.Store.
func (s *Store) Versions(ctx context.Context, id document.ID) ([]document.Info, error) {
	all := fmt.Sprintf("SELECT %s FROM %s WHERE %s = ? ORDER BY number DESC", columns, s.table.Name, s.table.Key)
	infos, err := sqlitefile.Rows(ctx, s.file, func(row *sql.Rows) (info document.Info, err error) {
		err = row.Scan(destinations(&info)...)
		return info, err
	}, all, s.table.KeyOf(id))
	if err != nil {
		return nil, fmt.Errorf("list versions of %s: %w", id, err)
	}
	return infos, nil
}

// List implements document.Store. The keys of a configuration have a common prefix, which ends in a slash; the
// character after the slash is 0.
func (s *Store) List(ctx context.Context, kind document.Kind, config string) ([]document.Named, error) {
	newest := fmt.Sprintf(`
SELECT %[1]s, %[2]s, %[3]s FROM %[4]s AS version
WHERE %[1]s > ?1 AND %[1]s < ?2 AND bytes > 0
  AND number = (SELECT max(number) FROM %[4]s WHERE %[1]s = version.%[1]s)
ORDER BY %[1]s`, s.table.Key, columns, s.table.Text, s.table.Name)
	from := prefix(kind, config)
	list, err := sqlitefile.Rows(ctx, s.file, func(row *sql.Rows) (v document.Named, err error) {
		err = row.Scan(append(append([]any{&v.Name}, destinations(&v.Info)...), &v.Text)...)
		v.Name = strings.TrimPrefix(v.Name, from)
		return v, err
	}, newest, from, from[:len(from)-1]+"0")
	if err != nil {
		return nil, fmt.Errorf("list %ss of configuration %s: %w", kind, config, err)
	}
	return list, nil
}

// Configurations returns the configurations that have, or had, documents of a kind, in the order of their names. It is
// for files that Open creates.
func (s *Store) Configurations(ctx context.Context, kind document.Kind) ([]string, error) {
	from := string(kind) + "/"
	all := fmt.Sprintf(
		"SELECT DISTINCT substr(%[1]s, ?1, instr(substr(%[1]s, ?1), '/') - 1) FROM %[2]s "+
			"WHERE %[1]s > ?2 AND %[1]s < ?3 ORDER BY 1", s.table.Key, s.table.Name)
	list, err := sqlitefile.Rows(ctx, s.file, func(row *sql.Rows) (config string, err error) {
		err = row.Scan(&config)
		return config, err
	}, all, len(from)+1, from, string(kind)+"0")
	if err != nil {
		return nil, fmt.Errorf("list configurations with a %s: %w", kind, err)
	}
	return list, nil
}

// Append implements document.Store.
func (s *Store) Append(ctx context.Context, id document.ID, v document.Version) error {
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		var newest int
		last := fmt.Sprintf("SELECT coalesce(max(number), 0) FROM %s WHERE %s = ?", s.table.Name, s.table.Key)
		if err := tx.QueryRowContext(ctx, last, s.table.KeyOf(id)).Scan(&newest); err != nil {
			return err
		}
		if v.Number != newest+1 {
			return document.Taken(id, v.Number)
		}
		return s.table.Insert(ctx, tx, id, v)
	})
}

// Insert adds a version, whose number must be the next one.
func (t Table) Insert(ctx context.Context, tx *sql.Tx, id document.ID, v document.Version) error {
	statement := fmt.Sprintf("INSERT INTO %s (%s, %s, %s) VALUES (?, ?, ?, ?, ?, ?, ?)",
		t.Name, t.Key, columns, t.Text)
	_, err := tx.ExecContext(ctx, statement, t.KeyOf(id), v.Number, v.At.UnixMilli(), v.By, v.ETag, v.Bytes, v.Text)
	if err != nil {
		return fmt.Errorf("append version %d of %s: %w", v.Number, id, err)
	}
	return nil
}

func scanVersion(row *sql.Row, id document.ID, number int) (document.Version, error) {
	var v document.Version
	err := row.Scan(append(destinations(&v.Info), &v.Text)...)
	if errors.Is(err, sql.ErrNoRows) {
		return document.Version{}, document.NotFound(id, number)
	}
	if err != nil {
		return document.Version{}, fmt.Errorf("read %s: %w", id, err)
	}
	return v, nil
}

// destinations returns the arguments of Scan for the columns in columns.
func destinations(info *document.Info) []any {
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
