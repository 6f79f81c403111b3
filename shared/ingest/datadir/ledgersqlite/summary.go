package ledgersqlite

import (
	"context"
	"errors"
	"time"

	"github.com/orrery/orrery/shared/ingest/ledger"
)

// Summary sums up the imports.
func (l *Ledger) Summary(ctx context.Context) (s ledger.Summary, err error) {
	row := l.db.QueryRowContext(ctx, `SELECT coalesce(sum(rejected), 0) FROM import`)
	if err := row.Scan(&s.Rejected); err != nil {
		return ledger.Summary{}, failed("read ledger", err)
	}
	if s.Latest, err = l.latest(ctx, 0); err != nil {
		return ledger.Summary{}, failed("read ledger", err)
	}
	if s.Rejecting, err = l.latest(ctx, 1); err != nil {
		return ledger.Summary{}, failed("read ledger", err)
	}
	return s, nil
}

// latest returns the latest import with at least so many rejected lines, or the zero Import. Times as text are in order
// up to the second, because fractions have no trailing zeros.
func (l *Ledger) latest(ctx context.Context, rejected int) (latest ledger.Import, err error) {
	rows, err := l.db.QueryContext(ctx, `
SELECT source, generation, name, at FROM import
WHERE rejected >= ?1 AND substr(at, 1, 19) = (SELECT max(substr(at, 1, 19)) FROM import WHERE rejected >= ?1)
ORDER BY source, generation`, rejected)
	if err != nil {
		return ledger.Import{}, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var i ledger.Import
		var at string
		if err := rows.Scan(&i.Source, &i.Generation, &i.Name, &at); err != nil {
			return ledger.Import{}, err
		}
		if i.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return ledger.Import{}, err
		}
		if latest.Source == "" || !i.At.Before(latest.At) {
			latest = i
		}
	}
	return latest, rows.Err()
}
