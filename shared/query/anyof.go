package query

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/filter"
)

// BindAnyOf returns the condition that all conditions of one of the filters hold. The filters have no period, and their
// patterns have the limit of one filter together. The error is a *FilterError about one of them.
func BindAnyOf(filters []filter.Filter, opts ...Option) (Condition, error) {
	if len(filters) == 0 {
		return Condition{}, fmt.Errorf("query: there are no alternatives")
	}
	var c Condition
	programs := 0
	for _, f := range filters {
		var of *binder
		s, err := BindSelection(f, append(slices.Clone(opts), func(b *binder) { b.programs, of = programs, b })...)
		if err != nil {
			return Condition{}, err
		}
		programs = of.programs
		c.Any = append(c.Any, s.Conditions)
	}
	return c, nil
}
