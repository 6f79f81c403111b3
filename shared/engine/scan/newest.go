package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// Objects are read in batches, which grow because the newest objects usually hold enough records. The sizes depend on
// nothing else, so that equal queries read the same objects.
const (
	firstBatch   = 2
	largestBatch = 64
)

// Found is the result of Newest.
type Found struct {
	Places  []engine.Place // of the records, newest first
	Objects []lake.Object  // the objects read; the others hold only older records
}

// Newest finds the records that answer q, a query for logs, among exactly these objects. It reads the objects in the
// order of their last time, newest first, and stops when all records that it has not read are older than the records
// found. Rows of an object must be in the order of time. Cancelling ctx stops it within milliseconds.
//
// Errors: ErrUnsupported, *engine.ObjectError, ctx's own.
func Newest(ctx context.Context, q query.Query, objects []lake.Object, o Options) (Found, error) {
	logs, ok := q.Shape.(query.Logs)
	if !ok {
		panic(fmt.Sprintf("scan: a query for %T has no newest records", q.Shape))
	}
	if logs.Limit < 1 {
		return Found{}, nil
	}
	n := &newest{run: newRun(ctx, q, o), shape: logs, limit: logs.Limit}
	defer n.run.giveBack()
	defer n.run.end(nil)
	left := slices.Clone(objects)
	slices.SortFunc(left, func(a, b lake.Object) int {
		return cmp.Or(cmp.Compare(b.MaxTsMs, a.MaxTsMs), cmp.Compare(a.Path, b.Path))
	})
	var read []lake.Object
	for size := firstBatch; ; size = min(2*size, largestBatch) {
		from := n.run.reach.Span().FromMs
		older := sort.Search(len(left), func(i int) bool { return left[i].MaxTsMs < from })
		batch := left[:min(size, older)]
		if len(batch) == 0 {
			return Found{Places: n.places(), Objects: read}, nil
		}
		if err := n.readBatch(ctx, batch); err != nil {
			return Found{}, err
		}
		left, read = left[len(batch):], append(read, batch...)
	}
}

// newest is a search for the newest matching records.
type newest struct {
	run   *run
	shape query.Logs
	limit int
	found []record // the newest so far, newest first

	searched bool // objects have been read
}

// record is the place of a record and the values that order it in the answer: by lake.Compare, reversed. Path and row
// order records that are equal in everything else.
type record struct {
	tsMs, tsNanos int64
	source        string
	line          int64
	place         engine.Place
}

func newestFirst(a, b record) int {
	return cmp.Or(
		cmp.Compare(b.tsMs, a.tsMs),
		cmp.Compare(b.tsNanos, a.tsNanos),
		cmp.Compare(b.source, a.source),
		cmp.Compare(b.line, a.line),
		cmp.Compare(a.place.Path, b.place.Path),
		cmp.Compare(a.place.Row, b.place.Row),
	)
}

// keepNewest returns the newest of the records, newest first and not more than the limit.
func (n *newest) keepNewest(records []record) []record {
	slices.SortFunc(records, newestFirst)
	return records[:min(len(records), n.limit)]
}

// readBatch finds the newest records of several objects and joins them to the records of earlier batches. Once there
// are enough, later batches only look for records that are not older.
func (n *newest) readBatch(ctx context.Context, objects []lake.Object) error {
	if err := n.expect(ctx, objects); err != nil {
		return err
	}
	found := make([][]record, len(objects))
	err := n.run.each(ctx, len(objects), func(w *worker, i int) (err error) {
		found[i], err = n.readObject(w, objects[i])
		return err
	})
	if err != nil {
		return err
	}
	n.found = n.keepNewest(append(n.found, slices.Concat(found...)...))
	if len(n.found) == n.limit {
		scope := &n.run.query.Scope
		scope.FromMs = max(scope.FromMs, n.found[n.limit-1].tsMs)
		n.run.reach = n.run.query.TimeBounds()
	}
	return nil
}

// expect announces the columns of objects to the source, if there is one. It begins with the newest row groups that
// have enough rows. As soon as few rows turn out to match, it announces all row groups.
func (n *newest) expect(ctx context.Context, objects []lake.Object) error {
	if n.run.source == nil {
		return nil
	}
	if err := n.run.expectFooters(objects); err != nil {
		return err
	}
	for _, object := range objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var groups []*group
		err := open(n.run.source, object, func(c *parquet.ColumnReader, file fileVersion) error {
			groups = n.run.groups(c, file)
			return nil
		})
		if err != nil {
			return err
		}
		if !n.searched {
			groups = lastRows(groups, n.limit)
		}
		if err := n.run.expectColumns(groups, n.run.query.FindingColumns()); err != nil {
			return err
		}
	}
	n.searched = true
	return nil
}

// lastRows returns the last row groups that together have so many rows.
func lastRows(groups []*group, rows int) []*group {
	for i := len(groups) - 1; i >= 0; i-- {
		if rows -= groups[i].Rows; rows <= 0 {
			return groups[i:]
		}
	}
	return groups
}

// readObject returns the newest matching records of an object. It reads the last row groups first, and skips a row
// group if all its records are older than the records found.
func (n *newest) readObject(w *worker, object lake.Object) (found []record, err error) {
	err = open(n.run.source, object, func(c *parquet.ColumnReader, file fileVersion) error {
		for _, g := range slices.Backward(n.run.groups(c, file)) {
			if len(found) == n.limit && g.MaxTsMs < found[n.limit-1].tsMs {
				continue
			}
			if err := n.run.expectColumns([]*group{g}, n.run.query.FindingColumns()); err != nil {
				return err
			}
			w.begin(c, g)
			records, err := n.readGroup(w)
			if err != nil {
				return err
			}
			found = n.keepNewest(append(found, records...))
		}
		return nil
	})
	return found, err
}

// readGroup returns the newest matching records of a row group. It also returns all others of the same millisecond as
// the last of these, because other columns decide the order within a millisecond.
func (n *newest) readGroup(w *worker) ([]record, error) {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ts, err := w.column("ts_ms", "")
	if err != nil {
		return nil, err
	}
	if rows, err = n.between(w, ts.Ints, rows); err != nil || len(rows) == 0 {
		return nil, err
	}
	if len(rows) > n.limit {
		oldest := ts.Ints[rows[len(rows)-n.limit]]
		first := sort.Search(len(rows), func(i int) bool { return ts.Ints[rows[i]] >= oldest })
		rows = rows[first:]
	}
	columns, err := w.all("ts_nanos", "source", "line")
	if err != nil {
		return nil, err
	}
	nanos, source, line := columns[0].Ints, columns[1], columns[2].Ints
	records := make([]record, len(rows))
	name, code := "", int32(parquet.Absent)
	for i, row := range rows {
		if source.Codes[row] != code { // most records of a group are of one source
			code = source.Codes[row]
			name = string(source.Texts.At(code))
		}
		records[i] = record{
			tsMs:    ts.Ints[row],
			tsNanos: nanos[row],
			source:  name,
			line:    line[row],
			place:   engine.Place{Path: w.group.file.path, Row: w.group.first + int64(row)},
		}
	}
	return records, nil
}

// between returns the rows that are between the places of the shape. The given rows are in the order of time, and
// within the span. It reads further columns only if a row has the same millisecond as one of the places.
func (n *newest) between(w *worker, ts []int64, rows []int32) ([]int32, error) {
	newest, oldest := n.shape.OlderThan, n.shape.NewerThan
	after := newest != nil && ts[rows[len(rows)-1]] == newest.TsMs
	before := oldest != nil && ts[rows[0]] == oldest.TsMs
	if !after && !before {
		return rows, nil
	}
	columns, err := w.all("ts_nanos", "source", "line")
	if err != nil {
		return nil, err
	}
	nanos, source, line := columns[0].Ints, columns[1], columns[2].Ints
	var kept []int32
	for _, row := range rows {
		if newest != nil && ts[row] == newest.TsMs || oldest != nil && ts[row] == oldest.TsMs {
			text := string(source.Texts.At(source.Codes[row]))
			if !n.shape.Between(query.Place{TsMs: ts[row], TsNanos: nanos[row], Source: text, Line: line[row]}) {
				continue
			}
		}
		kept = append(kept, row)
	}
	return kept, nil
}

func (n *newest) places() []engine.Place {
	places := make([]engine.Place, len(n.found))
	for i, r := range n.found {
		places[i] = r.place
	}
	return places
}
