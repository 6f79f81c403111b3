package report

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/orrery/orrery/shared/answer"
)

// topKey is a result of topx.
type topKey = answer.TopXResult

// earlier holds the known numbers of the values of a field in the previous period.
type earlier struct {
	blocked map[string]int64 // of the values that are listed
	known   bool             // there is a list, and the two periods are comparable
	all     bool             // every value is listed
	least   int64            // blocked requests of the last one; no other value has more
}

// of sets the members of the row about the previous period.
func (e earlier) of(row *Row) {
	was, listed := e.blocked[row.Key]
	switch {
	case !e.known:
	case listed, e.all, e.least == 0:
		row.BlockedBefore, row.New = &was, e.all && !listed
	}
}

func (b *builder) earlierOf(label string, keys []topKey, known bool) earlier {
	e := earlier{blocked: map[string]int64{}, known: known && b.facts.comparable}
	for _, k := range keys {
		if k.Label == label {
			e.blocked[k.Key], e.least = k.NumOfBlockedRequests, k.NumOfBlockedRequests
		}
	}
	e.all = len(e.blocked) < mostValues
	return e
}

// tops sets the lists of attackers and targets.
func (b *builder) tops() {
	keys, _, known := read[topKey](b, Top)
	keysBefore, _, knownBefore := read[topKey](b, TopBefore)
	blocked, _, _ := read[facet](b, Blocked)
	if !known {
		return
	}
	b.facts.top = map[string][]Row{}
	list := func(label, attacked, busy string) List {
		l := List{Title: busy, Field: label, All: b.requests(true)}
		earlier, both := b.earlierOf(label, keysBefore, knownBefore), challengedToo(blocked, label)
		for _, k := range keys {
			if k.Label != label {
				continue
			}
			row := Row{Key: k.Key, Requests: k.NumOfRequests, Blocked: k.NumOfBlockedRequests, Challenged: k.NumOfChallenges}
			if n, found := both[k.Key]; found || row.Blocked == 0 || row.Challenged == 0 {
				passed := row.Requests - row.Blocked - row.Challenged + n
				row.Passed = &passed
			}
			if !k.KeyTruncated {
				row.Condition = equals(label, k.Key)
			}
			row.Link = b.linkTo(row.Condition)
			earlier.of(&row)
			l.ByBlocked = l.ByBlocked || row.Blocked > 0
			l.Rows = append(l.Rows, row)
		}
		b.facts.top[label] = l.Rows
		if l.ByBlocked {
			l.Title, l.All = attacked, b.requests(false)
			l.Rows = slices.DeleteFunc(slices.Clone(l.Rows), func(r Row) bool { return r.Blocked == 0 })
		}
		return l
	}
	b.r.Attackers = lists(
		list("ip", "Addresses, by blocked requests", "Busiest addresses"),
		list("organization", "Organizations, by blocked requests", "Busiest organizations"),
		list("country", "Countries, by blocked requests", "Busiest countries"),
	)
	b.r.Targets = lists(
		list("host", "Hosts, by blocked requests", "Busiest hosts"),
		list("url", "URLs, by blocked requests", "Busiest URLs"),
	)
}

// challengedToo returns the challenged requests among the blocked ones of each value of a field.
func challengedToo(blocked []facet, by string) map[string]int64 {
	n := map[string]int64{}
	for _, f := range blocked {
		if f.By != by {
			continue
		}
		for _, v := range f.Values {
			n[valueText(v.Value)] = v.NumOfChallenges
		}
	}
	return n
}

// rules sets the lists of rules. The reasons to block come from blocked requests only. They do not come from the label
// reason of topx, which also has the reasons to monitor a request, and another rule may have blocked that request.
func (b *builder) rules() {
	facets, _, _ := read[facet](b, Blocked)
	facetsBefore, _, knownBefore := read[facet](b, BlockedBefore)
	e := earlier{blocked: map[string]int64{}, known: knownBefore && b.facts.comparable}
	for _, f := range facetsBefore {
		for _, v := range f.Values {
			e.blocked[valueText(v.Value)], e.least = v.NumOfRequests, v.NumOfRequests
		}
	}
	e.all = len(e.blocked) < mostValues
	reasons := List{Title: "Reasons to block", Field: "reason", ByBlocked: true, All: b.requests(false)}
	for _, f := range facets {
		if f.By != reasons.Field {
			continue
		}
		for _, v := range f.Values[:min(len(f.Values), listed)] {
			row := b.rowOf(v, flagIs("blocked", true))
			e.of(&row)
			reasons.Rows = append(reasons.Rows, row)
		}
	}
	b.facts.reasons = reasons.Rows
	var monitored int64
	if n := b.r.Figures[3].Value; n != nil {
		monitored = int64(*n)
	}
	monitors := b.listsOf(b.monitors, monitored, map[string]string{"monitor_reasons": "Reasons to monitor"})
	b.r.Rules = append(lists(reasons), monitors...)
}

// requests returns the number of requests, or of blocked requests; 0 if unknown.
func (b *builder) requests(all bool) int64 {
	f := b.r.Figures[1]
	if all {
		f = b.r.Figures[0]
	}
	if f.Value == nil {
		return 0
	}
	return int64(*f.Value)
}

// lists returns the lists that have rows. The result is not nil, so that JSON has a list.
func lists(all ...List) []List {
	return slices.DeleteFunc(append([]List{}, all...), func(l List) bool { return len(l.Rows) == 0 })
}

// facet is a result of facets.
type facet struct {
	answer.FacetResult
	Values []facetValue `json:"values"`
}

type facetValue struct {
	answer.FacetValueResult
	Value json.RawMessage `json:"value"`
}

// rowOf returns a row about the requests that have a value and meet conditions.
func (b *builder) rowOf(v facetValue, within ...string) Row {
	row := Row{
		Key: valueText(v.Value), Requests: v.NumOfRequests, Blocked: v.NumOfBlockedRequests, Challenged: v.NumOfChallenges,
		Condition: v.Condition,
	}
	if row.Blocked == 0 || row.Challenged == 0 || row.Blocked == row.Requests {
		passed := max(0, row.Requests-row.Blocked-row.Challenged)
		row.Passed = &passed
	}
	row.Link = b.linkTo(append(slices.Clone(within), v.Condition)...)
	return row
}

// facetLists reads the answer of facets as lists.
func (b *builder) facetLists(part Part, titles map[string]string, within ...string) (all []List, n int64) {
	facets, m, ok := read[facet](b, part)
	if !ok {
		return []List{}, 0
	}
	if m.NumOfRequests != nil {
		n = *m.NumOfRequests
	}
	return b.listsOf(facets, n, titles, within...), n
}

// listsOf returns the values of facets as lists about a number of requests.
func (b *builder) listsOf(facets []facet, n int64, titles map[string]string, within ...string) []List {
	var all []List
	for _, f := range facets {
		l := List{Title: cmp.Or(titles[f.By], f.By), Field: f.By, All: n}
		for _, v := range f.Values {
			l.Rows = append(l.Rows, b.rowOf(v, within...))
		}
		all = append(all, l)
	}
	return lists(all...)
}

// passed sets the lists of what got through.
func (b *builder) passed() {
	bots, _ := b.facetLists(PassedBots, map[string]string{
		"organization": "Bots that passed, by organization", "user_agent": "Bots that passed, by user agent",
		"url": "Bots that passed, by URL",
	}, append([]string{flagIs("bot", true)}, passing...)...)
	errors, _ := b.facetLists(OriginErrors, map[string]string{
		"host": "Errors of the origin, by host", "url": "Errors of the origin, by URL",
	}, originFailed...)
	without := "Errors without a status of the origin"
	if b.absent["upstream_status"] {
		without = "Errors"
	}
	others, _ := b.facetLists(OtherErrors, map[string]string{
		"host": without + ", by host", "url": without + ", by URL",
	}, otherFailed...)
	b.r.Passed = append(append(bots, errors...), others...)
}

// wrong sets the lists of blocks that are possibly wrong.
func (b *builder) wrong() {
	lists, n := b.facetLists(WrongBlocks, map[string]string{
		"reason": "Blocked humans, by reason", "url": "Blocked humans, by URL",
	}, flagIs("blocked", true), flagIs("human", true))
	b.r.Wrong, b.facts.blockedHumans = lists, n
}
