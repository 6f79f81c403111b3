package scan

import (
	"cmp"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/query"
)

// slowest are the keys of a row group with the highest averages of a time.
type slowest struct {
	hashes []uint64
	others float64 // the highest average of the other keys; -Inf: there are no others
}

// candidate is a key that can win by time.
type candidate struct {
	requests int64
	times    [3]keyTime // in the order of query.TimeLabels
	out      bool       // it was proven that it does not win
}

// keyTime holds the times of a key in all row groups.
type keyTime struct {
	sum               sum
	count             int64
	highest           float64 // average in any row group
	negative, limited bool    // a sum of a row group is
}

// keepSlowest keeps the n slowest keys of row group i by each time, or all of them if n is large, but for those that are
// too fast.
func (k *keys) keepSlowest(i, n int, times [][3]duration, hashes []uint64) error {
	var found [3]slowest
	for time := range found {
		found[time] = k.slowestOf(times, time, hashes, n)
	}
	return k.keepSlow(i, &found)
}

// findLeast finds how slow the winners are at least, once the times of the candidates are complete.
func (k *keys) findLeast() {
	least := k.leastAverages(func(place, time int) float64 {
		return k.candidates[place].times[time].bounds(nil, time).least
	})
	for time := range k.least {
		k.least[time] = math.Inf(1) // no label ranks by it, so there are no winners
	}
	for _, label := range k.labels {
		if time := timeOf(label); time >= 0 {
			k.least[time] = least[time]
		}
	}
}

// isFast reports whether a key with an average in some row group needs no comparison because of that: it is lower than
// the average of the last winner. A key that is so fast in all row groups is no winner.
func (k *keys) isFast(time int, average float64) bool { return atMost(average) < k.least[time] }

// keepSlow keeps the slowest keys of row group i, in place of those that are kept already.
func (k *keys) keepSlow(i int, found *[3]slowest) error {
	return k.keepBytes(slowestBytes(found), func() (before int64) {
		before = slowestBytes(&k.slowest[i])
		k.slowest[i] = *found
		return before
	})
}

func slowestBytes(of *[3]slowest) (bytes int64) {
	for _, s := range of {
		bytes += int64(cap(s.hashes)) * hashBytes
	}
	return bytes
}

func (k *keys) slowestOf(times [][3]duration, time int, hashes []uint64, n int) slowest {
	type average struct {
		value float64
		code  int
	}
	found := slowest{others: math.Inf(-1)}
	var top []average // the highest first
	for code := range times {
		d := times[code][time]
		if d.count == 0 {
			continue
		}
		a := average{query.Times{Count: d.count, Sum: d.sum}.Average(), code}
		if k.isFast(time, a.value) {
			found.others = max(found.others, a.value)
			continue
		}
		if n > maxCandidates {
			found.hashes = append(found.hashes, hashes[code])
			continue
		}
		if len(top) == n {
			if a.value <= top[n-1].value {
				found.others = max(found.others, a.value)
				continue
			}
			found.others = max(found.others, top[n-1].value)
			top = top[:n-1]
		}
		at, _ := slices.BinarySearchFunc(top, a, func(b, a average) int { return cmp.Compare(a.value, b.value) })
		top = slices.Insert(top, at, a)
	}
	for _, a := range top {
		found.hashes = append(found.hashes, hashes[a.code])
	}
	return found
}

func byTime(a, b total) int {
	return cmp.Or(cmp.Compare(b.time.Average(), a.time.Average()), cmp.Compare(b.requests, a.requests))
}

// addSlow adds the requests and times of candidates in a row group.
func (k *keys) addSlow(places []int, requests []int64, times [][3]duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, place := range places {
		of := &k.candidates[place]
		of.requests += requests[i]
		for n, d := range times[i] {
			of.times[n].add(d)
		}
	}
}

// average returns the average; 0 without any time.
func (t *keyTime) average() float64 { return query.Times{Count: t.count, Sum: t.sum.whole()}.Average() }

func (t *keyTime) add(d duration) {
	t.count += d.count
	t.sum.add(d.sum)
	t.negative = t.negative || d.sum < 0
	t.limited = t.limited || d.sum == math.MaxInt64
	if d.count > 0 {
		t.highest = max(t.highest, query.Times{Count: d.count, Sum: d.sum}.Average())
	}
}

// The number of keys of a row group that are compared by a time at first, and the number above which all are compared.
const (
	firstCandidates = 16
	maxCandidates   = 1_000
)

// takeSlowest makes the slowest keys of all row groups candidates.
func (k *keys) takeSlowest() error {
	if k.divided {
		return nil
	}
	k.slow, k.hashes, k.candidates = hashTable{}, nil, nil
	k.others = [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for _, of := range k.slowest {
		for _, s := range of {
			for _, hash := range s.hashes {
				if k.slow.add(hash) == len(k.hashes) {
					k.hashes = append(k.hashes, hash)
				}
			}
		}
		if err := k.hold(int64(k.slow.n) * candidateBytes); err != nil {
			return err
		}
	}
	k.candidates = slices.Repeat([]candidate{{times: [3]keyTime{
		{highest: math.Inf(-1)}, {highest: math.Inf(-1)}, {highest: math.Inf(-1)},
	}}}, k.slow.n)
	return nil
}

// rankByTime ranks the candidates by each time. A key's average is at most its highest average in any row group. So
// only the slowest keys of each row group are candidates, and more of them until the averages of all others are proven
// to be lower. rankByTime reports whether they are.
//
// Two texts with the same hash are summed up as one key, which can hide that one of them has a high average. That
// average is at most the key's highest average in any row group. A key is a suspect if with this average it could be
// among the winners. If their texts differ, the scan must not answer.
func (k *keys) rankByTime() (proven bool, err error) {
	if k.divided {
		return true, nil
	}
	k.suspects = nil
	for _, label := range k.labels {
		time := timeOf(label)
		if time < 0 {
			continue
		}
		others := k.others[time]
		for _, of := range k.slowest {
			others = max(others, of[time].others)
		}
		delete(k.ranked, label)
		totals, err := k.totalsOf(time)
		if err != nil {
			return false, err
		}
		least := math.Inf(-1)
		if len(totals) >= k.limit {
			least = totals[k.limit-1].time.Average()
		}
		if !math.IsInf(others, -1) && least <= atMost(others) {
			return false, nil
		}
		for place, of := range k.candidates {
			if of.times[time].count > 0 && atMost(of.times[time].highest) >= least {
				k.suspects = append(k.suspects, k.hashes[place])
			}
		}
		k.ranked[label] = totals
	}
	return true, k.hold(0)
}

// totalsOf returns the candidates that have a time, the slowest first.
func (k *keys) totalsOf(time int) ([]total, error) {
	if err := k.hold(int64(len(k.candidates)) * rankBytes); err != nil {
		return nil, err
	}
	totals := make([]total, 0, len(k.candidates))
	for place, of := range k.candidates {
		t := of.times[time]
		if of.out {
			continue
		}
		if t.negative && (t.limited || !t.sum.fits()) {
			return nil, errLongTimes
		}
		if t.count > 0 {
			totals = append(totals, total{
				hash: k.hashes[place], requests: of.requests, time: query.Times{Count: t.count, Sum: t.sum.whole()},
			})
		}
	}
	slices.SortFunc(totals, byTime)
	return totals, nil
}

// atMost returns an upper bound for the calculated average of a key, given its highest average in a row group. Averages
// are rounded.
func atMost(highest float64) float64 { return highest + math.Abs(highest)*1e-12 }

// ranksByTime reports whether any of the labels ranks by time.
func ranksByTime(labels []string) bool {
	return slices.ContainsFunc(labels, func(label string) bool { return timeOf(label) >= 0 })
}

// timeOf returns the index of a label in query.TimeLabels, and so in keys.times, or -1.
func timeOf(label string) int {
	return slices.IndexFunc(query.TimeLabels, func(l query.Label) bool { return l.Name == label })
}
