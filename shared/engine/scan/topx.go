package scan

import (
	"cmp"
	"context"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// topX reads the columns several times. The first pass counts what ranks the keys of each row group, by the codes of
// its dictionaries, and keeps the counts of the keys that can win. The keys of the row groups are matched by their
// hashes. The second pass completes the counts of the keys that can still win. The last one makes the twenty figures of
// the winners, and checks their texts. Columns with more keys than memory allows are divided: see rankDivided.
//
// Days that are rolled up have the counts of all keys that can rank first, and the figures of keys that are likely to.
func (r *run) topX(
	ctx context.Context, shape query.TopX, days []rolledUpDay, groups []*group,
) ([]query.TopXRow, error) {
	t := newTopX(r, shape, days, groups)
	t.takeKept()
	if err := t.rankDays(ctx); err != nil {
		return nil, err
	}
	if err := r.each(ctx, len(groups), func(_ *worker, i int) error { return t.rankKept(i) }); err != nil {
		return nil, err
	}
	if err := t.run.scanSome(ctx, t.groups, func(i int) bool { return t.lacks(i, t.keys) }, t.rank); err != nil {
		return nil, err
	}
	if err := t.choose(ctx); err != nil {
		return nil, err
	}
	if err := t.breakTies(ctx); err != nil {
		return nil, err
	}
	if err := t.rankDivided(ctx); err != nil {
		return nil, err
	}
	for _, k := range t.keys {
		if err := k.placeWinners(); err != nil {
			return nil, err
		}
	}
	if err := t.sumUpDays(ctx); err != nil {
		return nil, err
	}
	left, err := t.sumUpKept(ctx)
	if err != nil {
		return nil, err
	}
	err = t.run.scanSome(ctx, t.groups, func(i int) bool { return len(left[i]) > 0 }, func(w *worker, i int) error {
		return t.sumUp(w, i, left[i])
	})
	if err != nil {
		return nil, err
	}
	return t.rows(), nil
}

// topX holds the figures counted so far.
type topX struct {
	run       *run
	shape     query.TopX
	groups    []*group
	keys      []*keys
	questions []string        // of the partials of keys
	found     []bool          // whether each row group has matching rows
	chosen    [][]int32       // these rows; nil: they are not kept
	kept      [][]*keysOfRows // of each row group and column; nil: nothing is kept

	days    []rolledUpDay
	learned map[dayKey]*rollup.Key // that are not in the rollup of a day; nil: the day does not have the key
}

func newTopX(r *run, shape query.TopX, days []rolledUpDay, groups []*group) *topX {
	t := &topX{
		questions: r.questions(), run: r, shape: shape, groups: groups, found: make([]bool, len(groups)), chosen: make([][]int32, len(groups)),
		kept: make([][]*keysOfRows, len(groups)), days: days, learned: map[dayKey]*rollup.Key{},
	}
	for _, part := range partsOf(shape) {
		k := newKeys(r, part.Column, part.Labels, shape.Limit, len(groups)+len(days))
		k.reserve, k.whole = t.reserve, len(days) > 0
		if r.partials != nil {
			k.margin = margin(shape.Limit)
		}
		t.keys = append(t.keys, k)
	}
	for i := range t.kept {
		t.kept[i] = make([]*keysOfRows, len(t.keys))
	}
	return t
}

// partsOf returns the columns with the keys of the labels that a shape has, and these labels.
func partsOf(shape query.TopX) (parts []query.TopXPart) {
	for _, part := range query.TopXParts {
		part.Labels = slices.DeleteFunc(slices.Clone(part.Labels), func(label string) bool { return !shape.Has(label) })
		if len(part.Labels) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// rank is the first pass over row group i.
func (t *topX) rank(w *worker, i int) error {
	rows, err := w.chosen()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		t.storeNone(i)
		return nil
	}
	t.keepRows(i, rows)
	blocked, err := w.column("blocked", "")
	if err != nil {
		return err
	}
	for n, k := range t.keys {
		if t.kept[i][n] != nil || k.isDivided() {
			continue
		}
		of, err := w.topKeys(k.column)
		if err != nil {
			return err
		}
		w.tallies = cleared(w.tallies, len(of.hashes))
		w.tally(&of.keyColumn, rows, blocked.Flags)
		if err := k.keep(i, w.tallies, of.hashes); err != nil {
			return err
		}
		var times [][3]duration
		if k.timed {
			if times, err = w.timesOf(&of.keyColumn, nil, len(of.hashes), rows); err != nil {
				return err
			}
			if err := k.keepSlowest(i, firstCandidates, times, of.hashes); err != nil {
				return err
			}
		}
		t.store(i, n, &of.keyHashes, w.tallies, times)
	}
	return nil
}

// keepRows keeps the matching rows of row group i for the other passes if there is enough memory.
func (t *topX) keepRows(i int, rows []int32) {
	t.found[i] = true
	if areFirstRows(rows) || t.run.spare(int64(4*cap(rows)), t.run.memory/2) {
		t.chosen[i] = rows
	}
}

// rowsOf returns the matching rows of row group i.
func (t *topX) rowsOf(w *worker, i int) ([]int32, error) {
	if !t.found[i] || t.chosen[i] != nil {
		return t.chosen[i], nil
	}
	return w.chosen()
}

// reserve counts memory. If it is short, the column whose keys take most of it is divided.
func (t *topX) reserve(bytes int64) error {
	return t.run.reserveOr(bytes, func() bool {
		largest := slices.MaxFunc(t.keys, func(a, b *keys) int { return cmp.Compare(a.kept(), b.kept()) })
		if largest.kept() == 0 || largest.whole {
			return false
		}
		largest.divide()
		return true
	})
}

// orDivide divides a column if an error is that memory is short.
func orDivide(k *keys, err error) error {
	if !isShort(err) || k.whole {
		return err
	}
	k.divide()
	return nil
}

// tally counts the requests of each key in w.tallies.
func (w *worker) tally(of *keyColumn, rows []int32, blocked []int8) {
	tallies := w.tallies
	if of.starts != nil {
		w.pairs.each(of, nil, rows, func(rows, codes []int32) {
			for n, code := range codes {
				tallies[code] += oneRequest[blocked[rows[n]]+1]
			}
		})
		return
	}
	for _, row := range rows {
		if code := of.codes[row]; code != parquet.Absent {
			tallies[code] += oneRequest[blocked[row]+1]
		}
	}
}

// choose finds the winners of every label, but for the columns that are divided.
func (t *topX) choose(ctx context.Context) error {
	err := t.run.each(ctx, len(t.keys), func(_ *worker, i int) error {
		return orDivide(t.keys[i], t.keys[i].rankByBlocked())
	})
	for n := firstCandidates; err == nil; n *= 4 {
		for _, k := range t.keys {
			if err := orDivide(k, k.takeSlowest()); err != nil {
				return err
			}
		}
		if err := t.complete(ctx); err != nil {
			return err
		}
		unproven := false
		for _, k := range t.keys {
			proven, err := k.rankByTime()
			if err := orDivide(k, err); err != nil {
				return err
			}
			unproven = unproven || !proven && !k.divided
		}
		if !unproven {
			break
		}
		err = t.moreSlowest(ctx, 4*n)
	}
	if err != nil {
		return err
	}
	for _, k := range t.keys {
		if err := k.cut(); err != nil {
			return err
		}
	}
	return nil
}

// complete is the second pass. It completes the counts of the keys that can still win, if there are any.
func (t *topX) complete(ctx context.Context) error {
	open := slices.DeleteFunc(slices.Clone(t.keys), func(k *keys) bool { return !k.open() })
	if len(open) == 0 {
		return nil
	}
	err := t.eachColumn(ctx, open, func(w *worker, i int, k *keys) error { return t.completeKeys(w, i, k) },
		func(_ int, k *keys, p *keysOfRows) error { return k.completeKept(p) })
	if err == nil {
		err = t.completeDays(ctx, open)
	}
	for _, k := range open {
		k.completed()
	}
	return err
}

// eachColumn calls read for each row group and column, or fromKept if the keys are kept.
func (t *topX) eachColumn(
	ctx context.Context, columns []*keys,
	read func(w *worker, i int, k *keys) error, fromKept func(i int, k *keys, p *keysOfRows) error,
) error {
	err := t.run.each(ctx, len(t.groups), func(_ *worker, i int) error {
		for n, k := range t.keys {
			if p := t.kept[i][n]; p != nil && slices.Contains(columns, k) {
				if err := fromKept(i, k, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.run.scanSome(ctx, t.groups, func(i int) bool { return t.lacks(i, columns) }, func(w *worker, i int) error {
		for n, k := range t.keys {
			if t.kept[i][n] == nil && slices.Contains(columns, k) {
				if err := read(w, i, k); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (t *topX) completeKeys(w *worker, i int, k *keys) error {
	rows, err := t.rowsOf(w, i)
	if err != nil || len(rows) == 0 {
		return err
	}
	of, err := w.topKeys(k.column)
	if err != nil {
		return err
	}
	if places := w.number(&of, &k.contested); len(places) > 0 {
		if err := of.readCodes(w); err != nil {
			return err
		}
		k.addContested(places, w.requestsOf(&of.keyColumn, w.numbers, len(places), rows))
	}
	if places := w.number(&of, &k.slow); len(places) > 0 {
		if err := of.readCodes(w); err != nil {
			return err
		}
		times, err := w.timesOf(&of.keyColumn, w.numbers, len(places), rows)
		if err != nil {
			return err
		}
		k.addSlow(places, w.requestsOf(&of.keyColumn, w.numbers, len(places), rows), times)
	}
	return nil
}

// moreSlowest finds the n slowest keys of each row group, of every column with a label that ranks by time.
func (t *topX) moreSlowest(ctx context.Context, n int) error {
	if err := t.keepListed(n); err != nil {
		return err
	}
	timed := slices.DeleteFunc(slices.Clone(t.keys), func(k *keys) bool { return !k.timed || k.isDivided() })
	return t.eachColumn(ctx, timed, func(w *worker, i int, k *keys) error {
		rows, err := t.rowsOf(w, i)
		if err != nil || len(rows) == 0 {
			return err
		}
		of, err := w.topKeys(k.column)
		if err == nil {
			err = of.readCodes(w)
		}
		if err != nil {
			return err
		}
		times, err := w.timesOf(&of.keyColumn, nil, len(of.hashes), rows)
		if err != nil {
			return err
		}
		return k.keepSlowest(i, n, times, of.hashes)
	}, func(i int, k *keys, p *keysOfRows) error { return k.keepSlowest(i, n, p.times, p.hashes) })
}

// oneRequest is what a request adds to the tally of its key, by the flag blocked plus one. The lower half of a tally
// counts all requests, the upper half the blocked ones.
var oneRequest = [3]uint64{1, 1, 1 + 1<<32}

// number numbers the keys that are in a table: w.numbers maps each code to its number, or to parquet.Absent. It returns
// the place of each number in the table. Numbers and places are valid until the next call.
func (w *worker) number(of *topKeys, table *hashTable) (places []int) {
	w.places = w.places[:0]
	w.numbers = slices.Grow(w.numbers[:0], len(of.hashes))[:len(of.hashes)]
	for code, hash := range of.hashes {
		w.numbers[code] = parquet.Absent
		if place := table.place(hash); place >= 0 {
			w.numbers[code] = int32(len(w.places))
			w.places = append(w.places, place)
		}
	}
	return w.places
}

// requestsOf counts the requests of keys by their numbers, which are less than n.
func (w *worker) requestsOf(of *keyColumn, numbers []int32, n int, rows []int32) []int64 {
	requests := make([]int64, n)
	w.pairs.each(of, numbers, rows, func(_, codes []int32) {
		for _, code := range codes {
			requests[code]++
		}
	})
	return requests
}

// timesOf sums up the times of keys by their numbers, or by their codes if numbers is nil. Both are less than n. The
// sums are valid until the next call.
func (w *worker) timesOf(of *keyColumn, numbers []int32, n int, rows []int32) ([][3]duration, error) {
	w.times = cleared(w.times, n)
	times := w.times
	var columns [3]*parquet.ColumnValues
	for n, label := range query.TimeLabels {
		var err error
		if columns[n], err = w.column(label.Time, ""); err != nil {
			return nil, err
		}
	}
	var overflow int64 // negative after a sum of more than 64 bits
	w.pairs.each(of, numbers, rows, func(rows, codes []int32) {
		for n, column := range columns {
			for i, row := range rows {
				if len(column.Present) > 0 && !column.Present[row] {
					continue
				}
				d := &times[codes[i]][n]
				n := column.Ints[row]
				total := d.sum + n
				overflow |= (d.sum ^ total) & (n ^ total)
				d.sum = total
				d.count++
			}
		}
	})
	if overflow < 0 {
		return times, w.limitTimes(times, columns, of, numbers, rows)
	}
	return times, nil
}

// limitTimes replaces the sums of the times of keys by the nearest integers of 64 bits.
func (w *worker) limitTimes(
	times [][3]duration, columns [3]*parquet.ColumnValues, of *keyColumn, numbers, rows []int32,
) error {
	sums := make([][3]sum, len(times))
	w.pairs.each(of, numbers, rows, func(rows, codes []int32) {
		for n, column := range columns {
			for i, row := range rows {
				if len(column.Present) == 0 || column.Present[row] {
					sums[codes[i]][n].add(column.Ints[row])
				}
			}
		}
	})
	for code := range sums {
		for n, s := range sums[code] {
			if !s.fits() && s.high < 0 {
				return errLongTimes
			}
			times[code][n].sum = s.whole()
		}
	}
	return nil
}

// keyColumn holds the keys of a row group for one label. Row i has the key codes[i]. If starts is set, row i has the
// keys codes[starts[i]:starts[i+1]].
type keyColumn struct {
	starts, codes []int32
	entries       texts
	repeats       bool // a row may have a key several times, and counts once
}

// texts are the entries of a dictionary.
type texts interface {
	Len() int
	At(i int32) []byte
}

// blockRows is the number of rows that are counted in one step. The data that a step reads and writes for so many rows
// fits into the processor's first cache.
const blockRows = 1024

// pairs are rows and their keys: rows[i] has the key codes[i]. A row can be in several pairs, or in none.
type pairs struct{ rows, codes []int32 }

// each calls f with the rows and their keys, block by block. Unless numbers is nil, f gets the numbers of the keys
// instead of their codes. The slices are valid until f returns.
func (p *pairs) each(k *keyColumn, numbers, rows []int32, f func(rows, codes []int32)) {
	for block := range slices.Chunk(rows, blockRows) {
		p.fill(k, block)
		if numbers != nil {
			p.number(numbers)
		}
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
