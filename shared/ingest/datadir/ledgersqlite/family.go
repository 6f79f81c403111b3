package ledgersqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orrery/orrery/shared/ingest/ledger"
)

// setPage is the number of sources whose families are set in one transaction. Each has a head of up to 64 KiB.
const setPage = 100

// setFamilies sets the families of the sources that an earlier version has recorded. Open calls it, and so does each
// search, because a process of an earlier version may add sources at any time. It continues where a process that was
// killed has stopped.
func (l *Ledger) setFamilies(ctx context.Context) error {
	for {
		var unset bool
		if err := l.db.QueryRowContext(ctx, selectUnset).Scan(&unset); err != nil || !unset {
			return err
		}
		if err := l.setPage(ctx); err != nil {
			return err
		}
	}
}

const selectUnset = `SELECT EXISTS (SELECT 1 FROM source WHERE family = '')`

// setPage sets the families of some sources.
func (l *Ledger) setPage(ctx context.Context) (err error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	found, err := unset(ctx, tx)
	if err != nil {
		return err
	}
	for id, family := range found {
		if _, err := tx.ExecContext(ctx, `UPDATE source SET family = ? WHERE id = ?`, family, id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// unset returns the families of some sources without one.
func unset(ctx context.Context, tx *sql.Tx) (families map[string]string, err error) {
	const statement = `
SELECT s.id, s.log, h.text FROM source s LEFT JOIN head h ON h.source = s.id WHERE s.family = '' LIMIT ?`
	rows, err := tx.QueryContext(ctx, statement, setPage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	families = map[string]string{}
	for rows.Next() {
		var id, log string
		var head []byte
		if err := rows.Scan(&id, &log, &head); err != nil {
			return nil, err
		}
		families[id] = ledger.LogFamily(log, head)
	}
	return families, rows.Err()
}

// families returns the families of the sources that a log may continue: of its name and its first line, of its name as
// long as the line was not complete, and the same of sources without a name.
func families(log string, text []byte) []any {
	return []any{
		ledger.LogFamily(log, text), ledger.LogFamily(log, nil),
		ledger.LogFamily("", text), ledger.LogFamily("", nil),
	}
}

// nearBy returns the condition of the sources s whose heads may begin with a text of a log. If the first line of the
// text is not complete, these are the newest sources with the name, and all sources without one.
func nearBy(log string, text []byte) (condition string, args []any) {
	all := families(log, text)
	if all[0] != all[1] {
		return `s.family IN (?, ?, ?, ?)`, all
	}
	return `(s.log = '' OR s.id IN (SELECT id FROM source WHERE log = ? ORDER BY rowid DESC LIMIT 32))`, []any{log}
}

// selectBeginnings selects the sources in families whose first heads have at most a length.
const selectBeginnings = `
SELECT id, head_length, head_sha256 FROM source
WHERE family IN (?, ?, ?, ?) AND head_length <= ? AND forgotten = ''`

// selectBeginning selects a source nearby whose head is longer than a text and begins with it.
func selectBeginning(near string) string {
	return `
SELECT h.source FROM source s JOIN head h ON h.source = s.id
WHERE ` + near + ` AND s.log IN ('', ?) AND s.forgotten = '' AND length(h.text) > ? AND substr(h.text, 1, ?) = ?
LIMIT 1`
}

// selectForgotten selects the source nearby that a log with a head may be, those that are not forgotten first. The log
// may be a source if one of their beginnings is a prefix of the other.
func selectForgotten(near string) string {
	return `
SELECT CASE s.forgotten WHEN '' THEN '' ELSE h.source END
FROM source s JOIN head h ON h.source = s.id
WHERE ` + near + ` AND s.log IN ('', ?) AND substr(h.text, 1, length(?)) = substr(?, 1, length(h.text))
ORDER BY s.forgotten <> '', h.source LIMIT 1`
}
