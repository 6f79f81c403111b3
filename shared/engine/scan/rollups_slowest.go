package scan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/rollup"
)

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

// slowestOfAll returns all keys of a column in a day whose times are not too fast.
func (t *topX) slowestOfAll(d, n int) (found [3]slowest, _ error) {
	k := t.keys[n]
	of, err := t.keysOfDay(d, n, func(_ int, day rolledUpDay, name string) ([]byte, error) {
		return t.run.ownSection(day, name)
	})
	if err != nil {
		return found, unusable(err)
	}
	held := reservation{run: t.run}
	defer held.free()
	rest, err := t.restOf(&of, &held)
	if err != nil {
		return found, err
	}
	hashes := of.members.Hashes(&rest)
	if len(hashes) == 0 {
		return found, fmt.Errorf("%w: rollups do not list enough of the slowest keys", ErrUnsupported)
	}
	times := make([][3]duration, len(hashes))
	for place, hash := range hashes {
		key, listed := rest.At(place, hash)
		if !listed {
			if key, _, err = of.known.Find(hash); err != nil {
				return found, unusable(err)
			}
		}
		times[place] = durationsOf(&key)
	}
	for time := range found {
		found[time] = k.slowestOf(times, time, hashes, maxCandidates+1)
	}
	return found, nil
}

// durationsOf returns the times of a key, in the order of query.TimeLabels.
func durationsOf(key *rollup.Key) [3]duration {
	return [3]duration{durationOf(key.Origin), durationOf(key.Svc), durationOf(key.Total)}
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

// needed returns the keys that must be learned. The other keys that are not known in a day are out: the upper bounds of
// their averages are below the lower bounds of as many candidates as there are winners. If many keys would be needed,
// all of them are out, so that the winners are not proven and more of the slowest keys are compared.
func (s *slowKeys) needed(k *keys) (needed []dayKey, areMany bool) {
	if len(s.unknown) == 0 {
		return nil, false
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
	contends := func(place int) bool {
		return slices.ContainsFunc(k.labels, func(label string) bool {
			time := timeOf(label)
			return time >= 0 && atMost(byTime[place][time].most) >= least[time]
		})
	}
	for place, days := range byPlace {
		if days != nil && contends(place) {
			for _, key := range days {
				needed = append(needed, key.dayKey)
			}
		}
	}
	areMany = len(needed) > sizes.few && !k.allListed
	for place, days := range byPlace {
		if days == nil || contends(place) && !areMany {
			continue
		}
		k.candidates[place].out = true
		for time, of := range byTime[place] {
			k.others[time] = max(k.others[time], of.most)
		}
	}
	if areMany {
		return nil, true
	}
	return needed, false
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
