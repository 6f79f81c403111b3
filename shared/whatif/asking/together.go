package asking

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif"
)

// together is several rules that are tried together. One question finds the requests to which one of them applies, in the
// order of their times. Each limit is then replayed on its keys.
type together struct {
	*whatif.Stages
	shift int      // the bit of the first selection of the rules
	with  []string // fields of the further values
}

func (a *asker) newTogether(rules []whatif.Rule) (*together, error) {
	own := len(a.selections())
	stages, err := whatif.NewStages(rules, query.MaxSelected-own)
	if err != nil {
		return nil, aboutRule("rules", err)
	}
	t := &together{Stages: stages, shift: own, with: slices.Clone(values)}
	for _, r := range rules {
		if r.Limit == nil {
			continue
		}
		for _, field := range append(slices.Clone(r.Limit.Key), r.Limit.With) {
			if field != "" && !slices.Contains(also, field) && !slices.Contains(t.with, field) {
				t.with = append(t.with, field)
			}
		}
	}
	if n := len(t.with); n > query.MaxWith {
		return nil, &search.ParamError{Param: "rules", Message: fmt.Sprintf("the limits count by %d fields besides ip, session, "+
			"host, path and country; at most %d can be tried together", n-1, query.MaxWith-1)}
	}
	if _, err := search.BindAnyOf(search.AnyOfText(t.anyOf())); err != nil {
		return nil, aboutRule("rules", err)
	}
	return t, nil
}

// hasWindows reports whether a limit has windows that may begin before the period.
func (t *together) hasWindows() bool { return slices.ContainsFunc(t.Rules, hasWindows) }

// anyOf returns the parameter any_of: each request that a rule needs fulfils one of its conditions.
func (t *together) anyOf() [][]string {
	if least := t.Least(); least != nil {
		return [][]string{least}
	}
	return nil
}

// questionTogether returns the question for the requests to which one of several rules applies.
func (a *asker) questionTogether() inquiry.Question {
	of := search.SequencesOf{With: a.several.with, Also: also, Of: slices.Clone(a.selections())}
	of.AnyOf = make([][][]string, len(of.Of))
	for _, s := range a.several.Selections {
		of.Of, of.AnyOf = append(of.Of, s.Where), append(of.AnyOf, s.AnyOf)
	}
	return inquiry.Question{
		Route: string(search.Sequences),
		Params: map[string]string{
			"filters": filter.Joined(filter.During(a.since(), a.period.ToMs), a.selected), "of": of.Text(),
			"any_of": search.AnyOfText(a.several.anyOf()),
		},
	}
}

// runTogether returns what several rules would have done.
func (a *asker) runTogether(ctx context.Context) (Tried, error) {
	found, err := a.sequences(ctx, 0)
	if err != nil {
		return Tried{}, err
	}
	var requests []query.SequenceRequest
	if len(found.Sequences) > 0 { // all requests have the same key
		requests = found.Sequences[0].Requests
	}
	r := a.replay(found, requests)
	results := make([]answer.WhatIfResult, 1, 1+len(a.several.Rules))
	for i := range a.several.Rules {
		results = append(results, r.rule(i))
	}
	var evidence []inquiry.Question
	results[0], evidence = r.all()
	if err := a.all(ctx, evidence...); err != nil {
		return Tried{}, err
	}
	return a.tried(results...), nil
}

// replayed is what several rules do to requests, one after the other.
type replayed struct {
	*asker
	found    query.SequencesAnswer
	same     func(number int32) int32
	requests []query.SequenceRequest
	applies  []uint32 // the rules that apply to each request, as bits
	keeping  uint32   // the rules that keep requests from limits
	stopped  []bool   // requests that a rule so far stops
	acted    []bool   // requests of the period on which the rules so far act, see whatif.Stages.Acts
}

// replay finds the rules that apply to each request.
func (a *asker) replay(found query.SequencesAnswer, requests []query.SequenceRequest) *replayed {
	n := len(requests)
	r := &replayed{
		asker: a, found: found, same: found.Texts.Same(), requests: requests,
		applies: make([]uint32, n), stopped: make([]bool, n), acted: make([]bool, n),
	}
	for rule := range a.several.Rules {
		if a.several.Keeps(rule) {
			r.keeping |= 1 << rule
		}
	}
	for i, one := range requests {
		selected := one.Selected >> a.several.shift
		for rule := range a.several.Rules {
			if a.several.Applies(rule, selected, r.applies[i]) {
				r.applies[i] |= 1 << rule
			}
		}
	}
	return r
}

// seen returns a request as a trial of a rule needs it.
func (r *replayed) seen(i int32) whatif.Seen {
	one := seenOf(&r.requests[i])
	one.Place, one.Before, one.Earlier = i, r.stopped[i], one.Earlier || r.applies[i]&r.keeping != 0
	return one
}

// rule returns the result of a rule. The rules before it must have been replayed.
func (r *replayed) rule(i int) answer.WhatIfResult {
	rule, curveFrom := r.several.Rules[i], int64(0)
	if rule.Limit != nil && rule.Limit.HasCurve() {
		curveFrom = 1
	}
	trial := whatif.NewTrial(rule, r.sinceNs(), r.fromNs(), curveFrom, r.attack != "" && rule.Limit != nil)
	trial.Same = r.same
	trial.Each = func(one whatif.Seen) {
		r.stopped[one.Place] = r.stopped[one.Place] || r.several.Stops(i)
		r.acted[one.Place] = r.acted[one.Place] || r.several.Acts(i)
	}
	keyOf := func(c whatif.Client) []answer.WhatIfPart { return addressOf(r.found, c) }
	if rule.Limit == nil {
		var list []whatif.Seen
		for place, applies := range r.applies {
			if applies&(1<<i) != 0 {
				list = append(list, r.seen(int32(place)))
			}
		}
		trial.Add(list)
	} else {
		keys := r.replayLimit(i, trial)
		keyOf = func(c whatif.Client) []answer.WhatIfPart { return keys[c.Key] }
	}
	o := trial.Outcome()
	result := r.ofRule(rule, o, &r.found.Texts, curveFrom)
	result.Place = &r.several.Places[i]
	conditions := filter.Joined(r.selected, r.several.Conditions(i))
	for _, c := range o.Affected {
		client, _ := r.client(c, keyOf(c), conditions, o.Humans != nil)
		result.Affected = append(result.Affected, client)
	}
	return result
}

// replayLimit adds the requests of each key of a limit to its trial. It returns the keys by their numbers.
func (r *replayed) replayLimit(i int, trial *whatif.Trial) (keys [][]answer.WhatIfPart) {
	limit := r.several.Rules[i].Limit
	numbers := map[[query.MaxKeyParts]int32]int{}
	var groups [][]int32 // the requests of each key
requests:
	for place, applies := range r.applies {
		if applies&(1<<i) == 0 {
			continue
		}
		var key [query.MaxKeyParts]int32
		for part, field := range limit.Key {
			if key[part] = r.number(r.requests[place], field); key[part] < 0 {
				continue requests
			}
		}
		number, known := numbers[key]
		if !known {
			number = len(groups)
			numbers[key], groups = number, append(groups, nil)
		}
		groups[number] = append(groups[number], int32(place))
	}
	slices.SortFunc(groups, func(a, b []int32) int { return r.compare(limit.Key, a[0], b[0]) })
	inOrder := func(a, b int32) int { return r.inOrder(*limit, a, b) }
	var list []whatif.Seen
	for number, places := range groups {
		if list = list[:0]; !slices.IsSortedFunc(places, inOrder) {
			slices.SortFunc(places, inOrder)
		}
		for _, place := range places {
			one := r.seen(place)
			if one.Key = int32(number); limit.With != "" {
				one.Value = r.number(r.requests[place], limit.With)
			}
			list = append(list, one)
		}
		trial.Add(list)
		var key []answer.WhatIfPart
		for _, field := range limit.Key {
			key = append(key, answer.WhatIfPart{Field: field, Value: string(r.text(places[0], field))})
		}
		keys = append(keys, key)
	}
	return keys
}

// number returns a number of the value of a field, which equal values have; negative: there is none.
func (r *replayed) number(one query.SequenceRequest, field string) int32 {
	if i := slices.Index(also, field); i >= 0 {
		if one.Also[i] < 0 {
			return -1
		}
		return r.same(one.Also[i])
	}
	return one.With[slices.Index(r.several.with, field)]
}

// text returns the value of a field, which the request has.
func (r *replayed) text(place int32, field string) []byte {
	if i := slices.Index(also, field); i >= 0 {
		return r.found.Texts.At(r.requests[place].Also[i])
	}
	return []byte(r.found.Values[r.requests[place].With[slices.Index(r.several.with, field)]])
}

// compare orders two requests by their values of fields. Requests without a value are the first.
func (r *replayed) compare(fields []string, a, b int32) int {
	for _, field := range fields {
		x, y := r.number(r.requests[a], field), r.number(r.requests[b], field)
		switch {
		case x == y:
			continue
		case x < 0 || y < 0:
			return cmp.Compare(x, y)
		}
		return bytes.Compare(r.text(a, field), r.text(b, field))
	}
	return 0
}

// inOrder orders the requests of a key of a limit as query.Sequence does for the limit alone, so that it counts requests of
// the same time in the same order.
func (r *replayed) inOrder(l whatif.Limit, a, b int32) int {
	x, y := r.requests[a], r.requests[b]
	own := uint32(1)<<r.several.shift - 1
	fields := also
	if l.With != "" {
		fields = slices.Concat([]string{l.With}, also)
	}
	return cmp.Or(cmp.Compare(x.TsNs, y.TsNs), cmp.Compare(x.Selected&own, y.Selected&own),
		cmp.Compare(x.With[ofClient], y.With[ofClient]), r.compare(fields, a, b))
}

// all returns the result of all rules together, and the questions for a record of each client.
func (r *replayed) all() (result answer.WhatIfResult, evidence []inquiry.Question) {
	trial := whatif.NewTrial(whatif.Rule{}, r.sinceNs(), r.fromNs(), 0, false)
	trial.Same = r.same
	var list []whatif.Seen
	for place, acted := range r.acted {
		if acted {
			list = append(list, seenOf(&r.requests[place]))
		}
	}
	trial.Add(list)
	o := trial.Outcome()
	result = r.ofOutcome(o, &r.found.Texts)
	result.Rule, result.Action, result.Sentence = "all rules", r.several.Action(), r.several.Sentence(o, r.zone)
	result.Unknown = o.Unknown(whatif.Rule{}, 0, false)
	result.Affected = make([]answer.WhatIfClient, len(o.Affected))
	for i, c := range o.Affected {
		var own string
		if result.Affected[i], own = r.client(c, addressOf(r.found, c), r.selected, o.Humans != nil); own != "" {
			evidence = append(evidence, r.evidence(&result.Affected[i], own, r.several.anyOf()))
		}
	}
	return result, evidence
}
