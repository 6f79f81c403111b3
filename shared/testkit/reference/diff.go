package reference

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateDiff counts the values of every dimension among the selected records and among the others. Engines return an
// error for an answer with too many values; the reference does not.
func evaluateDiff(shape query.Diff, rows []*lake.Row) query.DiffAnswer {
	if len(rows) == 0 {
		return query.DiffAnswer{}
	}
	answer := query.DiffAnswer{Requests: sidesOf(shape, rows)}
	for _, by := range shape.By {
		groups := map[string][]*lake.Row{}
		var present []*lake.Row
		for _, r := range rows {
			values := by.Values(r)
			if len(values) > 0 {
				present = append(present, r)
			}
			for _, value := range values {
				groups[value] = append(groups[value], r)
			}
		}
		term := query.DiffTerm{Requests: sidesOf(shape, present), Distinct: int64(len(groups))}
		for value, in := range groups {
			n := sidesOf(shape, in)
			if n.Selected >= shape.Least || n.Baseline >= shape.Least {
				term.Values = append(term.Values, query.DiffValue{Value: value, Sides: n})
			}
		}
		slices.SortFunc(term.Values, func(a, b query.DiffValue) int { return strings.Compare(a.Value, b.Value) })
		answer.Terms = append(answer.Terms, term)
	}
	return answer
}

func sidesOf(shape query.Diff, rows []*lake.Row) query.Sides {
	selected := count(rows, shape.Selected)
	return query.Sides{Selected: selected, Baseline: int64(len(rows)) - selected}
}
