package query

import (
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// lookup finds the field that a condition names.
func (b *binder) lookup(c *filter.Condition) (*catalog.Field, bool) {
	field, ok := catalog.Lookup(c.Field.Text)
	if !ok {
		b.fail(b.undot(c, unknownField(c.Field)))
	}
	return field, ok
}

// meantField is the field that an unknown name was most likely meant to be, or "".
func meantField(name string) string {
	if field := catalog.Alias(name); field != "" {
		return field
	}
	return filter.Nearest(name, catalog.Names())
}

// bindOp settles the operator: eq with a list means in, and one of the sources must have it.
func (b *binder) bindOp(field *catalog.Field, sources []catalog.Source, c *filter.Condition) (filter.Op, bool) {
	op := c.Op
	if op == filter.Eq && c.List {
		op = filter.In
	}
	if slices.ContainsFunc(sources, func(s catalog.Source) bool { return takes(s, op) }) {
		return op, true
	}
	b.fail(operatorMissing(b.filter.Form, field, sources, op, c))
	return op, false
}

// takes reports whether a source has the operator, eq on a boolean included, which means is.
func takes(s catalog.Source, op filter.Op) bool {
	return s.Takes(op) || op == filter.Eq && s.Type == catalog.Bool
}
