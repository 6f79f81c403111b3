package query

import (
	"slices"

	"github.com/orrery/orrery/shared/filter"
)

// Bind gives a filter its meaning for one shape. Figures of the shape that are zero get their defaults.
//
// The error is a *FilterError with every mistake of the filter, those of its syntax included; or of kind
// fault.Invalid when the filter is right but the shape's segments are not.
func Bind(f filter.Filter, shape Shape, opts ...Option) (Query, error) {
	n := len(f.Conditions)
	b := binder{
		filter: f, problems: slices.Clone(f.Problems), seen: make(map[string]bool, n),
		conditions: make([]Condition, 0, n), canonical: make([]filter.Condition, 1, n+1), // the first place is the period's
	}
	b.parsed = len(b.problems)
	b.bindPeriod()
	for i := range f.Incomplete {
		b.bindNames(&f.Incomplete[i])
	}
	b.before = len(b.problems)
	for i := range f.Conditions {
		if i != b.periodAt && !b.full() {
			b.bindCondition(&f.Conditions[i])
		}
	}
	for _, opt := range opts {
		opt(&b)
	}
	if len(b.problems) > 0 {
		return Query{}, b.failure(shape, opts)
	}
	q := Query{
		Period:     b.period,
		Scope:      Scope{Period: b.period},
		Conditions: b.conditions,
		Shape:      shape,
		Filter:     filter.Filter{Form: f.Form, Conditions: b.canonical},
	}
	return q.withDefaults()
}

// Option changes what Bind makes of a filter.
type Option func(*binder)

// WithBranches lets the query see only records of these branches; records without one are unseen. No
// branches at all means no restriction, as on a key that carries none.
func WithBranches(branches []string) Option {
	return func(b *binder) {
		if len(branches) == 0 {
			return
		}
		c := filter.Condition{Field: filter.Word{Text: "branch"}, Op: filter.In, List: true}
		for _, name := range branches {
			c.Values = append(c.Values, filter.Value{Kind: filter.Text, Text: name, Quoted: true})
		}
		b.bindCondition(&c)
	}
}

// binder collects what the conditions of one filter mean and what is wrong with them.
type binder struct {
	filter   filter.Filter
	problems filter.Errors
	parsed   int    // how many of them, the first ones, are the parser's
	before   int    // how many were found before the first condition was bound
	pointer  string // JSON pointer of the condition at hand
	fixing   bool   // this is the trial of a correction

	period     Period
	periodAt   int  // index of the condition that is the period, -1 when there is none
	misplaced  bool // the period is not where the JSON form has it
	conditions []Condition
	canonical  []filter.Condition // the period first
	seen       map[string]bool    // canonical conditions, so that a repeated one is kept once
	programs   int                // size of all patterns so far
}

// full reports whether further mistakes would not be reported: conditions are bound in their order.
func (b *binder) full() bool { return len(b.problems)-b.before > filter.MaxErrors }

// bindNames reports mistakes in the names of a condition that could not be read to its end.
func (b *binder) bindNames(c *filter.Condition) {
	b.pointer = c.Pointer
	if field, ok := b.lookup(c); ok {
		b.bindKey(field, c)
	}
}

// bindCondition binds one condition, or records everything that is wrong with it.
func (b *binder) bindCondition(c *filter.Condition) {
	b.pointer = c.Pointer
	field, ok := b.lookup(c)
	if !ok {
		b.checkValues(c)
		return
	}
	sources, key, keyed := b.bindKey(field, c)
	if !keyed { // operator and values may be wrong whatever the key
		keyless := *c
		keyless.Key, c, sources = nil, &keyless, field.Sources
	}
	op, ok := b.bindOp(field, sources, c)
	if !ok {
		return
	}
	v, ok := b.bindValues(field, sources, op, c)
	if !ok || !keyed {
		return
	}
	canonical := filter.Condition{
		Field: filter.Word{Text: field.Name}, Key: key.canonical, Negated: c.Negated,
		Op: v.op, List: v.list, Values: v.canonical,
	}
	id := identity(&canonical)
	if b.seen[id] {
		return
	}
	b.seen[id] = true
	for i := range v.terms {
		if v.terms[i].Source.Name == "" {
			v.terms[i].Key = key.key
		}
		v.terms[i].Fold = key.fold
	}
	b.conditions = append(b.conditions, Condition{Field: field, Key: key.key, Op: v.op, Negated: c.Negated, Terms: v.terms})
	b.canonical = append(b.canonical, canonical)
}
