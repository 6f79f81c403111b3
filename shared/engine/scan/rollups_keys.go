package scan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

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
			var found [3]slowest
			for time, of := range t.listed[dayColumn{d, column}] {
				if n > len(of.Keys) && !math.IsInf(of.Others, -1) {
					return fmt.Errorf("%w: rollups do not list enough of the slowest keys", ErrUnsupported)
				}
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

// keysOfDay are the keys of a column in a day.
type keysOfDay struct {
	day, column int
	known       rollup.KnownKeys
	members     rollup.Members
	tallies     rollup.Tallies // nil: not only requests are asked for
}

// keysOfDay returns the keys of a column in a day. They are valid until the next call.
func (w *worker) keysOfDay(t *topX, d, n int) (of keysOfDay, _ error) {
	of.day, of.column = d, n
	content, err := w.section(1, t.days[d], rollup.KnownName(t.keys[n].column))
	if err != nil {
		return of, err
	}
	if of.known, err = rollup.DecodeKnown(content); err != nil {
		return of, err
	}
	if content, err = w.section(2, t.days[d], rollup.MembersName(t.keys[n].column)); err != nil {
		return of, err
	}
	of.members, err = rollup.DecodeMembers(content)
	return of, err
}

// find returns the key with a hash: nil if the day does not have the key, or if it is not known. In that case there are
// bounds of its times.
func (t *topX) find(of *keysOfDay, hash uint64) (key *rollup.Key, known bool, bounds rollup.Bounds, _ error) {
	bounds, member := of.members.Find(hash) // most days do not have most keys
	if !member {
		return nil, true, bounds, nil
	}
	if key, known := t.run.rollups.learned.find(t.learnedKey(dayKey{of.day, of.column, hash})); known {
		return key, true, bounds, nil
	}
	if of.tallies != nil {
		if tally, found := of.tallies.Find(hash); found {
			return &rollup.Key{Requests: []rollup.FlagCount{{Count: int64(tally.Requests)}}}, true, bounds, nil
		}
	}
	found, listed, err := of.known.Find(hash)
	if err != nil || listed {
		return &found, true, bounds, err
	}
	return nil, false, bounds, nil
}

// completeDays is the second pass over the days, after that over the row groups of the other days. The records of a day
// are read once, for contested keys, for candidates by time, and for the figures of sure winners. So if more of the
// slowest keys must be compared first, contested keys are counted later.
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
	winners, err := t.lookUp(ctx, t.sureWinners())
	if err != nil {
		return false, err
	}
	all := slices.Clone(slow)
	for _, key := range slices.Concat(unknown, winners) {
		all = append(all, key.dayKey)
	}
	if err := t.readKeys(ctx, all); err != nil {
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
	for n, k := range t.keys {
		of, many := slow[n].needed(k)
		needed, areMany = append(needed, of...), areMany || many
	}
	return needed, areMany, err
}

// addSlowKey adds the times of a candidate in a day.
func (k *keys) addSlowKey(hash uint64, key *rollup.Key) {
	times := [3]duration{durationOf(key.Origin), durationOf(key.Svc), durationOf(key.Total)}
	k.addSlow([]int{k.slow.place(hash)}, []int64{requestsOf(key)}, [][3]duration{times})
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
	add := func(n, place int, key *rollup.Key) error {
		k := t.keys[n]
		k.mu.Lock()
		defer k.mu.Unlock()
		if err := k.checks[place].compare(key.Check); err != nil {
			return err
		}
		if place < k.first {
			k.figures[place].join(figuresOf(key))
			k.texts[place] = copyOf([]byte(key.Text))
		}
		return nil
	}
	return t.eachOfDays(ctx, keysInDays{
		columns: hasWinners, hashes: func(n int) []textHash { return t.keys[n].places.hashes() }, add: add,
		// Spare keys need no figures, and the texts of suspects are compared where they are known.
		needed: func(n, place int) bool { return place < t.keys[n].first },
	})
}

// tiesOfDays finds the texts of ties that days have, and compares their hashes.
func (t *topX) tiesOfDays(ctx context.Context, column int, tied *hashTable, found [][]byte, checks []keyCheck) error {
	is := func(n int) bool { return n == column }
	k := t.keys[column]
	add := func(_, place int, key *rollup.Key) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		found[place] = copyOf([]byte(key.Text))
		return checks[place].compare(key.Check)
	}
	return t.eachOfDays(ctx, keysInDays{columns: is, hashes: func(int) []textHash { return tied.hashes() }, add: add})
}

// keysInDays are keys that are looked for in each day.
type keysInDays struct {
	columns      func(n int) bool
	hashes       func(n int) []textHash // of the keys of a column, by place
	add          func(n, place int, key *rollup.Key) error
	needed       func(n, place int) bool // whether a key is read that is not known; nil: every key
	onlyRequests bool                    // other figures are not needed
}

// eachOfDays calls add with the keys that a day has.
func (t *topX) eachOfDays(ctx context.Context, of keysInDays) error {
	unknown, err := t.lookUp(ctx, of)
	if err != nil || len(unknown) == 0 {
		return err
	}
	keys := make([]dayKey, len(unknown))
	for i, key := range unknown {
		keys[i] = key.dayKey
	}
	if err := t.readKeys(ctx, keys); err != nil {
		return err
	}
	return t.addLearned(unknown, of.add)
}

// unknownKey is a key of a day whose figures must be learned.
type unknownKey struct {
	dayKey
	place int
}

// lookUp calls add with the keys that are known in a day, and returns the others.
func (t *topX) lookUp(ctx context.Context, of keysInDays) (unknown []unknownKey, _ error) {
	var mu sync.Mutex
	err := t.ofDays(ctx, of.columns, func(w *worker, d, n int) error {
		day, err := w.keysOfDay(t, d, n)
		if err == nil && of.onlyRequests {
			day.tallies, err = w.talliesOf(t, d, t.keys[n])
		}
		if err != nil {
			return err
		}
		for place, text := range of.hashes(n) {
			key, known, _, err := t.find(&day, text.hash)
			switch {
			case err != nil:
				return err
			case key != nil:
				err = of.add(n, place, key)
			case !known && (of.needed == nil || of.needed(n, place)):
				mu.Lock()
				unknown = append(unknown, unknownKey{dayKey{d, n, text.hash}, place})
				mu.Unlock()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return unknown, err
}

// addLearned calls add with the keys that were learned, and that their days have.
func (t *topX) addLearned(keys []unknownKey, add func(n, place int, key *rollup.Key) error) error {
	for _, key := range keys {
		if learned := t.learned[key.dayKey]; learned != nil {
			if err := add(key.column, key.place, learned); err != nil {
				return err
			}
		}
	}
	return nil
}
