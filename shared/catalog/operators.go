package catalog

import (
	"slices"

	"github.com/orrery/orrery/shared/filter"
)

// Operator is the definition of an operator: the condition that it tests on one value, and its result without a value.
type Operator struct {
	Op      filter.Op
	Symbol  string // the operator in the query-string form
	Meaning string
	// Absent is the result for a record without a value: the field is missing, null or an empty list.
	// A negated condition is the exact complement, so its result is the opposite.
	Absent bool
}

// Operators lists the operators in the order of the specification. No operator holds for an absent value.
var Operators = []Operator{
	{Op: filter.Is, Symbol: "is", Meaning: "is true or false"},
	{Op: filter.Eq, Symbol: "=", Meaning: "equals"},
	{Op: filter.Gt, Symbol: ">", Meaning: "is greater than"},
	{Op: filter.Lt, Symbol: "<", Meaning: "is less than"},
	{Op: filter.Gte, Symbol: ">=", Meaning: "is greater than or equal to"},
	{Op: filter.Lte, Symbol: "<=", Meaning: "is less than or equal to"},
	{Op: filter.In, Symbol: "in", Meaning: "is one of a list"},
	{Op: filter.Regex, Symbol: "~", Meaning: "contains a match of a regular expression"},
	{Op: filter.Between, Symbol: "between", Meaning: "is between two values, both included"},
}

// OperatorOf returns the definition of an operator.
func OperatorOf(op filter.Op) Operator {
	for _, o := range Operators {
		if o.Op == op {
			return o
		}
	}
	panic("catalog: unknown operator")
}

var (
	boolOps   = []filter.Op{filter.Is}
	stringOps = []filter.Op{filter.Eq, filter.In, filter.Regex}
	numberOps = []filter.Op{filter.Eq, filter.Gt, filter.Lt, filter.Gte, filter.Lte, filter.In, filter.Between}
	timeOps   = []filter.Op{filter.Between}
	refOps    = []filter.Op{filter.Eq, filter.In}
	anyOps    = []filter.Op{
		filter.Eq, filter.Gt, filter.Lt, filter.Gte, filter.Lte, filter.In, filter.Regex, filter.Between,
	}
	boolMemberOps = append(slices.Clone(boolOps), numberOps...)
)

// Ops returns the operators that values of the type have, in the order of the specification.
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
	case Reference:
		return refOps
	}
	panic("catalog: unknown type")
}

// Ops returns the operators that values of the source have. A boolean member also has the numeric operators and counts
// as 1 or 0, because the specification contains acl_active gt 0.
func (s Source) Ops() []filter.Op {
	if s.Type == Bool && s.Name != "" {
		return boolMemberOps
	}
	return s.Type.Ops()
}

// Takes reports whether the values of a source have an operator.
func (s Source) Takes(op filter.Op) bool { return slices.Contains(s.Ops(), op) }

// Ops returns the operators that at least one source of the field has, in the order of the specification.
func (f *Field) Ops() []filter.Op { return OpsOf(f.Sources) }

// OpsOf returns the operators that at least one of the sources has, in the order of the specification.
func OpsOf(sources []Source) []filter.Op {
	var ops []filter.Op
	for _, op := range filter.Ops {
		if slices.ContainsFunc(sources, func(s Source) bool { return s.Takes(op) }) {
			ops = append(ops, op)
		}
	}
	return ops
}
