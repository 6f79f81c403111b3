package asking_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif/asking"
)

func runTogether(t *testing.T, from answering.TrySource, rules ...string) []answer.WhatIfResult {
	t.Helper()
	got, err := asking.Run(t.Context(), from, asking.Request{Filters: period, Rules: rules})
	if err != nil {
		t.Fatalf("%q: %v", rules, err)
	}
	return got.Results
}

// dense returns traffic in which many requests of a client have the same time.
func dense(r *rand.Rand) []*lake.Row {
	rows := traffic(r)
	various(r, rows)
	for _, row := range rows {
		row.TsMs, row.TsNanos = row.TsMs/120_000*120_000, 0
	}
	return rows
}

var limits = []string{
	"limit 2 per 10m by ip", "limit 1 per 5m by session with path", `limit 1 per 10m by ip, path ban 7m where country="China"`,
	"limit 3 per 1h by path action challenge where method=POST", "limit 0 per 1m by country where tags!=a",
}

// TestOneRuleTogether: a list of one rule has the answer of the rule.
func TestOneRuleTogether(t *testing.T) {
	from := sourceOf(t, dense(rand.New(rand.NewPCG(11, 0))))
	for _, rule := range append(limits, "block where country=Peru", "enforce acl3") {
		if diff := cmp.Diff([]answer.WhatIfResult{run(t, from, rule)}, runTogether(t, from, rule)); diff != "" {
			t.Errorf("%s (-rule +rules):\n%s", rule, diff)
		}
	}
}

// found are the members of results that depend on which record of a client is found.
var found = cmpopts.IgnoreFields(answer.WhatIfClient{}, "RecordRef")

// TestMonitoringChangesNothing: a filter that monitors without tags changes nothing about other rules, also not about which of
// several requests of the same time a limit acts on.
func TestMonitoringChangesNothing(t *testing.T) {
	from := sourceOf(t, dense(rand.New(rand.NewPCG(12, 0))))
	const monitor = "monitor where method=GET"
	for i, limit := range limits {
		alone := run(t, from, limit)
		if alone.NumOfNewRequests == 0 {
			t.Errorf("%s stops nothing", limit)
		}
		got := runTogether(t, from, limit, monitor)[2]
		if diff := cmp.Diff(alone, got, found, cmpopts.IgnoreFields(answer.WhatIfResult{}, "Place")); diff != "" {
			t.Errorf("%s (-alone +beside a filter that monitors):\n%s", limit, diff)
		}
		rules := []string{limit, "block where country=Peru", limits[(i+1)%len(limits)]}
		without := runTogether(t, from, rules...)
		with := runTogether(t, from, append(rules, monitor)...)
		with = slices.DeleteFunc(with, func(r answer.WhatIfResult) bool { return r.Action == "monitor" })
		if diff := cmp.Diff(without, with, found); diff != "" {
			t.Errorf("%q (-without +with a filter that monitors):\n%s", rules, diff)
		}
	}
}

// TestPartsAreTheRule: the global filter and the rate limit that a gateway needs for a limit with conditions do together
// what the limit does.
func TestPartsAreTheRule(t *testing.T) {
	from := sourceOf(t, dense(rand.New(rand.NewPCG(13, 0))))
	parts := 0
	for _, limit := range limits {
		alone := run(t, from, limit)
		if len(alone.Forms) < 2 {
			continue
		}
		parts++
		got := runTogether(t, from, alone.Forms[0].JSON, strings.Replace(alone.Forms[1].JSON, `"all"`, `"none"`, 1))
		diff := cmp.Diff(alone, got[2], cmpopts.IgnoreFields(answer.WhatIfResult{}, "Rule", "Name", "Place", "Forms", "JSON"),
			cmpopts.IgnoreFields(answer.WhatIfClient{}, "RecordRef", "Filter"))
		if diff != "" || got[0].NumOfNewRequests != alone.NumOfNewRequests {
			t.Errorf("%s (-rule +parts), %d new requests together:\n%s", limit, got[0].NumOfNewRequests, diff)
		}
	}
	if parts < 2 {
		t.Errorf("only %d limits have parts", parts)
	}
}

// TestNewRequestsAddUp: the new requests of the rules that stop are those of all together. A filter that blocks all requests
// leaves nothing to limits.
func TestNewRequestsAddUp(t *testing.T) {
	from := sourceOf(t, dense(rand.New(rand.NewPCG(14, 0))))
	rules := append([]string{"monitor tag a where country=Peru", `challenge where path="/1"`, "block where method=POST, tags=a"}, limits...)
	got := runTogether(t, from, rules...)
	sum, earlier := int64(0), int64(0)
	for _, r := range got[1:] {
		if r.NumOfRequests != r.NumOfBlockedRequests+r.NumOfEarlierRequests+r.NumOfNewRequests {
			t.Errorf("%s: %d requests do not add up", r.Rule, r.NumOfRequests)
		}
		if earlier += r.NumOfEarlierRequests; r.Action != "monitor" {
			sum += r.NumOfNewRequests
		}
	}
	if sum != got[0].NumOfNewRequests || earlier == 0 {
		t.Errorf("%d new requests, of the rules %d, and %d of earlier rules", got[0].NumOfNewRequests, sum, earlier)
	}
	for _, c := range got[0].Affected {
		if c.RecordRef == nil {
			t.Errorf("no record of %+v", c)
		}
	}
	got = runTogether(t, from, limits[0], `block where path~"^/"`)
	if got[1].Rule != `block where path~"^/"` || got[2].NumOfRequests != 0 || got[2].Sentence != "The limit would have done nothing in this period." {
		t.Errorf("%+v", got[1:])
	}
}

// TestOrderOfStages: results are in the order of stages, and a rule that is enforced keeps no request from limits.
func TestOrderOfStages(t *testing.T) {
	rows := dense(rand.New(rand.NewPCG(15, 0)))
	for _, row := range rows {
		row.MonitorReasons = []string{"Monitor - acl Deny [\"x\"] - acl3 - [request]"}
	}
	from := sourceOf(t, rows)
	got := runTogether(t, from, "enforce acl3", limits[0], "block where method=POST", limits[1], "challenge where method=POST")
	var places []int
	for _, r := range got[1:] {
		places = append(places, *r.Place)
	}
	if !slices.Equal(places, []int{2, 4, 1, 3, 0}) || got[0].Place != nil || got[0].Action != "block" {
		t.Errorf("places %v, together %v %s", places, got[0].Place, got[0].Action)
	}
	if got[2].NumOfNewRequests != 0 || got[2].NumOfEarlierRequests == 0 {
		t.Errorf("the second filter for the same requests: %+v", got[2])
	}
	if last := got[5]; last.NumOfEarlierRequests == 0 || last.NumOfNewRequests == 0 {
		t.Errorf("the rule that is enforced: %+v", last)
	}
	if alone, beside := run(t, from, limits[0]), runTogether(t, from, "enforce acl3", limits[0])[1]; beside.NumOfNewRequests != alone.NumOfNewRequests {
		t.Errorf("beside a rule that is enforced, a limit has %d new requests, alone %d", beside.NumOfNewRequests, alone.NumOfNewRequests)
	}
}

// TestTogetherOfBranches: a caller who is limited to branches has the answer of the records of these.
func TestTogetherOfBranches(t *testing.T) {
	rows := dense(rand.New(rand.NewPCG(16, 0)))
	visible := slices.DeleteFunc(slices.Clone(rows), func(row *lake.Row) bool { return *row.Branch != "prod" })
	rules := []string{"monitor tag n where country=China", "limit 1 per 1h by ip where tags=n", "block where method=POST"}
	want, got := runTogether(t, sourceOf(t, visible), rules...), runTogether(t, sourceOf(t, rows, "prod"), rules...)
	diff := cmp.Diff(want, got, cmpopts.IgnoreFields(answer.WhatIfClient{}, "Filter", "RecordRef"),
		cmpopts.IgnoreFields(answer.WhatIfResult{}, "NumOfPhaseUnknown", "Unknown")) // such a caller is not told the first record
	if diff != "" || got[0].NumOfNewRequests == 0 {
		t.Errorf("-records of the branch +the caller, %d new requests:\n%s", got[0].NumOfNewRequests, diff)
	}
}

// TestAttackTogether: each limit among several rules is compared with the attack, as it is alone.
func TestAttackTogether(t *testing.T) {
	from := sourceOf(t, dense(rand.New(rand.NewPCG(17, 0))))
	ask := func(r asking.Request) answer.WhatIfResult {
		r.Filters, r.Attack = period, `path="/1"`
		got, err := asking.Run(t.Context(), from, r)
		if err != nil {
			t.Fatal(err)
		}
		return got.Results[len(got.Results)-1]
	}
	want, got := ask(asking.Request{Rule: limits[0]}), ask(asking.Request{Rules: []string{limits[0], "monitor where method=GET"}})
	if diff := cmp.Diff(want.Attack, got.Attack); diff != "" || want.Attack == nil || want.Attack.Knee == nil {
		t.Errorf("%+v (-alone +together):\n%s", want.Attack, diff)
	}
	if diff := cmp.Diff(want.Curve, got.Curve); diff != "" {
		t.Errorf("the curve (-alone +together):\n%s", diff)
	}
	_, err := asking.Run(t.Context(), from, asking.Request{Filters: period, Attack: "path=/", Rules: []string{"block where path=/", "enforce x"}})
	var mistake *search.ParamError
	if !errors.As(err, &mistake) || mistake.Param != "attack" {
		t.Errorf("an attack without a limit: %v", err)
	}
}

// TestMistakesTogether: a mistake names the rule that has it.
func TestMistakesTogether(t *testing.T) {
	many := slices.Repeat([]string{"block where path=/"}, 9)
	var different []string
	for i := range 8 {
		var entries []string
		for tag := range 4 {
			entries = append(entries, fmt.Sprintf(`{"type":"tags","value":"n"},{"type":"path","value":"/%d/%d"}`, i, tag))
		}
		groups := []string{}
		for _, e := range entries {
			groups = append(groups, `{"relation":"AND","entry":[`+e+`]}`)
		}
		different = append(different, fmt.Sprintf(`{"tags":["n"],"rule":{"relation":"OR","entry":[],"group":[%s]}}`, strings.Join(groups, ",")))
	}
	for want, r := range map[string]asking.Request{
		"rules[1]: limit needs a length":                  {Rules: []string{"block where path=/", "limit 5 by ip"}},
		"rules[0]: conditions of the rule":                {Rules: []string{"block where hots=a", "limit 5 per 1m by ip"}},
		"rules[1]: tags can have several values":          {Rules: []string{"block where path=/", "limit 5 per 1m by tags"}},
		"rules: 9 rules are more than the 8":              {Rules: many},
		"rule: there is no rule":                          {},
		"rule: the request also has rules":                {Rule: "block where path=/", Rules: many[:2]},
		"rules: the limits count by 5 fields":             {Rules: []string{`limit 1 per 1m by method, asn, user_agent`, `limit 1 per 1m by cookies["a"] with headers["b"]`}},
		"different conditions that must be known apart":   {Rules: different},
		"rules[1]: there is no rule":                      {Rules: []string{"block where path=/", ""}},
		"filters: a rule is tried on a period of at most": {Rules: many[:2], Filters: "timestamp between 2026-01-01 and 2026-03-01"},
	} {
		if r.Filters == "" {
			r.Filters = period
		}
		_, err := asking.Run(t.Context(), sourceOf(t, nil), r)
		var mistake *search.ParamError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if !json.Valid([]byte(different[0])) {
		t.Error(different[0])
	}
}

// TestDryRunTogether: the estimate is about the question that several rules ask.
func TestDryRunTogether(t *testing.T) {
	from := sourceOf(t, dense(rand.New(rand.NewPCG(18, 0))))
	r := asking.Request{Filters: period, Rules: []string{"monitor tag n where country=China", "limit 1 per 1h by ip where tags=n"}}
	meta, err := asking.DryRun(t.Context(), from, r)
	if err != nil || meta.Estimate == nil {
		t.Errorf("%+v %v", meta, err)
	}
}
