// Package asking asks the questions of an effect, and finds the effect in the answers.
package asking

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/effect"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Effect is the effect of a change, and what its answer rests on.
type Effect struct {
	Results []answer.EffectResult
	Meta    answer.Meta
}

// asker asks the questions of one request.
type asker struct {
	request
	from   inquiry.Source
	atOnce int
	meta   inquiry.Meta
}

// Run returns what a change did. The error is a *query.FilterError, a *search.ParamError, the error of the context, or the
// error of a question.
func Run(ctx context.Context, from inquiry.Source, r Request) (Effect, error) {
	of, err := read(r)
	if err != nil {
		return Effect{}, err
	}
	a := &asker{request: of, from: inquiry.Placing(from, r.Syntax, r.Filters), atOnce: r.AtOnce}
	// The first question learns where the data ends.
	before, after := side{period: a.before()}, side{period: a.after()}
	if err := a.all(ctx, a.everyone(&after)); err != nil {
		return Effect{}, err
	}
	shortened, err := a.shorten()
	if err != nil {
		return Effect{}, err
	}
	var list []inquiry.Question
	if shortened {
		before, after = side{period: a.before()}, side{period: a.after()}
		list = append(list, a.everyone(&after))
	}
	list = append(append(append(list, a.everyone(&before)), a.blocked(&before)...), a.blocked(&after)...)
	if err := a.all(ctx, list...); err != nil {
		return Effect{}, err
	}
	return a.effect(before, after, shortened)
}

// DryRun returns the meta of an effect with an estimate of its questions. It returns the errors of Run.
func DryRun(ctx context.Context, from inquiry.Source, r Request) (answer.Meta, error) {
	of, err := read(r)
	if err != nil {
		return answer.Meta{}, err
	}
	a := &asker{request: of, from: inquiry.Placing(from, r.Syntax, r.Filters), atOnce: r.AtOnce}
	var list []inquiry.Question
	for _, p := range []query.Period{a.before(), a.after()} {
		none := side{period: p}
		list = append(append(list, a.everyone(&none)), a.blocked(&none)...)
	}
	if err := a.meta.Estimate(ctx, a.from, a.atOnce, list...); err != nil {
		return answer.Meta{}, fmt.Errorf("estimate the questions of an effect: %w", err)
	}
	q, err := a.query()
	if err != nil {
		return answer.Meta{}, err
	}
	m := a.meta.About(q, r.Zone)
	return m.Estimated(r.AtOnce), nil
}

// all asks questions at the same time.
func (a *asker) all(ctx context.Context, list ...inquiry.Question) error {
	if err := a.meta.Ask(ctx, a.from, a.atOnce, list...); err != nil {
		return fmt.Errorf("ask the questions of an effect: %w", err)
	}
	return nil
}

// side has the answers about one period.
type side struct {
	period    query.Period
	everyone  []answer.StatsResult // all requests, by human
	reasons   []answer.StatsResult // blocked requests, by reason
	humans    []answer.StatsResult // blocked requests of humans, by reason
	notHumans []answer.StatsResult // blocked requests of other clients, by reason
}

// grouped returns a question for the requests of a period by a field.
func (a *asker) grouped(p query.Period, by string, into *[]answer.StatsResult, conditions ...string) inquiry.Question {
	filters := filter.Joined(append([]string{filter.During(p.FromMs, p.ToMs), a.conditions}, conditions...)...)
	return inquiry.Question{
		Route: string(search.Stats), Params: map[string]string{"filters": filters, "group_by": by, "segment": a.segment()},
		Into: func(results json.RawMessage) error { return json.Unmarshal(results, into) },
	}
}

// everyone returns the question for all requests of a period.
func (a *asker) everyone(of *side) inquiry.Question {
	return a.grouped(of.period, "human", &of.everyone)
}

// blocked returns the questions for the blocked requests of a period. Not all of them say whether their client is human.
func (a *asker) blocked(of *side) []inquiry.Question {
	return []inquiry.Question{
		a.grouped(of.period, "reason", &of.reasons, effect.IsBlocked),
		a.grouped(of.period, "reason", &of.humans, effect.IsBlocked, "human is true"),
		a.grouped(of.period, "reason", &of.notHumans, effect.IsBlocked, "human is false"),
	}
}

// effect returns what the answers say.
func (a *asker) effect(before, after side, shortened bool) (Effect, error) {
	q, err := a.query()
	if err != nil {
		return Effect{}, err
	}
	c := effect.Comparison{
		Sides:      effect.Sides[effect.Side]{Before: before.counts(), After: after.counts()},
		Conditions: a.conditions,
		Wording:    effect.Wording{At: time.UnixMilli(a.at).In(a.zone), Length: time.Duration(a.lengthMs) * time.Millisecond, Days: a.days},
		Reasons:    reasonsOf(before, after),
	}
	m := a.meta.About(q, a.zoneName).Joined(a.atOnce)
	m.Effect = &answer.EffectMeta{
		At: time.UnixMilli(a.at).UTC().Format(time.RFC3339Nano), LengthSeconds: a.lengthMs / 1000, Shortened: shortened,
		Before: metaOf(c, c.Before, before.period), After: metaOf(c, c.After, after.period),
	}
	return Effect{c.Results(), m}, nil
}

func metaOf(c effect.Comparison, s effect.Side, p query.Period) answer.EffectSideMeta {
	return answer.EffectSideMeta{
		Period: search.PeriodOf(p), NumOfRequests: s.Requests, NumOfHumans: s.Humans, Filter: c.FilterOf(s),
	}
}

// counts returns the numbers of a period.
func (s side) counts() effect.Side {
	anyone := func(answer.StatsResult) bool { return true }
	every := s.sum(s.everyone, anyone)
	of := effect.Side{
		During: filter.During(s.period.FromMs, s.period.ToMs), Requests: every.Requests, Parts: every.Parts,
		Blocked: s.blocked(anyone),
	}
	if known := s.sum(s.everyone, func(r answer.StatsResult) bool { return r.Value != nil }); known.Requests > 0 {
		of.Humans = new(s.sum(s.everyone, func(r answer.StatsResult) bool { return r.Value == true }).Requests)
	}
	return of
}

// blocked returns the numbers of blocked requests with some reasons.
func (s side) blocked(is func(answer.StatsResult) bool) effect.Blocked {
	b, humans := s.sum(s.reasons, is), s.sum(s.humans, is).Requests
	if humans > 0 || s.sum(s.notHumans, is).Requests > 0 {
		b.Humans = &humans
	}
	return b
}

// sum adds up some requests, with their numbers in each segment of the period.
func (s side) sum(list []answer.StatsResult, is func(answer.StatsResult) bool) (n effect.Blocked) {
	var segments []int64
	for _, r := range s.everyone {
		if len(segments) == 0 || segments[len(segments)-1] != r.TimePeriod {
			segments = append(segments, r.TimePeriod)
		}
	}
	n.Parts = make([]int64, len(segments))
	for _, r := range list {
		if !is(r) {
			continue
		}
		n.Requests += r.NumOfRequests
		if at, found := slices.BinarySearch(segments, r.TimePeriod); found {
			n.Parts[at] += r.NumOfRequests
		}
	}
	return n
}

// key is a reason, or none.
type key struct {
	text  string
	named bool
}

// keyOf returns the reason of a result. A reason that is too long for an answer is none of its own, because no filter could
// select it.
func keyOf(r answer.StatsResult) (key, bool) {
	text, named := r.Value.(string)
	return key{text, named}, !r.ValueTruncated
}

// reasonsOf returns the reasons of both periods.
func reasonsOf(before, after side) []effect.Reason {
	var list []effect.Reason
	seen := map[key]bool{}
	for _, r := range slices.Concat(before.reasons, after.reasons) {
		k, ok := keyOf(r)
		if !ok || seen[k] || r.NumOfRequests == 0 { // a segment without requests has a result, too
			continue
		}
		seen[k] = true
		is := func(r answer.StatsResult) bool { other, ok := keyOf(r); return ok && other == k }
		list = append(list, effect.Reason{
			Text: k.text, Named: k.named, Sides: effect.Sides[effect.Blocked]{Before: before.blocked(is), After: after.blocked(is)},
		})
	}
	return list
}
