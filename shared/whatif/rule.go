// Package whatif says what a rule of the gateway would have done to past requests: which it would have stopped, how many
// of them nobody stops today, whose they are, and how many a stricter or a looser limit would stop.
package whatif

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Rule is a rule that is tried on past requests.
type Rule struct {
	Name   string
	Action string // one of Actions
	Where  string // conditions of the requests to which it applies, as a query string writes them; "": all requests
	// AnyOf is further conditions, of which no filter language can have the alternatives: of each list, one must hold for
	// a request to which the rule applies.
	AnyOf [][]string
	Limit *Limit   // nil: it acts on every request to which it applies
	Tags  []string // that a filter puts on the requests to which it applies
	// Enforced reports that it is a rule of the gateway that only monitors today. Its stage is not known.
	Enforced bool

	vendor *vendorRule // from which AnyOf was read
}

// Actions are what rules do to a request, the strongest first.
var Actions = []string{Block, Challenge, Monitor}

// The actions of rules.
const (
	Block     = "block"
	Challenge = "challenge"
	Monitor   = "monitor"
)

// Limit is a rate limit. It counts the requests of each key in windows: a window begins with a request, and has the
// requests of the key before its begin plus Per. The limit acts on the requests of a window after the first Threshold.
type Limit struct {
	Threshold int64
	Per       time.Duration // whole seconds
	Key       []string      // fields; requests without one of the values are not counted
	With      string        // a field whose different values are counted, instead of requests; "": requests are
	// Ban is how long all requests of the key are acted on, from the first on which the limit acts. The window ends
	// then, and the next one begins after the ban. 0: there is no ban.
	Ban time.Duration
}

// RuleError is a mistake in a rule.
type RuleError struct {
	Message    string
	Suggestion string // a rule without the mistake; "": there is none
}

func (e *RuleError) Error() string { return e.Message }

const (
	exampleLimit = "limit 60 per 1m by ip"
	exampleBlock = `block where path~"^/wp-"`
	exampleTag   = `monitor tag login where path="/login"`
)

// MaxRule is the maximum length of a rule in bytes.
const MaxRule = 100_000

// Parse reads a rule: a global filter or a rate limit as the gateway has it in JSON, or our shorter form:
//
//	limit 60 per 1m by ip [, path] [with session] [ban 10m] [where CONDITIONS]
//	block|challenge|monitor [tag TAG [, TAG]] where CONDITIONS
//	enforce NAME
//
// The last one blocks what a rule with the name only monitors today. The error is a *RuleError.
func Parse(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	switch {
	case len(text) > MaxRule:
		return Rule{}, &RuleError{fmt.Sprintf("a rule has at most %d bytes", MaxRule), ""}
	case strings.HasPrefix(text, "{"):
		return parseJSON([]byte(text))
	}
	head, where, hasWhere := cutWhere(text)
	words := wordsOf(head)
	if len(words) == 0 {
		return Rule{}, &RuleError{"there is no rule; it begins with limit, block, challenge, monitor or enforce", exampleLimit}
	}
	switch words[0] {
	case "limit":
		limit, action, err := parseLimit(words[1:])
		return Rule{Action: action, Where: where, Limit: limit}, err
	case Block, Challenge, Monitor:
		if !hasWhere || where == "" {
			return Rule{}, &RuleError{words[0] + " needs the conditions of the requests after where", exampleBlock}
		}
		tags, err := parseTags(words[1:])
		return Rule{Action: words[0], Where: where, Tags: tags}, err
	case "enforce":
		name := strings.TrimSpace(strings.TrimPrefix(text, "enforce"))
		if name == "" {
			return Rule{}, &RuleError{"enforce needs the name or the id of a rule that is only monitored", "enforce acl3"}
		}
		return Rule{Name: name, Action: Block, Where: monitoredBy(name), Enforced: true}, nil
	}
	return Rule{}, &RuleError{
		fmt.Sprintf("a rule begins with limit, block, challenge, monitor or enforce, not with %q", words[0]), exampleLimit,
	}
}

// monitoredBy returns the condition of the requests that a rule has monitored.
func monitoredBy(name string) string {
	return "monitor_reasons~" + filter.Quote(`(^|[^\w-])`+regexp.QuoteMeta(name)+`([^\w-]|$)`)
}

var whereWord = regexp.MustCompile(`(^|\s)where(\s|$)`)

// cutWhere divides a rule before and after its first where.
func cutWhere(text string) (head, where string, found bool) {
	at := whereWord.FindStringIndex(text)
	if at == nil {
		return text, "", false
	}
	return text[:at[0]], strings.TrimSpace(text[at[1]:]), true
}

var word = regexp.MustCompile(`,|(?:[^\s,"]|"(?:[^"\\]|\\.)*"?)+`)

// wordsOf divides a rule at white space and at commas, which are words, but not within quotes.
func wordsOf(text string) []string { return word.FindAllString(text, -1) }

// parseTags reads the words of a filter between its action and where.
func parseTags(words []string) (tags []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	if words[0] != "tag" || len(words)%2 != 0 {
		return nil, &RuleError{fmt.Sprintf("%q is not part of a filter; between its action and where, it has tag and the tags "+
			"that it adds", strings.Join(words, " ")), exampleTag}
	}
	for i, word := range words[1:] {
		switch {
		case i%2 == 1 && word != ",", i%2 == 0 && word == ",":
			return nil, &RuleError{"the tags of a filter have commas between them", exampleTag}
		case i%2 == 0:
			tags = append(tags, unquoted(word))
		}
	}
	return tags, nil
}

// unquoted returns the text of a word that may be in quotes.
func unquoted(word string) string {
	f := filter.ParseQueryString("tags=" + word)
	if len(f.Conditions) != 1 || len(f.Conditions[0].Values) != 1 {
		return word
	}
	return f.Conditions[0].Values[0].Text
}

// parseLimit reads the words of a limit after the first one.
func parseLimit(words []string) (*Limit, string, error) {
	limit, action := &Limit{}, Block
	wrong := func(format string, args ...any) (*Limit, string, error) {
		return nil, "", &RuleError{fmt.Sprintf(format, args...), exampleLimit}
	}
	if len(words) == 0 {
		return wrong("limit needs a number of requests")
	}
	n, err := strconv.ParseInt(words[0], 10, 32)
	if err != nil || n < 0 {
		return wrong("%q is not a number of requests", words[0])
	}
	limit.Threshold = n
	seen := map[string]bool{}
	for words = words[1:]; len(words) > 0; {
		word := words[0]
		if seen[word] {
			return wrong("%s is there twice", word)
		}
		if len(words) < 2 {
			return wrong("%s needs a value", word)
		}
		seen[word] = true
		value := words[1]
		words = words[2:]
		switch word {
		case "per", "ban":
			seconds, ok := query.ParseLength(value)
			if !ok {
				return wrong("%q is not a length such as 30s, 1m or 1h", value)
			}
			if length := time.Duration(seconds) * time.Second; word == "per" {
				limit.Per = length
			} else {
				limit.Ban = length
			}
		case "by":
			limit.Key = []string{value}
			for len(words) >= 2 && words[0] == "," {
				limit.Key, words = append(limit.Key, words[1]), words[2:]
			}
		case "with":
			limit.With = value
		case "action":
			if action = value; !slices.Contains(Actions, action) {
				return wrong("%q is not an action; use %s", value, strings.Join(Actions, ", "))
			}
		default:
			return wrong("%q is not part of a limit; it has per, by, with, ban, action and where", word)
		}
	}
	switch {
	case limit.Per == 0:
		return wrong("limit needs a length of time after per")
	case limit.Key == nil:
		return wrong("limit needs a field after by, of whose values the requests are counted")
	}
	return limit, action, checkLimit(*limit)
}

// MaxWindow is the maximum of the timeframe and the ban of a limit, added up: requests of 24 hours before the period are
// read to know where windows begin.
const MaxWindow = 24 * time.Hour

func checkLimit(l Limit) error {
	switch {
	case l.Per < time.Second:
		return &RuleError{"the timeframe of a limit is at least 1s", exampleLimit}
	case l.Per+l.Ban > MaxWindow:
		return &RuleError{"the timeframe and the ban of a limit are at most 24h together", exampleLimit}
	}
	return nil
}

// lengthText writes a length as rules have it.
func lengthText(d time.Duration) string { return query.Length(int64(d / time.Second)) }

// WithThreshold returns the rule, which has a limit, with another threshold.
func (r Rule) WithThreshold(n int64) Rule {
	limit := *r.Limit
	limit.Threshold = n
	r.Limit = &limit
	return r
}

// String returns the rule in the shorter form, or, if that cannot express it, in JSON.
func (r Rule) String() string {
	switch limit, _ := r.limitForm(); {
	case r.AnyOf == nil:
		return r.short()
	case r.Limit == nil:
		return compact(json.RawMessage(r.Forms()[0].JSON))
	default:
		limit.Include, limit.Exclude = r.vendor.Include, r.vendor.Exclude
		return compact(limit)
	}
}

var plainTag = regexp.MustCompile(`^[\w:.-]+$`)

// short returns the shorter form, without alternatives.
func (r Rule) short() string {
	text := r.Action
	if l := r.Limit; l != nil {
		text = fmt.Sprintf("limit %d per %s by %s", l.Threshold, lengthText(l.Per), strings.Join(l.Key, ", "))
		if l.With != "" {
			text += " with " + l.With
		}
		if l.Ban > 0 {
			text += " ban " + lengthText(l.Ban)
		}
		if r.Action != Block {
			text += " action " + r.Action
		}
	}
	for i, tag := range r.Tags {
		if text += ", "; i == 0 {
			text = r.Action + " tag "
		}
		if !plainTag.MatchString(tag) {
			tag = filter.Quote(tag)
		}
		text += tag
	}
	if r.Where != "" {
		text += " where " + r.Where
	}
	return text
}
