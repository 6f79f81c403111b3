package scan

import (
	"bytes"
	"context"
	"slices"

	"github.com/orrery/orrery/shared/query"
)

// diff counts values like facets. The only flag of a record is whether it is selected.
func (r *run) diff(ctx context.Context, shape query.Diff, groups []*group) (query.DiffAnswer, error) {
	flags := func(w *worker, rows []int32) ([]uint8, error) { return w.selected(rows, shape.Select.Conditions) }
	f := newFacets(r, shape.By, flags, addSides)
	if err := r.scan(ctx, groups, f.read); err != nil {
		return query.DiffAnswer{}, err
	}
	answer := query.DiffAnswer{Requests: f.all}
	if f.all == (query.Sides{}) {
		return answer, nil
	}
	answer.Terms = make([]query.DiffTerm, len(f.by))
	err := r.each(ctx, len(f.by), func(_ *worker, i int) error {
		answer.Terms[i] = diffTerm(&f.by[i], shape)
		return nil
	})
	if err != nil {
		return query.DiffAnswer{}, err
	}
	values := 0
	for _, t := range answer.Terms {
		values += len(t.Values)
	}
	if err := shape.CheckValues(values); err != nil {
		return query.DiffAnswer{}, err
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
	selected := slices.Clone(rows)
	for _, c := range conditions {
		if selected, err = w.matching(selected, c); err != nil {
			return nil, err
		}
	}
	flags := make([]uint8, len(ts.Ints))
	for _, row := range selected {
		flags[row] = isSelected
	}
	return flags, nil
}

func addSides(n *flagCounts, to *query.Sides) {
	to.Selected += int64(n[isSelected])
	to.Baseline += int64(n[0])
}

// diffTerm returns the counts of the frequent values of a dimension.
func diffTerm(f *facet[query.Sides], shape query.Diff) query.DiffTerm {
	term := query.DiffTerm{Requests: f.present, Distinct: int64(len(f.counts))}
	var frequent []int32 // codes
	for code, n := range f.counts {
		if shape.Frequent(n) {
			frequent = append(frequent, int32(code))
		}
	}
	slices.SortFunc(frequent, func(a, b int32) int { return bytes.Compare(f.values.At(a), f.values.At(b)) })
	for _, code := range frequent {
		term.Values = append(term.Values, query.DiffValue{Value: string(f.values.At(code)), Sides: f.counts[code]})
	}
	return term
}
