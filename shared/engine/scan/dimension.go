package scan

import (
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// valuesOf returns the different values of each row for a dimension.
func (w *worker) valuesOf(d query.Dimension) (keyColumn, error) {
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
	if d.Single() {
		return keyColumn{codes: codes, entries: entries}, nil
	}
	if terms[0].Source.Layout != catalog.Pairs {
		return differentCodes(values.Starts, codes, entries, func(int32) bool { return true }), nil
	}
	names, err := w.column(terms[0].Source.Column, "name")
	if err != nil {
		return keyColumn{}, err
	}
	named := onEntries(names, func(entry int32) bool { return terms[0].MatchesName(string(names.Texts.At(entry))) })
	return differentCodes(values.Starts, codes, entries, named), nil
}

// differentCodes returns the different codes of those elements of each row that hold.
func differentCodes(starts, codes []int32, entries texts, holds func(element int32) bool) keyColumn {
	k := keyColumn{starts: make([]int32, 1, len(starts)), entries: entries}
	for row := range len(starts) - 1 {
		first := len(k.codes)
		for i := starts[row]; i < starts[row+1]; i++ {
			if holds(i) && !slices.Contains(k.codes[first:], codes[i]) {
				k.codes = append(k.codes, codes[i])
			}
		}
		k.starts = append(k.starts, int32(len(k.codes)))
	}
	return k
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
