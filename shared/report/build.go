package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Answer is the answer to a question of a report.
type Answer struct {
	Body   []byte // of the data route, in JSON
	Reason string // why there is none; "" if there is one
}

// New returns the report of a setting, given the answers to its questions. An answer that is missing or cannot be read
// is a part that failed.
func New(s Setting, answers map[Part]Answer) Report {
	b := builder{Setting: s, answers: answers}
	b.r = Report{
		Title: b.title(), Template: s.Template, Filter: s.Filter(s.Period),
		Zone: s.Zone.String(), Period: spanOf(s.Period, s.Zone), Link: s.link(""), zone: s.Zone,
		Attackers: []List{}, Targets: []List{}, Rules: []List{}, Passed: []List{}, Changes: []Change{},
		Wrong: []List{}, Examples: []Record{}, Failed: []Failed{},
	}
	if s.Previous != nil {
		span := spanOf(*s.Previous, s.Zone)
		b.r.Previous = &span
	}
	b.figures()
	b.chart()
	b.tops()
	b.passed()
	b.wrong()
	b.changes()
	b.examples()
	b.verdict()
	return b.r
}

// builder builds a report section by section.
type builder struct {
	Setting

	answers map[Part]Answer
	r       Report
	facts   facts
	origin  struct{ now, before *int64 } // responses of the origin with a status of 500 or more
}

func (b *builder) title() string {
	switch {
	case b.Title != "":
		return b.Title
	case b.Template == Attack:
		return "Attack report"
	}
	return "Traffic report"
}

func spanOf(p Period, zone *time.Location) Span {
	instant := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z07:00") }
	return Span{instant(p.FromMs), instant(p.ToMs), p.text(zone)}
}

// meta is the part of an answer's meta that a report needs.
type meta struct {
	Fingerprint   string   `json:"fingerprint"`
	NumOfRequests *int64   `json:"num_of_requests"`
	BytesScanned  int64    `json:"bytes_scanned"`
	CostUSD       *float64 `json:"cost_usd"`
	ElapsedMS     float64  `json:"elapsed_ms"`
	Skipped       []string `json:"skipped"`
	Newest        *string  `json:"newest"`
	Complete      *string  `json:"complete_through"`
	Diff          struct {
		Selected struct {
			NumOfRequests int64 `json:"num_of_requests"`
		} `json:"selected"`
		Baseline struct {
			NumOfRequests int64 `json:"num_of_requests"`
		} `json:"baseline"`
	} `json:"diff"`
}

// read returns the results of an answer. ok is false if there is none; a question that was asked has then failed.
func read[T any](b *builder, part Part) (results []T, m meta, ok bool) {
	if !b.asks(part) {
		return nil, m, false
	}
	a, answered := b.answers[part]
	if !answered {
		a.Reason = "the question was not answered"
	}
	var body struct {
		Data struct {
			Results []T `json:"results"`
		} `json:"data"`
		Meta meta `json:"meta"`
	}
	if a.Reason == "" {
		if err := json.Unmarshal(a.Body, &body); err != nil {
			a.Reason = "the answer does not have the API's format: " + err.Error()
		}
	}
	if a.Reason != "" {
		b.r.Failed = append(b.r.Failed, Failed{part, a.Reason})
		return nil, m, false
	}
	b.account(body.Meta)
	return body.Data.Results, body.Meta, true
}

func (b *builder) asks(part Part) bool {
	return slices.ContainsFunc(b.Questions(), func(q Question) bool { return q.Part == part })
}

// account adds the meta of an answer to what the report rests on. The data is as complete as in the oldest answer.
func (b *builder) account(m meta) {
	run := &b.r.Run
	run.Questions++
	run.Bytes += m.BytesScanned
	run.ElapsedMS = max(run.ElapsedMS, m.ElapsedMS)
	if m.CostUSD != nil {
		if run.CostUSD == nil {
			run.CostUSD = new(float64)
		}
		*run.CostUSD += *m.CostUSD
	}
	for _, name := range m.Skipped {
		if at, found := slices.BinarySearch(run.Skipped, name); !found {
			run.Skipped = slices.Insert(run.Skipped, at, name)
		}
	}
	if m.Complete != nil && (run.Complete == nil || before(*m.Complete, *run.Complete)) {
		run.Complete = m.Complete
	}
	if m.Newest != nil && (run.Newest == nil || before(*run.Newest, *m.Newest)) {
		run.Newest = m.Newest
	}
}

// segment is a result of the timeline.
type segment struct {
	Start          int64 `json:"time_period"`
	Requests       int64 `json:"num_of_requests"`
	Blocked        int64 `json:"num_of_blocked_requests"`
	Challenges     int64 `json:"num_of_challenges"`
	Human          int64 `json:"num_of_human_requests"`
	OriginBlocked  int64 `json:"num_of_origin_blocked_requests"`
	BytesSent      int64 `json:"sum_of_sent_bytes"`
	OriginStatuses []struct {
		Key   string `json:"key"`
		Value int64  `json:"value"`
	} `json:"array_origin_status_codes"`
}

// sum is the sum of a number of each element.
func sum[T any](list []T, number func(*T) int64) *float64 {
	var total int64
	for i := range list {
		total += number(&list[i])
	}
	f := float64(total)
	return &f
}

// figures sets the figures, of both periods.
func (b *builder) figures() {
	timeline, m, known := read[segment](b, Timeline)
	timelineBefore, _, knownBefore := read[segment](b, TimelineBefore)
	b.r.Fingerprint = m.Fingerprint
	add := func(id, label, unit string, value, previous *float64) {
		b.r.Figures = append(b.r.Figures, Figure{id, label, unit, value, previous})
	}
	fromTimeline := func(id, label, unit string, number func(*segment) int64) {
		var value, previous *float64
		if known {
			value = sum(timeline, number)
		}
		if knownBefore {
			previous = sum(timelineBefore, number)
		}
		add(id, label, unit, value, previous)
	}
	const requests = "requests"
	fromTimeline(requests, "Requests", requests, func(s *segment) int64 { return s.Requests })
	fromTimeline("blocked", "Blocked", requests, func(s *segment) int64 { return s.Blocked })
	fromTimeline("challenges", "Challenged", requests, func(s *segment) int64 { return s.Challenges })
	add("monitored", "Monitored", requests, b.monitored(Monitored), b.monitored(MonitoredBefore))
	fromTimeline("human", "By humans", requests, func(s *segment) int64 { return s.Human })
	fromTimeline("origin_blocked", "Refused by origin", requests, func(s *segment) int64 { return s.OriginBlocked })
	add("average_time", "Average time", "seconds", b.averageTime(Times), b.averageTime(TimesBefore))
	fromTimeline("bytes_sent", "Sent", "bytes", func(s *segment) int64 { return s.BytesSent })
	if known {
		b.origin.now = originErrors(timeline)
	}
	if knownBefore {
		b.origin.before = originErrors(timelineBefore)
	}
	b.bars(timeline, timelineBefore, known, knownBefore)
}

// originErrors counts the responses of the origin with a status of 500 or more.
func originErrors(timeline []segment) *int64 {
	var n int64
	for _, s := range timeline {
		for _, status := range s.OriginStatuses {
			if code, err := strconv.Atoi(status.Key); err == nil && code >= 500 {
				n += status.Value
			}
		}
	}
	return &n
}

func (b *builder) monitored(part Part) *float64 {
	type bar struct {
		Value int64 `json:"value"`
	}
	bars, _, ok := read[bar](b, part)
	if !ok {
		return nil
	}
	return sum(bars, func(b *bar) int64 { return b.Value })
}

// averageTime returns the average time of all requests that have one, or nil if none has.
func (b *builder) averageTime(part Part) *float64 {
	type segment struct {
		Average  float64 `json:"avg_latency"`
		Requests int64   `json:"num_of_requests"`
	}
	list, _, ok := read[segment](b, part)
	if !ok {
		return nil
	}
	var total float64
	var n int64
	for _, s := range list {
		total += s.Average * float64(s.Requests)
		n += s.Requests
	}
	if n == 0 {
		return nil
	}
	average := total / float64(n)
	return &average
}

// chart describes the bars of the chart.
func (b *builder) chart() {
	s := stepOf(b.Period)
	_, exact := s.segmentSeconds(b.Period, b.Zone)
	b.r.Chart.Step, b.r.Chart.Coarse = string(s), !exact
	if b.r.Chart.Bars == nil {
		b.r.Chart.Bars = []Bar{}
	}
}

// bars sums up the segments of both periods in bars.
func (b *builder) bars(timeline, timelineBefore []segment, known, knownBefore bool) {
	if !known {
		return
	}
	s := stepOf(b.Period)
	starts := s.starts(b.Period, b.Zone)
	bars := make([]Bar, len(starts))
	for i, ms := range starts {
		bars[i].From = time.UnixMilli(ms).UTC().Format(time.RFC3339)
		bars[i].Label = s.label(ms, b.Zone)
	}
	for _, segment := range timeline {
		bar := &bars[barOf(starts, segment.Start)]
		bar.Requests += segment.Requests
		bar.Blocked += segment.Blocked
	}
	if knownBefore {
		startsBefore := s.starts(*b.Previous, b.Zone)
		for i := range bars {
			if i < len(startsBefore) {
				bars[i].RequestsBefore, bars[i].BlockedBefore = new(int64), new(int64)
			}
		}
		for _, segment := range timelineBefore {
			if at := barOf(startsBefore, segment.Start); at < len(bars) {
				*bars[at].RequestsBefore += segment.Requests
				*bars[at].BlockedBefore += segment.Blocked
			}
		}
	}
	b.r.Chart.Bars = bars
}

// barOf returns the bar that a segment, which begins at start in Unix seconds, is in. The first segment may begin before
// the period.
func barOf(starts []int64, start int64) int {
	at, found := slices.BinarySearch(starts, start*1000)
	if !found {
		at--
	}
	return max(at, 0)
}

// topKey is a result of topx.
type topKey struct {
	Label     string `json:"label"`
	Key       string `json:"key"`
	Requests  int64  `json:"num_of_requests"`
	Blocked   int64  `json:"num_of_blocked_requests"`
	Truncated bool   `json:"key_truncated"`
}

// tops sets the lists of attackers, targets and rules.
func (b *builder) tops() {
	keys, _, known := read[topKey](b, Top)
	keysBefore, _, knownBefore := read[topKey](b, TopBefore)
	if !known {
		return
	}
	b.facts.top = map[string][]Row{}
	list := func(label, attacked, busy string) List {
		rows, blocked := []Row{}, false
		earlier := map[string]int64{}
		n := 0
		for _, k := range keysBefore {
			if k.Label == label {
				earlier[k.Key], n = k.Blocked, n+1
			}
		}
		for _, k := range keys {
			if k.Label != label {
				continue
			}
			row := Row{Key: k.Key, Requests: k.Requests, Blocked: k.Blocked}
			if !k.Truncated {
				row.Condition = equals(label, k.Key)
			}
			row.Link = b.linkTo(row.Condition)
			if was, found := earlier[k.Key]; found {
				row.BlockedBefore = &was
			} else if knownBefore && n < mostBefore {
				row.BlockedBefore, row.New = new(int64), true
			}
			blocked = blocked || k.Blocked > 0
			rows = append(rows, row)
		}
		b.facts.top[label] = rows
		l := List{Title: busy, Field: label, Rows: rows, All: b.requests(!blocked)}
		if blocked {
			l.Title = attacked
			l.Rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Blocked == 0 })
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
	b.r.Rules = lists(list("reason", "Reasons, by blocked requests", "Reasons to monitor"))
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

// linkTo returns the link to the requests that meet conditions. It is empty if one of them is: no filter can hold it.
func (b *builder) linkTo(conditions ...string) string {
	if slices.Contains(conditions, "") {
		return ""
	}
	return b.link("events", conditions...)
}

// facetLists reads the answer of facets as lists.
func (b *builder) facetLists(part Part, titles map[string]string, within ...string) (all []List, n int64) {
	type facet struct {
		By     string `json:"by"`
		Values []struct {
			Value     json.RawMessage `json:"value"`
			Requests  int64           `json:"num_of_requests"`
			Blocked   int64           `json:"num_of_blocked_requests"`
			Condition string          `json:"condition"`
		} `json:"values"`
	}
	facets, m, ok := read[facet](b, part)
	if !ok {
		return []List{}, 0
	}
	if m.NumOfRequests != nil {
		n = *m.NumOfRequests
	}
	for _, f := range facets {
		l := List{Title: cmp.Or(titles[f.By], f.By), Field: f.By, All: n}
		for _, v := range f.Values {
			row := Row{Key: valueText(v.Value), Requests: v.Requests, Blocked: v.Blocked, Condition: v.Condition}
			row.Link = b.linkTo(append(slices.Clone(within), v.Condition)...)
			l.Rows = append(l.Rows, row)
		}
		all = append(all, l)
	}
	return lists(all...), n
}

// valueText returns a value of an answer as text.
func valueText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"' {
		return s
	}
	return string(value)
}

// passed sets the lists of what got through.
func (b *builder) passed() {
	bots, _ := b.facetLists(PassedBots, map[string]string{
		"organization": "Bots that passed, by organization", "user_agent": "Bots that passed, by user agent",
		"url": "Bots that passed, by URL",
	}, flagIs("bot", true), flagIs("blocked", false))
	errors, _ := b.facetLists(OriginErrors, map[string]string{
		"host": "Errors of the origin, by host", "url": "Errors of the origin, by URL",
	}, "upstream_status>=500")
	b.r.Passed = append(bots, errors...)
}

// wrong sets the lists of blocks that are possibly wrong.
func (b *builder) wrong() {
	lists, n := b.facetLists(WrongBlocks, map[string]string{
		"reason": "Blocked humans, by reason", "url": "Blocked humans, by URL",
	}, flagIs("blocked", true), flagIs("human", true))
	b.r.Wrong, b.facts.blockedHumans = lists, n
}

// changes sets the values that are new, gone, or three times as frequent.
func (b *builder) changes() {
	type side struct {
		NumOfRequests int64   `json:"num_of_requests"`
		Share         float64 `json:"share"`
	}
	type finding struct {
		By        string          `json:"by"`
		Value     json.RawMessage `json:"value"`
		Selected  side            `json:"selected"`
		Baseline  side            `json:"baseline"`
		Condition string          `json:"condition"`
	}
	findings, m, ok := read[finding](b, Changes)
	b.r.Compared = ok && m.Diff.Selected.NumOfRequests > 0 && m.Diff.Baseline.NumOfRequests > 0
	if !b.r.Compared {
		return
	}
	for _, f := range findings {
		now, was := f.Selected.NumOfRequests, f.Baseline.NumOfRequests
		var kind string
		switch {
		case was == 0:
			kind = "new"
		case now == 0:
			kind = "gone"
		case f.Selected.Share >= 3*f.Baseline.Share:
			kind = "more"
		case f.Baseline.Share >= 3*f.Selected.Share:
			kind = "fewer"
		default:
			continue
		}
		b.r.Changes = append(b.r.Changes, Change{
			Kind: kind, Field: f.By, Key: valueText(f.Value), Requests: now, Before: was,
			Share: f.Selected.Share, ShareBefore: f.Baseline.Share, Condition: f.Condition, Link: b.linkTo(f.Condition),
		})
		if len(b.r.Changes) == listed {
			return
		}
	}
}

// examples sets the newest blocked requests.
func (b *builder) examples() {
	records, _, ok := read[map[string]json.RawMessage](b, Examples)
	if !ok {
		return
	}
	for _, fields := range records[:min(len(records), listed)] {
		value := func(name string) string { return valueText(fields[name]) }
		r := Record{
			Time: value("timestamp"), IP: value("ip"), Country: value("country"), Method: value("method"),
			Target: value("host") + value("path"), Status: value("status"), Reason: value("reason"),
			ID: value("request_id"),
		}
		r.Local = r.Time
		if t, err := time.Parse(time.RFC3339, r.Time); err == nil {
			r.Local = t.In(b.Zone).Format("Mon 15:04:05")
		}
		if r.ID != "" {
			r.Link = b.linkTo(equals("request_id", r.ID))
		}
		b.r.Examples = append(b.r.Examples, r)
	}
}

// enumeration returns words with commas, and "and" before the last.
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s and %s", strings.Join(words[:last], ", "), words[last])
}
