package scan

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/orrery/orrery/shared/query"
)

// diff counts values like facets. The only flag of a record is whether it is selected.
func (r *run) diff(
	ctx context.Context, shape query.Diff, days []rolledUpDay, groups []*group,
) (query.DiffAnswer, error) {
	flags := func(w *worker, rows []int32) ([]uint8, error) { return w.selected(rows, shape.Select.Conditions) }
	f := newFacets(r, shape.By, flags, addSides)
	f.question = r.questions()[0]
	if len(days) > 0 {
		return diffOfDays(ctx, f, shape, days, groups)
	}
	answer := query.DiffAnswer{Terms: make([]query.DiffTerm, len(f.by))}
	var frequent atomic.Int64
	err := f.count(ctx, groups, func(i int, values *counted[query.Sides]) error {
		n := frequent.Add(addTerm(&answer.Terms[i], values, shape))
		return shape.CheckValues(int(n))
	})
	if err != nil || f.all == (query.Sides{}) {
		return query.DiffAnswer{}, err
	}
	answer.Requests = f.all
	for i := range answer.Terms {
		t := &answer.Terms[i]
		t.Requests = f.by[i].present
		slices.SortFunc(t.Values, func(a, b query.DiffValue) int { return cmp.Compare(a.Value, b.Value) })
	}
	return answer, nil
}

// isSelected is the flag of the selected records of a diff.
const isSelected = 1

// selected returns the flags of each row of a diff.
func (w *worker) selected(rows []int32, conditions []query.Condition) ([]uint8, error) {
	ts, err := w.column("ts_ms", "")
	if err != nil {
		return nil, err
	}
	selected, err := w.meeting(rows, conditions)
	if err != nil {
		return nil, err
	}
	flags := make([]uint8, len(ts.Ints))
	for _, row := range selected {
		flags[row] = isSelected
	}
	return flags, nil
}

func addSides(flags int, n int64, to *query.Sides) {
	if flags == isSelected {
		to.Selected += n
	} else {
		to.Baseline += n
	}
}

// addTerm adds the frequent values of a part of a dimension to its counts. It returns their number.
func addTerm(to *query.DiffTerm, values *counted[query.Sides], shape query.Diff) (frequent int64) {
	to.Distinct += int64(len(values.counts))
	for code, n := range values.counts {
		if shape.Frequent(n) {
			to.Values = append(to.Values, query.DiffValue{Value: string(values.texts.At(int32(code))), Sides: n})
			frequent++
		}
	}
	return frequent
}
