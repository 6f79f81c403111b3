package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// MaxRules is the maximum number of rules that are tried together.
const MaxRules = 8

// Stages are several rules in the order in which a gateway applies them: first the filters, then the limits, last the
// rules that are enforced. Filters and limits keep the order in which they are given.
//
// The tags of a filter are on the requests to which it applies for all rules after it, whatever its action. A filter that
// does not only monitor keeps its requests from limits.
type Stages struct {
	Rules  []Rule
	Places []int // of each rule among the rules that are given

	// Selections are what must be known about each request. Applies expects them as bits.
	Selections []Selected

	applied []applied
}

// Selected is conditions of requests: all of Where, and one of each list of AnyOf.
type Selected struct {
	Where string
	AnyOf [][]string
}

// applied are the requests to which a rule applies.
type applied struct {
	all   conjunction
	anyOf [][]conjunction // of each list, one must hold

	conditions string // see Stages.Conditions
}

// conjunction is selections and conditions on tags that all hold.
type conjunction struct {
	bits uint32
	tags []onTags
}

// onTags is a condition on tags. Its bit says whether it holds for the tags in the record. It is different for requests to
// which one of the rules by applies: fails says how.
type onTags struct {
	bit   uint32
	by    uint32 // bits of places in Rules
	fails bool
}

func (c conjunction) holds(selected, before uint32) bool {
	if selected&c.bits != c.bits {
		return false
	}
	for _, t := range c.tags {
		holds := selected&t.bit != 0
		if before&t.by != 0 {
			holds = !t.fails
		}
		if !holds {
			return false
		}
	}
	return true
}

// Applies reports whether rule i applies to a request that has some of the selections. before has the bits of the rules
// before it that apply to the request.
func (s *Stages) Applies(i int, selected, before uint32) bool {
	of := s.applied[i]
	if !of.all.holds(selected, before) {
		return false
	}
	for _, list := range of.anyOf {
		if !slices.ContainsFunc(list, func(c conjunction) bool { return c.holds(selected, before) }) {
			return false
		}
	}
	return true
}

// Stops reports whether rule i stops the requests on which it acts.
func (s *Stages) Stops(i int) bool { return s.Rules[i].Action != Monitor }

// Acts reports whether the requests on which rule i acts are among those of all rules together: a rule that only monitors
// stops nothing, unless all rules monitor.
func (s *Stages) Acts(i int) bool {
	return s.Stops(i) || !slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Action != Monitor })
}

// Action returns the strongest action of the rules.
func (s *Stages) Action() string {
	for _, action := range Actions {
		if slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Action == action }) {
			return action
		}
	}
	return Monitor
}

// Keeps reports whether rule i keeps the requests on which it acts from limits.
func (s *Stages) Keeps(i int) bool { return stageOf(s.Rules[i]) == filtering && s.Stops(i) }

// Conditions returns conditions that hold for all requests to which rule i applies. They have neither alternatives nor
// tags that other rules add.
func (s *Stages) Conditions(i int) string { return s.applied[i].conditions }

// Least returns conditions of which one holds for each request to which a rule applies, or nil if a rule applies to all.
// A request with a tag that a rule needs and another one adds is among the requests to which the other one applies.
func (s *Stages) Least() (conditions []string) {
	for _, r := range s.Rules {
		switch {
		case r.Where != "":
			conditions = append(conditions, r.Where)
		case r.AnyOf != nil:
			conditions = append(conditions, r.AnyOf[0]...)
		default:
			return nil
		}
	}
	slices.Sort(conditions)
	return slices.Compact(conditions)
}

// The stages in which rules act.
const (
	filtering = iota
	limiting
	enforcing
)

func stageOf(r Rule) int {
	switch {
	case r.Enforced:
		return enforcing
	case r.Limit != nil:
		return limiting
	}
	return filtering
}

// NewStages returns the stages of rules, whose conditions can be bound. There are at most most selections. The error is a
// *RuleError.
func NewStages(rules []Rule, most int) (*Stages, error) {
	s := &Stages{Places: make([]int, len(rules))}
	for i := range rules {
		s.Places[i] = i
	}
	slices.SortStableFunc(s.Places, func(a, b int) int { return cmp.Compare(stageOf(rules[a]), stageOf(rules[b])) })
	b := staging{Stages: s, bits: map[string]uint32{}}
	for i, place := range s.Places {
		r := rules[place]
		s.Rules = append(s.Rules, r)
		of, err := b.applied(r)
		if err != nil {
			return nil, err
		}
		s.applied = append(s.applied, of)
		for _, tag := range r.Tags {
			b.added = append(b.added, addedTag{tag, 1 << i})
		}
	}
	if n := len(s.Selections); n > most {
		return nil, &RuleError{fmt.Sprintf("the rules have %d different conditions that must be known apart; at most %d can be, "+
			"so try fewer rules together", n, most), ""}
	}
	return s, nil
}

// staging collects the selections of rules.
type staging struct {
	*Stages
	bits  map[string]uint32 // of the selections, by their texts
	added []addedTag        // by the rules so far
}

// addedTag is a tag that a rule adds.
type addedTag struct {
	tag string
	by  uint32 // the bit of the rule
}

// bit returns the bit of a selection, or 0 for the selection of all requests.
func (b *staging) bit(of Selected) uint32 {
	if of.Where == "" && of.AnyOf == nil {
		return 0
	}
	text := fmt.Sprintf("%q", of)
	bit, known := b.bits[text]
	if !known {
		bit = 1 << len(b.Selections)
		b.bits[text] = bit
		b.Selections = append(b.Selections, of)
	}
	return bit
}

func (b *staging) applied(r Rule) (of applied, err error) {
	if of.conditions, of.all.tags, err = b.divide(r.Where); err != nil {
		return of, err
	}
	var lists [][]string // that do not depend on tags of other rules
	for _, list := range r.AnyOf {
		var alike []string // the alternatives that do not depend on tags of other rules
		var others []conjunction
		for _, one := range list {
			rest, tags, err := b.divide(one)
			switch {
			case err != nil:
				return of, err
			case tags == nil:
				alike = append(alike, one)
			default:
				others = append(others, conjunction{b.bit(Selected{Where: rest}), tags})
			}
		}
		if others == nil {
			lists = append(lists, list)
			continue
		}
		if alike != nil {
			others = append(others, conjunction{bits: b.bit(Selected{AnyOf: [][]string{alike}})})
		}
		of.anyOf = append(of.anyOf, others)
	}
	of.all.bits = b.bit(Selected{of.conditions, lists})
	return of, nil
}

// divide divides conditions into those on tags that rules so far add, and the rest.
func (b *staging) divide(conditions string) (rest string, tags []onTags, err error) {
	if len(b.added) == 0 {
		return conditions, nil, nil
	}
	var others []string
	for _, c := range filter.ParseQueryString(conditions).Conditions {
		text := filter.Format(filter.Filter{Conditions: []filter.Condition{c}})
		on, err := b.onTags(text)
		switch {
		case err != nil:
			return "", nil, err
		case on.by == 0:
			others = append(others, text)
		default:
			tags = append(tags, on)
		}
	}
	return strings.Join(others, ", "), tags, nil
}

// onTags returns what the tags that rules so far add do to a condition. Without by, they change nothing: the condition is
// not on tags, or on others.
func (b *staging) onTags(condition string) (on onTags, err error) {
	selection, err := query.BindSelection(filter.ParseQueryString(condition))
	if err != nil {
		return on, fmt.Errorf("bind a condition of a rule: %w", err)
	}
	if !selection.ReadsTags() {
		return on, nil
	}
	on.fails = selection.Holds(&lake.Row{})
	for _, a := range b.added {
		if selection.Holds(&lake.Row{Tags: []string{a.tag}}) == on.fails {
			continue
		}
		on.by |= a.by
	}
	if on.by != 0 {
		on.bit = b.bit(Selected{Where: condition})
	}
	return on, nil
}
