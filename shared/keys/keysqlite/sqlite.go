// Package keysqlite stores API keys in a SQLite file. Several processes may open the file at once, so keys can be
// issued and revoked while a server runs.
package keysqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Store implements keys.Store over a SQLite file.
type Store struct {
	file    *sqlitefile.File
	columns string // of the fields of keys.Key
}

var _ keys.Store = (*Store)(nil)

// schemaVersion is the version of the file's format.
const schemaVersion = 1

const schema = `
CREATE TABLE keys (
  id         TEXT    NOT NULL PRIMARY KEY,
  hash       BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  scopes     TEXT    NOT NULL, -- JSON list
  branches   TEXT    NOT NULL, -- JSON list, or null for all
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER
) STRICT, WITHOUT ROWID`

// Open opens the file at path, and creates it, readable by its owner only, if it does not exist. The directory must
// exist.
func Open(ctx context.Context, path string) (*Store, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open keys: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open keys: %w", err)
	}
	s, err := connect(path, sqlitefile.ReadWrite)
	if err != nil {
		return nil, err
	}
	create := func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, schema)
		return err
	}
	err = s.file.Prepare(ctx, schemaVersion, create)
	if err == nil {
		err = s.addTokenKeys(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open keys %s: %w", path, err), s.Close())
	}
	return s, nil
}

// OpenReadOnly opens an existing file without writing to it.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	s, err := connect(path, sqlitefile.ReadOnly)
	if err != nil {
		return nil, err
	}
	has, err := hasTokenKeys(ctx, s.file)
	if err == nil {
		if !has {
			s.columns = columns + ", NULL"
		}
		_, err = s.List(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open keys %s: %w", path, err), s.Close())
	}
	return s, nil
}

// addTokenKeys adds the column of token keys to a file of an earlier version, and makes a token key for each of its keys.
// That version can still use the file, because its statements name their columns.
func (s *Store) addTokenKeys(ctx context.Context) error {
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		has, err := hasTokenKeys(ctx, tx)
		if err == nil && !has {
			_, err = tx.ExecContext(ctx, "ALTER TABLE keys ADD COLUMN seal BLOB")
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE keys SET seal = randomblob(?) WHERE seal IS NULL", len(keys.TokenKey{}))
		return err
	})
}

// hasTokenKeys reports whether the file has the column of token keys.
func hasTokenKeys(ctx context.Context, in sqlitefile.Querier) (has bool, err error) {
	const count = "SELECT count(*) FROM pragma_table_info('keys') WHERE name = 'seal'"
	err = in.QueryRowContext(ctx, count).Scan(&has)
	return has, err
}

// connect opens the file. It does not use a write-ahead log, because that is another file and so prevents reading on
// a read-only file system. Keys are rarely written, so the log is not missed.
func connect(path string, mode sqlitefile.Mode) (*Store, error) {
	file, err := sqlitefile.Open(path, sqlitefile.Options{
		Mode:        mode,
		BusyTimeout: 10 * time.Second,
		Connections: 1, // enough: a read takes microseconds, and a key is read once a minute
	})
	if err != nil {
		return nil, fmt.Errorf("open keys %s: %w", path, err)
	}
	return &Store{file, columns + ", seal"}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

// columns are those of every file.
const columns = "id, hash, name, scopes, branches, created_ms, expires_ms, revoked_ms"

// Create implements keys.Store.
func (s *Store) Create(ctx context.Context, k keys.Key) error {
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return err
	}
	branches, err := json.Marshal(k.Branches)
	if err != nil {
		return err
	}
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			"INSERT INTO keys ("+s.columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			k.ID, k.Hash[:], k.Name, string(scopes), string(branches),
			k.Created.UnixMilli(), millis(k.Expires), millis(k.Revoked), blob(k.TokenKey))
		if err != nil {
			return fmt.Errorf("create key %s: %w", k.ID, err)
		}
		stored, err := scan(tx.QueryRowContext(ctx, "SELECT "+s.columns+" FROM keys WHERE id = ?", k.ID))
		if err != nil {
			return fmt.Errorf("create key %s: %w", k.ID, err)
		}
		if stored.Hash != k.Hash {
			return keys.Taken(k.ID)
		}
		return nil
	})
}

// List implements keys.Store.
func (s *Store) List(ctx context.Context) ([]keys.Key, error) {
	list, err := sqlitefile.Rows(ctx, s.file, func(row *sql.Rows) (keys.Key, error) { return scan(row) },
		"SELECT "+s.columns+" FROM keys ORDER BY created_ms, id")
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return list, nil
}

// Find implements keys.Store.
func (s *Store) Find(ctx context.Context, id string) (keys.Key, error) {
	k, err := scan(s.file.QueryRowContext(ctx, "SELECT "+s.columns+" FROM keys WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return keys.Key{}, keys.NotFound(id)
	}
	if err != nil {
		return keys.Key{}, fmt.Errorf("find key %s: %w", id, err)
	}
	return k, nil
}

// Revoke implements keys.Store.
func (s *Store) Revoke(ctx context.Context, id string, at time.Time) error {
	return s.file.Write(ctx, func(tx *sql.Tx) error {
		const update = "UPDATE keys SET revoked_ms = coalesce(revoked_ms, ?) WHERE id = ?"
		done, err := tx.ExecContext(ctx, update, at.UnixMilli(), id)
		if err != nil {
			return fmt.Errorf("revoke key %s: %w", id, err)
		}
		count, err := done.RowsAffected()
		if err == nil && count == 0 {
			return keys.NotFound(id)
		}
		return err
	})
}

// scan reads a row of the columns of a store.
func scan(row interface{ Scan(...any) error }) (keys.Key, error) {
	var (
		k                keys.Key
		hash, tokenKey   []byte
		scopes, branches string
		created          int64
		expires, revoked sql.NullInt64
	)
	if err := row.Scan(&k.ID, &hash, &k.Name, &scopes, &branches, &created, &expires, &revoked, &tokenKey); err != nil {
		return keys.Key{}, err
	}
	if len(hash) != len(k.Hash) {
		return keys.Key{}, fmt.Errorf("the hash of key %s has %d bytes", k.ID, len(hash))
	}
	copy(k.Hash[:], hash)
	if tokenKey != nil && len(tokenKey) != len(k.TokenKey) {
		return keys.Key{}, fmt.Errorf("the token key of key %s has %d bytes", k.ID, len(tokenKey))
	}
	copy(k.TokenKey[:], tokenKey)
	err := errors.Join(json.Unmarshal([]byte(scopes), &k.Scopes), json.Unmarshal([]byte(branches), &k.Branches))
	if err != nil {
		return keys.Key{}, fmt.Errorf("key %s: %w", k.ID, err)
	}
	k.Created, k.Expires, k.Revoked = time.UnixMilli(created).UTC(), timeOf(expires), timeOf(revoked)
	return k, nil
}

// millis converts a time to epoch milliseconds; the zero time is NULL.
func millis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// blob returns a token key as the value of a column; the zero token key is NULL.
func blob(s keys.TokenKey) any {
	if s.IsZero() {
		return nil
	}
	return s[:]
}

func timeOf(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}
