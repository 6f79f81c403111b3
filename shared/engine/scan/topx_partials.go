package scan

import (
	"context"
	"slices"
	"sync"
)

// keysOfRows are the keys of a column in a row group with the counts that rank them: a partial of topx. It also holds
// what was found out about single keys, which were among the first of a query, or next to them.
type keysOfRows struct {
	keyHashes
	tallies []uint64
	times   [][3]duration // only if a label of the column ranks by time

	mu    sync.Mutex
	known map[uint64]knownKey // by hash
}

// knownKey is a key of a row group.
type knownKey struct {
	text    []byte
	figures *figures // nil: only the text was asked for
}

// The memory of the parts of keysOfRows.
const (
	durationsBytes = 48
	knownKeyBytes  = 64
	figuresBytes   = 640
)

// bytes implements partial.
func (p *keysOfRows) bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	bytes := int64(len(p.hashes)) * (keyHashBytes + hashBytes)
	bytes += int64(len(p.times)) * durationsBytes
	for _, key := range p.known {
		bytes += knownKeyBytes + int64(len(key.text))
		if key.figures != nil {
			bytes += figuresBytes
		}
	}
	return bytes
}

// knownOf returns what is known of a key.
func (p *keysOfRows) knownOf(hash uint64) knownKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[hash]
}

// find calls found with the keys that are in a table: with their places there, and their indexes.
func (p *keysOfRows) find(table *hashTable, found func(place, i int) error) error {
	if table.n == 0 {
		return nil
	}
	for i, hash := range p.hashes {
		if place := table.place(hash); place >= 0 {
			if err := found(place, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// margin is how many keys next to the winners of a label get figures, too, if the limit is so many. Some of them are
// winners when the question is asked again.
func margin(limit int) int { return 2*limit + 20 }

// takeKept takes the keys of row groups that earlier scans have kept.
func (t *topX) takeKept() {
	for n := range t.keys {
		for i, g := range t.groups {
			switch p := t.run.partialOf(g, t.questions[n]).(type) {
			case noRows:
				t.kept[i][n] = &keysOfRows{}
			case *keysOfRows:
				t.kept[i][n], t.found[i] = p, true
			}
		}
	}
}

// lacks reports whether the keys of some columns in row group i are not kept.
func (t *topX) lacks(i int, columns []*keys) bool {
	for n, k := range t.keys {
		if t.kept[i][n] == nil && slices.Contains(columns, k) {
			return true
		}
	}
	return false
}

// store keeps the keys of a column in row group i that have requests.
func (t *topX) store(i, n int, of *keyHashes, tallies []uint64, times [][3]duration) {
	g, found := t.groups[i], 0
	for _, tally := range tallies {
		if tally > 0 {
			found++
		}
	}
	bytes := int64(found) * (keyHashBytes + hashBytes)
	if t.keys[n].timed {
		bytes += int64(found) * durationsBytes
	}
	if !t.run.mayStore(g, bytes) {
		return
	}
	p := &keysOfRows{known: map[uint64]knownKey{}}
	if kept, ok := g.hashes[t.keys[n].column]; ok && found == len(tallies) {
		p.keyHashes, p.tallies, p.times = kept, slices.Clone(tallies), slices.Clone(times)
		t.run.unreserve(int64(found) * keyHashBytes) // p counts them
	} else {
		p.take(found, of, tallies, times)
	}
	t.run.store(g, t.questions[n], p)
	t.kept[i][n] = p
}

// take takes the keys that have requests, which are so many.
func (p *keysOfRows) take(n int, of *keyHashes, tallies []uint64, times [][3]duration) {
	p.hashes, p.checks, p.tallies = make([]uint64, 0, n), make([]uint32, 0, n), make([]uint64, 0, n)
	if times != nil {
		p.times = make([][3]duration, 0, n)
	}
	for code, tally := range tallies {
		if tally == 0 {
			continue
		}
		p.hashes, p.checks = append(p.hashes, of.hashes[code]), append(p.checks, of.checks[code])
		p.tallies = append(p.tallies, tally)
		if times != nil {
			p.times = append(p.times, times[code])
		}
	}
}

// storeNone keeps that row group i has no matching rows.
func (t *topX) storeNone(i int) {
	for n, question := range t.questions {
		if t.run.mayStore(t.groups[i], 0) {
			t.run.store(t.groups[i], question, noRows{})
			t.kept[i][n] = &keysOfRows{}
		}
	}
}

// learn adds what is known of a key of row group i.
func (t *topX) learn(i, n int, hash uint64, key knownKey) {
	p := t.kept[i][n]
	if p == nil || len(p.hashes) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.known[hash]; before.figures == nil {
		p.known[hash] = key
	}
}

// storeAgain counts the memory of what was learned about row group i.
func (t *topX) storeAgain(i int) {
	for n, p := range t.kept[i] {
		if p != nil && len(p.hashes) > 0 {
			t.run.store(t.groups[i], t.questions[n], p)
		}
	}
}

// rankKept is the first pass over a row group whose keys are kept.
func (t *topX) rankKept(i int) error {
	for n, k := range t.keys {
		p := t.kept[i][n]
		if p == nil || len(p.hashes) == 0 || k.isDivided() {
			continue
		}
		if err := k.keep(i, p.tallies, p.hashes); err != nil {
			return err
		}
		if k.timed {
			if err := k.keepSlowest(i, firstCandidates, p.times, p.hashes); err != nil {
				return err
			}
		}
	}
	return nil
}

// completeKept is the second pass over keys of a row group that are kept.
func (k *keys) completeKept(p *keysOfRows) error {
	var places []int
	var requests []int64
	var times [][3]duration
	err := p.find(&k.contested, func(place, i int) error {
		places, requests = append(places, place), append(requests, int64(uint32(p.tallies[i])))
		return nil
	})
	if err != nil {
		return err
	}
	k.addContested(places, requests)
	places, requests = places[:0], requests[:0]
	err = p.find(&k.slow, func(place, i int) error {
		places, requests = append(places, place), append(requests, int64(uint32(p.tallies[i])))
		times = append(times, p.times[i])
		return nil
	})
	k.addSlow(places, requests, times)
	return err
}

// sumUpKept is the last pass over the row groups whose keys are kept with their figures. It returns the columns of each
// row group that are left to sum up.
func (t *topX) sumUpKept(ctx context.Context) (left [][]*keys, err error) {
	left = make([][]*keys, len(t.groups))
	err = t.run.each(ctx, len(t.groups), func(_ *worker, i int) error {
		for n, k := range t.keys {
			summed, err := k.sumUpKept(t.kept[i][n])
			if err != nil {
				return err
			}
			if !summed {
				left[i] = append(left[i], k)
			}
		}
		return nil
	})
	return left, err
}

// sumUpKept adds the figures of the winners in a row group. It reports whether all of them are known. If not, it adds
// none. Spare keys are not in the answer, so no row group is read for their figures.
func (k *keys) sumUpKept(p *keysOfRows) (summed bool, _ error) {
	if k.places.n == 0 {
		return true, nil
	}
	if p == nil {
		return false, nil
	}
	var places []int
	var known []knownKey
	complete := true
	err := p.find(&k.places, func(place, i int) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if err := k.checks[place].compare(p.checks[i]); err != nil {
			return err
		}
		if place < k.first {
			key := p.knownOf(p.hashes[i])
			complete = complete && key.figures != nil
			places, known = append(places, place), append(known, key)
		}
		return nil
	})
	if err != nil || !complete {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, place := range places {
		k.figures[place].join(known[i].figures)
		k.texts[place] = known[i].text
	}
	return true, nil
}

// mostTiedTexts is the largest number of ties whose texts are kept.
const mostTiedTexts = 10_000

// keptTies takes the texts of ties from what is kept, and compares their hashes. It returns the row groups that must be
// read: those whose keys are not kept, and those that have a text that is not known.
func (t *topX) keptTies(column int, tied *hashTable, found [][]byte, checks []keyCheck) (read []bool, err error) {
	read = make([]bool, len(t.groups))
	lacking := make([]int, tied.n) // a row group with the text, plus one
	for i := range t.groups {
		p := t.kept[i][column]
		if p == nil {
			read[i] = t.found[i]
			continue
		}
		err := p.find(tied, func(place, n int) error {
			if found[place] == nil {
				if found[place] = p.knownOf(p.hashes[n]).text; found[place] == nil {
					lacking[place] = i + 1
				}
			}
			return checks[place].compare(p.checks[n])
		})
		if err != nil {
			return nil, err
		}
	}
	for place, i := range lacking {
		if i > 0 && found[place] == nil {
			read[i-1] = true
		}
	}
	return read, nil
}
