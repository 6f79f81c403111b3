// Package whatiftest compares what rules would have done by an engine with an independent simulation of the published
// rules.
package whatiftest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif/asking"
	"github.com/orrery/orrery/shared/whatif/simulate"
)

var (
	ruleCount = flag.Int("whatif.rules", 0, "number of random rules with which an engine is tested; 0: that of the test")
	ruleSeed  = flag.Uint64("whatif.seed", 1, "seed of the random rules and records")
)

// Begin is the begin of the period on which rules are tried. Traffic begins two hours before.
var Begin = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// length is the length of the period, and of the time before it.
const length = 2 * time.Hour

const period = "timestamp between 2026-11-20 12:00 and 2026-11-20 14:00"

// Decisions tries random rules on random records, each third time several together, and compares the figures of their
// answers with those of the simulation.
func Decisions(t *testing.T, open func(rows []lake.Row) engine.Engine, records, rules int) {
	if *ruleCount > 0 {
		rules = *ruleCount
	}
	t.Logf("%d rules; repeat with -whatif.seed=%d", rules, *ruleSeed)
	rows := traffic(rand.New(rand.NewPCG(*ruleSeed, 0)), records)
	service, err := search.New(open(rows), search.Options{Now: func() time.Time { return Begin.AddDate(0, 0, 1) }})
	if err != nil {
		t.Fatal(err)
	}
	log := logOf(rows)
	numbers := make(chan int)
	var acted, some atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := range numbers {
				if t.Failed() {
					continue // the report of one rule is long enough
				}
				random := rand.New(rand.NewPCG(*ruleSeed, uint64(n)+1))
				count := func(requests int64) {
					acted.Add(requests)
					if requests > 0 && requests < int64(records)/2 {
						some.Add(1)
					}
				}
				if n%3 == 2 {
					count(log.checkTogether(t, n, random, source{service}))
					continue
				}
				rule := randomRule(random)
				want := log.figures(rule)
				got, err := asking.Run(t.Context(), source{service}, asking.Request{Filters: period, Rule: rule.text})
				if err != nil {
					t.Errorf("rule %d, %s: %v", n, rule.text, err)
					continue
				}
				if diff := cmp.Diff(want, figuresOf(got.Results[0])); diff != "" {
					t.Errorf("rule %d, %s (-simulation +answer):\n%s", n, rule.text, diff)
				}
				log.checkCurve(t, random, rule, got.Results[0])
				count(want.Requests)
			}
		})
	}
	for n := range rules {
		numbers <- n
	}
	close(numbers)
	workers.Wait()
	t.Logf("the rules have acted on %d requests; %d of them on some", acted.Load(), some.Load())
	if some.Load() < int64(rules)/3 {
		t.Errorf("only %d of %d rules have acted on some requests", some.Load(), rules)
	}
}

// source answers questions from a service. It finds no record of a client, because decisions need none.
type source struct{ service *search.Service }

func (s source) Sequences(ctx context.Context, params map[string]string) (query.SequencesAnswer, inquiry.Answer, error) {
	found, err := s.service.Search(ctx, search.Request{
		Route: search.Sequences, Syntax: filter.QueryString, Filters: params["filters"], Of: params["of"], AnyOf: params["any_of"],
	})
	return found.Sequences, inquiry.Answer{Meta: found.Meta}, err
}

func (source) Ask(_ context.Context, route string, _ map[string]string) ([]byte, error) {
	if route != string(search.Logs) {
		return nil, errors.New("a question to " + route)
	}
	return []byte(`{"data":{"results":[]},"meta":{}}`), nil
}

// figures are the figures of an answer that depend on the decisions.
type figures struct {
	Requests, Stopped, Before, Newly, Humans, Clients, Sessions int64

	Segments []answer.WhatIfSegment
}

func figuresOf(r answer.WhatIfResult) figures {
	f := figures{
		Requests: r.NumOfRequests, Stopped: r.NumOfBlockedRequests, Before: r.NumOfEarlierRequests, Newly: r.NumOfNewRequests,
		Clients: r.NumOfIP, Sessions: r.NumOfSessions, Segments: r.Segments,
	}
	if r.NumOfHumans != nil {
		f.Humans = *r.NumOfHumans
	}
	return f
}

// log has the requests of rows as the simulation has them.
type log struct {
	rows    []lake.Row
	records []simulate.Record
}

// figures returns the figures of a rule by the simulation.
func (l log) figures(r rule) figures { return l.count(l.acted(r), nil) }

// count returns the figures of requests on which a rule acts. Rules before it have stopped some.
func (l log) count(places []int, stopped map[int]bool) (f figures) {
	clients, sessions, segments := map[string]bool{}, map[string]bool{}, map[int64]int{}
	for _, i := range places {
		row := &l.rows[i]
		minute := row.TsMs / 60_000 * 60
		if _, known := segments[minute]; !known {
			segments[minute] = len(f.Segments)
			f.Segments = append(f.Segments, answer.WhatIfSegment{TimePeriod: minute})
		}
		segment := &f.Segments[segments[minute]]
		f.Requests++
		segment.NumOfRequests++
		if *row.Blocked {
			f.Stopped++
			continue
		}
		if stopped[i] {
			f.Before++
			continue
		}
		f.Newly++
		segment.NumOfNewRequests++
		if row.Human != nil && *row.Human {
			f.Humans++
		}
		clients[*row.IP] = true
		if row.Session != nil {
			sessions[*row.Session] = true
		}
	}
	f.Clients, f.Sessions = int64(len(clients)), int64(len(sessions))
	if f.Segments == nil {
		f.Segments = []answer.WhatIfSegment{}
	}
	return f
}

// acted returns the places of the rows in the period on which a rule acts.
func (l log) acted(r rule) (places []int) {
	if r.filter != nil {
		for i, matching := range simulate.Filters([]simulate.Filter{*r.filter}, l.records) {
			if len(matching) > 0 && l.inPeriod(i) {
				places = append(places, i)
			}
		}
		return places
	}
	var reaching []int
	var records []simulate.Record
	for i := range l.rows {
		if l.reaches(i) {
			reaching, records = append(reaching, i), append(records, l.records[i])
		}
	}
	for i, acts := range simulate.Limits(*r.limit, records) {
		if acts && l.inPeriod(reaching[i]) {
			places = append(places, reaching[i])
		}
	}
	return places
}

func (l log) inPeriod(i int) bool {
	ms := l.rows[i].TsMs
	return ms >= Begin.UnixMilli() && ms <= Begin.Add(length).UnixMilli()
}

// reaches reports whether a request reaches limits: one that a global filter has blocked does not.
func (l log) reaches(i int) bool { return !*l.rows[i].Blocked || *l.rows[i].ProcessingStage >= "3" }

// checkCurve checks a point of the curve of a limit.
func (l log) checkCurve(t *testing.T, random *rand.Rand, r rule, of answer.WhatIfResult) {
	t.Helper()
	if len(of.Curve) == 0 {
		return
	}
	point, limit := of.Curve[random.IntN(len(of.Curve))], *r.limit
	limit.Threshold = int(point.Threshold)
	want := l.figures(rule{limit: &limit})
	if point.NumOfRequests != want.Requests || point.NumOfNewRequests != want.Newly || point.NumOfIP != want.Clients {
		t.Errorf("%s: the curve has %+v, the simulation %+v", r.text, point, want)
	}
}

// rule is a rule in the form of the product and in the form of the simulation.
type rule struct {
	text   string
	limit  *simulate.Limit
	filter *simulate.Filter
}

func randomRule(r *rand.Rand) rule {
	if r.IntN(2) == 0 {
		return randomFilter(r)
	}
	return randomLimit(r)
}

func randomLimit(r *rand.Rand) rule {
	limit := &simulate.Limit{Active: true, Threshold: r.IntN(8), Timeframe: int64(30 + r.IntN(1800))}
	attribute := func(name string) simulate.Part { return simulate.Part{Kind: "attrs", Name: name} }
	header, cookie := simulate.Part{Kind: "headers", Name: "x-a"}, simulate.Part{Kind: "cookies", Name: "C-d"}
	limit.Key = [][]simulate.Part{
		{attribute("ip")}, {attribute("session")}, {attribute("ip"), attribute("path")}, {attribute("country"), attribute("method")},
		{attribute("path")}, {attribute("asn")}, {header}, {cookie, attribute("ip")}, {{Kind: "args", Name: "q"}},
	}[r.IntN(9)]
	type tags struct {
		Relation string   `json:"relation"`
		Tags     []string `json:"tags"`
	}
	body := map[string]any{"threshold": limit.Threshold, "timeframe": limit.Timeframe}
	var key []map[string]string
	for _, part := range limit.Key {
		key = append(key, map[string]string{part.Kind: part.Name})
	}
	body["key"] = key
	if r.IntN(3) == 0 {
		limit.PairWith = &[]simulate.Part{attribute("path"), header}[r.IntN(2)]
		body["pairwith"] = map[string]string{limit.PairWith.Kind: limit.PairWith.Name}
	}
	if r.IntN(2) == 0 {
		limit.Ban, limit.TTL = true, int64(30+r.IntN(1800))
		body["is_action_ban"], body["ttl"] = true, limit.TTL
	}
	for name, of := range map[string]*simulate.Tags{"include": &limit.Include, "exclude": &limit.Exclude} {
		if r.IntN(4) == 0 {
			*of = simulate.Tags{Relation: relations[r.IntN(2)], Names: []string{"a", "c"}[:1+r.IntN(2)]}
			body[name] = tags{of.Relation, of.Names}
		}
	}
	return rule{text: encode(body), limit: limit}
}

var relations = []string{"AND", "OR"}

func randomFilter(r *rand.Rand) rule {
	f := &simulate.Filter{Active: true, Relation: relations[r.IntN(2)], Entries: randomEntries(r, 1+r.IntN(3))}
	for range r.IntN(4) {
		f.Groups = append(f.Groups, simulate.Group{Relation: relations[r.IntN(2)], Entries: randomEntries(r, 1+r.IntN(3))})
	}
	return rule{filter: f, text: filterText(*f)}
}

// filterText returns a filter in the form of the product. Without an action, it blocks.
func filterText(f simulate.Filter) string {
	groups := []map[string]any{}
	for _, g := range f.Groups {
		groups = append(groups, map[string]any{"relation": g.Relation, "entry": entriesOf(g.Entries)})
	}
	return encode(map[string]any{"action": f.Action, "tags": f.Tags, "rule": map[string]any{
		"relation": f.Relation, "entry": entriesOf(f.Entries), "group": groups,
	}})
}

func randomEntries(r *rand.Rand, n int) (list []simulate.Entry) {
	for range n {
		list = append(list, []simulate.Entry{
			{Type: "country", Value: "China"}, {Type: "country", Value: "Peru"}, {Type: "method", Value: "^P"}, {Type: "asn", Value: "64500"},
			{Type: "path", Value: "[12]$"}, {Type: "ip", Value: "192.0.2.1"}, {Type: "ip", Value: "192.0.2.2/31"},
			{Type: "headers", Name: "x-a", Value: "b"}, {Type: "tags", Value: "a"}, {Type: "tags", Value: "c"},
		}[r.IntN(10)])
	}
	return list
}

func entriesOf(list []simulate.Entry) (entries []map[string]string) {
	for _, e := range list {
		one := map[string]string{"type": e.Type, "value": e.Value}
		if e.Name != "" {
			one["name"] = e.Name
		}
		entries = append(entries, one)
	}
	return entries
}

func encode(rule any) string {
	text, err := json.Marshal(rule)
	if err != nil {
		panic("whatiftest: encode a rule: " + err.Error()) // texts and numbers can always be encoded
	}
	return string(text)
}

// traffic returns requests in the period and before it. Each has a time of its own, in whole microseconds as the
// simulation has them.
func traffic(r *rand.Rand, n int) []lake.Row {
	rows := make([]lake.Row, n)
	at, gap := Begin.Add(-length).UnixMicro(), 2*2*length.Microseconds()/int64(n)
	some := func(values ...string) *string {
		if i := r.IntN(len(values) + 1); i > 0 {
			return &values[i-1]
		}
		return nil
	}
	clients := 4 + n/300
	for i := range rows {
		if at += 1 + r.Int64N(gap); r.IntN(5) == 0 {
			at = (at + 999_999) / 1_000_000 * 1_000_000 // ends of windows are often whole seconds
		}
		stage, blocked := fmt.Sprint(2+r.IntN(5)), r.IntN(5) == 0
		row := lake.Row{
			TsMs: at / 1000, TsNanos: at % 1000 * 1000, TimePeriod: at / 1_000_000, Source: "s", Line: int64(i + 1),
			Blocked: &blocked, ProcessingStage: &stage, IP: new(fmt.Sprintf("192.0.%d.%d", 2+r.IntN(clients)/250, r.IntN(clients)%250)),
			Path: new(fmt.Sprintf("/%d", r.IntN(3))), Country: some("China", "Peru"), Method: some("GET", "POST"), ASN: some("1", "64500"),
		}
		if r.IntN(9) > 0 {
			row.Session = new(fmt.Sprint("s", r.IntN(clients)))
		}
		if r.IntN(3) > 0 {
			row.Human = new(r.IntN(2) == 0)
		}
		pairs := func(name string) (list []lake.Pair) { // a repeated name has several values
			for range r.IntN(3) {
				list = append(list, lake.Pair{Name: name, Value: []string{"b", "c", ""}[r.IntN(3)]})
			}
			return list
		}
		row.Headers = append(pairs("X-A"), lake.Pair{Name: "x-other", Value: "b"})
		row.Cookies, row.Arguments = pairs("C-d"), pairs("q")
		for _, tag := range []string{"a", "c"} {
			if r.IntN(2) == 0 {
				row.Tags = append(row.Tags, tag)
			}
		}
		rows[i] = row
	}
	return rows
}

func logOf(rows []lake.Row) log {
	l := log{rows: rows}
	for _, row := range rows {
		record := simulate.Record{Time: row.TsMs*1000 + row.TsNanos/1000, Fields: map[string]string{}, Tags: row.Tags}
		for name, value := range map[string]*string{
			"ip": row.IP, "path": row.Path, "session": row.Session, "country": row.Country, "method": row.Method, "asn": row.ASN,
		} {
			if value != nil {
				record.Fields[name] = *value
			}
		}
		record.Headers, record.Cookies, record.Args = joined(row.Headers), joined(row.Cookies), joined(row.Arguments)
		l.records = append(l.records, record)
	}
	return l
}

// joined returns the values of each name in lower case or, of a cookie, as it is. The gateway joins the values of a name by
// spaces.
func joined(pairs []lake.Pair) map[string]string {
	values := map[string]string{}
	for _, p := range pairs {
		name := p.Name
		if name == "X-A" {
			name = "x-a"
		}
		if before, repeated := values[name]; repeated {
			p.Value = before + " " + p.Value
		}
		values[name] = p.Value
	}
	return values
}
