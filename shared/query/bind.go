package query

import (
	"slices"

	"github.com/orrery/orrery/shared/filter"
)

// Bind resolves a filter for one shape: it looks up fields and converts values to their types. Figures of the shape
// that are zero get their defaults.
//
// The error is a *FilterError with every mistake of the filter, including mistakes of syntax, or an error of kind
// fault.Invalid when the filter is right but the shape's segments are not.
func Bind(f filter.Filter, shape Shape, opts ...Option) (Query, error) {
	b := newBinder(f)
	b.canonical = append(b.canonical, filter.Condition{}) // the period
	for _, opt := range opts {
		opt(b)
	}
	b.resolveTimes()
	b.bindPeriod()
	b.bindConditions()
	b.bindBranches()
	if b.periodFollows {
		b.followLink()
	}
	if len(b.problems) > 0 {
		return Query{}, b.failure(func(fixed filter.Filter) error {
			_, err := Bind(fixed, shape, append(slices.Clone(opts), withoutFix)...)
			return err
		})
	}
	q := Query{
		Period:     b.period,
		Scope:      Scope{Period: b.period},
		Conditions: b.conditions,
		Shape:      shape,
		Filter:     filter.Filter{Syntax: f.Syntax, Conditions: b.canonical},
		Relative:   b.relative,
	}
	if b.periodAt < 0 && !b.periodFollows {
		q.Filter.Conditions = b.canonical[1:]
	}
	return q.withDefaults()
}

func newBinder(f filter.Filter) *binder {
	n := len(f.Conditions)
	return &binder{
		filter:         f,
		problems:       slices.Clone(f.Problems),
		parserProblems: len(f.Problems),
		seen:           make(map[string]bool, n),
		conditions:     make([]Condition, 0, n),
		canonical:      make([]filter.Condition, 0, n+1),
	}
}

// bindConditions binds the conditions that are not the period.
func (b *binder) bindConditions() {
	f := &b.filter
	for i := range f.Incomplete {
		b.bindNames(&f.Incomplete[i])
	}
	if len(f.Conditions) == 0 && b.periodOptional && len(b.problems) == 0 {
		b.fail(noCondition(f.Text))
	}
	b.problemsBefore = len(b.problems)
	for i := range f.Conditions {
		if i != b.periodAt && !b.full() {
			b.bindCondition(&f.Conditions[i])
		}
	}
}

// BindConditions returns the canonical form of a filter that needs no period, such as a saved filter. If the filter has
// a period, it comes first. The error is a *FilterError with every mistake.
func BindConditions(f filter.Filter, opts ...Option) (filter.Filter, error) {
	q, err := Bind(f, Logs{}, append(slices.Clone(opts), periodOptional)...)
	return q.Filter, err
}

// periodOptional is an Option for filters that are only parts of questions.
func periodOptional(b *binder) { b.periodOptional = true }

// Option changes how Bind binds a filter.
type Option func(*binder)

// WithBranches restricts the query to records of these branches; it excludes records without a branch. An empty list
// means no restriction, like an API key without branches.
func WithBranches(branches []string) Option {
	return func(b *binder) { b.branches = branches }
}

// bindBranches binds the restriction to branches, if there is one.
func (b *binder) bindBranches() {
	if len(b.branches) == 0 {
		return
	}
	c := filter.Condition{Field: filter.Word{Text: "branch"}, Op: filter.In, List: true}
	for _, name := range b.branches {
		c.Values = append(c.Values, filter.Value{Kind: filter.Text, Text: name, Quoted: true})
	}
	b.bindCondition(&c)
}

// binder collects the bound conditions of one filter and its mistakes.
type binder struct {
	filter         filter.Filter
	problems       filter.Errors
	parserProblems int    // number of problems, at the front, that the parser found
	problemsBefore int    // number of problems found before the first condition was bound
	pointer        string // JSON pointer of the current condition
	noFix          bool   // suggest no correction: this filter is itself a correction under test
	periodOptional bool   // the filter may have no period
	branches       []string
	lists          map[string]List // nil: names of lists are kept
	clock          Clock
	relative       []RelativeTime // different ones, in the order written

	period          Period
	periodAt        int  // index of the condition that is the period, -1 when there is none
	periodMisplaced bool // the period is not the first condition of the JSON form
	periodFollows   bool // there is no period, but a condition on references to records, from which it follows
	conditions      []Condition
	canonical       []filter.Condition // the period first, if there is one
	seen            map[string]bool    // canonical conditions, so that a repeated one is kept once
	programs        int                // size of all patterns so far, in instructions
}

// full reports whether there are so many mistakes that later ones would not be reported. Conditions are bound in the
// order written, so the reported mistakes are the first ones.
func (b *binder) full() bool { return len(b.problems)-b.problemsBefore > filter.MaxErrors }

// bindNames reports mistakes in the field and key of a condition that the parser did not read to its end.
func (b *binder) bindNames(c *filter.Condition) {
	b.pointer = c.Pointer
	if field, ok := b.lookup(c); ok {
		b.bindKey(field, c)
	}
}

// bindCondition binds one condition, or records all its mistakes.
func (b *binder) bindCondition(c *filter.Condition) {
	b.pointer = c.Pointer
	field, ok := b.lookup(c)
	if !ok {
		b.checkValues(c)
		return
	}
	sources, key, keyed := b.bindKey(field, c)
	if !keyed { // check the operator and the values as if there were no key
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
	bound := Condition{Field: field, Key: key.key, Op: v.op, Negated: c.Negated, Terms: v.terms}
	b.conditions = append(b.conditions, bound)
	b.canonical = append(b.canonical, canonical)
}
