package scan

import (
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// valuesOf returns the different values of each row for a dimension. They are valid until the next call.
func (w *worker) valuesOf(d query.Dimension) (keyColumn, error) {
	k, err := w.elementsOf(d)
	if err == nil && k.repeats {
		k = w.differentCodes(k.starts, k.codes, k.entries, nil)
	}
	return k, err
}

// elementsOf is like valuesOf, but it sets repeats if a row may have a value of a list several times.
func (w *worker) elementsOf(d query.Dimension) (keyColumn, error) {
	terms := d.Terms()
	values, err := w.column(terms[0].Source.Column, valueMember(terms[0].Source))
	if err != nil {
		return keyColumn{}, err
	}
	if len(terms) == 2 { // a text and a list of further ones
		more, err := w.column(terms[1].Source.Column, "")
		if err != nil {
			return keyColumn{}, err
		}
		return reasons(values, more)
	}
	codes, entries := coded(values)
	if d.Network != nil {
		return w.networksOf(d, codes, entries), nil
	}
	if d.Single() && !d.Joined {
		return keyColumn{codes: codes, entries: entries}, nil
	}
	if terms[0].Source.Layout != catalog.Pairs {
		return keyColumn{starts: values.Starts, codes: codes, entries: entries, repeats: true}, nil
	}
	names, err := w.column(terms[0].Source.Column, "name")
	if err != nil {
		return keyColumn{}, err
	}
	named := onEntries(names, func(entry int32) bool { return terms[0].MatchesName(string(names.Texts.At(entry))) })
	if d.Joined {
		return w.joinedElements(values.Starts, codes, entries, named), nil
	}
	return w.differentCodes(values.Starts, codes, entries, named), nil
}

// joinedElements returns the elements of each row for which holds returns true, joined by spaces. It uses the memory of the
// worker.
func (w *worker) joinedElements(starts, codes []int32, entries texts, holds func(element int32) bool) keyColumn {
	var all parquet.Dictionary
	known := make([]int32, entries.Len()) // codes in all of elements that are alone, plus one
	w.codes = w.codes[:0]
	var text []byte
	for row := range len(starts) - 1 {
		n, alone := 0, int32(parquet.Absent)
		for i := starts[row]; i < starts[row+1]; i++ {
			switch {
			case !holds(i):
				continue
			case n == 0:
				alone = codes[i]
			case n == 1:
				text = append(append(text[:0], entries.At(alone)...), ' ')
				text = append(text, entries.At(codes[i])...)
			default:
				text = append(append(text, ' '), entries.At(codes[i])...)
			}
			n++
		}
		code := int32(parquet.Absent)
		switch {
		case n == 1:
			code, _ = addEntry(&all, entries, alone, known)
		case n > 1:
			code = all.Code(text, parquet.Hash(text))
		}
		w.codes = append(w.codes, code)
	}
	return keyColumn{codes: w.codes, entries: &all.Texts}
}

// networksOf returns the network of each row, of the addresses that the codes stand for. It uses the memory of the worker.
func (w *worker) networksOf(d query.Dimension, codes []int32, addresses texts) keyColumn {
	var networks parquet.Dictionary
	codeOf := make([]int32, addresses.Len())
	for i := range codeOf {
		codeOf[i] = parquet.Absent
		network, ok := d.ValueOf(string(addresses.At(int32(i))))
		if !ok {
			continue
		}
		codeOf[i] = networks.Code([]byte(network), parquet.Hash([]byte(network)))
	}
	w.codes = append(w.codes[:0], codes...)
	for row, code := range w.codes {
		if code != parquet.Absent {
			w.codes[row] = codeOf[code]
		}
	}
	return keyColumn{codes: w.codes, entries: &networks.Texts}
}

// differentCodes returns the different codes of the elements of each row for which holds returns true; if holds is nil,
// of all elements. It uses the memory of the worker.
func (w *worker) differentCodes(starts, codes []int32, entries texts, holds func(element int32) bool) keyColumn {
	w.lastRow = cleared(w.lastRow, entries.Len())
	w.codes, w.starts = slices.Grow(w.codes[:0], len(codes)), slices.Grow(w.starts[:0], len(starts))
	different := w.codes
	w.starts = append(w.starts, 0)
	for row := range len(starts) - 1 {
		for i := starts[row]; i < starts[row+1]; i++ {
			code := codes[i]
			if w.lastRow[code] == int32(row)+1 || holds != nil && !holds(i) {
				continue
			}
			w.lastRow[code] = int32(row) + 1
			different = append(different, code)
		}
		w.starts = append(w.starts, int32(len(different)))
	}
	w.codes = different
	return keyColumn{starts: w.starts, codes: w.codes, entries: entries}
}

// cleared returns a slice of n zero values, in the memory of a slice that is no longer needed.
func cleared[T any](used []T, n int) []T {
	used = slices.Grow(used[:0], n)[:n]
	clear(used)
	return used
}

// coded returns the codes of the values of a column, and the texts of the codes.
func coded(values *parquet.ColumnValues) ([]int32, texts) {
	switch {
	case len(values.Flags) > 0:
		codes := make([]int32, len(values.Flags))
		for row, flag := range values.Flags {
			codes[row] = int32(flag) // parquet.Absent is the same for both
		}
		return codes, booleans{}
	case len(values.Codes) > 0 && len(values.Ints) > 0:
		return values.Codes, numbers(values.Ints)
	case len(values.Ints) > 0:
		return codedNumbers(values)
	}
	return values.Codes, &values.Texts
}

// codedNumbers gives codes to the integers of a column without a dictionary.
func codedNumbers(values *parquet.ColumnValues) ([]int32, texts) {
	var entries numbers
	known := map[int64]int32{}
	codes := make([]int32, len(values.Ints))
	for i, n := range values.Ints {
		if len(values.Present) > 0 && !values.Present[i] {
			codes[i] = parquet.Absent
			continue
		}
		code, met := known[n]
		if !met {
			code = int32(len(entries))
			known[n] = code
			entries = append(entries, n)
		}
		codes[i] = code
	}
	return codes, entries
}

// numbers are entries of a dictionary of integers.
type numbers []int64

func (n numbers) Len() int          { return len(n) }
func (n numbers) At(i int32) []byte { return strconv.AppendInt(nil, n[i], 10) }

// booleans are the codes of flags.
type booleans struct{}

func (booleans) Len() int          { return 2 }
func (booleans) At(i int32) []byte { return strconv.AppendBool(nil, i == 1) }
