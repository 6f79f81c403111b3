package scan

import (
	"context"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// topX works in two passes over the columns. The first counts what ranks the keys of each row group, by the codes of
// its dictionaries. The keys of the row groups are matched by their hashes. The second pass makes the twenty figures of
// the winners, and checks their texts.
func (r *run) topX(ctx context.Context, shape query.TopX, groups []*group) ([]query.TopXRow, error) {
	t := newTopX(r, shape, groups)
	if err := r.scan(ctx, groups, t.rank); err != nil {
		return nil, err
	}
	choose := func(_ *worker, i int) error { return t.keys[i].choose(shape.Limit) }
	if err := r.each(ctx, len(t.keys), choose); err != nil {
		return nil, err
	}
	if err := t.breakTies(ctx); err != nil {
		return nil, err
	}
	if err := r.scan(ctx, groups, t.sumUp); err != nil {
		return nil, err
	}
	return t.rows()
}

// topX holds the figures counted so far.
type topX struct {
	run    *run
	shape  query.TopX
	groups []*group
	keys   []*keys
	chosen [][]int32 // matching rows of each row group
}

func newTopX(r *run, shape query.TopX, groups []*group) *topX {
	t := &topX{run: r, shape: shape, groups: groups, chosen: make([][]int32, len(groups))}
	for _, part := range query.TopXParts {
		k := &keys{
			column:  part.Column,
			tallies: make([][]tally, len(groups)),
			times:   make([][][3]duration, len(groups)),
		}
		for _, label := range part.Labels {
			if shape.Has(label) {
				k.labels = append(k.labels, label)
			}
		}
		k.timed = slices.ContainsFunc(k.labels, func(label string) bool { return timeOf(label) >= 0 })
		if len(k.labels) > 0 {
			t.keys = append(t.keys, k)
		}
	}
	return t
}

// rank is the first pass over row group i.
func (t *topX) rank(w *worker, i int) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	t.chosen[i] = rows
	if err := t.run.reserve(int64(4 * cap(rows))); err != nil {
		return err
	}
	blocked, err := w.column("blocked", "")
	if err != nil {
		return err
	}
	for _, k := range t.keys {
		of, err := w.keysOf(k.column)
		if err != nil {
			return err
		}
		counts := make([]tally, of.entries.Len())
		of.each(rows, func(row, code int32) {
			counts[code].requests++
			if blocked.Flags[row] == 1 {
				counts[code].blocked++
			}
		})
		times, err := w.rankedTimes(k, of, rows)
		if err != nil {
			return err
		}
		k.tallies[i], k.times[i] = occurring(counts, times, of.entries)
		if err := t.run.reserve(int64(cap(counts)*tallyBytes + cap(times)*timesBytes)); err != nil {
			return err
		}
	}
	w.keep(t.columns())
	return nil
}

// columns lists the columns that both passes read.
func (t *topX) columns() []string {
	columns := []string{"blocked"}
	for _, k := range t.keys {
		columns = append(columns, k.column)
		if k.column == "reason" {
			columns = append(columns, "monitor_reasons")
		}
	}
	return columns
}

// rankedTimes sums up the times of the keys, if any label ranks by them.
func (w *worker) rankedTimes(k *keys, of keyColumn, rows []int32) ([][3]duration, error) {
	if !k.timed {
		return nil, nil
	}
	times := make([][3]duration, of.entries.Len())
	for n, label := range query.TimeLabels {
		column, err := w.column(label.Time, "")
		if err != nil {
			return nil, err
		}
		var overflow int64
		of.each(rows, func(row, code int32) {
			if len(column.Present) == 0 || column.Present[row] {
				d := &times[code][n]
				total := sum{n: d.sum}
				total.add(column.Ints[row])
				overflow |= total.passed
				d.sum = total.n
				d.count++
			}
		})
		if err := whole(sum{passed: overflow}); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// keyColumn holds the keys of a row group for one label. Row i has the key codes[i]. If starts is set, row i has the
// keys codes[starts[i]:starts[i+1]].
type keyColumn struct {
	starts, codes []int32
	entries       texts
}

// texts are the entries of a dictionary.
type texts interface {
	Len() int
	At(i int32) []byte
}

// each calls f with each key of each of the rows.
func (k *keyColumn) each(rows []int32, f func(row, code int32)) {
	if k.starts == nil {
		for _, row := range rows {
			if code := k.codes[row]; code != parquet.Absent {
				f(row, code)
			}
		}
		return
	}
	for _, row := range rows {
		for _, code := range k.codes[k.starts[row]:k.starts[row+1]] {
			f(row, code)
		}
	}
}

// keysOf returns the keys of a column.
func (w *worker) keysOf(column string) (keyColumn, error) {
	values, err := w.column(column, "")
	if err != nil {
		return keyColumn{}, err
	}
	if column != "reason" {
		return keyColumn{codes: values.Codes, entries: &values.Texts}, nil
	}
	more, err := w.column("monitor_reasons", "")
	if err != nil {
		return keyColumn{}, err
	}
	return reasons(values, more)
}

// reasons returns, for each row, the different texts among its reason and the reasons why it is monitored.
func reasons(reason, monitored *parquet.ColumnValues) (keyColumn, error) {
	names, monitoredCodes, err := union(&reason.Texts, &monitored.Texts)
	if err != nil {
		return keyColumn{}, err
	}
	k := keyColumn{starts: make([]int32, 1, len(reason.Codes)+1), entries: names}
	for row, code := range reason.Codes {
		first := len(k.codes)
		if code != parquet.Absent {
			k.codes = append(k.codes, code)
		}
		for _, code := range monitored.Codes[monitored.Starts[row]:monitored.Starts[row+1]] {
			if place := monitoredCodes[code]; !slices.Contains(k.codes[first:], place) {
				k.codes = append(k.codes, place)
			}
		}
		k.starts = append(k.starts, int32(len(k.codes)))
	}
	return k, nil
}
