package ledgersqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/sqlitefile"
)

// Sources returns all sources, forgotten ones included, in the order of their first imports.
func (l *Ledger) Sources(ctx context.Context) (sources []ledger.Source, err error) {
	rows, err := l.db.QueryContext(ctx, `
SELECT s.id, s.log, s.format, s.forgotten, i.staging, i.name, i.at, i.records, i.rejected, i.lines, i.settings,
       i.published, i.objects, i.min_ts_ms, i.max_ts_ms, i.retries, i.geoip, `+isRetry+`
FROM source s JOIN import i ON i.source = s.id
ORDER BY (SELECT min(at) FROM import f WHERE f.source = s.id), s.rowid, i.generation`)
	if err != nil {
		return nil, failed("read ledger", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	retries, names := map[string]bool{}, map[string]map[string]bool{}
	for rows.Next() {
		var r importRow
		if err := rows.Scan(
			&r.source.ID, &r.source.Log, &r.source.Format, &r.forgotten, &r.source.Family, &r.source.Name, &r.at,
			&r.source.Records, &r.source.Rejected, &r.source.Lines, &r.settings,
			&r.published, &r.objects, &r.from, &r.to, &r.retries, &r.geoip, &r.retry,
		); err != nil {
			return nil, failed("read ledger", err)
		}
		one, err := r.parse()
		if err != nil {
			return nil, fmt.Errorf("ledger: import of source %s: %w", r.source.ID, err)
		}
		if last := len(sources) - 1; last >= 0 && sources[last].ID == one.ID {
			sources[last] = joined(sources[last], one)
		} else {
			sources = append(sources, one)
			names[one.ID] = map[string]bool{}
		}
		retries[one.ID] = r.retry
		names[one.ID][one.Name] = true
	}
	if err := rows.Err(); err != nil {
		return nil, failed("read ledger", err)
	}
	withRetries(sources, retries, names)
	return sources, nil
}

// importRow is a row of Sources, of one import.
type importRow struct {
	source                           ledger.Source
	forgotten, at, settings, objects string
	published                        bool
	from, to                         sql.NullInt64
	retries                          int
	geoip                            string
	retry                            bool // see isRetry
}

// parse returns the source as if this were its only import.
func (r importRow) parse() (s ledger.Source, err error) {
	if s, s.Imports = r.source, 1; r.retries > 0 {
		s.Imports, s.Retried = 0, s.Records
	}
	if s.First, err = time.Parse(time.RFC3339Nano, r.at); err != nil {
		return s, err
	}
	s.Last = s.First
	if r.forgotten != "" {
		if s.Forgotten, err = time.Parse(time.RFC3339Nano, r.forgotten); err != nil {
			return s, err
		}
	}
	if s.Known = r.settings != ""; s.Known {
		if err := json.Unmarshal([]byte(r.settings), &s.Settings); err != nil {
			return s, err
		}
	}
	if r.geoip != "" {
		if err := json.Unmarshal([]byte(r.geoip), &s.GeoIP); err != nil {
			return s, err
		}
	}
	if r.from.Valid && r.to.Valid {
		s.From, s.To = time.UnixMilli(r.from.Int64).UTC(), time.UnixMilli(r.to.Int64).UTC()
	} else if r.published {
		s.From, s.To, err = hoursOf(r.objects)
	}
	return s, err
}

// hoursOf returns the period of the hours of objects, for an import that an earlier version recorded.
func hoursOf(names string) (from, to time.Time, err error) {
	var list []string
	if err := json.Unmarshal([]byte(names), &list); err != nil {
		return from, to, err
	}
	for _, name := range list {
		p, err := lake.PartitionOfName(name)
		if err != nil {
			return from, to, err
		}
		start, end := time.UnixMilli(p.Start()).UTC(), time.UnixMilli((p+1).Start()-1).UTC()
		if from.IsZero() || start.Before(from) {
			from = start
		}
		if end.After(to) {
			to = end
		}
	}
	return from, to, nil
}

// joined returns a source with a later import, or with a retry.
func joined(s, later ledger.Source) ledger.Source {
	if later.Imports > 0 {
		s.Imports++
		s.Before = &ledger.Source{Settings: s.Settings, GeoIP: s.GeoIP, Known: s.Known}
		s.Name, s.Settings, s.GeoIP, s.Known = later.Name, later.Settings, later.GeoIP, later.Known
		s.Lines, s.Last = later.Lines, later.Last
	}
	s.Records += later.Records
	s.Retried += later.Retried
	s.Rejected += later.Rejected
	if s.From.IsZero() || !later.From.IsZero() && later.From.Before(s.From) {
		s.From = later.From
	}
	if later.To.After(s.To) {
		s.To = later.To
	}
	return s
}

// periodOf returns the times of the first and the last record of objects, or nil if there are none.
func periodOf(objects []lake.Object) (from, to any) {
	var all lake.Extent
	for _, o := range objects {
		all = all.Union(o.Extent())
	}
	if all.Rows == 0 {
		return nil, nil
	}
	return all.MinTsMs, all.MaxTsMs
}

// ObjectsOf returns the names of the objects that the imports of a source have made.
func (l *Ledger) ObjectsOf(ctx context.Context, source string) ([]string, error) {
	lists, err := sqlitefile.Rows(ctx, l.db, func(row *sql.Rows) (names []string, _ error) {
		var published bool
		var objects []byte
		if err := row.Scan(&published, &objects); err != nil {
			return nil, err
		}
		if !published {
			return nil, fmt.Errorf("an import of source %s is not published", source)
		}
		if err := json.Unmarshal(objects, &names); err != nil {
			return nil, fmt.Errorf("objects of source %s: %w", source, err)
		}
		return names, nil
	}, `SELECT published, objects FROM import WHERE source = ?`, source)
	if err != nil {
		return nil, failed("read ledger", err)
	}
	return slices.Concat(lists...), nil
}

// Forget records that the source is forgotten. After Forget the removal will be made, even if the process dies.
func (l *Ledger) Forget(ctx context.Context, r ledger.Removal) error {
	text, err := json.Marshal(r)
	if err == nil {
		const statement = `UPDATE source SET forgotten = ?, removal = ? WHERE id = ?`
		_, err = l.db.ExecContext(ctx, statement, r.At.UTC().Format(time.RFC3339Nano), string(text), r.Source)
	}
	if err != nil {
		return failed("write ledger", err)
	}
	return nil
}

// Unfinished returns the removals that were recorded and are not made yet.
func (l *Ledger) Unfinished(ctx context.Context) ([]ledger.Removal, error) {
	removals, err := sqlitefile.Rows(ctx, l.db, func(row *sql.Rows) (r ledger.Removal, err error) {
		var text []byte
		if err = row.Scan(&text); err == nil {
			err = json.Unmarshal(text, &r)
		}
		return r, err
	}, `SELECT removal FROM source WHERE removal <> ''`)
	if err != nil {
		return nil, failed("read ledger", err)
	}
	return removals, nil
}

// MarkForgotten records that a removal is made.
func (l *Ledger) MarkForgotten(ctx context.Context, r ledger.Removal) error {
	if _, err := l.db.ExecContext(ctx, `UPDATE source SET removal = '' WHERE id = ?`, r.Source); err != nil {
		return failed("write ledger", err)
	}
	return nil
}

// Forgotten returns a forgotten source that a log with this name and beginning may be, unless it may also be a source
// that is not forgotten.
func (l *Ledger) Forgotten(ctx context.Context, log string, head []byte) (source string, err error) {
	if err := l.setFamilies(ctx); err != nil {
		return "", failed("read ledger", err)
	}
	near, args := nearBy(log, head)
	err = l.db.QueryRowContext(ctx, selectForgotten(near), append(args, log, head, head)...).Scan(&source)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", failed("read ledger", err)
	}
	return source, nil
}
