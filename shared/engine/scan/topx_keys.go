package scan

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/query"
)

// keys holds the keys of a column that can win, and the counts that rank them.
type keys struct {
	run    *run
	column string
	labels []string // that the keys are for, some of query.Labels
	timed  bool     // some of the labels rank by time
	limit  int      // winners of each label
	margin int      // spare keys of each label
	whole  bool     // the column cannot be divided

	reserve func(bytes int64) error // of run, or one that can make room

	tallies [][]tally    // of each row group: the keys that can win by blocked requests
	slowest [][3]slowest // of each row group, in the order of query.TimeLabels; only if timed
	held    int64        // reserved memory of these; guarded by mu
	divided bool         // there are too many keys for all this: see rankDivided; guarded by mu in the first pass

	ranked map[string][]total // the winners of each label; until cut, further keys after them
	ties   map[string][]total // keys that rank equally at the limit of a label; only some of them are winners

	mu         sync.Mutex
	blocked    hashTable // some keys with blocked requests, until there are as many as winners
	contested  hashTable // keys that differ only in their requests, which are counted in the second pass
	requests   []int64   // of these
	slow       hashTable // keys that can win by time; the second pass sums up their times
	hashes     []uint64  // of these
	candidates []candidate
	least      [3]float64 // averages of the last winners, at least; -Inf: not known
	others     [3]float64 // the highest averages that the candidates that are out can have
	allListed  bool       // rollups do not list more of the slowest keys
	spares     []uint64   // hashes of the keys next to the winners
	suspects   []uint64   // hashes of further keys whose texts are compared, too
	rest       []uint64   // hashes of keys whose figures are needed, but not the texts of those that have no place yet
	places     hashTable  // of the winners of all labels, then of the spare keys, of the rest, and of the suspects
	first      int        // the number of these winners
	checks     []keyCheck // by place
	texts      [][]byte   // of the winners and spare keys, by place; nil until one is met
	figures    []figures  // of these and the rest, by place

	ranks reservation // the reserved memory, as bytes returns it
}

func newKeys(r *run, column string, labels []string, limit, groups int) *keys {
	none, unknown := slowest{others: math.Inf(-1)}, math.Inf(-1)
	return &keys{
		run: r, column: column, labels: labels, limit: limit, ranks: reservation{run: r}, reserve: r.reserve,
		least:   [3]float64{unknown, unknown, unknown},
		timed:   ranksByTime(labels),
		tallies: make([][]tally, groups), slowest: slices.Repeat([][3]slowest{{none, none, none}}, groups),
		ranked: map[string][]total{}, ties: map[string][]total{},
	}
}

// tally holds the counts that rank a key in one row group.
type tally struct {
	hash              uint64 // of the text
	requests, blocked int32
}

// duration holds the sum of some times, in microseconds, and their number.
type duration struct {
	sum   int64
	count int64
}

// The memory of an element of a list.
const (
	tallyBytes     = 16
	hashBytes      = 8 // also of a number of requests
	rankBytes      = 56
	candidateBytes = 128
	slotBytes      = 16
	textBytes      = 24 // without the text itself
	checkBytes     = 8
)

// keep keeps the tallies of the keys of row group i that can win by blocked requests, if any label ranks by them. At
// first it keeps all keys. Once there are as many keys with blocked requests as winners, it keeps only such keys,
// because all others rank after them. A count has the requests in its lower half, the blocked ones in its upper half.
func (k *keys) keep(i int, counts, hashes []uint64) error {
	if !slices.ContainsFunc(k.labels, func(label string) bool { return timeOf(label) < 0 }) {
		return nil
	}
	var least uint64 = 1
	if k.enough() {
		least = 1 << 32
	}
	n := 0
	for _, count := range counts {
		if count >= least {
			n++
		}
	}
	list := make([]tally, 0, n)
	for code, count := range counts {
		if count >= least {
			list = append(list, tally{hash: hashes[code], requests: int32(uint32(count)), blocked: int32(count >> 32)})
		}
	}
	if k.meet(list) && least == 1 {
		list = slices.Clone(slices.DeleteFunc(list, func(t tally) bool { return t.blocked == 0 }))
	}
	return k.keepBytes(int64(cap(list))*tallyBytes, func() (before int64) {
		k.tallies[i] = list
		return 0
	})
}

// keepBytes reserves memory and calls keep, unless the column is divided. keep returns the memory of what it replaces.
func (k *keys) keepBytes(bytes int64, keep func() (before int64)) error {
	if err := k.reserve(bytes); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.divided {
		k.run.unreserve(bytes)
		return nil
	}
	before := keep()
	k.run.unreserve(before)
	k.held += bytes - before
	return nil
}

// kept returns the memory of what is kept of the row groups.
func (k *keys) kept() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

func (k *keys) isDivided() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.divided
}

// divide gives back all memory of the column, whose keys rankDivided will rank.
func (k *keys) divide() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.run.unreserve(k.held)
	k.ranks.free()
	k.held, k.divided = 0, true
	k.tallies, k.slowest, k.ranked, k.ties = nil, nil, map[string][]total{}, nil
	k.blocked, k.contested, k.slow = hashTable{}, hashTable{}, hashTable{}
	k.requests, k.hashes, k.candidates, k.spares, k.rest, k.suspects = nil, nil, nil, nil, nil, nil
}

// enough reports whether there are as many keys with blocked requests as winners.
func (k *keys) enough() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.blocked.n >= k.limit
}

// meet notes the keys with blocked requests of a row group, and reports whether there are enough.
func (k *keys) meet(list []tally) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range list {
		if k.blocked.n >= k.limit {
			break
		}
		if t.blocked > 0 {
			k.blocked.add(t.hash)
		}
	}
	return k.blocked.n >= k.limit
}

// total holds the counts that rank a key in all row groups.
type total struct {
	hash              uint64
	requests, blocked int64       // requests: 0 if the blocked ones already make the key a winner
	time              query.Times // for a label that ranks by time
}

// bytes returns the memory of the ranks, and of the lists and tables that they are made of, besides the tallies and the
// slowest keys of the row groups.
func (k *keys) bytes() int64 {
	bytes := k.contested.bytes() + k.slow.bytes() + k.places.bytes() + int64(cap(k.texts))*textBytes + int64(cap(k.checks))*checkBytes +
		int64(cap(k.requests)+cap(k.hashes)+cap(k.suspects))*hashBytes + int64(cap(k.candidates))*candidateBytes
	for _, ranked := range k.ranked {
		bytes += int64(cap(ranked)) * rankBytes
	}
	return bytes
}

// hold reserves the memory of the ranks and a further amount that is about to be used. It returns the errors of
// run.reserve.
func (k *keys) hold(more int64) error { return k.ranks.hold(k.bytes() + more) }

func byBlocked(a, b total) int {
	return cmp.Or(cmp.Compare(b.blocked, a.blocked), cmp.Compare(b.requests, a.requests))
}

// rankByBlocked ranks the keys by blocked requests. If the first pass has kept only keys with blocked requests, it has
// not seen all requests of a key. Then the keys with as many blocked requests as the last winner are contested, unless
// there are no more keys than winners.
func (k *keys) rankByBlocked() error {
	if k.divided {
		return nil
	}
	enough := k.enough()
	sum := k.sum
	if enough {
		sum = k.sumBlocked
	}
	totals, err := sum()
	if err != nil {
		return err
	}
	for _, of := range k.tallies {
		k.held -= int64(cap(of)) * tallyBytes
		k.run.unreserve(int64(cap(of)) * tallyBytes)
	}
	k.tallies = nil
	if enough {
		counts := make([]int64, len(totals))
		for i, t := range totals {
			counts[i] = t.blocked
		}
		slices.Sort(counts)
		least := counts[len(counts)-k.limit]
		k.spareBlocked(totals, counts[max(0, len(counts)-k.limit-k.margin)], least)
		totals = slices.Clone(slices.DeleteFunc(totals, func(t total) bool { return t.blocked < least }))
		for i := range totals {
			totals[i].requests = 0
			if len(totals) > k.limit && totals[i].blocked == least {
				k.contested.add(totals[i].hash)
			}
		}
		k.requests = make([]int64, k.contested.n)
	}
	for _, label := range k.labels {
		if timeOf(label) < 0 {
			k.ranked[label] = totals
		}
	}
	return k.hold(0)
}

// spareBlocked makes keys spare that have at least as many blocked requests as one count, and fewer than another.
func (k *keys) spareBlocked(totals []total, least, winners int64) {
	for _, t := range totals {
		if len(k.spares) < k.margin && least <= t.blocked && t.blocked < winners {
			k.spares = append(k.spares, t.hash)
		}
	}
}

// spare makes the first of some keys spare.
func (k *keys) spare(next []total) {
	for _, t := range next[:min(len(next), k.margin)] {
		k.spares = append(k.spares, t.hash)
	}
}

// sum adds up all tallies.
func (k *keys) sum() ([]total, error) {
	var s summed
	err := k.addUp(&s, func(tally) bool { return true })
	return s.totals, err
}

// sumBlocked adds up the tallies of the keys that can be winners if there are as many keys with blocked requests as
// winners. The last winner has at least as many of them as the last of the first keys of any row group or day. A key that
// has fewer than its share of that everywhere has fewer altogether, so it needs no total.
func (k *keys) sumBlocked() ([]total, error) {
	little := max(0, k.leastBlocked()-1) / int32(len(k.tallies))
	var s summed
	if err := k.addUp(&s, func(t tally) bool { return t.blocked > little }); err != nil {
		return nil, err
	}
	for _, of := range k.tallies {
		for _, t := range of {
			if t.blocked > little {
				continue
			}
			if place := s.table.place(t.hash); place >= 0 {
				s.totals[place].add(t)
			}
		}
	}
	return s.totals, nil
}

// leastBlocked returns how many blocked requests the last winner has at least.
func (k *keys) leastBlocked() (least int32) {
	for _, of := range k.tallies {
		var first []int32 // the largest counts
		for _, t := range of {
			if len(first) == k.limit && t.blocked <= first[k.limit-1] || t.blocked == 0 {
				continue
			}
			first = insertFirst(first, t.blocked, k.limit, func(a, b int32) int { return cmp.Compare(b, a) })
		}
		if len(first) == k.limit {
			least = max(least, first[k.limit-1])
		}
	}
	return least
}

// summed are sums of tallies.
type summed struct {
	table  hashTable
	totals []total // by the places of the table
}

// addUp adds up the tallies for which the condition holds.
func (k *keys) addUp(s *summed, holds func(tally) bool) error {
	for _, of := range k.tallies {
		for _, t := range of {
			if !holds(t) {
				continue
			}
			place := s.table.add(t.hash)
			if place == len(s.totals) {
				s.totals = append(s.totals, total{hash: t.hash})
			}
			s.totals[place].add(t)
		}
		if err := k.hold(s.table.bytes() + int64(cap(s.totals))*rankBytes); err != nil {
			return err
		}
	}
	return nil
}

func (t *total) add(of tally) {
	t.requests += int64(of.requests)
	t.blocked += int64(of.blocked)
}

// open reports whether the second pass has something to count.
func (k *keys) open() bool { return k.contested.n > 0 || k.slow.n > 0 }

// addContested adds the requests of contested keys in a row group.
func (k *keys) addContested(places []int, requests []int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, place := range places {
		k.requests[place] += requests[i]
	}
}

// completed takes over the requests of the contested keys.
func (k *keys) completed() {
	if k.contested.n == 0 {
		return
	}
	for label, totals := range k.ranked {
		for i, t := range totals {
			if place := k.contested.place(t.hash); place >= 0 && timeOf(label) < 0 {
				totals[i].requests = k.requests[place]
			}
		}
	}
	k.contested, k.requests = hashTable{}, nil
}

// sureWinners returns the keys that win by blocked requests, whatever the requests of contested keys are.
func (k *keys) sureWinners() (sure []textHash) {
	for label, totals := range k.ranked {
		if timeOf(label) >= 0 || len(totals)-k.contested.n > k.limit {
			continue
		}
		for _, t := range totals {
			if k.contested.n == 0 || k.contested.place(t.hash) < 0 {
				sure = append(sure, textHash{hash: t.hash})
			}
		}
		break // all of these labels have the same keys
	}
	return sure
}

// cut leaves only the winners of each label: the keys that rank highest. Keys that rank equally at the limit are ties,
// which texts must break. cut gives back the memory from which the ranks were computed.
func (k *keys) cut() error {
	k.run.unreserve(k.held)
	k.held = 0
	k.slowest, k.slow, k.hashes, k.candidates = nil, hashTable{}, nil, nil
	if err := k.hold(0); err != nil {
		return err
	}
	for label, ordered := range k.ranked {
		ahead := byTime // which they are sorted by
		if timeOf(label) < 0 {
			ahead = byBlocked
			slices.SortFunc(ordered, ahead)
		}
		if len(ordered) <= k.limit {
			continue
		}
		first, _ := slices.BinarySearchFunc(ordered[:k.limit], ordered[k.limit-1], ahead)
		end := k.limit
		for end < len(ordered) && ahead(ordered[end], ordered[k.limit-1]) == 0 {
			end++
		}
		k.spare(ordered[k.limit:])
		if end == k.limit {
			k.ranked[label] = ordered[:k.limit:k.limit]
			continue
		}
		k.ranked[label], k.ties[label] = ordered[:first:first], ordered[first:end]
	}
	return nil
}
