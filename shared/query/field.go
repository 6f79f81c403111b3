package query

import (
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// lookup returns the field of a condition, or reports an unknown name.
func (b *binder) lookup(c *filter.Condition) (*catalog.Field, bool) {
	field, ok := catalog.Lookup(c.Field.Text)
	if !ok {
		b.fail(b.mergeDotted(c, unknownField(c.Field)))
	}
	return field, ok
}

// nearestField returns the field to suggest for an unknown name, or "".
func nearestField(name string) string {
	if field := catalog.Alias(name); field != "" {
		return field
	}
	return filter.Nearest(name, catalog.Names())
}

// bindOp returns the operator of a condition. eq with a list means in. At least one of the sources must have the
// operator.
func (b *binder) bindOp(field *catalog.Field, sources []catalog.Source, c *filter.Condition) (filter.Op, bool) {
	op := c.Op
	if op == filter.Eq && c.List {
		op = filter.In
	}
	if slices.ContainsFunc(sources, func(s catalog.Source) bool { return takes(s, op) }) {
		return op, true
	}
	b.fail(operatorMissing(b.filter.Syntax, field, sources, op, c))
	return op, false
}

// takes reports whether a source has the operator. A boolean has eq too, which means is.
func takes(s catalog.Source, op filter.Op) bool {
	return s.Takes(op) || op == filter.Eq && s.Type == catalog.Bool
}
