package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/why"
)

// Answer is the answer to a question of a report.
type Answer struct {
	Body   []byte // of the data route, in JSON
	Reason string // why there is none; "" if there is one
}

// New returns the report of a setting, given the answers to its questions. If an answer is missing or cannot be read,
// its part has failed.
func New(s Setting, answers map[Part]Answer) Report {
	b := builder{Setting: s, answers: answers}
	b.r = Report{
		Title: b.title(), Template: s.Template, Filter: s.Filter(s.Period),
		Zone: s.Zone.String(), Period: spanOf(s.Period, s.Zone), Link: s.link(""),
		zone: s.Zone, server: strings.TrimRight(s.Server, "/"), sameWeekday: s.SameWeekday,
		Gaps: []Span{}, GapsBefore: []Span{},
		Attackers: []List{}, Targets: []List{}, Rules: []List{}, Passed: []List{}, Changes: []Change{},
		Wrong: []List{}, Examples: []Record{}, Failed: []Failed{},
	}
	if s.Previous != nil {
		span := spanOf(*s.Previous, s.Zone)
		b.r.Previous = &span
	}
	b.load()
	b.fields()
	b.figures()
	b.chart()
	b.incidents()
	b.marks()
	b.tops()
	b.rules()
	b.passed()
	b.wrong()
	b.changes()
	b.examples()
	if s.Late != "" {
		b.r.Failed = append(b.r.Failed, Failed{LateLogs, s.Late})
	}
	b.verdict()
	return b.r
}

// builder builds a report section by section.
type builder struct {
	Setting

	answers map[Part]Answer
	metas   map[Part]answer.Meta // of the parts that have an answer
	r       Report
	facts   facts

	monitors []facet         // the reasons to monitor
	absent   map[string]bool // fields of figures that no request of the period has
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
	return Span{instant(p.FromMs), instant(p.ToMs), periodText(p, zone)}
}

// load reads what the answers rest on. A question without an answer is a part that failed.
func (b *builder) load() {
	b.metas = map[Part]answer.Meta{}
	for _, q := range b.Questions() {
		a, answered := b.answers[q.Part]
		if !answered {
			a.Reason = "the question was not answered"
		}
		var body struct{ Meta answer.Meta }
		if a.Reason == "" {
			a.Reason = unmarshal(a.Body, &body)
		}
		if a.Reason != "" {
			b.r.Failed = append(b.r.Failed, Failed{q.Part, a.Reason})
			continue
		}
		b.metas[q.Part] = body.Meta
		b.account(body.Meta)
	}
}

// unmarshal reads an answer. It returns why it cannot be read, or "".
func unmarshal(body []byte, to any) string {
	if err := json.Unmarshal(body, to); err != nil {
		return "the answer does not have the API's format: " + err.Error()
	}
	return ""
}

// read returns the results of an answer. ok is false if there is none.
func read[T any](b *builder, part Part) (results []T, m answer.Meta, ok bool) {
	m, ok = b.metas[part]
	if !ok {
		return nil, m, false
	}
	var body struct {
		Data struct {
			Results []T `json:"results"`
		} `json:"data"`
	}
	if reason := unmarshal(b.answers[part].Body, &body); reason != "" {
		if failed := (Failed{part, reason}); !slices.Contains(b.r.Failed, failed) {
			b.r.Failed = append(b.r.Failed, failed)
		}
		return nil, answer.Meta{}, false
	}
	return body.Data.Results, m, true
}

// number returns the number of requests that meet the conditions of a question, or nil if it is unknown.
func (b *builder) number(part Part) *int64 { return b.metas[part].NumOfRequests }

// account adds the meta of an answer to what the report rests on. The data is as complete as in the oldest answer.
func (b *builder) account(m answer.Meta) {
	run := &b.r.Run
	run.Questions++
	run.Demo = run.Demo || m.Demo
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
type segment = answer.TimelineResult

// sum is the sum of a number of each element. For numbers with more than 64 bits, the answers have the nearest integer
// of 64 bits, so their sum may have more bits again.
func sum[T any](list []T, number func(*T) int64) *float64 {
	var total int64
	var approximate float64
	for i := range list {
		n := number(&list[i])
		total, approximate = total+n, approximate+float64(n)
	}
	f := float64(total)
	if math.Abs(approximate) >= math.MaxInt64 {
		f = approximate
	}
	return &f
}

// figures sets the figures, of both periods.
func (b *builder) figures() {
	timeline, m, known := read[segment](b, Timeline)
	timelineBefore, metaBefore, knownBefore := read[segment](b, TimelineBefore)
	b.r.Fingerprint = m.Fingerprint
	add := func(id, label, unit string, value, previous *float64) {
		b.r.Figures = append(b.r.Figures, Figure{ID: id, Label: label, Unit: unit, Value: value, Previous: previous})
	}
	saturated := func(member string, parts ...Part) {
		figure := &b.r.Figures[len(b.r.Figures)-1]
		for _, part := range parts {
			figure.Saturated = figure.Saturated || slices.Contains(b.metas[part].Saturated, member)
		}
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
	unless := func(lacks bool) {
		figure := &b.r.Figures[len(b.r.Figures)-1]
		if !lacks || figure.Value != nil && *figure.Value != 0 {
			return
		}
		figure.Value = nil
		if figure.Previous == nil || *figure.Previous == 0 { // else the log had it before
			figure.Previous, figure.Absent = nil, true
		}
	}
	const requests = "requests"
	fromTimeline(requests, "Requests", requests, func(s *segment) int64 { return s.NumOfRequests })
	fromTimeline("blocked", "Blocked", requests, func(s *segment) int64 { return s.NumOfBlockedRequests })
	unless(b.absent["result"])
	fromTimeline("challenges", "Challenged", requests, func(s *segment) int64 { return s.NumOfChallenges })
	unless(b.absent["result"])
	add("monitored", "Monitored", requests, b.monitored(Monitored), b.monitored(MonitoredBefore))
	unless(b.absent["result"])
	fromTimeline("human", "By humans", requests, func(s *segment) int64 { return s.NumOfHumanRequests })
	unless(b.absent["human"])
	fromTimeline("origin_blocked", "Refused by origin", requests, func(s *segment) int64 { return s.NumOfOriginBlockedRequests })
	unless(b.absent["upstream_status"])
	average, p99 := b.times(Times)
	averageBefore, p99Before := b.times(TimesBefore)
	add("average_time", "Average time", "seconds", average, averageBefore)
	_, answered := b.metas[Times]
	unless(answered && average == nil && known && !b.r.Empty())
	saturated("avg_latency", Times, TimesBefore)
	add(p99Time, "99 % within", "seconds", p99, p99Before)
	fromTimeline("bytes_sent", "Sent", "bytes", func(s *segment) int64 { return s.SumOfSentBytes })
	saturated("sum_of_sent_bytes", Timeline, TimelineBefore)
	b.facts.passed, b.facts.passedBefore = b.number(Passed), b.number(PassedBefore)
	b.facts.errors = plus(b.number(OriginErrors), b.number(OtherErrors))
	b.facts.errorsBefore = plus(b.number(OriginErrorsBefore), b.number(OtherErrorsBefore))
	if known {
		b.r.Gaps = gaps(timeline, timelineBefore, b.Period, b.r.Run.Complete, b.Zone)
	}
	if knownBefore {
		b.r.GapsBefore = gaps(timelineBefore, timeline, *b.Previous, nil, b.Zone)
	}
	if b.Previous != nil && metaBefore.Oldest != nil {
		if oldest, err := time.Parse(time.RFC3339, *metaBefore.Oldest); err == nil && b.Previous.BeginsBefore(oldest) {
			b.r.begins = *metaBefore.Oldest
		}
	}
	whole := len(b.r.GapsBefore) == 0 && b.r.begins == ""
	b.facts.comparable = knownBefore && *b.r.Figures[0].Previous > 0 && whole
	for i := range b.r.Figures {
		b.r.Figures[i].Incomparable = !whole
		if !b.r.covered() {
			b.r.Figures[i].Previous = nil
		}
	}
	b.bars(timeline, timelineBefore, known, knownBefore)
}

// fields reads the answer about reasons to monitor, and which fields of figures no request of the period has. What these
// would count is unknown, not zero.
func (b *builder) fields() {
	b.absent = map[string]bool{}
	facets, _, _ := read[facet](b, MonitorReasons)
	for _, f := range facets {
		if !slices.Contains(fieldsOfFigures, f.By) {
			b.monitors = append(b.monitors, f)
			continue
		}
		b.absent[f.By] = f.NumOfRequests == 0 && f.NumOfAbsent > 0
	}
}

// plus returns the sum of two numbers, or nil if one of them is unknown.
func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

func (b *builder) monitored(part Part) *float64 {
	bars, _, ok := read[answer.HistogramResult](b, part)
	if !ok {
		return nil
	}
	return sum(bars, func(r *answer.HistogramResult) int64 { return r.Value })
}

// p99Time is the figure with the time that 99 % of the requests do not exceed.
const p99Time = "p99_time"

// times returns the average time of all requests that have one, and the time that 99 % of them do not exceed. Both are
// nil if no request has one. p99 is also nil if several segments have one: then the period is longer than the longest
// segment, and p99 is unknown.
func (b *builder) times(part Part) (average, p99 *float64) {
	list, _, ok := read[answer.StatsResult](b, part)
	if !ok {
		return nil, nil
	}
	var total float64
	var n int64
	var p99s []*float64
	for _, s := range list {
		n += s.NumOfRequests
		if s.AvgLatency != nil {
			total += *s.AvgLatency * float64(s.NumOfRequests)
		}
		if s.Percentiles != nil && s.P99TotalTime != nil {
			p99s = append(p99s, s.P99TotalTime)
		}
	}
	if n == 0 {
		return nil, nil
	}
	if len(p99s) == 1 {
		p99 = p99s[0]
	}
	total /= float64(n)
	return &total, p99
}

// changes sets the values that are new, gone, or three times as frequent.
func (b *builder) changes() {
	type finding struct {
		answer.DiffResult
		Value json.RawMessage `json:"value"`
	}
	findings, m, ok := read[finding](b, Changes)
	b.r.Compared = ok && b.facts.comparable && m.Diff != nil && m.Diff.Selected.NumOfRequests > 0 && m.Diff.Baseline.NumOfRequests > 0
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
		link := b.linkTo(f.Condition)
		if kind == "gone" && f.Condition != "" {
			before := b.Setting
			before.Period = *b.Previous
			link = before.link("events", f.Condition)
		}
		b.r.Changes = append(b.r.Changes, Change{
			Kind: kind, Field: f.By, Key: valueText(f.Value), Requests: now, Before: was,
			Share: f.Selected.Share, ShareBefore: f.Baseline.Share, Condition: f.Condition, Link: link,
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
			Cause: why.CauseOf(value("reason")), ID: value("request_id"),
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

// linkTo returns the link to the requests that meet conditions. It is empty if one of them is: no filter can hold it.
func (b *builder) linkTo(conditions ...string) string {
	if slices.Contains(conditions, "") {
		return ""
	}
	return b.link("events", conditions...)
}

// valueText returns a value of an answer as text.
func valueText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"' {
		return s
	}
	return string(value)
}

// enumeration returns words with commas, and "and" before the last.
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s and %s", strings.Join(words[:last], ", "), words[last])
}
