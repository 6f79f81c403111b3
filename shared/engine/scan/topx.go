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
	if err := t.choose(ctx); err != nil {
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
		w.tallies = cleared(w.tallies, of.entries.Len())
		w.pairs.each(&of, rows, func(rows, codes []int32) {
			for n, code := range codes {
				w.tallies[code] += oneRequest[blocked.Flags[rows[n]]+1]
			}
		})
		times, err := w.rankedTimes(k, of, rows)
		if err != nil {
			return err
		}
		k.tallies[i], k.times[i] = t.run.occurring(w.tallies, times, of.entries)
		if err := t.run.reserve(int64(len(k.tallies[i])*tallyBytes + len(k.times[i])*timesBytes)); err != nil {
			return err
		}
	}
	w.keep(t.columns())
	return nil
}

// choose finds the winners of every label.
func (t *topX) choose(ctx context.Context) error {
	type labelOf struct {
		*keys
		label string
	}
	var all []labelOf
	for _, k := range t.keys {
		k.prepare()
		for _, label := range k.labels {
			all = append(all, labelOf{k, label})
		}
	}
	return t.run.each(ctx, len(all), func(_ *worker, i int) error {
		return all[i].choose(all[i].label, t.shape.Limit)
	})
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

// oneRequest is what a request adds to the tally of its key, by the flag blocked plus one. The lower half of a tally
// counts all requests, the upper half the blocked ones.
var oneRequest = [3]uint64{1, 1, 1 + 1<<32}

// rankedTimes sums up the times of the keys, if any label ranks by them. The sums are valid until the next call.
func (w *worker) rankedTimes(k *keys, of keyColumn, rows []int32) ([][3]duration, error) {
	if !k.timed {
		return nil, nil
	}
	w.times = cleared(w.times, of.entries.Len())
	times := w.times
	var columns [3]*parquet.ColumnValues
	for n, label := range query.TimeLabels {
		var err error
		if columns[n], err = w.column(label.Time, ""); err != nil {
			return nil, err
		}
	}
	var overflow int64
	w.pairs.each(&of, rows, func(rows, codes []int32) {
		for n, column := range columns {
			for i, row := range rows {
				if len(column.Present) > 0 && !column.Present[row] {
					continue
				}
				d := &times[codes[i]][n]
				total := sum{n: d.sum}
				total.add(column.Ints[row])
				overflow |= total.passed
				d.sum = total.n
				d.count++
			}
		}
	})
	return times, whole(sum{passed: overflow})
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

// blockRows is the number of rows that are counted in one step. What a step reads and makes of so many rows fits into
// the processor's first cache.
const blockRows = 1024

// pairs are rows and their keys: rows[i] has the key codes[i]. A row can be in several pairs, or in none.
type pairs struct{ rows, codes []int32 }

// each calls f with the keys of all rows, block by block. They are valid until f returns.
func (p *pairs) each(k *keyColumn, rows []int32, f func(rows, codes []int32)) {
	for block := range slices.Chunk(rows, blockRows) {
		p.fill(k, block)
		f(p.rows, p.codes)
	}
}

// fill makes p the keys of rows.
func (p *pairs) fill(k *keyColumn, rows []int32) {
	if k.starts != nil {
		p.rows, p.codes = p.rows[:0], p.codes[:0]
		for _, row := range rows {
			for _, code := range k.codes[k.starts[row]:k.starts[row+1]] {
				p.rows, p.codes = append(p.rows, row), append(p.codes, code)
			}
		}
		return
	}
	p.rows = slices.Grow(p.rows[:0], len(rows))[:len(rows)]
	p.codes = slices.Grow(p.codes[:0], len(rows))[:len(rows)]
	n := 0
	for _, row := range rows {
		code := k.codes[row]
		p.rows[n], p.codes[n] = row, code
		if code != parquet.Absent {
			n++
		}
	}
	p.rows, p.codes = p.rows[:n], p.codes[:n]
}

// number replaces each code by its number. Pairs of codes without a number are removed.
func (p *pairs) number(numbers []int32) {
	n := 0
	for i, code := range p.codes {
		number := numbers[code]
		p.rows[n], p.codes[n] = p.rows[i], number
		if number != parquet.Absent {
			n++
		}
	}
	p.rows, p.codes = p.rows[:n], p.codes[:n]
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
