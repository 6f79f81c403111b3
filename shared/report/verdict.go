package report

import (
	"fmt"

	"github.com/orrery/orrery/shared/wording"
)

// State is the verdict in a word or two.
type State string

// The states.
const (
	Quiet        State = "quiet"
	QuietLook    State = "quiet, look"
	AttackedHeld State = "attacked, held"
	AttackedLook State = "attacked, look"

	// The states of a report in which data or parts are missing, besides AttackedLook.
	Attacked State = "attacked"
	Look     State = "look"
	Unknown  State = "unknown"
)

// Verdict is the first thing to read.
type Verdict struct {
	State     State      `json:"state" doc:"quiet, attacked, held (the attack was blocked), look (someone should look), or unknown; neither quiet nor held if data or parts are missing"`
	Sentences []Sentence `json:"sentences" doc:"At most three sentences, in the order of the rules; the first says whether something is missing"`
}

// Sentence is a finding of a rule.
type Sentence struct {
	Rule string `json:"rule,omitempty" doc:"Name of the rule"`
	Text string `json:"text"`
	Link string `json:"link,omitempty" doc:"Link to the requests in the console"`
}

// Rule is a rule of the verdict.
type Rule struct {
	Name   string
	Effect Effect
	Doc    string // when the rule applies
	apply  func(b *builder) (text, link string)
}

// Effect is what a rule shows if it applies.
type Effect string

// The effects.
const (
	ShowsAttack     Effect = "attacked"
	CallsForLook    Effect = "look"
	ShowsAttackLook Effect = "attacked, look"
)

// The numbers of the rules.
const (
	leastBlocked   = 100 // blocked requests that are an attack
	leastPerMille  = 1   // and their least share, of 1,000 requests
	attackShare    = 5   // percent of all requests
	concentrated   = 30  // percent of all blocked requests
	growth         = 3   // times the share of the previous period
	ruleGrowth     = 5   // times the blocked requests of the previous period
	leastErrors    = 20  // errors of the origin
	errorShare     = 1   // percent of the requests that passed
	outageShare    = 10  // percent of them, whatever the previous period has
	errorGrowth    = 2   // times the share of the previous period
	leastHumans    = 10  // blocked requests of humans
	humanShare     = 5   // percent of all blocked requests
	leastPassed    = 100 // passed requests of an address that is also blocked
	attackerShare  = 10  // percent of its requests that are blocked
	mostSentences  = 3
	sentenceLength = 60 // characters of a value in a sentence
)

// Rules is the table of rules. Only the first three sentences are printed, so what someone should look at comes first. An
// address that is blocked and passes says less than an incident.
var Rules = []Rule{
	{
		"incident to look at", ShowsAttackLook,
		"An incident did not hold: the origin failed or became slow for others. Or it held, but people were blocked.",
		(*builder).incidentToLookAt,
	},
	{
		"errors of the origin", CallsForLook,
		fmt.Sprintf("At least %d requests that passed have an error, which is at least %d %% of all that passed, and at "+
			"least %d times the share of the previous period, if that can be compared. At least %d %% are enough without "+
			"this. An error is a status of the origin of 500 or more, or, if the request has none of the origin, such a "+
			"status of the response.", leastErrors, errorShare, errorGrowth, outageShare),
		(*builder).originErrors,
	},
	{
		"blocked humans", CallsForLook,
		fmt.Sprintf("At least %d blocked requests are of humans, which is more than %d %% of all blocked requests.",
			leastHumans, humanShare),
		(*builder).humansBlocked,
	},
	{
		"incident", ShowsAttack,
		"There is an incident that held, or for which that cannot be told.",
		(*builder).otherIncident,
	},
	{
		"attacker that passes", CallsForLook,
		fmt.Sprintf("Of one of the five addresses with the most blocked requests, at least %d requests passed, and "+
			"more than were blocked. At least %d requests of the address, and at least %d %%, are blocked.", leastPassed,
			leastHumans, attackerShare),
		(*builder).attackerPasses,
	},
	{
		"many blocked", ShowsAttack,
		fmt.Sprintf("At least %d requests are blocked, which is at least %d %% of all requests; or at least 0.%d %%, "+
			"and at least %d times the share of the previous period.", leastBlocked, attackShare, leastPerMille, growth),
		unlessKnown((*builder).manyBlocked),
	},
	{
		"one attacker", ShowsAttack,
		fmt.Sprintf("At least %d requests are blocked, which is at least 0.%d %% of all requests, and more than %d %% of "+
			"them are of one address or of one organization.", leastBlocked, leastPerMille, concentrated),
		unlessKnown((*builder).oneAttacker),
	},
	{
		"one rule", ShowsAttack,
		fmt.Sprintf("A reason blocks at least %d requests, which is at least 0.%d %% of all requests, and at least %d "+
			"times as many as in the previous period.", leastBlocked, leastPerMille, ruleGrowth),
		unlessKnown((*builder).oneRule),
	},
}

// unlessKnown returns a rule that applies only where the incidents are not known.
func unlessKnown(apply func(*builder) (text, link string)) func(*builder) (text, link string) {
	return func(b *builder) (text, link string) {
		if b.r.Incidents != nil {
			return "", ""
		}
		return apply(b)
	}
}

// facts are further numbers that the rules need besides the figures. Unknown numbers are nil.
type facts struct {
	top                  map[string][]Row // by label of topx
	reasons              []Row            // of blocked requests
	blockedHumans        int64
	passed, passedBefore *int64 // requests that were neither blocked nor challenged
	errors, errorsBefore *int64 // requests that passed, with an error of the origin
	comparable           bool   // the previous period has requests, and no gaps
}

// verdict applies the rules.
func (b *builder) verdict() {
	v := &b.r.Verdict
	if b.r.Figures[0].Value == nil {
		*v = Verdict{Unknown, []Sentence{{Text: "The numbers of requests are missing, so there is no verdict."}}}
		return
	}
	incomplete := b.r.incomplete()
	if incomplete {
		v.Sentences = append(v.Sentences, Sentence{Text: "Data or parts of the report are missing, or may be; this is what is known."})
	}
	attacked, look := false, false
	for _, rule := range Rules {
		text, link := rule.apply(b)
		if text == "" {
			continue
		}
		attacked, look = attacked || rule.Effect != CallsForLook, look || rule.Effect != ShowsAttack
		if len(v.Sentences) < mostSentences {
			v.Sentences = append(v.Sentences, Sentence{rule.Name, text, link})
		}
	}
	v.State = stateOf(attacked, look, incomplete || b.heldUnknown())
	if !attacked && !look {
		v.Sentences = append(v.Sentences, b.nothing())
	}
}

// stateOf returns the state. incomplete: data is missing, which may hide an attack or something that passed, or it cannot be
// told whether an incident held.
func stateOf(attacked, look, incomplete bool) State {
	switch {
	case attacked && look:
		return AttackedLook
	case attacked && incomplete:
		return Attacked
	case attacked:
		return AttackedHeld
	case look && incomplete:
		return Look
	case look:
		return QuietLook
	case incomplete:
		return Unknown
	}
	return Quiet
}

// nothing returns the sentence of a report if no rule applies.
func (b *builder) nothing() Sentence {
	all, blocked := b.requests(true), b.requests(false)
	found := "No rule of the verdict applies"
	if b.r.Incidents != nil {
		found = "There was no incident, and no other rule of the verdict applies"
	}
	switch {
	case all == 0:
		if was := b.r.Figures[0].Previous; was != nil && *was > 0 {
			return Sentence{Text: fmt.Sprintf("There were no requests, in the previous period %s.", wording.Count(int64(*was)))}
		}
		return Sentence{Text: "There were no requests."}
	case b.r.Figures[1].Value == nil:
		return Sentence{Text: fmt.Sprintf("%s: %s.", found, wording.Plural(all, "request")), Link: b.linkTo()}
	case blocked == 0:
		text := fmt.Sprintf("%s: %s, none of them blocked.", found, wording.Plural(all, "request"))
		return Sentence{Text: text, Link: b.linkTo()}
	}
	text := fmt.Sprintf("%s: %s of %s blocked (%s).",
		found, wording.Count(blocked), wording.Plural(all, "request"), wording.Percent(blocked, all))
	return Sentence{Text: text, Link: b.linkTo(flagIs("blocked", true))}
}

// previous returns a figure of the previous period. ok is false if it is unknown, or if the periods are not comparable.
func (b *builder) previous(figure int) (n int64, ok bool) {
	f := b.r.Figures[figure].Previous
	if f == nil || !b.facts.comparable {
		return 0, false
	}
	return int64(*f), true
}

// many reports whether a number of blocked requests is an attack: whether the number and its share are large enough.
func (b *builder) many(blocked int64) bool {
	return blocked >= leastBlocked && blocked*1000 >= leastPerMille*b.requests(true)
}

// grown reports whether the share of a number is at least so many times as large as in the previous period.
func grown(n, all, was, allBefore, times int64) bool {
	return float64(n)*float64(allBefore) >= float64(times)*float64(was)*float64(all) // without division
}

func (b *builder) originErrors() (text, link string) {
	f := b.facts
	if f.errors == nil || f.passed == nil {
		return "", ""
	}
	n, all := *f.errors, *f.passed
	if n < leastErrors || n*100 < errorShare*all {
		return "", ""
	}
	what := "that passed have an error of the origin"
	if b.r.Chart.Undecided {
		what = "have an error"
	}
	text = fmt.Sprintf("%s of %s %s (%s)", wording.Count(n), wording.Plural(all, "request"), what, wording.Percent(n, all))
	if f.comparable && f.errorsBefore != nil && f.passedBefore != nil && *f.passedBefore > 0 {
		was, allBefore := *f.errorsBefore, *f.passedBefore
		if n*100 < outageShare*all && !grown(n, all, was, allBefore, errorGrowth) {
			return "", ""
		}
		text += fmt.Sprintf(", in the previous period %s (%s)", wording.Count(was), wording.Percent(was, allBefore))
	}
	conditions := originFailed
	switch *b.number(OriginErrors) {
	case n:
	case 0:
		conditions = otherFailed
	default:
		conditions = []string{""} // no filter selects both
	}
	return text + ".", b.linkTo(conditions...)
}

func (b *builder) humansBlocked() (text, link string) {
	n, blocked := b.facts.blockedHumans, b.requests(false)
	if n < leastHumans || n*100 <= humanShare*blocked {
		return "", ""
	}
	text = fmt.Sprintf("%s of %s were of humans (%s): some blocks may be wrong.",
		wording.Count(n), wording.Plural(blocked, "blocked request"), wording.Percent(n, blocked))
	return text, b.linkTo(flagIs("blocked", true), flagIs("human", true))
}

func (b *builder) attackerPasses() (text, link string) {
	for _, row := range b.facts.top["ip"] {
		if row.Passed == nil {
			continue
		}
		passed := *row.Passed
		if row.Blocked >= leastHumans && row.Blocked*100 >= attackerShare*row.Requests && passed >= leastPassed &&
			passed > row.Blocked {
			return fmt.Sprintf("%s is blocked %s, but %s of its requests passed.",
				wording.Shown(row.Key, sentenceLength), wording.Plural(row.Blocked, "time"), wording.Count(passed)), b.linkTo(row.Condition)
		}
	}
	return "", ""
}

func (b *builder) manyBlocked() (text, link string) {
	all, blocked := b.requests(true), b.requests(false)
	if !b.many(blocked) {
		return "", ""
	}
	text = fmt.Sprintf("%s of %s were blocked (%s)", wording.Count(blocked), wording.Plural(all, "request"), wording.Percent(blocked, all))
	more := false
	if was, ok := b.previous(1); ok {
		allBefore, _ := b.previous(0)
		more = grown(blocked, all, was, allBefore, growth)
		text += fmt.Sprintf(", in the previous period %s (%s)", wording.Count(was), wording.Percent(was, allBefore))
	}
	if !more && blocked*100 < attackShare*all {
		return "", ""
	}
	return text + ".", b.linkTo(flagIs("blocked", true))
}

func (b *builder) oneAttacker() (text, link string) {
	blocked := b.requests(false)
	if !b.many(blocked) {
		return "", ""
	}
	for _, label := range []string{"ip", "organization"} {
		rows := b.facts.top[label]
		if len(rows) == 0 || rows[0].Blocked*100 <= concentrated*blocked {
			continue
		}
		return fmt.Sprintf("%s of all blocked requests were of %s (%s of %s).", wording.Percent(rows[0].Blocked, blocked),
			wording.Shown(rows[0].Key, sentenceLength), wording.Count(rows[0].Blocked), wording.Count(blocked)), b.linkTo(rows[0].Condition)
	}
	return "", ""
}

func (b *builder) oneRule() (text, link string) {
	for _, row := range b.facts.reasons {
		if row.BlockedBefore == nil || !b.many(row.Blocked) || row.Blocked < ruleGrowth**row.BlockedBefore {
			continue
		}
		return fmt.Sprintf("The reason “%s” blocked %s, in the previous period %s.", wording.Shown(row.Key, sentenceLength),
			wording.Plural(row.Blocked, "request"), wording.Count(*row.BlockedBefore)), b.linkTo(flagIs("blocked", true), row.Condition)
	}
	return "", ""
}
