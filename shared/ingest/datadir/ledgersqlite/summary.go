package ledgersqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Summary sums up the imports.
func (l *Ledger) Summary(ctx context.Context) (s ledger.Summary, err error) {
	// Lines that were imported again are subtracted only while the import that rejected them counts.
	row := l.db.QueryRowContext(ctx, kept+`
SELECT max(0, coalesce(sum(CASE WHEN retry THEN -records ELSE rejected END), 0)) FROM kept
WHERE NOT retry OR EXISTS (
	SELECT 1 FROM kept AS first WHERE NOT first.retry AND kept.name IN (?1 || first.name, ?1 || first.source))`, retryPrefix)
	if err := row.Scan(&s.Rejected); err != nil {
		return ledger.Summary{}, failed("read ledger", err)
	}
	if s.Latest, err = l.latest(ctx, `1`); err != nil {
		return ledger.Summary{}, failed("read ledger", err)
	}
	if s.Rejecting, err = l.latest(ctx, `rejected > 0 AND NOT retry`); err != nil {
		return ledger.Summary{}, failed("read ledger", err)
	}
	return s, nil
}

// kept begins a query of the imports of sources that are not forgotten. The column retry is that of isRetry.
var kept = `
WITH kept AS (
	SELECT i.*, ` + isRetry + ` AS retry FROM import i JOIN source s ON s.id = i.source WHERE s.forgotten = '')
`

// latest returns the latest import that meets a condition, or the zero Import.
// Times as text are in order up to the second, because fractions have no trailing zeros.
func (l *Ledger) latest(ctx context.Context, where string) (latest ledger.Import, err error) {
	newest, err := sqlitefile.Rows(ctx, l.db, func(row *sql.Rows) (i ledger.Import, err error) {
		var at string
		if err = row.Scan(&i.Source, &i.Generation, &i.Name, &at); err == nil {
			i.At, err = time.Parse(time.RFC3339Nano, at)
		}
		return i, err
	}, kept+`
SELECT source, generation, CASE WHEN retry THEN substr(name, 1 + length(?1)) ELSE name END, at FROM kept
WHERE `+where+` AND substr(at, 1, 19) = (SELECT max(substr(at, 1, 19)) FROM kept WHERE `+where+`)
ORDER BY source, generation`, retryPrefix)
	for _, i := range newest {
		if latest.Source == "" || !i.At.Before(latest.At) {
			latest = i
		}
	}
	return latest, err
}
