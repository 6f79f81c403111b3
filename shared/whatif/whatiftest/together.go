package whatiftest

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/whatif/asking"
	"github.com/orrery/orrery/shared/whatif/simulate"
)

// several are rules that are tried together: filters, then limits, in the order of their stages.
type several struct {
	texts   []string // in another order, in which filters and limits are each in theirs
	filters []simulate.Filter
	limits  []simulate.Limit
}

// added are the tags that random filters add. Records have the first one, too.
var added = []string{"a", "n"}

func randomRules(r *rand.Rand) (s several) {
	var filters, limits []string
	for n := 2 + r.IntN(3); n > 0; n-- {
		if r.IntN(2) == 0 && len(filters) < 2 || len(limits) == 2 {
			f := randomFilter(r)
			f.filter.Action = []string{"action-monitor", "action-global-filter-block", "action-challenge"}[r.IntN(4)%3]
			f.filter.Tags = added[r.IntN(3):]
			for i := range f.filter.Entries {
				otherTag(r, &f.filter.Entries[i])
			}
			for _, g := range f.filter.Groups {
				for i := range g.Entries {
					otherTag(r, &g.Entries[i])
				}
			}
			s.filters, filters = append(s.filters, *f.filter), append(filters, filterText(*f.filter))
			continue
		}
		l := randomLimit(r)
		l.limit.Action = []string{"action-rate-limit-block", "action-monitor", "action-challenge"}[r.IntN(3)]
		var body map[string]any
		if err := json.Unmarshal([]byte(l.text), &body); err != nil {
			panic("whatiftest: read a limit: " + err.Error()) // randomLimit has written it
		}
		if body["action"] = l.limit.Action; r.IntN(2) == 0 {
			l.limit.Include = simulate.Tags{Relation: "OR", Names: []string{"n"}}
			body["include"] = map[string]any{"relation": "OR", "tags": []string{"n"}}
		}
		s.limits, limits = append(s.limits, *l.limit), append(limits, encode(body))
	}
	for len(filters)+len(limits) > 0 {
		from := &filters
		if len(filters) == 0 || len(limits) > 0 && r.IntN(2) == 0 {
			from = &limits
		}
		s.texts, *from = append(s.texts, (*from)[0]), (*from)[1:]
	}
	return s
}

// otherTag makes some conditions on tags ones on a tag that only filters add.
func otherTag(r *rand.Rand, e *simulate.Entry) {
	if e.Type == "tags" && r.IntN(2) == 0 {
		e.Value = "n"
	}
}

func (s several) stops(i int) bool {
	if i < len(s.filters) {
		return s.filters[i].Action != "action-monitor"
	}
	return s.limits[i-len(s.filters)].Action != "action-monitor"
}

func (s several) len() int { return len(s.filters) + len(s.limits) }

// together returns the figures of each rule in the order of stages, and of all together, by the simulation.
func (l log) together(s several) (each []figures, all figures) {
	reach := make([]bool, len(l.rows))
	for i := range l.rows {
		reach[i] = l.reaches(i)
	}
	effects := simulate.Stages(s.filters, s.limits, l.records, reach)
	stopping := false
	for i := range s.len() {
		stopping = stopping || s.stops(i)
	}
	stopped, acted := map[int]bool{}, map[int]bool{}
	for rule := range s.len() {
		var places []int
		for i, e := range effects {
			acts := slices.Contains(e.Filters, rule)
			if rule >= len(s.filters) {
				acts = slices.Contains(e.Limits, rule-len(s.filters))
			}
			if acts && l.inPeriod(i) {
				places = append(places, i)
			}
		}
		each = append(each, l.count(places, stopped))
		for _, i := range places {
			stopped[i] = stopped[i] || s.stops(rule)
			acted[i] = acted[i] || s.stops(rule) || !stopping
		}
	}
	var places []int
	for i := range l.rows {
		if acted[i] {
			places = append(places, i)
		}
	}
	return each, l.count(places, nil)
}

// checkTogether tries rules together. It returns the number of requests on which they have acted.
func (l log) checkTogether(t *testing.T, n int, random *rand.Rand, from asking.Source) int64 {
	rules := randomRules(random)
	each, all := l.together(rules)
	got, err := asking.Run(t.Context(), from, asking.Request{Filters: period, Rules: rules.texts})
	if err != nil {
		t.Errorf("rules %d, %q: %v", n, rules.texts, err)
		return 0
	}
	var results []figures
	for _, r := range got.Results {
		results = append(results, figuresOf(r))
	}
	if diff := cmp.Diff(append([]figures{all}, each...), results); diff != "" {
		t.Errorf("rules %d, %q (-simulation +answer):\n%s", n, rules.texts, diff)
		return 0
	}
	for i := range rules.limits {
		rule := len(rules.filters) + i
		l.checkCurveAmong(t, random, rules, i, got.Results[1+rule])
	}
	return all.Requests
}

// checkCurveAmong checks a point of the curve of a limit among other rules.
func (l log) checkCurveAmong(t *testing.T, random *rand.Rand, s several, i int, of answer.WhatIfResult) {
	t.Helper()
	if len(of.Curve) == 0 {
		return
	}
	point := of.Curve[random.IntN(len(of.Curve))]
	s.limits = slices.Clone(s.limits)
	s.limits[i].Threshold = int(point.Threshold)
	each, _ := l.together(s)
	want := each[len(s.filters)+i]
	if point.NumOfRequests != want.Requests || point.NumOfNewRequests != want.Newly || point.NumOfIP != want.Clients {
		t.Errorf("%q: the curve of %s has %+v, the simulation %+v", s.texts, of.Rule, point, want)
	}
}
