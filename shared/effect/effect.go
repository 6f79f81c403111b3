// Package effect finds what a change did: it compares the blocked requests before and after a moment, and finds the rules
// that explain the difference. Its rules are integers, so that the same requests have the same effect on every machine and
// with every engine.
package effect

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/why"
)

// Sides are the periods before and after the moment, which are equally long.
type Sides[T any] struct{ Before, After T }

// Blocked counts blocked requests.
type Blocked struct {
	Requests int64
	Humans   *int64  // nil: none of them says whether its client is human
	Parts    []int64 // of the requests, in parts of the period
}

// Side counts the requests of a period.
type Side struct {
	During   string // the condition for the period
	Requests int64
	Humans   *int64  // nil: no request says whether its client is human
	Parts    []int64 // of the requests, in parts of the period
	Blocked  Blocked
}

// Reason counts the blocked requests with a reason.
type Reason struct {
	Text  string
	Named bool // false: the blocked requests without a reason
	Sides[Blocked]
}

// The rules that decide what is no chance. README.md explains them.
const (
	Least = 5  // a rule that blocked fewer requests more or fewer than expected explains nothing
	Clear = 16 // the square of an excess is at least so many times its variance
	Sharp = 7  // the same, if one number is at least Times the other
	Times = 3  // see Sharp
	Most  = 20 // rules of an answer that explain nothing, and reasons of that kind
)

// Comparison is what an effect is found in.
type Comparison struct {
	Sides[Side]
	Reasons    []Reason
	Conditions string // of the requests that are compared, without a period
	Wording
}

// group is the blocked requests of one rule, or with one reason.
type group struct {
	by      string
	value   *string
	reasons []string // nil: no reason
	parts
	Sides[Blocked]
}

// parts are the parts of a difference.
type parts struct{ difference, fromRequests, fromRules, rest int64 }

// Results compares all blocked requests, then the requests that each rule blocked, then the requests blocked for each
// reason. Rules and reasons that explain most come first.
func (c Comparison) Results() []answer.EffectResult {
	rules, reasons := c.rules(), c.groupsOf("reason", func(text string) string { return text })
	all := group{by: "all", Sides: Sides[Blocked]{c.Before.Blocked, c.After.Blocked}}
	all.parts = c.partsOf(all.Sides)
	all.fromRules = 0
	for _, r := range rules {
		all.fromRules += r.fromRules
	}
	all.rest = all.difference - all.fromRequests - all.fromRules
	results := []answer.EffectResult{c.result(all, c.sentence(all, rules))}
	for _, list := range [][]group{rules, reasons} {
		silent := 0
		for _, g := range list {
			if g.fromRules == 0 {
				if silent++; silent > Most {
					break
				}
			}
			results = append(results, c.result(g, c.groupSentence(g)))
		}
	}
	return results
}

// rules returns the rules that blocked requests.
func (c Comparison) rules() []group { return c.groupsOf("rule", why.RuleOf) }

// groupsOf returns groups of reasons.
func (c Comparison) groupsOf(by string, name func(string) string) []group {
	var list []group
	for _, r := range c.Reasons {
		var value *string
		if r.Named {
			value = new(name(r.Text))
		}
		at := slices.IndexFunc(list, func(g group) bool {
			return value == nil && g.value == nil || value != nil && g.value != nil && *value == *g.value
		})
		if at < 0 {
			at = len(list)
			list = append(list, group{by: by, value: value})
		}
		g := &list[at]
		if r.Named {
			g.reasons = append(g.reasons, r.Text)
		}
		g.Before, g.After = g.Before.plus(r.Before), g.After.plus(r.After)
	}
	for i := range list {
		list[i].parts = c.partsOf(list[i].Sides)
	}
	slices.SortStableFunc(list, func(a, b group) int {
		return cmp.Or(
			cmp.Compare(abs(b.fromRules), abs(a.fromRules)), cmp.Compare(abs(b.difference), abs(a.difference)),
			cmp.Compare(b.After.Requests, a.After.Requests), strings.Compare(a.text(), b.text()),
		)
	})
	return list
}

func (g group) text() string {
	if g.value == nil {
		return ""
	}
	return *g.value
}

func (b Blocked) plus(o Blocked) Blocked {
	sum := Blocked{Requests: b.Requests + o.Requests, Humans: b.Humans, Parts: slices.Clone(b.Parts)}
	for i, n := range o.Parts {
		if i == len(sum.Parts) {
			sum.Parts = append(sum.Parts, 0)
		}
		sum.Parts[i] += n
	}
	switch {
	case o.Humans == nil:
	case sum.Humans == nil:
		sum.Humans = o.Humans
	default:
		sum.Humans = new(*b.Humans + *o.Humans)
	}
	return sum
}

// partsOf divides the difference of blocked requests. Without requests on a side, everything is the rest.
func (c Comparison) partsOf(n Sides[Blocked]) parts {
	p := parts{difference: n.After.Requests - n.Before.Requests}
	if c.Before.Requests > 0 && c.After.Requests > 0 {
		expected := c.scaled(n.Before.Requests)
		p.fromRequests = expected - n.Before.Requests
		if excess := n.After.Requests - expected; c.isClear(excess, n) {
			p.fromRules = excess
		}
	}
	p.rest = p.difference - p.fromRequests - p.fromRules
	return p
}

// scaled returns a number of requests before the moment in proportion to the requests after it.
func (c Comparison) scaled(n int64) int64 { return muldiv(n, c.After.Requests, c.Before.Requests) }

// muldiv returns a*b/c, rounded. The numbers must not be negative, and c not be zero.
func muldiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c)/2, 0)
	if hi += carry; hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}

// isClear reports whether an excess is no chance.
func (c Comparison) isClear(excess int64, n Sides[Blocked]) bool {
	if abs(excess) < Least {
		return false
	}
	variance := uint64(c.After.variance(n.After)) + uint64(c.scaled(c.scaled(c.Before.variance(n.Before))))
	times, expected := uint64(Clear), n.After.Requests-excess
	if n.After.Requests/Times >= expected || expected/Times >= n.After.Requests {
		times = Sharp
	}
	hi, lo := bits.Mul64(uint64(abs(excess)), uint64(abs(excess)))
	least, atLeast := bits.Mul64(variance, times)
	return hi > least || hi == least && lo >= atLeast
}

// variance returns the variance of a number of requests of a period, which is estimated from its parts. Independent
// requests have a variance equal to their number. Clients that send many have a larger one.
func (s Side) variance(n Blocked) int64 {
	squares, parts := int64(0), int64(len(s.Parts))
	if parts < 2 || s.Requests == 0 {
		return n.Requests
	}
	for i, all := range s.Parts {
		of := int64(0)
		if i < len(n.Parts) {
			of = n.Parts[i]
		}
		difference := min(abs(of-muldiv(n.Requests, all, s.Requests)), math.MaxInt32)
		squares = min(squares+difference*difference, math.MaxInt64/2)
	}
	return max(n.Requests, muldiv(squares, parts, parts-1))
}

func abs(n int64) int64 { return max(n, -n) }

// result returns the comparison of a group.
func (c Comparison) result(g group, sentence string) answer.EffectResult {
	return answer.EffectResult{
		By: g.by, Value: g.value, Sentence: sentence,
		Difference: g.difference, FromRequests: g.fromRequests, FromRules: g.fromRules, Rest: g.rest,
		Before: g.side(g.Before, c.FilterOf(c.Before)), After: g.side(g.After, c.FilterOf(c.After)),
	}
}

func (g group) side(n Blocked, of string) answer.EffectSide {
	return answer.EffectSide{
		NumOfBlockedRequests: n.Requests, NumOfBlockedHumans: n.Humans, Filter: filter.Joined(of, IsBlocked, g.condition()),
	}
}

// FilterOf returns the filter for all requests of a side.
func (c Comparison) FilterOf(s Side) string { return filter.Joined(s.During, c.Conditions) }

// IsBlocked is the condition for blocked requests.
const IsBlocked = "blocked is true"

// condition returns the condition for the blocked requests of a group.
func (g group) condition() string {
	switch {
	case g.by == "all":
		return ""
	case g.reasons == nil:
		return ReasonCondition(filter.Regex, true, "")
	case len(g.reasons) == 1:
		return ReasonCondition(filter.Eq, false, g.reasons[0])
	}
	return ReasonCondition(filter.In, false, slices.Sorted(slices.Values(g.reasons))...)
}

// ReasonCondition returns a condition for reasons.
func ReasonCondition(op filter.Op, negated bool, values ...string) string {
	c := filter.Condition{Field: filter.Word{Text: "reason"}, Op: op, Negated: negated}
	for _, v := range values {
		c.Values = append(c.Values, filter.Value{Kind: filter.Text, Text: v, Quoted: true})
	}
	return c.String()
}
