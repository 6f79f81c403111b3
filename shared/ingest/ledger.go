package ingest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Rules is the version of the rules that turn lines into rows; each import says which it used.
const Rules = 1

// ledger is the memory of what has been imported. A source is a log as it grows; each import of it is an entry that
// knows the length and the SHA-256 of everything from the source's first byte to where that import ended, in
// decompressed bytes: names, dates and compression of files do not matter. Compaction never touches it.
//
// The database is in WAL mode, so several processes use it at once.
type ledger struct{ db *sql.DB }

const ledgerSchema = `
CREATE TABLE IF NOT EXISTS source (
	id          TEXT PRIMARY KEY,
	head_length INTEGER NOT NULL, -- the head is the beginning of the source, at most 64 KiB
	head_sha256 BLOB    NOT NULL,
	format      TEXT    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS source_by_head ON source (head_length, head_sha256);
CREATE TABLE IF NOT EXISTS head ( -- the text of heads, to know shorter copies of small logs by
	source     TEXT PRIMARY KEY REFERENCES source (id),
	first_line TEXT NOT NULL, -- their family
	text       BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS head_by_first_line ON head (first_line);
CREATE TABLE IF NOT EXISTS import (
	source     TEXT    NOT NULL REFERENCES source (id),
	generation INTEGER NOT NULL, -- from 1
	name       TEXT    NOT NULL, -- what the input was called
	at         TEXT    NOT NULL,
	rules      INTEGER NOT NULL,
	length     INTEGER NOT NULL, -- decompressed bytes from the beginning of the source
	sha256     BLOB    NOT NULL, -- of those bytes
	lines      INTEGER NOT NULL, -- in those bytes
	terminated INTEGER NOT NULL, -- the last line had its newline
	records    INTEGER NOT NULL, -- new in this import
	rejected   INTEGER NOT NULL,
	parts      INTEGER NOT NULL, -- objects made for the source so far
	objects    TEXT    NOT NULL, -- JSON: until published the objects, then their names
	staging    TEXT    NOT NULL, -- the family
	published  INTEGER NOT NULL,
	PRIMARY KEY (source, generation)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS import_unpublished ON import (published) WHERE published = 0;
CREATE TABLE IF NOT EXISTS watched (
	path     TEXT PRIMARY KEY,
	size     INTEGER NOT NULL,
	mtime_ns INTEGER NOT NULL
) STRICT;
`

func openLedger(ctx context.Context, path string) (*ledger, error) {
	location := url.URL{Path: filepath.ToSlash(path)}
	dsn := "file:" + location.EscapedPath() +
		"?_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, ledgerSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", path, err), db.Close())
	}
	return &ledger{db: db}, nil
}

func (l *ledger) close() error {
	if err := l.db.Close(); err != nil {
		return fmt.Errorf("close ledger: %w", err)
	}
	return nil
}

// Candidates lists every import of the sources whose head the given text begins with, shortest first.
func (l *ledger) Candidates(ctx context.Context, text []byte) ([]Entry, error) {
	lengths, err := l.headLengths(ctx, len(text))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	done := 0
	var found []Entry
	for _, n := range lengths {
		h.Write(text[done:n]) // a hash never fails
		done = n
		same, err := l.query(ctx, `WHERE s.head_length = ? AND s.head_sha256 = ?`, n, h.Sum(nil))
		if err != nil {
			return nil, err
		}
		found = append(found, same...)
	}
	return found, nil
}

func (l *ledger) headLengths(ctx context.Context, most int) (lengths []int, err error) {
	rows, err := l.db.QueryContext(ctx, `SELECT DISTINCT head_length FROM source WHERE head_length <= ? ORDER BY 1`, most)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		lengths = append(lengths, n)
	}
	return lengths, rows.Err()
}

// Beginning finds a source whose head is longer than the text and begins with it; "" when there is none.
func (l *ledger) Beginning(ctx context.Context, text []byte) (source string, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT source FROM head WHERE first_line = ? AND length(text) > ? AND substr(text, 1, ?) = ? LIMIT 1`,
		family(text), len(text), len(text), text).Scan(&source)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read ledger: %w", err)
	}
	return source, nil
}

// unpublished lists the imports that are committed and not yet published.
func (l *ledger) unpublished(ctx context.Context) ([]Entry, error) {
	return l.query(ctx, `WHERE i.published = 0`)
}

// query reads entries, shortest first.
func (l *ledger) query(ctx context.Context, where string, args ...any) (entries []Entry, err error) {
	rows, err := l.db.QueryContext(ctx, `
SELECT i.source, s.format, i.generation, i.length, i.sha256, i.lines, i.terminated, i.rejected, i.parts, i.staging,
       CASE i.published WHEN 0 THEN i.objects ELSE '[]' END,
       NOT EXISTS (SELECT 1 FROM import later WHERE later.source = i.source AND later.generation > i.generation)
FROM import i JOIN source s ON s.id = i.source `+where+` ORDER BY i.length, i.source, i.generation`, args...)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e Entry
		var sum, objects []byte
		err := rows.Scan(&e.Source, &e.Format, &e.Generation, &e.Length, &sum, &e.Lines, &e.Terminated, &e.Rejected, &e.Parts, &e.Family, &objects, &e.Latest)
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		if copy(e.Sum[:], sum) != len(e.Sum) {
			return nil, fmt.Errorf("ledger: source %s has a hash of %d bytes", e.Source, len(sum))
		}
		if err := json.Unmarshal(objects, &e.Objects); err != nil {
			return nil, fmt.Errorf("ledger: objects of source %s: %w", e.Source, err)
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// Knows tells whether a source of that id exists.
func (l *ledger) Knows(ctx context.Context, id string) (bool, error) {
	var n int
	if err := l.db.QueryRowContext(ctx, `SELECT count(*) FROM source WHERE id = ?`, id).Scan(&n); err != nil {
		return false, fmt.Errorf("read ledger: %w", err)
	}
	return n > 0, nil
}

// commit writes the Entry: the point from which the import will be published, whatever happens.
func (l *ledger) commit(ctx context.Context, e Entry) (err error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write ledger: %w", errors.Join(err, tx.Rollback()))
		}
	}()
	if e.Head != nil {
		sum := sha256.Sum256(e.Head)
		if _, err := tx.ExecContext(ctx, `INSERT INTO source (id, head_length, head_sha256, format) VALUES (?, ?, ?, ?)`,
			e.Source, len(e.Head), sum[:], e.Format); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO head (source, first_line, text) VALUES (?, ?, ?)`, e.Source, e.Family, e.Head); err != nil {
			return err
		}
	}
	objects, err := json.Marshal(e.Objects)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `
INSERT INTO import (source, generation, name, at, rules, length, sha256, lines, terminated, records, rejected, parts, objects, staging, published)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
		e.Source, e.Generation, e.Name, e.At.UTC().Format(time.RFC3339Nano), Rules, e.Length, e.Sum[:], e.Lines, e.Terminated,
		e.Records, e.Rejected, e.Parts, string(objects), e.Family); err != nil {
		return err
	}
	return tx.Commit()
}

// markPublished says that the index lists the import's objects.
func (l *ledger) markPublished(ctx context.Context, e Entry) error {
	names, err := json.Marshal(objectNames(e.Objects))
	if err == nil {
		_, err = l.db.ExecContext(ctx, `UPDATE import SET published = 1, objects = ? WHERE source = ? AND generation = ?`, string(names), e.Source, e.Generation)
	}
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// watchedAs tells whether a watched file was taken with just this size and time of change.
func (l *ledger) watchedAs(ctx context.Context, path string, size int64, changed time.Time) (bool, error) {
	var n int
	err := l.db.QueryRowContext(ctx, `SELECT count(*) FROM watched WHERE path = ? AND size = ? AND mtime_ns = ?`, path, size, changed.UnixNano()).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("read ledger: %w", err)
	}
	return n > 0, nil
}

// rememberWatched says that a watched file was taken.
func (l *ledger) rememberWatched(ctx context.Context, path string, size int64, changed time.Time) error {
	_, err := l.db.ExecContext(ctx, `INSERT OR REPLACE INTO watched (path, size, mtime_ns) VALUES (?, ?, ?)`, path, size, changed.UnixNano())
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}
