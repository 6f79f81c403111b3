package scan

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/query"
)

// keys holds all keys of a column and the counts that rank them.
type keys struct {
	column string
	labels []string // that the keys are for, some of query.Labels
	timed  bool     // some of the labels rank by time

	tallies [][]tally       // of each row group, for the keys of the chosen rows
	times   [][][3]duration // beside them, in the order of query.TimeLabels; only if timed

	ranked map[string][]total // the winners of each label
	ties   map[string][]total // keys that rank equally at the limit of a label, of which only some are winners

	mu       sync.Mutex
	suspects []uint64  // hashes of further keys of which the texts are compared, too
	places   hashTable // of the winners of all labels, then of the suspects
	texts    [][]byte  // by place; nil until one is met
	figures  []figures // of the winners, by place
}

// tally holds the counts that rank a key in one row group.
type tally struct {
	hash              uint64 // of the text; other processes have other hashes
	code              int32  // in the dictionary of the row group
	requests, blocked int32
}

// duration holds the sum of some times, in microseconds, and their number.
type duration struct {
	sum   int64
	count int64
}

const (
	tallyBytes = 24
	timesBytes = 48
)

// keySeed makes hashes differ from process to process, so that clients cannot choose keys that collide.
var keySeed = maphash.MakeSeed()

func hashOfKey(text []byte) uint64 { return maphash.Bytes(keySeed, text) }

// occurring returns the tallies, and the times if there are any, of the entries that have requests.
func (r *run) occurring(counts []uint64, times [][3]duration, entries texts) (list []tally, timesOf [][3]duration) {
	n := 0
	for _, count := range counts {
		if count > 0 {
			n++
		}
	}
	list = make([]tally, 0, n)
	if times != nil {
		timesOf = make([][3]duration, 0, n)
	}
	for code, count := range counts {
		if count == 0 {
			continue
		}
		list = append(list, tally{
			hash: r.hash(entries.At(int32(code))), code: int32(code),
			requests: int32(uint32(count)), blocked: int32(count >> 32),
		})
		if times != nil {
			timesOf = append(timesOf, times[code])
		}
	}
	return list, timesOf
}

// total holds the counts that rank a key in all row groups.
type total struct {
	hash              uint64
	requests, blocked int64
	time              query.Times // for a label that ranks by time
	highest           float64     // average of that time in any row group
}

// hashTable gives each distinct hash a place. Places count from 0.
type hashTable struct {
	slots []hashSlot // open addressing with linear probing
	n     int
}

type hashSlot struct {
	hash  uint64
	place int32 // plus one; 0: empty
}

// add returns the place of a hash. It adds the hash if it is new.
func (t *hashTable) add(hash uint64) int {
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots = make([]hashSlot, max(64, 2*len(old)))
		for _, slot := range old {
			if slot.place != 0 {
				t.slots[t.slot(slot.hash)] = slot
			}
		}
	}
	slot := &t.slots[t.slot(hash)]
	if slot.place == 0 {
		t.n++
		*slot = hashSlot{hash, int32(t.n)}
	}
	return int(slot.place) - 1
}

// place returns the place of a hash, or -1.
func (t *hashTable) place(hash uint64) int {
	if t.n == 0 {
		return -1
	}
	return int(t.slots[t.slot(hash)].place) - 1
}

// slot returns the slot that has the hash, or the empty one it would go to.
func (t *hashTable) slot(hash uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i].place != 0 && t.slots[i].hash != hash {
		i = (i + 1) & mask
	}
	return i
}

// prepare makes room for the winners of every label.
func (k *keys) prepare() {
	k.ranked, k.ties = map[string][]total{}, map[string][]total{}
}

// choose finds the winners of a label: the limit keys that rank highest. Keys that rank equally at the limit are ties,
// which texts must break.
func (k *keys) choose(label string, limit int) (err error) {
	var ordered, ties []total
	var suspects []uint64
	ahead := byBlocked
	if time := timeOf(label); time >= 0 {
		if ordered, suspects, err = k.byTime(time, limit); err != nil {
			return err
		}
		ahead = byTime
	} else {
		ordered = k.byBlocked(limit)
	}
	slices.SortFunc(ordered, ahead)
	if len(ordered) > limit {
		first, _ := slices.BinarySearchFunc(ordered[:limit], ordered[limit-1], ahead)
		end := limit
		for end < len(ordered) && ahead(ordered[end], ordered[limit-1]) == 0 {
			end++
		}
		if end > limit {
			ties = ordered[first:end]
			ordered = ordered[:first]
		} else {
			ordered = ordered[:limit]
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ranked[label] = ordered
	if len(ties) > 0 {
		k.ties[label] = ties
	}
	k.suspects = append(k.suspects, suspects...)
	return nil
}

func byBlocked(a, b total) int {
	return cmp.Or(cmp.Compare(b.blocked, a.blocked), cmp.Compare(b.requests, a.requests))
}

func byTime(a, b total) int {
	return cmp.Or(cmp.Compare(b.time.Average(), a.time.Average()), cmp.Compare(b.requests, a.requests))
}

// byBlocked returns keys among which are the limit ones with the most blocked requests. If there are as many keys with
// blocked requests, only those are compared.
func (k *keys) byBlocked(limit int) []total {
	blocked := k.sum(func(t tally) bool { return t.blocked > 0 })
	if len(blocked) < limit {
		return k.sum(func(tally) bool { return true })
	}
	counts := make([]int64, len(blocked))
	for i, t := range blocked {
		counts[i] = t.blocked
	}
	slices.Sort(counts)
	least := counts[len(counts)-limit]
	var candidates hashTable
	for _, t := range blocked {
		if t.blocked >= least {
			candidates.add(t.hash)
		}
	}
	return k.sum(func(t tally) bool { return candidates.place(t.hash) >= 0 })
}

// sum adds up the tallies for which the condition holds.
func (k *keys) sum(holds func(tally) bool) []total {
	var table hashTable
	var totals []total
	for _, of := range k.tallies {
		for _, t := range of {
			if !holds(t) {
				continue
			}
			place := table.add(t.hash)
			if place == len(totals) {
				totals = append(totals, total{hash: t.hash})
			}
			totals[place].requests += int64(t.requests)
			totals[place].blocked += int64(t.blocked)
		}
	}
	return totals
}

// The number of keys of a row group that are compared by a time at first, and the number above which all are compared.
const (
	firstCandidates = 16
	maxCandidates   = 1_000
)

// byTime returns keys among which are the limit ones with the highest averages of a time. A key's average is at most
// its highest average in any row group. So only the keys with the highest averages of each row group are summed up, and
// more of them until the averages of all others are proven to be lower.
//
// Two texts with the same hash are summed up as one key, which can hide that the average of one of them is high: it is
// not higher than the highest average of that key in any row group. Keys for which that does not exclude a place among
// the limit ones are suspects. If their texts differ, the scan must not answer.
func (k *keys) byTime(time, limit int) (totals []total, suspects []uint64, err error) {
	for n := firstCandidates; ; n *= 4 {
		candidates, others := k.slowest(time, n)
		totals, err := k.sumTimes(time, &candidates)
		if err != nil {
			return nil, nil, err
		}
		slices.SortFunc(totals, byTime)
		least := math.Inf(-1)
		if len(totals) >= limit {
			least = totals[limit-1].time.Average()
		}
		if !math.IsInf(others, -1) && least <= atMost(others) {
			continue
		}
		for _, t := range totals {
			if atMost(t.highest) >= least {
				suspects = append(suspects, t.hash)
			}
		}
		return totals, suspects, nil
	}
}

// atMost returns what the average of a key can be, as it is calculated, if its highest average in a row group is given.
// Averages are rounded.
func atMost(highest float64) float64 { return highest + math.Abs(highest)*1e-12 }

// slowest returns the n keys of each row group with the highest averages of a time, and the highest average of the
// other keys, or -Inf if there are no others.
func (k *keys) slowest(time, n int) (candidates hashTable, others float64) {
	others = math.Inf(-1)
	for group, of := range k.times {
		type average struct {
			value float64
			hash  uint64
		}
		var top []average // the highest first
		for i := range of {
			d := of[i][time]
			if d.count == 0 {
				continue
			}
			a := average{query.Times{Count: d.count, Sum: d.sum}.Average(), k.tallies[group][i].hash}
			if n > maxCandidates {
				candidates.add(a.hash)
				continue
			}
			if len(top) == n {
				if a.value <= top[n-1].value {
					others = max(others, a.value)
					continue
				}
				others = max(others, top[n-1].value)
				top = top[:n-1]
			}
			at, _ := slices.BinarySearchFunc(top, a, func(b, a average) int { return cmp.Compare(a.value, b.value) })
			top = slices.Insert(top, at, a)
		}
		for _, a := range top {
			candidates.add(a.hash)
		}
	}
	return candidates, others
}

// sumTimes adds up the tallies and times of candidates.
func (k *keys) sumTimes(time int, candidates *hashTable) ([]total, error) {
	totals := slices.Repeat([]total{{highest: math.Inf(-1)}}, candidates.n)
	sums := make([]sum, candidates.n)
	for group, of := range k.tallies {
		for i, t := range of {
			place := candidates.place(t.hash)
			if place < 0 {
				continue
			}
			d := k.times[group][i][time]
			of := &totals[place]
			of.hash = t.hash
			of.requests += int64(t.requests)
			of.blocked += int64(t.blocked)
			of.time.Count += d.count
			sums[place].add(d.sum)
			if d.count > 0 {
				of.highest = max(of.highest, query.Times{Count: d.count, Sum: d.sum}.Average())
			}
		}
	}
	for place := range totals {
		totals[place].time.Sum = sums[place].n
	}
	return totals, whole(sums...)
}

// timeOf returns the index of a label in query.TimeLabels, and so in keys.times, or -1.
func timeOf(label string) int {
	return slices.IndexFunc(query.TimeLabels, func(l query.Label) bool { return l.Name == label })
}

// breakTies completes the winners of labels that have ties at their limits: of keys that rank equally, those with the
// smallest texts win. Then it gives every winner and every suspect a
// place.
func (t *topX) breakTies(ctx context.Context) error {
	for _, k := range t.keys {
		if len(k.ties) > 0 {
			if err := t.readTies(ctx, k); err != nil {
				return err
			}
		}
		for _, winners := range k.ranked {
			for _, w := range winners {
				k.places.add(w.hash)
			}
		}
		k.figures = make([]figures, k.places.n)
		for _, hash := range k.suspects {
			k.places.add(hash)
		}
		k.texts = make([][]byte, k.places.n)
	}
	return nil
}

// readTies reads the texts of the ties of a column.
func (t *topX) readTies(ctx context.Context, k *keys) error {
	var tied hashTable
	for _, ties := range k.ties {
		for _, of := range ties {
			tied.add(of.hash)
		}
	}
	found := make([][]byte, tied.n)
	err := t.run.scan(ctx, t.groups, func(w *worker, i int) error {
		if !slices.ContainsFunc(k.tallies[i], func(of tally) bool { return tied.place(of.hash) >= 0 }) {
			return nil
		}
		of, err := w.keysOf(k.column)
		if err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, key := range k.tallies[i] {
			if place := tied.place(key.hash); place >= 0 {
				if found[place], err = sameText(found[place], of.entries.At(key.code)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	text := func(of total) []byte { return found[tied.place(of.hash)] }
	for label, ties := range k.ties {
		slices.SortFunc(ties, func(a, b total) int { return bytes.Compare(text(a), text(b)) })
		k.ranked[label] = append(k.ranked[label], ties[:t.shape.Limit-len(k.ranked[label])]...)
	}
	return nil
}

// sameText returns a copy of the text, or the known one, which must be equal: keys are matched by their hashes.
func sameText(known, text []byte) ([]byte, error) {
	if known == nil {
		return append(make([]byte, 0, len(text)), text...), nil // not nil even of an empty text
	}
	if !bytes.Equal(known, text) {
		return nil, fmt.Errorf("%w: two keys have the same hash", ErrUnsupported)
	}
	return known, nil
}

// rows lists the winners of every label, by label, then blocked and all requests, descending, then key.
func (t *topX) rows() ([]query.TopXRow, error) {
	var rows []query.TopXRow
	for _, label := range query.Labels {
		for _, k := range t.keys {
			first := len(rows)
			for _, w := range k.ranked[label] {
				place := k.places.place(w.hash)
				row, err := k.figures[place].row(label, string(k.texts[place]))
				if err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
			slices.SortFunc(rows[first:], func(a, b query.TopXRow) int {
				return cmp.Or(
					cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
			})
		}
	}
	return rows, nil
}
