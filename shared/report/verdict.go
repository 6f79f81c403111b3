package report

import "fmt"

// State is the verdict in a word or two.
type State string

// The states.
const (
	Quiet        State = "quiet"
	QuietLook    State = "quiet, look"
	AttackedHeld State = "attacked, held"
	AttackedLook State = "attacked, look"
	Unknown      State = "unknown"
)

// Verdict is the first thing to read.
type Verdict struct {
	State     State      `json:"state" doc:"quiet, attacked, held (the attack was blocked), look (someone should), or unknown"`
	Sentences []Sentence `json:"sentences" doc:"At most three, by the order of the rules; one if no rule applies"`
}

// Sentence is a finding of a rule.
type Sentence struct {
	Rule string `json:"rule,omitempty" doc:"Name of the rule"`
	Text string `json:"text"`
	Link string `json:"link,omitempty" doc:"The requests in the console"`
}

// Rule is a rule of the verdict.
type Rule struct {
	Name  string
	Look  bool   // someone should look; otherwise the rule shows an attack
	Doc   string // when the rule applies
	apply func(b *builder) (text string, conditions []string)
}

// The numbers of the rules.
const (
	leastBlocked   = 100 // blocked requests that are an attack
	attackShare    = 5   // percent of all requests
	concentrated   = 30  // percent of all blocked requests
	growth         = 3   // times the share of the previous period
	ruleGrowth     = 5   // times the blocked requests of the previous period
	leastErrors    = 20  // errors of the origin
	errorShare     = 1   // percent of all requests
	leastHumans    = 10  // blocked requests of humans
	humanShare     = 5   // percent of all blocked requests
	leastPassed    = 100 // passed requests of an address that is also blocked
	mostSentences  = 3
	sentenceLength = 60 // characters of a value in a sentence
)

// Rules is the table of rules. Those after which someone should look come first, because only the first three sentences
// are printed.
var Rules = []Rule{
	{
		"errors of the origin", true,
		fmt.Sprintf("At least %d responses of the origin have a status of 500 or more, which is at least %d %% of "+
			"all requests, and at least twice as many as in the previous period, if there is one.",
			leastErrors, errorShare),
		(*builder).originErrors,
	},
	{
		"blocked humans", true,
		fmt.Sprintf("At least %d blocked requests are of humans, which is more than %d %% of all blocked requests.",
			leastHumans, humanShare),
		(*builder).humansBlocked,
	},
	{
		"attacker that passes", true,
		fmt.Sprintf("Of one of the five addresses with the most blocked requests, at least %d requests passed, and "+
			"more than were blocked. At least %d requests of the address are blocked.", leastPassed, leastHumans),
		(*builder).attackerPasses,
	},
	{
		"many blocked", false,
		fmt.Sprintf("At least %d requests are blocked, which is at least %d %% of all requests, or at least %d times "+
			"the share of the previous period.", leastBlocked, attackShare, growth),
		(*builder).manyBlocked,
	},
	{
		"one attacker", false,
		fmt.Sprintf("At least %d requests are blocked, and more than %d %% of them are of one address or of one "+
			"organization.", leastBlocked, concentrated),
		(*builder).oneAttacker,
	},
	{
		"one rule", false,
		fmt.Sprintf("A reason blocks at least %d requests, and at least %d times as many as in the previous period.",
			leastBlocked, ruleGrowth),
		(*builder).oneRule,
	},
}

// facts are numbers that the rules need and that are no figures.
type facts struct {
	top           map[string][]Row // by label of topx; nil if unknown
	blockedHumans int64
}

// verdict applies the rules.
func (b *builder) verdict() {
	v := &b.r.Verdict
	if b.r.Figures[0].Value == nil {
		*v = Verdict{Unknown, []Sentence{{Text: "The numbers of requests are missing, so there is no verdict."}}}
		return
	}
	attacked, look := false, false
	for _, rule := range Rules {
		sentence, conditions := rule.apply(b)
		if sentence == "" {
			continue
		}
		attacked, look = attacked || !rule.Look, look || rule.Look
		if len(v.Sentences) < mostSentences {
			v.Sentences = append(v.Sentences, Sentence{rule.Name, sentence, b.linkTo(conditions...)})
		}
	}
	switch {
	case attacked && look:
		v.State = AttackedLook
	case attacked:
		v.State = AttackedHeld
	case look:
		v.State = QuietLook
	case len(b.r.Failed)+len(b.r.Run.Skipped) > 0:
		*v = Verdict{Unknown, []Sentence{{Text: "No rule of the verdict applies to what is known, but parts are missing."}}}
	case b.r.Run.Complete != nil && !before(b.r.Period.From, *b.r.Run.Complete):
		*v = Verdict{Unknown, []Sentence{{Text: "The logs of the period are not in the data yet, so there is no verdict."}}}
	default:
		v.State = Quiet
		v.Sentences = []Sentence{{Text: b.nothing()}}
	}
}

// nothing is the sentence of a report to which no rule applies.
func (b *builder) nothing() string {
	all, blocked := b.requests(true), b.requests(false)
	switch {
	case all == 0:
		return "There were no requests."
	case blocked == 0:
		return fmt.Sprintf("No rule of the verdict applies: %s, none of them blocked.", plural(all, "request"))
	}
	return fmt.Sprintf("No rule of the verdict applies: %s of %s blocked (%s).",
		count(blocked), plural(all, "request"), percent(blocked, all))
}

// previous returns a figure of the previous period. ok is false if it is unknown, or if that period has no requests.
func (b *builder) previous(figure int) (n int64, ok bool) {
	all, f := b.r.Figures[0].Previous, b.r.Figures[figure].Previous
	if all == nil || f == nil || *all == 0 {
		return 0, false
	}
	return int64(*f), true
}

func (b *builder) originErrors() (string, []string) {
	all := b.requests(true)
	if b.origin.now == nil {
		return "", nil
	}
	n := *b.origin.now
	if n < leastErrors || n*100 < errorShare*all {
		return "", nil
	}
	text := fmt.Sprintf("The origin answered %s with a status of 500 or more (%s of all requests)",
		plural(n, "time"), percent(n, all))
	if _, compared := b.previous(0); compared && b.origin.before != nil {
		was := *b.origin.before
		if n < 2*was {
			return "", nil
		}
		text += fmt.Sprintf(", in the previous period %s", plural(was, "time"))
	}
	return text + ".", []string{"upstream_status>=500"}
}

func (b *builder) humansBlocked() (string, []string) {
	n, blocked := b.facts.blockedHumans, b.requests(false)
	if n < leastHumans || n*100 <= humanShare*blocked {
		return "", nil
	}
	text := fmt.Sprintf("%s of %s were of humans (%s): some blocks may be wrong.",
		count(n), plural(blocked, "blocked request"), percent(n, blocked))
	return text, []string{flagIs("blocked", true), flagIs("human", true)}
}

func (b *builder) attackerPasses() (string, []string) {
	for _, row := range b.facts.top["ip"] {
		passed := row.Requests - row.Blocked
		if row.Blocked >= leastHumans && passed >= leastPassed && passed > row.Blocked {
			return fmt.Sprintf("%s is blocked %s, but %s of its requests passed.",
				shown(row.Key, sentenceLength), plural(row.Blocked, "time"), count(passed)), []string{row.Condition}
		}
	}
	return "", nil
}

func (b *builder) manyBlocked() (string, []string) {
	all, blocked := b.requests(true), b.requests(false)
	if blocked < leastBlocked {
		return "", nil
	}
	text := fmt.Sprintf("%s of %s were blocked (%s)", count(blocked), plural(all, "request"), percent(blocked, all))
	grown := false
	if was, ok := b.previous(1); ok {
		allBefore, _ := b.previous(0)
		// blocked/all >= growth*was/allBefore, without division
		grown = float64(blocked)*float64(allBefore) >= growth*float64(was)*float64(all)
		text += fmt.Sprintf(", in the previous period %s (%s)", count(was), percent(was, allBefore))
	}
	if !grown && blocked*100 < attackShare*all {
		return "", nil
	}
	return text + ".", []string{flagIs("blocked", true)}
}

func (b *builder) oneAttacker() (string, []string) {
	blocked := b.requests(false)
	if blocked < leastBlocked {
		return "", nil
	}
	for _, label := range []string{"ip", "organization"} {
		rows := b.facts.top[label]
		if len(rows) == 0 || rows[0].Blocked*100 <= concentrated*blocked {
			continue
		}
		return fmt.Sprintf("%s of all blocked requests were of %s (%s of %s).", percent(rows[0].Blocked, blocked),
			shown(rows[0].Key, sentenceLength), count(rows[0].Blocked), count(blocked)), []string{rows[0].Condition}
	}
	return "", nil
}

func (b *builder) oneRule() (string, []string) {
	if _, compared := b.previous(0); !compared {
		return "", nil
	}
	for _, row := range b.facts.top["reason"] {
		if row.BlockedBefore == nil || row.Blocked < leastBlocked || row.Blocked < ruleGrowth**row.BlockedBefore {
			continue
		}
		return fmt.Sprintf("The reason “%s” blocked %s, in the previous period %s.", shown(row.Key, sentenceLength),
			plural(row.Blocked, "request"), count(*row.BlockedBefore)), []string{row.Condition}
	}
	return "", nil
}
