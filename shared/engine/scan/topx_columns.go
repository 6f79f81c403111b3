package scan

import (
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// tally counts the requests of each key in w.tallies.
func (w *worker) tally(of *keyColumn, rows []int32, blocked []int8) {
	tallies := w.tallies
	if of.starts != nil {
		w.pairs.each(of, nil, rows, func(rows, codes []int32) {
			for n, code := range codes {
				tallies[code] += oneRequest[blocked[rows[n]]+1]
			}
		})
		return
	}
	for _, row := range rows {
		if code := of.codes[row]; code != parquet.Absent {
			tallies[code] += oneRequest[blocked[row]+1]
		}
	}
}

// oneRequest is what a request adds to the tally of its key, by the flag blocked plus one. The lower half of a tally
// counts all requests, the upper half the blocked ones.
var oneRequest = [3]uint64{1, 1, 1 + 1<<32}

// number numbers the keys that are in a table. w.numbers[code+1] is the number of a code, or parquet.Absent; the first
// element is for the code parquet.Absent. number returns the place of each number in the table. Numbers and places are
// valid until the next call.
func (w *worker) number(of *topKeys, table *hashTable) (places []int) {
	w.places = w.places[:0]
	w.numbers = append(slices.Grow(w.numbers[:0], len(of.hashes)+1), parquet.Absent)
	for _, hash := range of.hashes {
		number := int32(parquet.Absent)
		if place := table.place(hash); place >= 0 {
			number = int32(len(w.places))
			w.places = append(w.places, place)
		}
		w.numbers = append(w.numbers, number)
	}
	return w.places
}

// requestsOf counts the requests of keys by their numbers, which are less than n.
func (w *worker) requestsOf(of *keyColumn, numbers []int32, n int, rows []int32) []int64 {
	requests := make([]int64, n)
	w.pairs.each(of, numbers, rows, func(_, codes []int32) {
		for _, code := range codes {
			requests[code]++
		}
	})
	return requests
}

// timesOf sums up the times of keys by their numbers, or by their codes if numbers is nil. Both are less than n. The
// sums are valid until the next call.
func (w *worker) timesOf(of *keyColumn, numbers []int32, n int, rows []int32) ([][3]duration, error) {
	w.times = cleared(w.times, n)
	times := w.times
	var columns [3]*parquet.ColumnValues
	for n, label := range query.TimeLabels {
		var err error
		if columns[n], err = w.column(label.Time, ""); err != nil {
			return nil, err
		}
	}
	var overflow int64 // negative after a sum of more than 64 bits
	w.pairs.each(of, numbers, rows, func(rows, codes []int32) {
		for n, column := range columns {
			for i, row := range rows {
				if len(column.Present) > 0 && !column.Present[row] {
					continue
				}
				d := &times[codes[i]][n]
				n := column.Ints[row]
				total := d.sum + n
				overflow |= (d.sum ^ total) & (n ^ total)
				d.sum = total
				d.count++
			}
		}
	})
	if overflow < 0 {
		return times, w.limitTimes(times, columns, of, numbers, rows)
	}
	return times, nil
}

// limitTimes replaces the sums of the times of keys by the nearest integers of 64 bits.
func (w *worker) limitTimes(
	times [][3]duration, columns [3]*parquet.ColumnValues, of *keyColumn, numbers, rows []int32,
) error {
	sums := make([][3]sum, len(times))
	w.pairs.each(of, numbers, rows, func(rows, codes []int32) {
		for n, column := range columns {
			for i, row := range rows {
				if len(column.Present) == 0 || column.Present[row] {
					sums[codes[i]][n].add(column.Ints[row])
				}
			}
		}
	})
	for code := range sums {
		for n, s := range sums[code] {
			if !s.fits() && s.high < 0 {
				return errLongTimes
			}
			times[code][n].sum = s.whole()
		}
	}
	return nil
}

// keyColumn holds the keys of a row group for one label. Row i has the key codes[i]. If starts is set, row i has the
// keys codes[starts[i]:starts[i+1]].
type keyColumn struct {
	starts, codes []int32
	entries       texts
	repeats       bool // a row may have a key several times, and counts once
}

// texts are the entries of a dictionary.
type texts interface {
	Len() int
	At(i int32) []byte
}

// blockRows is the number of rows that are counted in one step. The data that a step reads and writes for so many rows
// fits into the processor's first cache.
const blockRows = 1024

// pairs are rows and their keys: rows[i] has the key codes[i]. A row can be in several pairs, or in none.
type pairs struct{ rows, codes []int32 }

// each calls f with the rows and their keys, block by block. Unless numbers is nil, f gets the numbers of the keys
// instead of their codes. The slices are valid until f returns.
func (p *pairs) each(k *keyColumn, numbers, rows []int32, f func(rows, codes []int32)) {
	for block := range slices.Chunk(rows, blockRows) {
		p.fill(k, numbers, block)
		f(p.rows, p.codes)
	}
}

// fill makes p the keys of rows that have numbers, or all keys if numbers is nil.
func (p *pairs) fill(k *keyColumn, numbers, rows []int32) {
	if k.starts != nil {
		p.rows, p.codes = p.rows[:0], p.codes[:0]
		for _, row := range rows {
			for _, code := range k.codes[k.starts[row]:k.starts[row+1]] {
				if numbers != nil {
					code = numbers[code+1]
				}
				if code != parquet.Absent {
					p.rows, p.codes = append(p.rows, row), append(p.codes, code)
				}
			}
		}
		return
	}
	p.rows = slices.Grow(p.rows[:0], len(rows))[:len(rows)]
	p.codes = slices.Grow(p.codes[:0], len(rows))[:len(rows)]
	n := 0
	for _, row := range rows {
		code := k.codes[row]
		if numbers != nil {
			code = numbers[code+1]
		}
		p.rows[n], p.codes[n] = row, code
		if code != parquet.Absent {
			n++
		}
	}
	p.rows, p.codes = p.rows[:n], p.codes[:n]
}

// reasons returns, for each row, the different texts among its reason and the reasons why it is monitored.
func reasons(reason, monitored *parquet.ColumnValues) (keyColumn, error) {
	names, monitoredCodes, err := union(&reason.Texts, &monitored.Texts)
	if err != nil {
		return keyColumn{}, err
	}
	k := keyColumn{starts: make([]int32, 1, len(reason.Codes)+1), entries: names}
	for row, code := range reason.Codes {
		first := len(k.codes)
		if code != parquet.Absent {
			k.codes = append(k.codes, code)
		}
		for _, code := range monitored.Codes[monitored.Starts[row]:monitored.Starts[row+1]] {
			if place := monitoredCodes[code]; !slices.Contains(k.codes[first:], place) {
				k.codes = append(k.codes, place)
			}
		}
		k.starts = append(k.starts, int32(len(k.codes)))
	}
	return k, nil
}
