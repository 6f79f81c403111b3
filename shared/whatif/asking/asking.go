// Package asking asks the questions of what a rule would have done, and replays the rule on the answers.
package asking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/whatif"
)

// Request is a request for what a rule would have done.
type Request struct {
	Filters string        // the requests on which the rule is tried, in either form, with a period
	Syntax  filter.Syntax // 0: determined by the first character
	Rule    string        // see whatif.Parse; "": Rules
	Rules   []string      // likewise, those that are tried together; at most whatif.MaxRules
	Attack  string        // conditions of the requests that a limit is to stop, in either form; "": none are named
	Zone    string        // IANA name, of times in words, of today and of yesterday; "" for UTC
	Now     time.Time     // of relative times; zero: there are none
	AtOnce  int           // questions that are asked at the same time; 0: all
}

// MaxDays is the maximum length of the period. A longer one would have more requests than are replayed.
const MaxDays = 31

// lookBack is how long before the period the pauses of keys are sought.
const lookBack = 24 * time.Hour

// Source answers the questions of a rule.
type Source interface {
	inquiry.Source
	// Sequences returns the answer to a question of the route of sequences, and what it rests on.
	Sequences(ctx context.Context, params map[string]string) (query.SequencesAnswer, inquiry.Answer, error)
}

// Tried is what a rule would have done, and what its answer rests on.
type Tried struct {
	Results []answer.WhatIfResult // one; of several rules, that of all together, then that of each in the order of stages
	Meta    answer.Meta
}

// asker asks the questions of one request.
type asker struct {
	from       Source
	atOnce     int
	asked      Request
	rules      []whatif.Rule // in the order of the request
	rule       whatif.Rule   // the first
	several    *together     // nil: one rule is tried
	period     query.Period
	selected   string // conditions of the period's requests, canonical
	conditions string // also of the rule, canonical
	attack     string // conditions, canonical; "": no attack is named
	query      query.Query
	zone       *time.Location
	zoneName   string
	meta       inquiry.Meta
}

// Run returns what a rule would have done. The error is a *query.FilterError, a *search.ParamError, the error of the
// context, or the error of a question.
func Run(ctx context.Context, from Source, r Request) (Tried, error) {
	a, err := newAsker(from, r)
	if err != nil {
		return Tried{}, err
	}
	if a.several != nil {
		return a.runTogether(ctx)
	}
	over, curveFrom, withAttack := a.over(), int64(0), a.attack != ""
	if l := a.rule.Limit; l != nil && l.HasCurve() {
		curveFrom, over = 1, 1
	}
	if withAttack { // others have few requests
		over = 0
	}
	found, err := a.sequences(ctx, over)
	if fault.KindOf(err) == fault.EngineLimit && over < a.over() {
		withAttack = false
		curveFrom = min(curveFrom, 1) * a.over()
		found, err = a.sequences(ctx, a.over())
	}
	if err != nil {
		return Tried{}, err
	}
	result, err := a.result(ctx, found, curveFrom, withAttack)
	if err != nil {
		return Tried{}, err
	}
	return a.tried(result), nil
}

func (a *asker) tried(results ...answer.WhatIfResult) Tried {
	return Tried{results, a.meta.About(a.query, a.zoneName).Joined(a.atOnce)}
}

// DryRun returns the meta with an estimate of the question that reads the most. It returns the errors of Run.
func DryRun(ctx context.Context, from Source, r Request) (answer.Meta, error) {
	a, err := newAsker(from, r)
	if err != nil {
		return answer.Meta{}, err
	}
	if err := a.meta.Estimate(ctx, a.from, a.atOnce, a.question(a.over())); err != nil {
		return answer.Meta{}, a.placed(fmt.Errorf("estimate the question of a rule: %w", err))
	}
	m := a.meta.About(a.query, a.zoneName)
	return m.Estimated(a.atOnce), nil
}

func newAsker(from Source, r Request) (*asker, error) {
	clock, err := search.ClockOf(r.Now, r.Zone)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(r, clock)
	if err != nil {
		return nil, err
	}
	q, conditions, err := inquiry.Bind(r.Syntax.Parse(r.Filters), query.WithClock(clock))
	if err != nil {
		return nil, err
	}
	if q.Period.ToMs-q.Period.FromMs > (MaxDays*24*time.Hour + time.Hour).Milliseconds() { // a month with an hour more
		return nil, &search.ParamError{
			Param: "filters", Message: fmt.Sprintf("a rule is tried on a period of at most %d days", MaxDays),
		}
	}
	a := &asker{
		from: from, atOnce: r.AtOnce, asked: r, rules: rules, rule: rules[0],
		period: q.Period, selected: conditions,
		conditions: filter.Joined(conditions, rules[0].Where), query: q, zone: clock.Zone, zoneName: r.Zone,
	}
	if a.zone == nil {
		a.zone = time.UTC
	}
	if err := a.bindAttack(r, clock, rules); err != nil {
		return nil, err
	}
	if len(rules) > 1 {
		a.several, err = a.newTogether(rules)
	}
	return a, err
}

// rulesOf reads the rules of a request. Their conditions are canonical, and can be bound.
func rulesOf(r Request, clock query.Clock) ([]whatif.Rule, error) {
	switch n := len(r.Rules); {
	case n > 0 && r.Rule != "":
		return nil, &search.ParamError{
			Param: "rule", Message: "the request also has rules; name one rule in rule, or several in rules",
		}
	case n == 0 && r.Rule == "":
		return nil, &search.ParamError{Param: "rule", Message: "there is no rule; name one in rule, or several in rules"}
	case n > whatif.MaxRules:
		return nil, &search.ParamError{
			Param: "rules", Message: fmt.Sprintf("%d rules are more than the %d that are tried together", n, whatif.MaxRules),
		}
	case n == 0:
		rule, err := ruleOf(r.Rule, clock)
		return []whatif.Rule{rule}, aboutRule("rule", err)
	}
	var rules []whatif.Rule
	for i, text := range r.Rules {
		rule, err := ruleOf(text, clock)
		if err != nil {
			return nil, aboutRule(r.place(i), err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// place returns the place of a rule in the request.
func (r Request) place(rule int) string {
	if len(r.Rules) == 0 {
		return "rule"
	}
	return fmt.Sprintf("rules[%d]", rule)
}

func ruleOf(text string, clock query.Clock) (rule whatif.Rule, err error) {
	if rule, err = whatif.Parse(text); err != nil {
		return rule, err
	}
	if rule.Where, err = whereOf(rule.Where, clock); err != nil {
		return rule, err
	}
	if _, err := search.BindAnyOf(search.AnyOfText(rule.AnyOf)); err != nil {
		return rule, err
	}
	_, err = (&asker{rule: rule}).of(0).Bind()
	return rule, err
}

// bindAttack binds the conditions of an attack.
func (a *asker) bindAttack(r Request, clock query.Clock, rules []whatif.Rule) error {
	if r.Attack == "" {
		return nil
	}
	if !slices.ContainsFunc(rules, func(r whatif.Rule) bool { return r.Limit != nil }) {
		return &search.ParamError{
			Param: "attack", Message: "only a limit is compared with an attack; try a limit, or leave out attack",
		}
	}
	selection, err := query.BindSelection(r.Syntax.Parse(r.Attack), query.WithClock(clock))
	var wrong *query.FilterError
	switch {
	case errors.As(err, &wrong):
		wrong.Param = "attack"
		return wrong
	case err == nil && len(selection.Conditions) == 0:
		return &search.ParamError{Param: "attack", Message: "it has no condition", Suggestion: "human is false"}
	}
	a.attack = filter.Format(selection.Filter)
	return err
}

// aboutRule returns an error about the rule at a place of the request.
func aboutRule(place string, err error) error {
	var mistake *whatif.RuleError
	var wrong *query.FilterError
	var param *search.ParamError
	switch {
	case errors.As(err, &mistake):
		return &search.ParamError{Param: place, Message: mistake.Message, Suggestion: mistake.Suggestion}
	case errors.As(err, &wrong):
		first, _, _ := strings.Cut(wrong.Error(), "\n")
		return &search.ParamError{Param: place, Message: "conditions of the rule: " + first}
	case errors.As(err, &param):
		return &search.ParamError{Param: place, Message: param.Message}
	}
	return err
}

// whereOf returns the canonical conditions of a rule, which have no period.
func whereOf(text string, clock query.Clock) (string, error) {
	if text == "" {
		return "", nil
	}
	selection, err := query.BindSelection(filter.ParseQueryString(text), query.WithClock(clock))
	if err != nil {
		return "", err
	}
	return filter.Format(selection.Filter), nil
}

// over returns how many requests a key must exceed so that the rule can act on one of them.
func (a *asker) over() int64 {
	if a.rule.Limit == nil {
		return 0
	}
	return a.rule.Limit.Threshold
}

// The selections of the question, by their bits.
const (
	isStopped = 1 << iota
	isHuman
	isNoHuman
	isEarlier // of a limit
	isAttack  // if an attack is named
)

// selections are the conditions of the bits. A request that a global filter has blocked does not reach the limits, whose
// number among the stages is 3.
var selections = []string{"blocked is true", "human is true", "human is false", "blocked is true, processing_stage<3"}

// The further values of the question.
const (
	ofClient = iota
	ofWith   // of a limit that counts values
)

var values = []string{"ip"}

// The values of the question that only requests on which the rule acts need.
const (
	ofSession = iota
	ofHost
	ofPath
	ofCountry
)

var also = []string{"session", "host", "path", "country"}

// selections returns the conditions of the bits.
func (a *asker) selections() []string {
	if a.attack == "" {
		return selections
	}
	return append(selections[:len(selections):len(selections)], a.attack)
}

// of returns the question for the requests of keys with more than so many of them.
func (a *asker) of(over int64) search.SequencesOf {
	of := search.SequencesOf{With: values, Also: also, Of: a.selections(), Over: over}
	if a.rule.Limit == nil {
		of.Of = selections[:3] // without isEarlier; a filter is compared with no attack
	}
	if l := a.rule.Limit; l != nil {
		of.Key = l.Key
		if l.With != "" {
			of.With = append(values[:len(values):len(values)], l.With)
		}
	}
	return of
}

// since returns the begin of what is read, in milliseconds.
func (a *asker) since() int64 {
	if a.several != nil && a.several.hasWindows() || a.several == nil && hasWindows(a.rule) {
		return a.period.FromMs - lookBack.Milliseconds()
	}
	return a.period.FromMs
}

// hasWindows reports whether a rule has windows that may begin before the period.
func hasWindows(r whatif.Rule) bool { return r.Limit != nil && r.Limit.Threshold > 0 }

func (a *asker) question(over int64) inquiry.Question {
	if a.several != nil {
		return a.questionTogether()
	}
	return inquiry.Question{
		Route: string(search.Sequences),
		Params: map[string]string{
			"filters": filter.Joined(filter.During(a.since(), a.period.ToMs), a.conditions), "of": a.of(over).Text(),
			"any_of": search.AnyOfText(a.rule.AnyOf),
		},
	}
}

func (a *asker) sequences(ctx context.Context, over int64) (found query.SequencesAnswer, err error) {
	found, answer, err := a.from.Sequences(ctx, a.question(over).Params)
	switch {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case err != nil:
		return found, a.placed(fmt.Errorf("ask for the requests of a rule: %w", err))
	}
	a.meta.Add([]inquiry.Answer{answer})
	return found, nil
}

// placed returns the error of a question as an error about the text of the request that names a list of values wrongly.
func (a *asker) placed(err error) error {
	if wrong := inquiry.ListsOf(err, a.asked.Syntax.Parse(a.asked.Filters)); wrong != nil {
		return wrong
	}
	for i, rule := range a.rules {
		if wrong := inquiry.ListsOf(err, filter.ParseQueryString(rule.Where)); wrong != nil {
			return aboutRule(a.asked.place(i), wrong)
		}
	}
	if wrong := inquiry.ListsOf(err, a.asked.Syntax.Parse(a.asked.Attack)); wrong != nil {
		wrong.Param = "attack"
		return wrong
	}
	return err
}

// all asks questions at the same time.
func (a *asker) all(ctx context.Context, list ...inquiry.Question) error {
	err := a.meta.Ask(ctx, a.from, a.atOnce, list...)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("ask the questions of a rule: %w", err)
	}
	return err
}
