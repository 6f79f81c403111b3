package query

import (
	"slices"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// Selection is a bound filter without a period.
type Selection struct {
	Conditions []Condition   // all must hold
	Filter     filter.Filter // the canonical filter
}

// Holds reports whether a record meets all conditions.
func (s Selection) Holds(r *lake.Row) bool { return allHold(s.Conditions, r) }

// ReadsTags reports whether a condition is about the tags of requests.
func (s Selection) ReadsTags() bool { return slices.Contains(columnsOf(s.Conditions), "tags") }

// BindSelection resolves a filter that needs no period: timestamp between is a condition like any other. The error is a
// *FilterError with every mistake.
func BindSelection(f filter.Filter, opts ...Option) (Selection, error) {
	b := newBinder(f)
	b.periodAt = -1
	for _, opt := range opts {
		opt(b)
	}
	b.resolveTimes()
	b.bindConditions()
	if len(b.problems) > 0 {
		return Selection{}, b.failure(func(fixed filter.Filter) error {
			_, err := BindSelection(fixed, append(slices.Clone(opts), withoutFix)...)
			return err
		})
	}
	return Selection{b.conditions, filter.Filter{Syntax: f.Syntax, Conditions: b.canonical}}, nil
}
