package scan

import (
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake/parquet"
)

// TestRowsOfEntries: a test of dictionary entries is tried once on each entry that the rows have. A row without a value
// does not pass it, so it passes the negated one.
func TestRowsOfEntries(t *testing.T) {
	values := &parquet.ColumnValues{Codes: []int32{2, parquet.Absent, 0, 2, 1, 0}, Ints: []int64{10, 20, 30, 40}}
	for _, test := range []struct {
		rows    []int32
		negated bool
		want    []int32
		tried   []int32
	}{
		{[]int32{0, 1, 2, 3, 4, 5}, false, []int32{0, 3, 4}, []int32{2, 0, 1}},
		{[]int32{0, 1, 2, 3, 4, 5}, true, []int32{1, 2, 5}, []int32{2, 0, 1}},
		{[]int32{1, 5}, true, []int32{1, 5}, []int32{0}},
		{nil, false, nil, nil},
	} {
		var tried []int32
		got := rowsOfEntries(slices.Clone(test.rows), values, func(entry int32) bool {
			tried = append(tried, entry)
			return values.Ints[entry] >= 20
		}, test.negated)
		if !slices.Equal(got, test.want) || !slices.Equal(tried, test.tried) {
			t.Errorf("%v, negated %v: %v, tried %v", test.rows, test.negated, got, tried)
		}
	}
}
