package asking

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif"
)

// result returns what the rule does to the requests that were found.
func (a *asker) result(
	ctx context.Context, found query.SequencesAnswer, curveFrom int64, withAttack bool,
) (answer.WhatIfResult, error) {
	trial := whatif.NewTrial(a.rule, a.sinceNs(), a.fromNs(), curveFrom, withAttack)
	trial.Same = found.Texts.Same()
	var list []whatif.Seen
	for key, s := range found.Sequences {
		most := max(1, len(s.Requests))
		if a.rule.Limit == nil { // a filter needs no more than one request at a time
			most = min(most, 1<<10)
		}
		for some := range slices.Chunk(s.Requests, most) {
			list = appendSeen(slices.Grow(list[:0], len(some)), int32(key), some)
			trial.Add(list)
		}
	}
	o := trial.Outcome()
	r := a.ofRule(a.rule, o, &found.Texts, curveFrom)
	r.Affected = make([]answer.WhatIfClient, len(o.Affected))
	var evidence []inquiry.Question
	for i, c := range o.Affected {
		var own string
		if r.Affected[i], own = a.client(c, a.keyOf(found, c), a.conditions, o.Humans != nil); own != "" {
			evidence = append(evidence, a.evidence(&r.Affected[i], own, a.rule.AnyOf))
		}
	}
	return r, a.all(ctx, evidence...)
}

// fromNs returns the begin of the period.
func (a *asker) fromNs() int64 { return a.period.FromMs * 1_000_000 }

// sinceNs returns the begin of what is known.
func (a *asker) sinceNs() int64 {
	sinceNs := a.since() * 1_000_000
	if a.meta.Oldest != nil { // there is nothing before the first record
		sinceNs = max(sinceNs, inquiry.TimeOf(*a.meta.Oldest).UnixNano())
	}
	return sinceNs
}

// ofRule returns the outcome of a rule without its clients.
func (a *asker) ofRule(rule whatif.Rule, o whatif.Outcome, texts *query.Texts, curveFrom int64) answer.WhatIfResult {
	r := a.ofOutcome(o, texts)
	r.Rule, r.Action, r.Sentence = rule.String(), rule.Action, o.Sentence(rule, a.zone)
	r.Unknown, r.Attack = o.Unknown(rule, curveFrom, a.attack != ""), a.attackOf(rule, o)
	if rule.Name != "" {
		r.Name = &rule.Name
	}
	if rule.Limit != nil {
		r.Threshold, r.NumOfKeys, r.NumOfPhaseUnknown = &rule.Limit.Threshold, &o.Keys, &o.PhaseUnknown
	}
	if r.Forms = formsOf(rule); rule.Limit != nil && len(r.Forms) == 1 {
		r.JSON = &r.Forms[0].JSON
	}
	return r
}

// ofOutcome returns the figures of an outcome.
func (a *asker) ofOutcome(o whatif.Outcome, texts *query.Texts) answer.WhatIfResult {
	times := newTimes(a.query)
	r := answer.WhatIfResult{
		NumOfRequests: o.Acted, NumOfBlockedRequests: o.Stopped, NumOfEarlierRequests: o.Before, NumOfNewRequests: o.Newly,
		NumOfIP: o.Clients, NumOfSessions: o.Sessions, NumOfHumans: o.Humans, NumOfHumanIP: o.HumanClients,
		SegmentSeconds: times.seconds, Segments: times.segments(o), Facets: facetsOf(o, texts),
		Affected: []answer.WhatIfClient{}, Curve: curveOf(o), Forms: []answer.WhatIfForm{},
	}
	if o.Newly > 0 {
		r.First, r.Last = new(instant(o.FirstNs)), new(instant(o.LastNs))
	}
	return r
}

// keyOf returns the key of a client of the rule.
func (a *asker) keyOf(found query.SequencesAnswer, c whatif.Client) (key []answer.WhatIfPart) {
	if a.rule.Limit == nil {
		return addressOf(found, c)
	}
	for i, field := range a.rule.Limit.Key {
		key = append(key, answer.WhatIfPart{Field: field, Value: found.Sequences[c.Key].Key[i]})
	}
	return key
}

// addressOf returns the key of a client that is an address.
func addressOf(found query.SequencesAnswer, c whatif.Client) []answer.WhatIfPart {
	return []answer.WhatIfPart{{Field: "ip", Value: found.Values[c.Key]}}
}

// appendSeen appends the requests of a key as a trial needs them.
func appendSeen(list []whatif.Seen, key int32, requests []query.SequenceRequest) []whatif.Seen {
	for i := range requests {
		r := &requests[i]
		one := seenOf(r)
		one.Key, one.Value = key, r.With[ofWith]
		list = append(list, one)
	}
	return list
}

// seenOf returns a request without its key and the value that is counted.
func seenOf(r *query.SequenceRequest) whatif.Seen {
	return whatif.Seen{
		Request: whatif.Request{TsNs: r.TsNs, Value: -1},
		Client:  r.With[ofClient], Session: r.Also[ofSession], Facets: [3]int32{r.Also[ofHost], r.Also[ofPath], r.Also[ofCountry]},
		Stopped: r.Selected&isStopped != 0, Earlier: r.Selected&isEarlier != 0,
		Human: r.Selected&isHuman != 0, NoHuman: r.Selected&isNoHuman != 0, Attack: r.Selected&isAttack != 0,
	}
}

func instant(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// times counts requests in segments.
type times struct {
	seconds int64
	of      query.Segmentation
}

func newTimes(q query.Query) times {
	shape := q.Shape.(query.Timeline) // inquiry.Bind has bound it
	return times{shape.SegmentSeconds, q.Segmentation(q.Period)}
}

func (t times) segments(o whatif.Outcome) []answer.WhatIfSegment {
	counts := map[int64]*answer.WhatIfSegment{}
	each := func(list []int64, add func(*answer.WhatIfSegment)) {
		var at *answer.WhatIfSegment
		var fromMs, endMs int64 // of the segment at
		for _, ns := range list {
			if ms := time.Unix(0, ns).UnixMilli(); at == nil || ms < fromMs || endMs <= ms {
				start := t.of.Start(ms)
				fromMs, endMs = start*1000, t.of.EndMs(start)
				if at = counts[start]; at == nil {
					at = &answer.WhatIfSegment{TimePeriod: start}
					counts[start] = at
				}
			}
			add(at)
		}
	}
	each(o.NewlyNs, func(s *answer.WhatIfSegment) {
		s.NumOfRequests++
		s.NumOfNewRequests++
	})
	each(o.StoppedNs, func(s *answer.WhatIfSegment) { s.NumOfRequests++ })
	each(o.BeforeNs, func(s *answer.WhatIfSegment) { s.NumOfRequests++ })
	list := make([]answer.WhatIfSegment, 0, len(counts))
	for _, s := range counts {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b answer.WhatIfSegment) int { return cmp.Compare(a.TimePeriod, b.TimePeriod) })
	return list
}

// facetValues is the maximum number of values of a facet.
const facetValues = 10

// facetsOf returns what the newly stopped requests have in common.
func facetsOf(o whatif.Outcome, texts *query.Texts) []answer.WhatIfFacet {
	list := []answer.WhatIfFacet{}
	for i, field := range []string{"host", "path", "country"} {
		counts := o.Facets[i]
		order := func(a, b int32) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), bytes.Compare(texts.At(a), texts.At(b)))
		}
		var most []int32 // the numbers of the most frequent values
		for number, n := range counts {
			if last := len(most) - 1; n == 0 || last+1 == facetValues && order(int32(number), most[last]) > 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(most, int32(number), order)
			most = slices.Insert(most, at, int32(number))
			most = most[:min(len(most), facetValues)]
		}
		f := answer.WhatIfFacet{Field: field, Values: []answer.WhatIfValue{}}
		for _, number := range most {
			f.Values = append(f.Values, answer.WhatIfValue{Value: string(texts.At(number)), NumOfNewRequests: counts[number]})
		}
		list = append(list, f)
	}
	return list
}

func curveOf(o whatif.Outcome) []answer.WhatIfPoint {
	list := []answer.WhatIfPoint{}
	for _, p := range o.Curve {
		point := answer.WhatIfPoint{Threshold: p.Threshold, NumOfRequests: p.Acted, NumOfNewRequests: p.Newly, NumOfIP: p.Clients}
		if o.Humans != nil {
			point.NumOfHumans, point.NumOfHumanIP = &p.Humans, &p.HumanClients
		}
		if o.Attack != nil {
			point.NumOfAttack, point.NumOfOtherIP = &p.Attack, &p.Others
		}
		list = append(list, point)
	}
	return list
}

// attackOf returns what the limit does to the attack, or nil if that is not known.
func (a *asker) attackOf(rule whatif.Rule, o whatif.Outcome) *answer.WhatIfAttack {
	is := o.Attack
	if is == nil {
		return nil
	}
	r := answer.WhatIfAttack{
		Filter: a.attack, Sentence: is.Sentence(rule), NumOfRequests: is.Requests, NumOfActed: is.Acted,
		Others: "addresses", NumOfOtherIP: is.Others, NumOfStoppedIP: is.Stopped,
	}
	if is.People {
		r.Others = "people"
	}
	if knee := is.Knee; knee != nil {
		best := rule.WithThreshold(knee.Threshold)
		r.Knee = &answer.WhatIfKnee{
			Threshold: knee.Threshold, Sentence: is.KneeSentence(rule), NumOfAttack: knee.Attack, NumOfStoppedOther: knee.Others,
			Rule: best.String(), Forms: formsOf(best),
		}
	}
	return &r
}

func formsOf(r whatif.Rule) []answer.WhatIfForm {
	list := []answer.WhatIfForm{}
	for _, f := range r.Forms() {
		list = append(list, answer.WhatIfForm(f))
	}
	return list
}

// client describes a client with a key. The conditions select the requests to which the rule applies. own also selects the
// client, without the period; it is "" if no filter can have the key.
func (a *asker) client(
	c whatif.Client, key []answer.WhatIfPart, conditions string, humans bool,
) (of answer.WhatIfClient, own string) {
	of = answer.WhatIfClient{Key: key, NumOfNewRequests: c.Newly, First: instant(c.FirstNs), Last: instant(c.LastNs)}
	if humans {
		of.NumOfHumans = &c.Humans
	}
	own, whole := conditions, true
	for _, part := range key {
		condition := equal(part)
		own, whole = filter.Joined(own, condition), whole && condition != ""
	}
	of.Filter = filter.Joined(filter.During(a.period.FromMs, a.period.ToMs), own)
	if !whole {
		return of, ""
	}
	return of, own
}

// equal returns the condition of the requests with a part of a key, or "" if no filter can have the value.
func equal(part answer.WhatIfPart) string {
	dimensions, err := query.ParseDimensions(part.Field)
	if err != nil {
		return ""
	}
	with, _, _ := dimensions[0].Condition(part.Value)
	return with
}

// evidence returns the question for a request of a client, whose conditions are given.
func (a *asker) evidence(of *answer.WhatIfClient, own string, anyOf [][]string) inquiry.Question {
	ms := inquiry.TimeOf(of.First).UnixMilli()
	return inquiry.Question{
		Route: string(search.Logs),
		Params: map[string]string{
			"filters": filter.Joined(filter.During(ms, ms), own), "limit": "1", "fields": "record_ref",
			"any_of": search.AnyOfText(anyOf),
		},
		Into: func(results json.RawMessage) error {
			var records []struct {
				Ref string `json:"record_ref"`
			}
			err := json.Unmarshal(results, &records)
			if len(records) > 0 {
				of.RecordRef = &records[0].Ref
			}
			return err
		},
	}
}
