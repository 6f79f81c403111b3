package scan

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// keys is all keys of a column, and what ranks them.
type keys struct {
	column string
	labels []string // that the keys are for, some of query.Labels
	timed  bool     // some of the labels rank by time

	mu     sync.Mutex
	texts  parquet.Dictionary
	counts []keyCount
	times  [][3]mean // in the order of query.TimeLabels; only if timed

	// numbers are, of every row group, those that the entries of its dictionary have among all texts; parquet.Absent for
	// entries that no chosen row has.
	numbers [][]int32

	winners map[string][]int32 // of each label, by number
	places  []int32            // of the texts by number: place in figures, or parquet.Absent
	figures []figures          // of all winners
}

type keyCount struct{ requests, blocked int64 }

// mean is a sum of times and how many they are.
type mean struct {
	sum   sum
	count int64
}

func (m mean) average() float64 { return query.Times{Count: m.count, Sum: m.sum.n}.Average() }

const (
	keyCountBytes = 16
	meanBytes     = 24
)

// join adds the counts of a row group's keys to the rest, and returns their numbers.
func (k *keys) join(r *run, entries interface{ At(int32) []byte }, counts []keyCount, times [][3]mean) ([]int32, error) {
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

// timeOf is the place of a label among query.TimeLabels, which is that of its time in keys.times, or -1.
func timeOf(label string) int {
	return slices.IndexFunc(query.TimeLabels, func(l query.Label) bool { return l.Name == label })
}

// top lists the numbers of the keys that rank highest.
func (k *keys) top(label string, limit int) ([]int32, error) {
	time := timeOf(label)
	ahead := k.byBlocked
	if time >= 0 {
		ahead = func(a, b int32) int {
			return cmp.Or(cmp.Compare(k.times[b][time].average(), k.times[a][time].average()),
				cmp.Compare(k.counts[b].requests, k.counts[a].requests), bytes.Compare(k.texts.At(a), k.texts.At(b)))
		}
	}
	var top []int32 // the highest so far, the highest first
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

// byBlocked ranks by blocked, then all requests, then key.
func (k *keys) byBlocked(a, b int32) int {
	return cmp.Or(cmp.Compare(k.counts[b].blocked, k.counts[a].blocked),
		cmp.Compare(k.counts[b].requests, k.counts[a].requests), bytes.Compare(k.texts.At(a), k.texts.At(b)))
}

// rows lists the winners of every label, by label, then blocked and all requests, descending, then key.
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
