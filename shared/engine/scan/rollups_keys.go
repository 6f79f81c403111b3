package scan

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/rollup"
)

// dayKey is a key of a column in a day that is rolled up.
type dayKey struct {
	day, column int
	hash        uint64
}

// dayColumn names a column of topx in a day that is rolled up.
type dayColumn struct{ day, column int }

// ofDays calls do for each day and some columns.
func (t *topX) ofDays(ctx context.Context, columns func(n int) bool, do func(w *worker, d, n int) error) error {
	return t.run.each(ctx, len(t.days), func(w *worker, d int) error {
		for n := range t.keys {
			if w.ctx.Err() != nil {
				return context.Cause(w.ctx)
			}
			if columns(n) {
				if err := do(w, d, n); err != nil {
					return unusable(err)
				}
			}
		}
		return nil
	})
}

// rankDays is the first pass over the days.
func (t *topX) rankDays(ctx context.Context) error {
	every := func(int) bool { return true }
	err := t.ofDays(ctx, every, func(w *worker, d, n int) error {
		k := t.keys[n]
		tallies, err := w.talliesOf(t, d, k)
		if err != nil {
			return err
		}
		if !tallies.All() && tallies.Len() < k.limit {
			return fmt.Errorf("%w: rollups do not list enough keys for the limit", ErrUnsupported)
		}
		counts, hashes := make([]uint64, tallies.Len()), make([]uint64, tallies.Len())
		for i := range counts {
			of := tallies.At(i)
			counts[i], hashes[i] = uint64(of.Blocked)<<32|uint64(of.Requests), of.First
		}
		return k.keep(len(t.groups)+d, counts, hashes)
	})
	if err != nil {
		return err
	}
	if err := t.readSlowest(); err != nil {
		return err
	}
	return t.keepListed(firstCandidates)
}

// readSlowest reads the lists of the slowest keys.
func (t *topX) readSlowest() error {
	for d, day := range t.days {
		for n, k := range t.keys {
			if !k.timed {
				continue
			}
			content, err := t.run.section(day, rollup.SlowestName(k.column), nil)
			if err != nil {
				return err
			}
			listed, err := rollup.DecodeSlowest(content)
			if err != nil {
				return unusable(err)
			}
			t.listed[dayColumn{d, n}] = listed
		}
	}
	return nil
}

// keepListed keeps the n slowest keys of each day by each time, but for those that are too fast.
func (t *topX) keepListed(n int) error {
	for column, k := range t.keys {
		k.allListed = true
		for d := range t.days {
			if !k.timed {
				continue
			}
			listed := t.listed[dayColumn{d, column}]
			if !k.suffice(n, &listed) {
				all, err := t.slowestOfAll(d, column)
				if err == nil {
					err = k.keepSlow(len(t.groups)+d, &all)
				}
				if err != nil {
					return err
				}
				continue
			}
			var found [3]slowest
			for time, of := range listed {
				found[time].others = of.Others
				for i, key := range of.Keys {
					if isFast := k.isFast(time, key.Average); isFast || i == n {
						found[time].others = key.Average
						k.allListed = k.allListed && isFast
						break
					}
					found[time].hashes = append(found[time].hashes, key.First)
				}
			}
			if err := k.keepSlow(len(t.groups)+d, &found); err != nil {
				return err
			}
		}
	}
	return nil
}

// suffice reports whether lists have the n slowest keys, but for those that are too fast.
func (k *keys) suffice(n int, listed *[3]rollup.Slowest) bool {
	for time, of := range listed {
		if n > len(of.Keys) && !math.IsInf(of.Others, -1) && !k.isFast(time, of.Others) {
			return false
		}
	}
	return true
}

// talliesOf returns the tallies of a column in a day. They are valid until the next call.
func (w *worker) talliesOf(t *topX, d int, k *keys) (rollup.Tallies, error) {
	content, err := w.section(0, t.days[d], rollup.TalliesName(k.column))
	if err != nil {
		return nil, err
	}
	return rollup.DecodeTallies(content)
}

// section reads a section of the lists of a day into one of the buffers of the worker.
func (w *worker) section(buffer int, day rolledUpDay, name string) ([]byte, error) {
	content, err := w.run.section(day, name, w.sections[buffer])
	if err == nil {
		w.sections[buffer] = content
	}
	return content, err
}

// nextSection returns a function that reads sections, each into another buffer of the worker.
func (w *worker) nextSection() func(day rolledUpDay, name string) ([]byte, error) {
	buffer := -1
	return func(day rolledUpDay, name string) ([]byte, error) {
		buffer++
		return w.section(buffer, day, name)
	}
}

// completeDays is the second pass over the days, after that over the row groups of the other days. The records of a day
// are read once: for contested keys, for candidates by time and, if any of these must be read, for the figures of sure
// winners. So if more of the slowest keys must be compared first, contested keys are counted later.
func (t *topX) completeDays(ctx context.Context, open []*keys) (later bool, _ error) {
	if len(t.days) == 0 {
		return false, nil
	}
	contested := t.contestedOf(open)
	unknown, err := t.lookUp(ctx, contested)
	if err != nil {
		return false, err
	}
	slow, areMany, err := t.slowOf(ctx, open)
	if err != nil || areMany {
		return areMany, err
	}
	if len(unknown)+len(slow) == 0 {
		return false, nil
	}
	winners, err := t.lookUp(ctx, t.sureWinners())
	if err != nil {
		return false, err
	}
	all := append(dayKeysOf(slices.Concat(unknown, winners)), slow...)
	if err := t.readKeys(ctx, all, false); err != nil {
		return false, err
	}
	for _, key := range slow {
		if learned := t.learned[key]; learned != nil {
			t.keys[key.column].addSlowKey(key.hash, learned)
		}
	}
	return false, t.addLearned(unknown, contested.add)
}

// slowOf adds the times of the candidates that days know. It returns those that must be learned, or that more of the
// slowest keys must be compared because they are many.
func (t *topX) slowOf(ctx context.Context, open []*keys) (needed []dayKey, areMany bool, _ error) {
	slow := make([]slowKeys, len(t.keys))
	isOpen := func(n int) bool { return slices.Contains(open, t.keys[n]) && t.keys[n].slow.n > 0 }
	err := t.ofDays(ctx, isOpen, func(w *worker, d, n int) error {
		of, err := w.keysOfDay(t, d, n)
		if err != nil {
			return err
		}
		return t.completeSlow(&of, &slow[n])
	})
	if err != nil {
		return nil, false, err
	}
	for n, k := range t.keys {
		of, many := slow[n].needed(k)
		needed, areMany = append(needed, of...), areMany || many
	}
	return needed, areMany, nil
}

// addSlowKey adds the times of a candidate in a day.
func (k *keys) addSlowKey(hash uint64, key *rollup.Key) {
	k.addSlow([]int{k.slow.place(hash)}, []int64{requestsOf(key)}, [][3]duration{durationsOf(key)})
}

// contestedOf are the contested keys, whose requests are added.
func (t *topX) contestedOf(open []*keys) keysInDays {
	return keysInDays{
		columns: func(n int) bool { return slices.Contains(open, t.keys[n]) && t.keys[n].contested.n > 0 },
		hashes:  func(n int) []textHash { return t.keys[n].contested.hashes() },
		add: func(n, place int, key *rollup.Key) error {
			t.keys[n].addContested([]int{place}, []int64{requestsOf(key)})
			return nil
		},
		onlyRequests: true,
	}
}

// sureWinners are the keys that win by blocked requests, whatever the second pass finds.
func (t *topX) sureWinners() keysInDays {
	winners := make([][]textHash, len(t.keys))
	for n, k := range t.keys {
		winners[n] = k.sureWinners()
	}
	return keysInDays{
		columns: func(n int) bool { return len(winners[n]) > 0 },
		hashes:  func(n int) []textHash { return winners[n] },
		add:     func(_, _ int, _ *rollup.Key) error { return nil }, // in the last pass
	}
}

func requestsOf(key *rollup.Key) (n int64) {
	for _, of := range key.Requests {
		n += of.Count
	}
	return n
}

// sumUpDays is the last pass over the days.
func (t *topX) sumUpDays(ctx context.Context) error {
	hasWinners := func(n int) bool { return t.keys[n].places.n > 0 }
	hashes := func(n int) []textHash { return t.keys[n].places.hashes() }
	add := func(n, place int, key *rollup.Key) error {
		k := t.keys[n]
		k.mu.Lock()
		defer k.mu.Unlock()
		if place < k.first {
			k.figures[place].join(figuresOf(key))
		}
		return k.nameOfDay(place, key)
	}
	err := t.eachOfDays(ctx, keysInDays{
		columns: hasWinners, hashes: hashes, add: add,
		// Spare keys need no figures, and the texts of suspects are compared where they are known.
		needed: func(n, place int) bool { return place < t.keys[n].first },
	})
	if err != nil {
		return err
	}
	return t.nameWinners(ctx)
}

// nameWinners finds the texts of winners that no day knows, so that they are nameless in all of them.
func (t *topX) nameWinners(ctx context.Context) error {
	for n, k := range t.keys {
		var nameless hashTable
		for place, hash := range k.places.hashes()[:k.first] {
			if k.texts[place] == nil {
				nameless.add(hash.hash)
			}
		}
		if nameless.n == 0 {
			continue
		}
		found, checks := make([][]byte, nameless.n), make([]keyCheck, nameless.n)
		if err := t.textsOfDays(ctx, n, &nameless, found, checks); err != nil {
			return err
		}
		for i, hash := range nameless.hashes() {
			k.texts[k.places.place(hash.hash)] = found[i]
		}
	}
	return nil
}

// nameOfDay takes the text of a winner in a day. mu is held.
func (k *keys) nameOfDay(place int, key *rollup.Key) error {
	if key.Nameless {
		return nil
	}
	if place < k.first {
		k.texts[place] = copyOf([]byte(key.Text))
	}
	return k.checks[place].compare(key.Check)
}

// textsOfDays finds the texts of some keys of a column that days have, and compares their hashes. Of the days that have
// a key whose text none of them knows, it reads one.
func (t *topX) textsOfDays(ctx context.Context, column int, keys *hashTable, found [][]byte, checks []keyCheck) error {
	k := t.keys[column]
	of := keysInDays{
		columns: func(n int) bool { return n == column },
		hashes:  func(int) []textHash { return keys.hashes() },
		add: func(_, place int, key *rollup.Key) error {
			k.mu.Lock()
			defer k.mu.Unlock()
			found[place] = copyOf([]byte(key.Text))
			return checks[place].compare(key.Check)
		},
		named: true,
	}
	unknown, err := t.lookUp(ctx, of)
	for err == nil && len(unknown) > 0 {
		var now, later []unknownKey
		asked := make([]bool, keys.n)
		for _, key := range unknown {
			switch {
			case found[key.place] != nil:
			case asked[key.place]:
				later = append(later, key)
			default:
				asked[key.place], now = true, append(now, key)
			}
		}
		if err = t.readKeys(ctx, dayKeysOf(now), true); err == nil {
			err = t.addLearned(now, of.add)
		}
		unknown = later
	}
	return err
}
