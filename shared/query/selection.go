package query

import "github.com/orrery/orrery/shared/filter"

// Selection is a bound filter without a period.
type Selection struct {
	Conditions []Condition   // all must hold
	Filter     filter.Filter // the canonical filter
}

// BindSelection resolves a filter that needs no period: timestamp between is a condition like any other. The error is a
// *FilterError with every mistake.
func BindSelection(f filter.Filter) (Selection, error) { return bindSelection(f, false) }

func bindSelection(f filter.Filter, noFix bool) (Selection, error) {
	b := newBinder(f)
	b.periodAt, b.noFix = -1, noFix
	b.bindConditions()
	if len(b.problems) > 0 {
		return Selection{}, b.failure(func(fixed filter.Filter) error {
			_, err := bindSelection(fixed, true)
			return err
		})
	}
	return Selection{b.conditions, filter.Filter{Form: f.Form, Conditions: b.canonical}}, nil
}
