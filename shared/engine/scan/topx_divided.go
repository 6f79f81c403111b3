package scan

import (
	"bytes"
	"cmp"
	"context"

	"github.com/orrery/orrery/shared/query"
)

// rankDivided ranks the keys of the columns that have too many different keys to keep the counts of all row groups, such
// as a million addresses that occur once each. It counts the keys by their texts, one part of the texts in each pass.
func (t *topX) rankDivided(ctx context.Context) error {
	var divided []*dividedKeys
	lists := countedLists[keyCounts]{run: t.run}
	for _, k := range t.keys {
		if k.divided {
			d := &dividedKeys{keys: k, texts: newCounted[keyCounts](keyCountsBytes), first: map[string][]rankedKey{}}
			divided, lists.all = append(divided, d), append(lists.all, &d.texts)
		}
	}
	err := lists.eachPart(func(open []int) error {
		err := t.run.scan(ctx, t.groups, func(w *worker, i int) error {
			rows, err := t.rowsOf(w, i)
			if err != nil || len(rows) == 0 {
				return err
			}
			return lists.count(open, func(n int) (int64, error) { return divided[n].count(w, rows) })
		})
		if err != nil {
			return err
		}
		return t.run.each(ctx, len(open), func(_ *worker, i int) error {
			divided[open[i]].rank()
			return nil
		})
	})
	for _, d := range divided {
		d.win()
	}
	return err
}

// dividedKeys holds the keys of a column that is divided.
type dividedKeys struct {
	*keys
	texts counted[keyCounts]
	first map[string][]rankedKey // of each label, of all parts so far
}

// keyCounts holds the counts that rank a key in all row groups.
type keyCounts struct {
	requests, blocked int64
	times             [3]struct { // in the order of query.TimeLabels
		sum   sum
		count int64
	}
}

const keyCountsBytes = 88

// rankedKey is a key that can win.
type rankedKey struct {
	text []byte
	total
}

// count counts the keys of a row group. It returns the memory that this takes.
func (d *dividedKeys) count(w *worker, rows []int32) (grown int64, _ error) {
	of, err := w.keysOf(d.column)
	if err != nil {
		return 0, err
	}
	blocked, err := w.column("blocked", "")
	if err != nil {
		return 0, err
	}
	w.tallies = cleared(w.tallies, of.entries.Len())
	w.tally(&of, rows, blocked.Flags)
	var times [][3]duration
	if d.timed {
		if times, err = w.timesOf(&of, nil, of.entries.Len(), rows); err != nil {
			return 0, err
		}
	}
	w.meet(of.entries, func(code int32) bool { return w.tallies[code] > 0 })
	d.texts.mu.Lock()
	defer d.texts.mu.Unlock()
	before := d.texts.bytes()
	for i, code := range w.met {
		to := d.texts.of(of.entries.At(code), w.hashes[i])
		if to == nil {
			continue
		}
		to.requests += int64(uint32(w.tallies[code]))
		to.blocked += int64(w.tallies[code] >> 32)
		if d.timed {
			for n, of := range times[code] {
				to.times[n].sum.add(of.sum)
				to.times[n].count += of.count
			}
		}
	}
	return d.texts.bytes() - before, nil
}

// rank ranks the keys of a part among those of the parts before.
func (d *dividedKeys) rank() {
	for _, label := range d.labels {
		time := timeOf(label)
		ahead := aheadOf(time)
		var first []rankedKey // of this part
		for code := range d.texts.counts {
			of := &d.texts.counts[code]
			key := rankedKey{d.texts.texts.At(int32(code)), total{requests: of.requests, blocked: of.blocked}}
			if time >= 0 {
				if of.times[time].count == 0 {
					continue
				}
				key.time = query.Times{Count: of.times[time].count, Sum: of.times[time].sum.whole()}
			}
			first = insertFirst(first, key, d.limit, ahead)
		}
		for _, key := range first {
			key.text = bytes.Clone(key.text)
			d.first[label] = insertFirst(d.first[label], key, d.limit, ahead)
		}
	}
}

// aheadOf returns the order of keys: by blocked requests, or by a time, and then by their texts.
func aheadOf(time int) func(a, b rankedKey) int {
	order := byBlocked
	if time >= 0 {
		order = byTime
	}
	return func(a, b rankedKey) int { return cmp.Or(order(a.total, b.total), bytes.Compare(a.text, b.text)) }
}

// win makes the first keys of each label its winners.
func (d *dividedKeys) win() {
	for label, first := range d.first {
		winners := make([]total, len(first))
		for i, key := range first {
			winners[i] = key.total
			winners[i].hash = d.run.textHash(key.text).hash
		}
		d.ranked[label] = winners
	}
}
