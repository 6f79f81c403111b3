package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/rollup"
)

// daysOfKeys are the days of topx that are rolled up. If a pass needs what a rollup does not have, the row groups of the
// day follow the others, and the pass reads its column there instead.
type daysOfKeys struct {
	all  []rolledUpDay
	rest int      // the number of row groups of the other days
	of   []int    // the days of the row groups that follow these
	need [][]bool // for each day and column, whether the pass reads it
}

// begin begins a pass: no day is needed.
func (d *daysOfKeys) begin(columns int) {
	d.need = make([][]bool, len(d.all))
	for i := range d.need {
		d.need[i] = make([]bool, columns)
	}
}

func (d *daysOfKeys) reads(group, column int) bool { return d.need[d.of[group-d.rest]][column] }

// ofDays calls find for each day and some columns. If find reports that records are needed, the pass reads the column.
func (t *topX) ofDays(
	ctx context.Context, columns func(n int) bool, find func(day rolledUpDay, d, n int) (complete bool, _ error),
) error {
	if len(t.days.all) == 0 {
		return nil
	}
	t.days.begin(len(t.keys))
	err := t.run.each(ctx, len(t.days.all), func(w *worker, d int) error {
		for n := range t.keys {
			if !columns(n) {
				continue
			}
			if w.ctx.Err() != nil {
				return context.Cause(w.ctx)
			}
			complete, err := find(t.days.all[d], d, n)
			if err != nil {
				return unusable(err)
			}
			t.days.need[d][n] = !complete
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.openDays(ctx)
}

// openDays adds the row groups of the days that the pass needs.
func (t *topX) openDays(ctx context.Context) error {
	for d := range t.days.all {
		day := &t.days.all[d]
		if !slices.Contains(t.days.need[d], true) || day.groups != nil {
			continue
		}
		if err := t.run.open(ctx, day); err != nil {
			return err
		}
		for range day.groups {
			t.days.of = append(t.days.of, d)
			t.found, t.chosen = append(t.found, true), append(t.chosen, nil)
			t.kept = append(t.kept, make([]*keysOfRows, len(t.keys)))
		}
		t.groups = append(t.groups, day.groups...)
	}
	return nil
}

// rankDays is the first pass over the days.
func (t *topX) rankDays(ctx context.Context) error {
	every := func(int) bool { return true }
	return t.ofDays(ctx, every, func(day rolledUpDay, d, n int) (bool, error) {
		k := t.keys[n]
		tallies, err := t.tallies(day, k)
		if err != nil {
			return false, err
		}
		if !tallies.All() && tallies.Len() < k.limit {
			return false, fmt.Errorf("%w: rollups do not list enough keys for the limit", ErrUnsupported)
		}
		counts, hashes := make([]uint64, tallies.Len()), make([]uint64, tallies.Len())
		for i := range counts {
			of := tallies.At(i)
			counts[i], hashes[i] = uint64(of.Blocked)<<32|uint64(of.Requests), of.First
		}
		if err := k.keep(t.days.rest+d, counts, hashes); err != nil {
			return false, err
		}
		if !k.timed {
			return true, nil
		}
		content, err := t.run.section(day, rollup.SlowestName(k.column))
		if err != nil {
			return false, err
		}
		listed, err := rollup.DecodeSlowest(content)
		if err != nil {
			return false, err
		}
		return true, k.keepListed(t.days.rest+d, &listed)
	})
}

// keepListed keeps the slowest keys of a day.
func (k *keys) keepListed(i int, listed *[3]rollup.Slowest) error {
	var found [3]slowest
	for time, of := range listed {
		found[time].others = of.Others
		for _, hash := range of.Keys {
			found[time].hashes = append(found[time].hashes, hash.First)
		}
	}
	return k.keepBytes(slowestBytes(&found), func() (before int64) {
		k.slowest[i] = found
		return 0
	})
}

func (t *topX) tallies(day rolledUpDay, k *keys) (rollup.Tallies, error) {
	content, err := t.run.section(day, rollup.TalliesName(k.column))
	if err != nil {
		return nil, err
	}
	return rollup.DecodeTallies(content)
}

// keysOfDay are the keys of a column in a day.
type keysOfDay struct {
	known   rollup.KnownKeys
	members rollup.Members
}

func (t *topX) keysOfDay(day rolledUpDay, k *keys) (of keysOfDay, _ error) {
	content, err := t.run.section(day, rollup.KnownName(k.column))
	if err != nil {
		return of, err
	}
	if of.known, err = rollup.DecodeKnown(content); err != nil {
		return of, err
	}
	if content, err = t.run.section(day, rollup.MembersName(k.column)); err != nil {
		return of, err
	}
	of.members, err = rollup.DecodeMembers(content)
	return of, err
}

// find returns the key with a hash. It is nil if the day does not have the key. It is not known if the records of the
// day must be read.
func (d *keysOfDay) find(hash uint64) (key *rollup.Key, known bool, _ error) {
	found, listed, err := d.known.Find(hash)
	switch {
	case err != nil:
		return nil, false, err
	case listed:
		return &found, true, nil
	}
	return nil, !d.members.Has(hash), nil
}

// completeDays is the second pass over the days.
func (t *topX) completeDays(ctx context.Context, open []*keys) error {
	isOpen := func(n int) bool { return slices.Contains(open, t.keys[n]) }
	return t.ofDays(ctx, isOpen, func(day rolledUpDay, _, n int) (bool, error) {
		k := t.keys[n]
		of, err := t.keysOfDay(day, k)
		if err != nil {
			return false, err
		}
		var contested, slow keysInTable
		if k.contested.n > 0 {
			tallies, err := t.tallies(day, k)
			if err != nil {
				return false, err
			}
			if complete, err := contested.of(&k.contested, &of, tallies); !complete || err != nil {
				return false, err
			}
		}
		if complete, err := slow.of(&k.slow, &of, nil); !complete || err != nil {
			return false, err
		}
		k.addContested(contested.places, contested.requests)
		k.addSlow(slow.places, slow.requests, slow.times)
		return true, nil
	})
}

// keysInTable are the keys of a day that are in a table, with what the second pass counts.
type keysInTable struct {
	places   []int
	requests []int64
	times    [][3]duration // not of tallies
}

// of finds the keys. It reports whether the rollup has all of them. Tallies may be nil.
func (k *keysInTable) of(table *hashTable, day *keysOfDay, tallies rollup.Tallies) (complete bool, _ error) {
	for place, text := range table.hashes() {
		if tallies != nil {
			if tally, found := tallies.Find(text.hash); found {
				k.add(place, int64(tally.Requests), [3]duration{})
				continue
			}
		}
		key, known, err := day.find(text.hash)
		if err != nil || !known {
			return false, err
		}
		if key != nil {
			k.add(place, requestsOf(key), [3]duration{durationOf(key.Origin), durationOf(key.Svc), durationOf(key.Total)})
		}
	}
	return true, nil
}

func (k *keysInTable) add(place int, requests int64, times [3]duration) {
	k.places, k.requests, k.times = append(k.places, place), append(k.requests, requests), append(k.times, times)
}

func requestsOf(key *rollup.Key) (n int64) {
	for _, of := range key.Requests {
		n += of.Count
	}
	return n
}

func durationOf(t rollup.Times) duration { return duration{sum: sumOf(t.Sum).whole(), count: t.Count} }

// sumUpDays is the last pass over the days.
func (t *topX) sumUpDays(ctx context.Context) error {
	hasWinners := func(n int) bool { return t.keys[n].places.n > 0 }
	return t.ofDays(ctx, hasWinners, func(day rolledUpDay, _, n int) (bool, error) {
		k := t.keys[n]
		of, err := t.keysOfDay(day, k)
		if err != nil {
			return false, err
		}
		found := map[int]*rollup.Key{} // by place
		for place, text := range k.places.hashes() {
			if k.first <= place && place < len(k.figures) {
				continue // a spare key needs no figures
			}
			key, known, err := of.find(text.hash)
			if err != nil || !known {
				return false, err
			}
			if key != nil {
				found[place] = key
			}
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for place, key := range found {
			if err := k.checks[place].compare(key.Check); err != nil {
				return false, err
			}
			if place < len(k.figures) {
				k.figures[place].join(figuresOf(key))
				k.texts[place] = copyOf([]byte(key.Text))
			}
		}
		return true, nil
	})
}

// tiesOfDays finds the texts of ties, and compares their hashes. If no rollup has the text of one, a day that has the
// key is read.
func (t *topX) tiesOfDays(ctx context.Context, column int, tied *hashTable, found [][]byte, checks []keyCheck) error {
	lacking := make([]int, tied.n) // a day that has the key, plus one
	is := func(n int) bool { return n == column }
	err := t.ofDays(ctx, is, func(day rolledUpDay, d, n int) (bool, error) {
		k := t.keys[n]
		of, err := t.keysOfDay(day, k)
		if err != nil {
			return false, err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for place, text := range tied.hashes() {
			key, known, err := of.find(text.hash)
			switch {
			case err != nil:
				return false, err
			case !known:
				lacking[place] = d + 1
			case key != nil:
				if err := checks[place].compare(key.Check); err != nil {
					return false, err
				}
				found[place] = copyOf([]byte(key.Text))
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for place, day := range lacking {
		if found[place] == nil && day > 0 {
			t.days.need[day-1][column] = true
		}
	}
	return t.openDays(ctx)
}
