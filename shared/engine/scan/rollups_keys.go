package scan

import (
	"cmp"
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

// completeDays is the second pass over the days, after that over the row groups of the other days.
func (t *topX) completeDays(ctx context.Context, open []*keys) error {
	if len(t.days) == 0 {
		return nil
	}
	if err := t.completeContested(ctx, open); err != nil {
		return err
	}
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
		return err
	}
	var needed []dayKey
	for n, k := range t.keys {
		needed = append(needed, slow[n].needed(k)...)
	}
	if err := t.readKeys(ctx, needed); err != nil {
		return err
	}
	for _, key := range needed {
		if learned := t.learned[key]; learned != nil {
			t.keys[key.column].addSlowKey(key.hash, learned)
		}
	}
	return nil
}

// addSlowKey adds the times of a candidate in a day.
func (k *keys) addSlowKey(hash uint64, key *rollup.Key) {
	times := [3]duration{durationOf(key.Origin), durationOf(key.Svc), durationOf(key.Total)}
	k.addSlow([]int{k.slow.place(hash)}, []int64{requestsOf(key)}, [][3]duration{times})
}

// completeContested adds the requests of contested keys.
func (t *topX) completeContested(ctx context.Context, open []*keys) error {
	isOpen := func(n int) bool { return slices.Contains(open, t.keys[n]) && t.keys[n].contested.n > 0 }
	add := func(n, place int, key *rollup.Key) error {
		t.keys[n].addContested([]int{place}, []int64{requestsOf(key)})
		return nil
	}
	return t.eachOfDays(ctx, keysInDays{
		columns: isOpen, hashes: func(n int) []textHash { return t.keys[n].contested.hashes() }, add: add, onlyRequests: true,
	})
}

func requestsOf(key *rollup.Key) (n int64) {
	for _, of := range key.Requests {
		n += of.Count
	}
	return n
}

// completeSlow adds the times of candidates in a day. It notes in slow the candidates that are not known.
func (t *topX) completeSlow(of *keysOfDay, slow *slowKeys) error {
	k := t.keys[of.column]
	var unknown []slowKey
	for place, text := range k.slow.hashes() {
		key, known, bounds, err := t.find(of, text.hash)
		switch {
		case err != nil:
			return err
		case !known:
			unknown = append(unknown, slowKey{dayKey{of.day, of.column, text.hash}, place, bounds})
		case key != nil:
			k.addSlowKey(text.hash, key)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	slow.unknown = append(slow.unknown, unknown...)
	return nil
}

func durationOf(t rollup.Times) duration { return duration{sum: sumOf(t.Sum).whole(), count: t.Count} }

// slowKeys are the candidates of a column that are not known in all days.
type slowKeys struct{ unknown []slowKey }

// slowKey is a candidate that is not known in a day.
type slowKey struct {
	dayKey
	place  int
	bounds rollup.Bounds
}

// needed returns the keys that must be learned. The other keys that are not known in a day cannot be among the winners.
// Their averages are below those of as many candidates as there are winners, wherever these averages are within their
// bounds. They are out. If many keys would be needed, all are out, so that the winners are not proven and more of the
// slowest keys are compared.
func (s *slowKeys) needed(k *keys) (needed []dayKey) {
	if len(s.unknown) == 0 {
		return nil
	}
	byPlace := make([][]slowKey, len(k.candidates))
	for _, key := range s.unknown {
		byPlace[key.place] = append(byPlace[key.place], key)
	}
	byTime := make([][3]averageBounds, len(k.candidates))
	for place, days := range byPlace {
		slices.SortFunc(days, func(a, b slowKey) int { return a.day - b.day }) // sums of floats depend on the order
		for time := range byTime[place] {
			byTime[place][time] = k.candidates[place].times[time].bounds(days, time)
		}
	}
	least := k.leastAverages(func(place, time int) float64 { return byTime[place][time].least })
	for place, days := range byPlace {
		if days != nil && slices.ContainsFunc(k.labels, func(label string) bool {
			time := timeOf(label)
			return time >= 0 && atMost(byTime[place][time].most) >= least[time]
		}) {
			for _, key := range days {
				needed = append(needed, key.dayKey)
			}
		}
	}
	if len(needed) > sizes.few && !k.allListed {
		needed = nil
	}
	isNeeded := map[int]bool{}
	for _, key := range needed {
		isNeeded[k.slow.place(key.hash)] = true
	}
	for place, days := range byPlace {
		if days == nil || isNeeded[place] {
			continue
		}
		k.candidates[place].out = true
		for time, of := range byTime[place] {
			k.others[time] = max(k.others[time], of.most)
		}
	}
	return needed
}

// leastAverages returns, for each time, the lowest average that the last winner can have, given a lower bound for each
// candidate that is not out.
func (k *keys) leastAverages(atLeast func(place, time int) float64) (least [3]float64) {
	for time := range least {
		var averages []float64
		for place := range k.candidates {
			if of := &k.candidates[place]; !of.out {
				averages = append(averages, atLeast(place, time))
			}
		}
		slices.Sort(averages)
		least[time] = math.Inf(-1)
		if len(averages) >= k.limit {
			least[time] = averages[len(averages)-k.limit]
		}
	}
	return least
}

// averageBounds are bounds of the average of a candidate; -Inf if it has no times.
type averageBounds struct{ least, most float64 }

// bounds returns bounds of the average of a candidate, given its times in the days that know it, and its bounds in
// others.
func (t *keyTime) bounds(days []slowKey, time int) averageBounds {
	known := weighted{sum: t.sum.float(), count: float64(t.count)}
	lowest, highest := known, known
	for _, day := range days {
		bound := day.bounds.Averages[time]
		if bound == 0 {
			continue
		}
		least, most := 1.0, math.Inf(1)
		if n := day.bounds.Counts[time]; n > 0 {
			least, most = n.Least(), n.Most()
		}
		lowest.of = append(lowest.of, weight{bound.Least(), least, most})
		highest.of = append(highest.of, weight{bound.Most(), least, most})
	}
	switch {
	case len(highest.of) > 0:
		return averageBounds{lowest.least(), highest.most()}
	case t.count > 0:
		average := t.average()
		return averageBounds{average, average}
	}
	return averageBounds{math.Inf(-1), math.Inf(-1)}
}

// weighted is a sum of so many times, and averages of times whose numbers have bounds.
type weighted struct {
	sum, count float64
	of         []weight
}

type weight struct{ average, least, most float64 }

// most returns the highest average of all times together.
func (w weighted) most() float64 {
	for _, of := range w.of {
		w.sum, w.count = w.sum+of.least*of.average, w.count+of.least
	}
	slices.SortStableFunc(w.of, func(a, b weight) int { return cmp.Compare(b.average, a.average) })
	for _, of := range w.of {
		switch {
		case of.average <= w.sum/w.count:
			return w.sum / w.count
		case math.IsInf(of.most, 1):
			return of.average
		}
		w.sum, w.count = w.sum+(of.most-of.least)*of.average, w.count+of.most-of.least
	}
	return w.sum / w.count
}

// least returns the lowest average of all times together.
func (w weighted) least() float64 {
	w.sum = -w.sum
	for i := range w.of {
		if w.of[i].average = -w.of[i].average; math.IsInf(w.of[i].average, 1) {
			return math.Inf(-1)
		}
	}
	return -w.most()
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
	type unknownKey struct {
		dayKey
		place int
	}
	var mu sync.Mutex
	var unknown []unknownKey
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
	for _, key := range unknown {
		if learned := t.learned[key.dayKey]; learned != nil {
			if err := of.add(key.column, key.place, learned); err != nil {
				return err
			}
		}
	}
	return nil
}
