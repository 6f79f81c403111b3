// Package ledgersqlite stores a ledger of imports in a SQLite file.
package ledgersqlite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Ledger is a ledger.Ledger in a SQLite file. A source is a log as it grows. Each import of it is an entry with the
// name of the log, and with the length and the SHA-256 of the decompressed bytes from the beginning of the source to
// the end of that import. Compaction does not use the ledger.
//
// The database is in WAL mode, so that several processes can use it at the same time.
type Ledger struct{ db *sql.DB }

const schema = `
CREATE TABLE IF NOT EXISTS source (
	id          TEXT PRIMARY KEY,
	head_length INTEGER NOT NULL, -- of the first import: the beginning of the source, at most 64 KiB
	head_sha256 BLOB    NOT NULL,
	format      TEXT    NOT NULL,
	log         TEXT    NOT NULL DEFAULT '' -- name of the log
) STRICT;
CREATE TABLE IF NOT EXISTS head ( -- the text of heads, to know shorter copies of logs by; it grows up to 64 KiB
	source     TEXT PRIMARY KEY REFERENCES source (id),
	first_line TEXT NOT NULL, -- id of that line, by which earlier versions find the heads
	text       BLOB NOT NULL
) STRICT;
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
	log        TEXT    NOT NULL DEFAULT '', -- name of the log
	PRIMARY KEY (source, generation)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS import_unpublished ON import (published) WHERE published = 0;
CREATE TABLE IF NOT EXISTS watched (
	path     TEXT PRIMARY KEY,
	size     INTEGER NOT NULL,
	mtime_ns INTEGER NOT NULL
) STRICT;
`

// Open opens the ledger in a file and creates the file if needed. It is a ledger.Open.
func Open(ctx context.Context, path string, readOnly bool) (ledger.Ledger, error) {
	if readOnly {
		return openReadOnly(ctx, path)
	}
	file, err := sqlitefile.Open(path, sqlitefile.Options{
		Mode:        sqlitefile.Create,
		WAL:         true,
		ForeignKeys: true,
		BusyTimeout: 30 * time.Second,
		Connections: 1,
	})
	if err != nil {
		return nil, failed("open ledger", err)
	}
	if _, err := file.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(failed("open ledger "+path, err), file.Close())
	}
	l := &Ledger{db: file.DB}
	err = file.Write(ctx, func(tx *sql.Tx) error { return addColumns(ctx, tx) })
	if err == nil {
		err = l.setFamilies(ctx)
	}
	if err != nil {
		return nil, errors.Join(failed("open ledger "+path, err), file.Close())
	}
	return l, nil
}

func openReadOnly(ctx context.Context, path string) (ledger.Ledger, error) {
	file, err := sqlitefile.OpenReadOnly(ctx, path, 0)
	if err != nil {
		return nil, failed("open ledger", err)
	}
	for _, a := range additions {
		if a.column == "family" {
			continue // only imports need it
		}
		has, err := hasColumn(ctx, file, a.table, a.column)
		if err == nil && !has {
			err = fault.New(fault.ReadOnly, "the data folder is read-only, and an earlier version has written "+
				"its ledger; run orrery imports once as a user who may write")
		}
		if err != nil {
			return nil, errors.Join(failed("open ledger "+path, err), file.Close())
		}
	}
	return &Ledger{db: file.DB}, nil
}

// additions are the columns that earlier versions of the file do not have. The names of their logs are "".
var additions = []struct{ table, column, definition string }{
	{"source", "log", "TEXT NOT NULL DEFAULT ''"},
	{"import", "log", "TEXT NOT NULL DEFAULT ''"},
	{"import", "settings", "TEXT NOT NULL DEFAULT ''"}, // JSON: FIELD=VALUE of --set; "": not known
	{"import", "min_ts_ms", "INTEGER"},                 // of the records; NULL: none, or not known
	{"import", "max_ts_ms", "INTEGER"},
	{"import", "retries", "INTEGER NOT NULL DEFAULT 0"}, // generation of the import of which it is a retry; 0: of none
	{"import", "geoip", "TEXT NOT NULL DEFAULT ''"},     // JSON: files of the databases of places; "": none, or not known
	{"source", "forgotten", "TEXT NOT NULL DEFAULT ''"}, // when it was forgotten
	{"source", "removal", "TEXT NOT NULL DEFAULT ''"},   // JSON: the change of the index, until that is made
	{"source", "family", "TEXT NOT NULL DEFAULT ''"},    // ledger.LogFamily; "": see setFamilies
}

// addColumns adds the columns that a file of an earlier version does not have.
func addColumns(ctx context.Context, tx *sql.Tx) error {
	for _, a := range additions {
		has, err := hasColumn(ctx, tx, a.table, a.column)
		if err != nil {
			return err
		}
		if has {
			continue
		}
		if _, err := tx.Exec(`ALTER TABLE ` + a.table + ` ADD COLUMN ` + a.column + ` ` + a.definition); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`
CREATE INDEX IF NOT EXISTS source_removal ON source (removal) WHERE removal <> '';
CREATE INDEX IF NOT EXISTS source_by_family ON source (family);
CREATE INDEX IF NOT EXISTS source_by_log ON source (log);`)
	return err
}

// hasColumn reports whether a table has a column.
func hasColumn(ctx context.Context, in sqlitefile.Querier, table, column string) (has bool, err error) {
	const columns = `SELECT count(*) FROM pragma_table_info(?) WHERE name = ?`
	err = in.QueryRowContext(ctx, columns, table, column).Scan(&has)
	return has, err
}

// Close closes the database.
func (l *Ledger) Close() error {
	if err := l.db.Close(); err != nil {
		return failed("close ledger", err)
	}
	return nil
}

// Candidates returns the imports that may be of the log, of the sources whose first head is a prefix of the text,
// shortest first. Forgotten sources are none.
func (l *Ledger) Candidates(ctx context.Context, log string, text []byte) ([]ledger.Entry, error) {
	sources, err := l.beginnings(ctx, log, text)
	if err != nil {
		return nil, err
	}
	var found []ledger.Entry
	for _, source := range sources {
		entries, err := l.query(ctx, whereSource, source, log)
		if err != nil {
			return nil, err
		}
		found = append(found, entries...)
	}
	slices.SortFunc(found, func(a, b ledger.Entry) int {
		return cmp.Or(
			cmp.Compare(a.Length, b.Length), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Generation, b.Generation),
		)
	})
	return found, nil
}

// beginnings returns the sources in the families of a log whose first head is a prefix of the text.
func (l *Ledger) beginnings(ctx context.Context, log string, text []byte) (sources []string, err error) {
	if err := l.setFamilies(ctx); err != nil {
		return nil, failed("read ledger", err)
	}
	type head struct {
		source string
		length int
		sum    []byte
	}
	heads, err := sqlitefile.Rows(ctx, l.db, func(row *sql.Rows) (h head, err error) {
		err = row.Scan(&h.source, &h.length, &h.sum)
		return h, err
	}, selectBeginnings, append(families(log, text), len(text))...)
	if err != nil {
		return nil, failed("read ledger", err)
	}
	for _, h := range heads {
		if of := sha256.Sum256(text[:h.length]); bytes.Equal(h.sum, of[:]) {
			sources = append(sources, h.source)
		}
	}
	return sources, nil
}

// Beginning returns a source that may be of the log and has a head that is longer than the text and begins with it, or
// "".
func (l *Ledger) Beginning(ctx context.Context, log string, text []byte) (source string, err error) {
	if err := l.setFamilies(ctx); err != nil {
		return "", failed("read ledger", err)
	}
	near, args := nearBy(log, text)
	row := l.db.QueryRowContext(ctx, selectBeginning(near), append(args, log, len(text), len(text), text)...)
	err = row.Scan(&source)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", failed("read ledger", err)
	}
	return source, nil
}

// Head returns the head of a source.
func (l *Ledger) Head(ctx context.Context, source string) (text []byte, err error) {
	if err := l.db.QueryRowContext(ctx, `SELECT text FROM head WHERE source = ?`, source).Scan(&text); err != nil {
		return nil, failed("read ledger", err)
	}
	return text, nil
}

// Unpublished returns the imports that are committed and not published yet.
func (l *Ledger) Unpublished(ctx context.Context) ([]ledger.Entry, error) {
	return l.query(ctx, `WHERE i.published = 0`)
}

// selectEntries is continued by a WHERE clause.
const selectEntries = `
SELECT i.source, i.log, s.format, i.generation, i.length, i.sha256, i.lines, i.terminated, i.rejected, i.retries, i.parts,
       i.staging,
       CASE i.published WHEN 0 THEN i.objects ELSE '[]' END,
       NOT EXISTS (SELECT 1 FROM import later WHERE later.source = i.source AND later.generation > i.generation)
FROM import i JOIN source s ON s.id = i.source `

// whereSource selects the imports of a source that may be of a log.
const whereSource = `WHERE i.source = ? AND i.log IN ('', ?)`

// query returns the entries that a WHERE clause selects, shortest first.
func (l *Ledger) query(ctx context.Context, where string, args ...any) ([]ledger.Entry, error) {
	const order = ` ORDER BY i.length, i.source, i.generation`
	entries, err := sqlitefile.Rows(ctx, l.db, entryOf, selectEntries+where+order, args...)
	if err != nil {
		return nil, failed("read ledger", err)
	}
	return entries, nil
}

// entryOf returns the entry in a row of selectEntries.
func entryOf(row *sql.Rows) (e ledger.Entry, _ error) {
	var sum, objects []byte
	err := row.Scan(
		&e.Source, &e.Log, &e.Format, &e.Generation, &e.Length, &sum, &e.Lines, &e.Terminated,
		&e.Rejected, &e.Retries, &e.Parts, &e.Family, &objects, &e.Latest,
	)
	if err != nil {
		return e, err
	}
	if copy(e.Sum[:], sum) != len(e.Sum) {
		return e, fmt.Errorf("source %s has a hash of %d bytes", e.Source, len(sum))
	}
	if err := json.Unmarshal(objects, &e.Objects); err != nil {
		return e, fmt.Errorf("objects of source %s: %w", e.Source, err)
	}
	return e, nil
}

// Knows reports whether a source with that id exists.
func (l *Ledger) Knows(ctx context.Context, id string) (bool, error) {
	var n int
	if err := l.db.QueryRowContext(ctx, `SELECT count(*) FROM source WHERE id = ?`, id).Scan(&n); err != nil {
		return false, failed("read ledger", err)
	}
	return n > 0, nil
}

// Commit writes the entry. After Commit the import will be published, even if the process dies.
func (l *Ledger) Commit(ctx context.Context, e ledger.Entry) (err error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return failed("write ledger", err)
	}
	defer func() {
		if err != nil {
			err = failed("write ledger", errors.Join(err, tx.Rollback()))
		}
	}()
	if err := writeHead(ctx, tx, e); err != nil {
		return err
	}
	objects, err := json.Marshal(e.Objects)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(append([]string{}, e.Settings...))
	if err != nil {
		return err
	}
	var geoip []byte
	if len(e.GeoIP) > 0 {
		if geoip, err = json.Marshal(e.GeoIP); err != nil {
			return err
		}
	}
	from, to := periodOf(e.Objects)
	if _, err := tx.ExecContext(ctx, `
INSERT INTO import (source, generation, name, at, rules, length, sha256, lines, terminated, records, rejected, parts,
                    objects, staging, published, log, settings, min_ts_ms, max_ts_ms, retries, geoip)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)`,
		e.Source, e.Generation, e.Name, e.At.UTC().Format(time.RFC3339Nano), ledger.Rules, e.Length, e.Sum[:],
		e.Lines, e.Terminated, e.Records, e.Rejected, e.Parts, string(objects), e.Family, e.Log,
		string(settings), from, to, e.Retries, string(geoip)); err != nil {
		return err
	}
	return tx.Commit()
}

// writeHead writes the head of an entry: with its source in the first import, and in place of a shorter head later.
func writeHead(ctx context.Context, tx *sql.Tx, e ledger.Entry) error {
	if e.Head == nil {
		return nil
	}
	if e.Generation > 1 {
		const updateHead = `
UPDATE head SET text = ? WHERE source = ? AND (SELECT log FROM source WHERE id = head.source) = ?`
		_, err := tx.ExecContext(ctx, updateHead, e.Head, e.Source, e.Log)
		return err
	}
	sum := sha256.Sum256(e.Head)
	const insertSource = `
INSERT INTO source (id, head_length, head_sha256, format, log, family) VALUES (?, ?, ?, ?, ?, ?)`
	family := ledger.LogFamily(e.Log, e.Head)
	if _, err := tx.ExecContext(ctx, insertSource, e.Source, len(e.Head), sum[:], e.Format, e.Log, family); err != nil {
		return err
	}
	const insertHead = `INSERT INTO head (source, first_line, text) VALUES (?, ?, ?)`
	_, err := tx.ExecContext(ctx, insertHead, e.Source, e.Family, e.Head)
	return err
}

// MarkPublished records that the index lists the objects of the import.
func (l *Ledger) MarkPublished(ctx context.Context, e ledger.Entry) error {
	names, err := json.Marshal(lake.Paths(e.Objects))
	if err == nil {
		const statement = `UPDATE import SET published = 1, objects = ? WHERE source = ? AND generation = ?`
		_, err = l.db.ExecContext(ctx, statement, string(names), e.Source, e.Generation)
	}
	if err != nil {
		return failed("write ledger", err)
	}
	return nil
}

// Newest returns the latest import of a source.
func (l *Ledger) Newest(ctx context.Context, source string) (ledger.Entry, error) {
	entries, err := l.query(ctx, `WHERE i.source = ?`, source)
	if err != nil {
		return ledger.Entry{}, err
	}
	for _, e := range entries {
		if e.Latest {
			return e, nil
		}
	}
	return ledger.Entry{}, fmt.Errorf("ledger: there is no import of source %s", source)
}

// LinesAfter returns the number of the last line that the imports of a source up to a generation have recorded.
func (l *Ledger) LinesAfter(ctx context.Context, source string, generation int) (lines int64, err error) {
	const statement = `SELECT coalesce(max(lines), 0) FROM import WHERE source = ? AND generation <= ?`
	if err := l.db.QueryRowContext(ctx, statement, source, generation).Scan(&lines); err != nil {
		return 0, failed("read ledger", err)
	}
	return lines, nil
}

// WatchedAs reports whether a watched file was imported with exactly this size and modification time.
func (l *Ledger) WatchedAs(ctx context.Context, path string, size int64, changed time.Time) (bool, error) {
	var n int
	const statement = `SELECT count(*) FROM watched WHERE path = ? AND size = ? AND mtime_ns = ?`
	err := l.db.QueryRowContext(ctx, statement, path, size, changed.UnixNano()).Scan(&n)
	if err != nil {
		return false, failed("read ledger", err)
	}
	return n > 0, nil
}

// RememberWatched records that a watched file was imported.
func (l *Ledger) RememberWatched(ctx context.Context, path string, size int64, changed time.Time) error {
	const statement = `INSERT OR REPLACE INTO watched (path, size, mtime_ns) VALUES (?, ?, ?)`
	_, err := l.db.ExecContext(ctx, statement, path, size, changed.UnixNano())
	if err != nil {
		return failed("write ledger", err)
	}
	return nil
}

// failed adds the action to an error. It wraps fs.ErrPermission if SQLite reports that the file is read-only, and
// syscall.ENOSPC if SQLite reports that the disk is full.
func failed(action string, err error) error {
	if sqlitefile.IsFull(err) {
		return fmt.Errorf("%s: %w (%w)", action, err, syscall.ENOSPC)
	}
	var db *sqlite.Error
	if errors.As(err, &db) {
		switch db.Code() & 0xff { // the higher bits give more details
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
			return fmt.Errorf("%s: %w (%w)", action, err, fs.ErrPermission)
		}
	}
	return fmt.Errorf("%s: %w", action, err)
}
