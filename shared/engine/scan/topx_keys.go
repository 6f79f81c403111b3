package scan

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// keys holds all keys of a column and what ranks them.
type keys struct {
	column string
	labels []string // of query.Labels, those with these keys
	timed  bool     // whether a label ranks by time

	mu     sync.Mutex
	texts  parquet.Dictionary
	counts []keyCount
	times  [][3]mean // in the order of query.TimeLabels; only if timed

	// numbers holds, for each row group, the numbers in texts of its dictionary's entries, and parquet.Absent for
	// entries that no chosen row has.
	numbers [][]int32

	winners map[string][]int32 // the numbers of the top keys of each label
	places  []int32            // the index in figures of each text, or parquet.Absent
	figures []figures          // of all top keys
}

type keyCount struct{ requests, blocked int64 }

// mean is a sum of times and their count.
type mean struct {
	sum   sum
	count int64
}

func (m mean) average() float64 { return query.Times{Count: m.count, Sum: m.sum.n}.Average() }

const (
	keyCountBytes = 16
	meanBytes     = 24
)

// join adds the counts of a row group's keys to those of other row groups, and returns the numbers of the keys.
func (k *keys) join(
	r *run, entries interface{ At(int32) []byte }, counts []keyCount, times [][3]mean,
) ([]int32, error) {
	numbers := make([]int32, len(counts))
	hashes := make([]uint32, len(counts))
	for code := range counts {
		if counts[code].requests > 0 {
			hashes[code] = parquet.Hash(entries.At(int32(code)))
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.bytes()
	for code, c := range counts {
		if c.requests == 0 {
			numbers[code] = parquet.Absent
			continue
		}
		number := k.texts.Code(entries.At(int32(code)), hashes[code])
		if int(number) == len(k.counts) {
			k.counts = append(k.counts, keyCount{})
			if k.timed {
				k.times = append(k.times, [3]mean{})
			}
		}
		k.counts[number].requests += c.requests
		k.counts[number].blocked += c.blocked
		if k.timed {
			for i, m := range times[code] {
				k.times[number][i].count += m.count
				k.times[number][i].sum.join(m.sum)
			}
		}
		numbers[code] = number
	}
	return numbers, r.reserve(k.bytes() - before + int64(4*len(numbers)))
}

// bytes returns the approximate memory that the keys take.
func (k *keys) bytes() int64 {
	return k.texts.Memory() + int64(k.texts.Len()*(keyCountBytes+4)+len(k.times)*3*meanBytes)
}

// choose finds the top keys of every label.
func (t *topX) choose() error {
	for _, k := range t.keys {
		k.winners = map[string][]int32{}
		k.places = slices.Repeat([]int32{parquet.Absent}, k.texts.Len())
		for _, label := range k.labels {
			top, err := k.top(label, t.shape.Limit)
			if err != nil {
				return err
			}
			k.winners[label] = top
			for _, number := range top {
				if k.places[number] == parquet.Absent {
					k.places[number] = int32(len(k.figures))
					k.figures = append(k.figures, figures{})
				}
			}
		}
	}
	return nil
}

// timeOf returns the index of a label in query.TimeLabels, and so of its time in keys.times, or -1.
func timeOf(label string) int {
	return slices.IndexFunc(query.TimeLabels, func(l query.Label) bool { return l.Name == label })
}

// top returns the numbers of the keys that rank highest for a label, the highest first.
func (k *keys) top(label string, limit int) ([]int32, error) {
	time := timeOf(label)
	ahead := k.byBlocked
	if time >= 0 {
		ahead = func(a, b int32) int {
			return cmp.Or(cmp.Compare(k.times[b][time].average(), k.times[a][time].average()),
				cmp.Compare(k.counts[b].requests, k.counts[a].requests), bytes.Compare(k.texts.At(a), k.texts.At(b)))
		}
	}
	var top []int32 // the highest so far
	for number := range int32(k.texts.Len()) {
		if time >= 0 {
			if k.times[number][time].count == 0 {
				continue
			}
			if err := whole(k.times[number][time].sum); err != nil {
				return nil, err
			}
		}
		if len(top) == limit {
			if ahead(number, top[limit-1]) > 0 {
				continue
			}
			top = top[:limit-1]
		}
		at, _ := slices.BinarySearchFunc(top, number, ahead)
		top = slices.Insert(top, at, number)
	}
	return top, nil
}

// byBlocked compares two keys by blocked requests, then by all requests, both descending, then by text.
func (k *keys) byBlocked(a, b int32) int {
	return cmp.Or(cmp.Compare(k.counts[b].blocked, k.counts[a].blocked),
		cmp.Compare(k.counts[b].requests, k.counts[a].requests), bytes.Compare(k.texts.At(a), k.texts.At(b)))
}

// rows returns the top keys by label, then by blocked requests and all requests, both descending, then by key.
func (t *topX) rows() ([]query.TopXRow, error) {
	var rows []query.TopXRow
	for _, label := range query.Labels {
		for _, k := range t.keys {
			winners := k.winners[label]
			slices.SortFunc(winners, k.byBlocked)
			for _, number := range winners {
				row, err := k.figures[k.places[number]].row(label, string(k.texts.At(number)))
				if err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}
