package scan

import (
	"context"
	"sync"

	"github.com/orrery/orrery/shared/rollup"
)

// keysOfDay are the keys of a column in a day.
type keysOfDay struct {
	day, column int
	known       rollup.KnownKeys
	members     rollup.Members
	tallies     rollup.Tallies // nil: not only requests are asked for
}

// keysOfDay returns the keys of a column in a day. They are valid until the next call.
func (w *worker) keysOfDay(t *topX, d, n int) (of keysOfDay, _ error) {
	return t.keysOfDay(d, n, w.section)
}

// keysOfDay returns the keys of a column in a day. read reads each section into another buffer.
func (t *topX) keysOfDay(
	d, n int, read func(buffer int, day rolledUpDay, name string) ([]byte, error),
) (of keysOfDay, _ error) {
	of.day, of.column = d, n
	content, err := read(1, t.days[d], rollup.KnownName(t.keys[n].column))
	if err != nil {
		return of, err
	}
	if of.known, err = rollup.DecodeKnown(content); err != nil {
		return of, err
	}
	if content, err = read(2, t.days[d], rollup.MembersName(t.keys[n].column)); err != nil {
		return of, err
	}
	of.members, err = rollup.DecodeMembers(content)
	return of, err
}

// find returns the key with a hash: nil if the day does not have the key, or if it is not known. In that case there are
// bounds of its times.
func (t *topX) find(of *keysOfDay, hash uint64) (key *rollup.Key, known bool, bounds rollup.Bounds, _ error) {
	_, bounds, member := of.members.Find(hash) // most days do not have most keys
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

// keysInDays are keys that are looked for in each day.
type keysInDays struct {
	columns      func(n int) bool
	hashes       func(n int) []textHash // of the keys of a column, by place
	add          func(n, place int, key *rollup.Key) error
	needed       func(n, place int) bool // whether a key is read that is not known; nil: every key
	onlyRequests bool                    // other figures are not needed
	named        bool                    // nameless keys are not known
}

// eachOfDays calls add with the keys that a day has.
func (t *topX) eachOfDays(ctx context.Context, of keysInDays) error {
	unknown, err := t.lookUp(ctx, of)
	if err != nil || len(unknown) == 0 {
		return err
	}
	if err := t.readKeys(ctx, dayKeysOf(unknown), of.named); err != nil {
		return err
	}
	return t.addLearned(unknown, of.add)
}

// unknownKey is a key of a day whose figures must be learned.
type unknownKey struct {
	dayKey
	place int
}

func dayKeysOf(keys []unknownKey) []dayKey {
	all := make([]dayKey, len(keys))
	for i, key := range keys {
		all[i] = key.dayKey
	}
	return all
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
			case key != nil && (!of.named || !key.Nameless):
				err = of.add(n, place, key)
			case (key != nil || !known) && (of.needed == nil || of.needed(n, place)):
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
