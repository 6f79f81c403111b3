package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// everything returns a query without conditions over all time.
func everything() query.Query {
	return query.Query{Scope: query.Scope{Period: query.Period{FromMs: -1 << 62, ToMs: 1 << 62}}}
}

// TestGroupsEqualConditions checks that groups hold for the same records as their conditions, with one condition or
// many on the same fields.
func TestGroupsEqualConditions(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	rows := querytest.Rows(r, 60)
	names := catalog.Names()
	verdicts := map[bool]int{}
	for i := range 1000 {
		fields := []string{names[i%len(names)], names[r.IntN(len(names))]}
		q, err := query.Bind(filter.Parse(querytest.FilterOn(r, rows, 1+r.IntN(6), fields...)), query.Logs{})
		if err != nil {
			t.Fatal(querytest.Explain(err))
		}
		if n := len(q.Conditions); i%3 == 0 && n > 1 { // alternatives of one condition and of the others
			any := [][]query.Condition{q.Conditions[:1], q.Conditions[1:]}
			q.Conditions = append(q.Conditions, query.Condition{Negated: r.IntN(2) == 0, Any: any})
			q.Conditions = q.Conditions[n-1:]
		}
		groups := query.Groups(q.Conditions)
		plain := everything()
		plain.Conditions = q.Conditions
		for _, row := range rows {
			want := query.Match(&plain, row)
			verdicts[want]++
			if got := groupsHold(groups, row); got != want {
				t.Fatalf("seed %d: the groups hold: %v, the conditions: %v\n%s\n%+v", seed, got, want, plain, groups)
			}
		}
	}
	if verdicts[true] < 5000 || verdicts[false] < 5000 {
		t.Errorf("one result is rare: %v", verdicts)
	}
}

// groupsHold evaluates groups exactly as the documentation of Group defines them.
func groupsHold(groups []query.Group, row *lake.Row) bool {
	q := everything()
	for _, g := range groups {
		if len(g.Every) == 0 {
			q.Conditions = append(q.Conditions, query.Condition{Field: g.Field, Negated: g.Negated, Terms: g.Terms, Any: g.Any})
		}
		for _, test := range g.Every {
			term := g.Terms[0]
			term.Test = test
			q.Conditions = append(q.Conditions, query.Condition{Field: g.Field, Terms: []query.Term{term}})
		}
	}
	return query.Match(&q, row)
}

// TestThousandsOfConditionsMakeFewGroups groups conditions that users paste in bulk, including keyed headers.
func TestThousandsOfConditionsMakeFewGroups(t *testing.T) {
	templates := []string{
		`ip!="10.0.%d.1"`, `path!~"^/p%d/"`, `headers["x-h%d"]!="v"`, `headers["x-id"]!="v%d"`,
		`tags="t%d"`, `tags!="t%d"`, `cookies["c%d"]="v"`, `status!=%d`, `status not between %d and 1`,
		`arguments["a"]!~"x%d$"`, `user_agent~"a%d"`, `upstream_status=%d`, `request_time<%d`, `headers["x-n"]<%d`,
		`trigger_counters["acl"]!=%d`, `security_config["revision"]!="r%d"`, `upstream_data["status"]!=%d`,
		`host not in ("h%d", "x")`, `gf_triggers["name"]!="g%d"`, `proxy["realip"]~"^1%d"`,
	}
	conditions := []string{"timestamp between 2026-01-01 and 2026-01-02"}
	for i := range 5000 {
		conditions = append(conditions, fmt.Sprintf(templates[i%len(templates)], i/len(templates)))
	}
	q, err := query.Bind(filter.Parse(strings.Join(conditions, ", ")), query.Logs{})
	if err != nil {
		t.Fatal(querytest.Explain(err))
	}
	if len(q.Conditions) != 5000 {
		t.Fatalf("%d conditions are bound", len(q.Conditions))
	}
	if groups := query.Groups(q.Conditions); len(groups) > 30 {
		t.Errorf("5,000 conditions of 20 kinds make %d groups", len(groups))
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct{ conditions, groups string }{
		{`ip!="a", host="h", ip not in ("b", "a")`, `not (ip in {"a", "b"}) host in {"h"}`},
		{`path!~"a", path!~"b", path!="c"`, `not (path matches {/a/, /b/} or path in {"c"})`},
		{`path~"a", path~"b"`, `path every: matches {/a/} matches {/b/}`},
		{`host in (a, b), host in (b, c)`, `host in {"b"}`},
		{`host=a, host=b`, `host in {}`},
		{`status>=400, status<500, status>401`, `status from 402 to 499`},
		{`status in (1, 2), status in (2, 3)`, `status in {2}`},
		{`status not between 1 and 2, status not between 3 and 4`, `not (status from 1 to 2 or status from 3 to 4)`},
		{`tags=a, tags=b`, `any tags every: in {"a"} in {"b"}`},
		{`tags=a`, `any tags in {"a"}`},
		{`headers["X-A"]=1, headers["x-b"]=2`, `any headers every: in {"x-a": "1"} in {"x-b": "2"}`},
		{
			`headers["a"]!=1, headers["b"]!=2, headers["a"]!~"c"`,
			`not (any headers in {"a": "1", "b": "2"} or any headers["a"] matches {/c/})`,
		},
		{
			`trigger_counters>1, trigger_counters["acl"]<9`,
			`trigger_counters.acl from 2 to any or trigger_counters.cf from 2 to any or ` +
				`trigger_counters.cf_restrict from 2 to any or trigger_counters.dr from 2 to any or ` +
				`trigger_counters.gf from 2 to any or trigger_counters.rl from 2 to any ` +
				`trigger_counters.acl from any to 8`,
		},
		{`blocked is true, blocked is false`, `blocked every: is true is false`},
		{`processing_stage>1, processing_stage<=3`, `processing_stage every: as a number > 1 as a number <= 3`},
	} {
		q, err := query.Bind(filter.Parse(withPeriod(c.conditions)), query.Logs{})
		if err != nil {
			t.Fatal(querytest.Explain(err))
		}
		var shown []string
		for _, g := range query.Groups(q.Conditions) {
			shown = append(shown, g.String())
		}
		if got := strings.Join(shown, " "); got != c.groups {
			t.Errorf("%s\ngives %s\nwant  %s", c.conditions, got, c.groups)
		}
	}
}

// TestGroupsDoNotChangeConditions checks that grouping does not write into the spare capacity of sets of values, which
// other goroutines may be reading.
func TestGroupsDoNotChangeConditions(t *testing.T) {
	const text = `ip!=x, ip!=y, status!=1, status!=2, path!~"a.", path!~"b.", headers["a"]!=x, headers["b"]!=y`
	q, err := query.Bind(filter.Parse(withPeriod(text)), query.Logs{})
	if err != nil {
		t.Fatal(querytest.Explain(err))
	}
	texts, ints, patterns := make([]string, 1, 8), make([]int64, 1, 8), make([]*pattern.Regex, 1, 8)
	q.Conditions[0].Terms[0].Test = query.TextIn{Values: texts}
	q.Conditions[2].Terms[0].Test = query.IntIn{Values: ints}
	q.Conditions[4].Terms[0].Test = query.Matches{Patterns: patterns}
	q.Conditions[6].Terms[0].Test = query.TextIn{Values: texts}
	for range 2 {
		if groups := query.Groups(q.Conditions); len(groups) != 4 {
			t.Fatalf("%d groups", len(groups))
		}
	}
	for i := 1; i < 8; i++ {
		if texts[:8][i] != "" || ints[:8][i] != 0 || patterns[:8][i] != nil {
			t.Errorf("grouping wrote beyond a condition's values: %v %v %v", texts[:8], ints[:8], patterns[:8])
		}
	}
}
