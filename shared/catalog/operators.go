package catalog

import (
	"slices"

	"github.com/orrery/orrery/shared/filter"
)

// Operator says what an operator asks of one value, and what it answers when there is none.
type Operator struct {
	Op      filter.Op
	Symbol  string // how the query-string form writes it
	Meaning string
	// Absent is the verdict on a record that has no value: the field is missing, null or an empty list.
	// A negated condition is the exact complement, so its verdict is the opposite one.
	Absent bool
}

// Operators lists the operators in the specification's order. No operator holds for what is not there.
var Operators = []Operator{
	{Op: filter.Is, Symbol: "is", Meaning: "is true or false"},
	{Op: filter.Eq, Symbol: "=", Meaning: "equals"},
	{Op: filter.Gt, Symbol: ">", Meaning: "is greater than"},
	{Op: filter.Lt, Symbol: "<", Meaning: "is less than"},
	{Op: filter.Gte, Symbol: ">=", Meaning: "is greater than or equal to"},
	{Op: filter.Lte, Symbol: "<=", Meaning: "is less than or equal to"},
	{Op: filter.In, Symbol: "in", Meaning: "is one of a list"},
	{Op: filter.Regex, Symbol: "~", Meaning: "contains a match of a regular expression"},
	{Op: filter.Between, Symbol: "between", Meaning: "lies between two values, both included"},
}

// OperatorOf gives the row of an operator.
func OperatorOf(op filter.Op) Operator {
	for _, o := range Operators {
		if o.Op == op {
			return o
		}
	}
	panic("catalog: unknown operator")
}

var (
	boolOps    = []filter.Op{filter.Is}
	stringOps  = []filter.Op{filter.Eq, filter.In, filter.Regex}
	numberOps  = []filter.Op{filter.Eq, filter.Gt, filter.Lt, filter.Gte, filter.Lte, filter.In, filter.Between}
	timeOps    = []filter.Op{filter.Between}
	anyOps     = []filter.Op{filter.Eq, filter.Gt, filter.Lt, filter.Gte, filter.Lte, filter.In, filter.Regex, filter.Between}
	countedOps = append(slices.Clone(boolOps), numberOps...)
)

// Ops lists the operators that values of a type have, in the specification's order.
func (t Type) Ops() []filter.Op {
	switch t {
	case Bool:
		return boolOps
	case String:
		return stringOps
	case Int, Float:
		return numberOps
	case Time:
		return timeOps
	case Any:
		return anyOps
	}
	panic("catalog: unknown type")
}

// Ops lists the operators of a member. A boolean member also takes the numeric ones, counting as 1 or 0:
// the specification writes acl_active gt 0.
func (s Source) Ops() []filter.Op {
	if s.Type == Bool && s.Name != "" {
		return countedOps
	}
	return s.Type.Ops()
}

// Takes reports whether the values of a source have an operator.
func (s Source) Takes(op filter.Op) bool { return slices.Contains(s.Ops(), op) }

// Ops lists the operators that at least one source of the field has, in the specification's order.
func (f *Field) Ops() []filter.Op { return OpsOf(f.Sources) }

// OpsOf lists the operators that at least one of the sources has, in the specification's order.
func OpsOf(sources []Source) []filter.Op {
	var ops []filter.Op
	for _, op := range filter.Ops {
		if slices.ContainsFunc(sources, func(s Source) bool { return s.Takes(op) }) {
			ops = append(ops, op)
		}
	}
	return ops
}
