package scan

import (
	"cmp"
	"context"
	"slices"

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
	listed  map[dayColumn][3]rollup.Slowest // of days
	learned map[dayKey]*rollup.Key          // that are not in the rollup of a day; nil: the day does not have the key
}

func newTopX(r *run, shape query.TopX, days []rolledUpDay, groups []*group) *topX {
	t := &topX{
		questions: r.questions(), run: r, shape: shape, groups: groups, found: make([]bool, len(groups)), chosen: make([][]int32, len(groups)),
		kept: make([][]*keysOfRows, len(groups)), days: days, listed: map[dayColumn][3]rollup.Slowest{}, learned: map[dayKey]*rollup.Key{},
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
	t.keepRows(w, i, rows)
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
func (t *topX) keepRows(w *worker, i int, rows []int32) {
	t.found[i] = true
	if w.mayKeepRows(rows) {
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
		var unproven bool
		if unproven, err = t.complete(ctx); err != nil {
			return err
		}
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

// complete is the second pass. It completes the counts of the keys that can still win, if there are any. later means that
// it has not, because more of the slowest keys must be compared before.
func (t *topX) complete(ctx context.Context) (later bool, _ error) {
	open := slices.DeleteFunc(slices.Clone(t.keys), func(k *keys) bool { return !k.open() })
	if len(open) == 0 {
		return false, nil
	}
	err := t.eachColumn(ctx, open, func(w *worker, i int, k *keys) error { return t.completeKeys(w, i, k) },
		func(_ int, k *keys, p *keysOfRows) error { return k.completeKept(p) })
	if err != nil {
		return false, err
	}
	later, err = t.completeDays(ctx, open)
	for _, k := range open {
		if later {
			clear(k.requests)
		} else {
			k.completed()
		}
	}
	return later, err
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

// moreSlowest finds the n slowest keys of each row group, of every column with a label that ranks by time, but for those that
// are faster than the winners are known to be.
func (t *topX) moreSlowest(ctx context.Context, n int) error {
	for _, k := range t.keys {
		k.findLeast()
	}
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
