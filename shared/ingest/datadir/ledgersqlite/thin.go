package ledgersqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/bits"
	"slices"

	"github.com/orrery/orrery/shared/lake"
)

// A log that is written to all the time is imported every few seconds while it grows. Every import has a row, so that
// the last common import of the source and a log whose end was changed is found. The ledger keeps the rows of the newest
// imports and fewer of the older ones: of n imports, about 4·log₂(n). The other rows are joined with the next ones, so
// that all sums stay the same.
//
// The row of the first import stays, because it has the time of the source, and so do those of imports that have rejected
// lines, because retries of these lines need the number of the last line of their import.

// keepNewest is the number of imports of a source that are kept until as many further ones were made, if their number is
// odd. Those with an even number are kept for twice as long, and so on for each further factor of two.
const keepNewest = 8

// isOld reports whether the row of an import may be joined with the next one.
func isOld(generation, newest int) bool {
	return generation > 1 && newest-generation >= keepNewest<<bits.TrailingZeros(uint(generation))
}

// thinRow is a row of an import, as far as joining needs it.
type thinRow struct {
	generation, rules, retries  int
	name, log, settings, places string
	records, rejected, imports  int64
	published                   bool
	objects                     string // JSON: their names
	from, to                    sql.NullInt64

	joined bool // it has the sums of an earlier row
}

// thinOut joins the rows of old imports of a source with those of the next ones.
func thinOut(ctx context.Context, tx *sql.Tx, source string) error {
	rows, err := thinRows(ctx, tx, source)
	if err != nil || len(rows) == 0 {
		return err
	}
	newest := rows[len(rows)-1].generation
	for i := range len(rows) - 1 {
		row, next := &rows[i], &rows[i+1]
		if !isOld(row.generation, newest) || !row.joins(next) {
			continue
		}
		if err := next.add(row); err != nil {
			return err
		}
		const statement = `DELETE FROM import WHERE source = ? AND generation = ?`
		if _, err := tx.ExecContext(ctx, statement, source, row.generation); err != nil {
			return err
		}
		row.joined = false // it is gone
	}
	for _, row := range rows {
		if !row.joined {
			continue
		}
		const statement = `
UPDATE import SET records = ?, imports = ?, objects = ?, min_ts_ms = ?, max_ts_ms = ? WHERE source = ? AND generation = ?`
		if _, err := tx.ExecContext(ctx, statement, row.records, row.imports, row.objects, row.from, row.to,
			source, row.generation); err != nil {
			return err
		}
	}
	return nil
}

// thinRows returns the rows of a source in the order of the imports.
func thinRows(ctx context.Context, tx *sql.Tx, source string) (list []thinRow, err error) {
	rows, err := tx.QueryContext(ctx, `
SELECT generation, name, log, settings, geoip, rules, retries, records, rejected, imports, published, objects, min_ts_ms,
       max_ts_ms
FROM import WHERE source = ? ORDER BY generation`, source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r thinRow
		if err := rows.Scan(
			&r.generation, &r.name, &r.log, &r.settings, &r.places, &r.rules, &r.retries, &r.records, &r.rejected,
			&r.imports, &r.published, &r.objects, &r.from, &r.to,
		); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// joins reports whether no information is lost if the row is joined with the next one.
func (r *thinRow) joins(next *thinRow) bool {
	return r.published && next.published && r.retries == 0 && next.retries == 0 && r.rejected == 0 &&
		r.name == next.name && r.log == next.log && r.settings == next.settings && r.places == next.places &&
		r.rules == next.rules && r.hasPeriod() && next.hasPeriod()
}

// hasPeriod reports whether the row has the period of its records.
func (r *thinRow) hasPeriod() bool { return r.records == 0 || r.from.Valid && r.to.Valid }

// add adds the sums of an earlier row, and the names of its objects in hours in which this row has none: only the hours
// are needed.
func (r *thinRow) add(earlier *thinRow) error {
	names, hours, err := namesAndHours(r.objects)
	if err != nil {
		return err
	}
	earlierNames, earlierHours, err := namesAndHours(earlier.objects)
	if err != nil {
		return err
	}
	for i, hour := range earlierHours {
		if !slices.Contains(hours, hour) {
			names, hours = append(names, earlierNames[i]), append(hours, hour)
		}
	}
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	r.objects, r.joined = string(text), true
	r.records += earlier.records
	r.imports += earlier.imports
	if earlier.from.Valid && (!r.from.Valid || earlier.from.Int64 < r.from.Int64) {
		r.from = earlier.from
	}
	if earlier.to.Valid && (!r.to.Valid || earlier.to.Int64 > r.to.Int64) {
		r.to = earlier.to
	}
	return nil
}

// namesAndHours returns the names of objects, which are in JSON, and the hour of each.
func namesAndHours(objects string) (names []string, hours []lake.Partition, err error) {
	if err := json.Unmarshal([]byte(objects), &names); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		hour, err := lake.PartitionOfName(name)
		if err != nil {
			return nil, nil, err
		}
		hours = append(hours, hour)
	}
	return names, hours, nil
}
