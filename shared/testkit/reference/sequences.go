package reference

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateSequences puts each record into the sequence of its key.
func evaluateSequences(shape query.Sequences, rows []*lake.Row) query.SequencesAnswer {
	var list []query.SequenceRow
	for _, r := range rows {
		if row, ok := sequenceRow(shape, r); ok {
			list = append(list, row)
		}
	}
	n := map[string]int64{} // requests of each key
	for _, row := range list {
		n[fmt.Sprintf("%q", row.Key)]++
	}
	wanted := slices.DeleteFunc(list, func(row query.SequenceRow) bool { return n[fmt.Sprintf("%q", row.Key)] <= shape.Over })
	return shape.SequencesOf(wanted)
}

// sequenceRow returns the place of a record in its sequence. ok is false if it is in none.
func sequenceRow(shape query.Sequences, r *lake.Row) (row query.SequenceRow, ok bool) {
	row.TsMs, row.TsNanos = r.TsMs, r.TsNanos
	for _, d := range shape.Key {
		values := d.Values(r)
		if len(values) == 0 {
			return row, false
		}
		row.Key = append(row.Key, values[0])
	}
	for _, d := range slices.Concat(shape.With, shape.Also) {
		var value *string
		if values := d.Values(r); len(values) > 0 {
			value = &values[0]
		}
		row.With = append(row.With, value)
	}
	for i, s := range shape.Of {
		if s.Holds(r) {
			row.Selected |= 1 << i
		}
	}
	return row, true
}
