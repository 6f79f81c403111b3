package why

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/wording"
)

// Assessment says whether a rule was wrong to act on a request.
type Assessment struct {
	Verdict string   `json:"verdict" enum:"mistake,right,unknown"`
	Text    string   `json:"text" enum:"Probably a mistake,Probably right,Cannot be told"`
	Points  int      `json:"points" doc:"Sum of the points of all reasons: with 2 or more, the decision was a mistake; with -3 or less, it was right"`
	Reasons []Reason `json:"reasons"`
}

// Reason is what other requests say about a request.
type Reason struct {
	Reason string  `json:"reason" enum:"rule,session,path" doc:"rule: others on whom the same rule acted; session: what the client sent before; path: other people at the same path"`
	Text   string  `json:"text"`
	Points int     `json:"points" doc:"Positive if the reason suggests a mistake, negative if it suggests the opposite"`
	Counts []Count `json:"counts" doc:"The numbers in the text, each with its filter"`
}

// Count is the number of requests that a filter has.
type Count struct {
	Name          string `json:"name" enum:"requests,people,passed,blocked"`
	Filter        string `json:"filter" doc:"The filter in the query-string form, with its period"`
	NumOfRequests int64  `json:"num_of_requests"`
}

// The points from which on the verdict is a mistake, and down from which it is right. To call a person an attacker needs
// more than to call a rule too strict.
const (
	mistaken = 2
	right    = -3
)

// rules is the table of the rules of the verdict. Of each reason, the first rule that holds gives its points. README.md
// has the table, too.
var rules = []struct {
	reason string
	when   string
	points int
	holds  func(t Tally, person bool) bool // person: the gateway took the client for a person's
}{
	{ofRule, "at least half of at least 3 requests are of people, from at least 3 addresses", 3, func(t Tally, _ bool) bool {
		return t.Known >= 3 && 2*t.People >= t.Known && t.Addresses >= 3
	}},
	{ofRule, "at most a quarter of at least 3 requests are of people, and so is this one", -2, func(t Tally, person bool) bool {
		return t.Known >= 3 && 4*t.People <= t.Known && person
	}},
	{ofRule, "at most a quarter of at least 3 requests are of people", -3, func(t Tally, _ bool) bool {
		return t.Known >= 3 && 4*t.People <= t.Known
	}},
	{ofSession, "two or more rules blocked requests", -2, func(t Tally, _ bool) bool { return t.Rules >= 2 }},
	{ofSession, "at least three quarters of at least 3 requests passed", 2, func(t Tally, _ bool) bool {
		return t.Passed >= 3 && 4*t.Passed >= 3*t.Requests
	}},
	{ofSession, "at most half of at least one request passed", -1, func(t Tally, _ bool) bool {
		return t.Requests > 0 && 2*t.Passed <= t.Requests
	}},
	{ofPath, "at most a tenth of at least 5 requests were blocked", 1, func(t Tally, _ bool) bool {
		return t.Requests >= 5 && 10*t.Blocked <= t.Requests
	}},
	{ofPath, "no request", -1, func(t Tally, _ bool) bool { return t.Requests == 0 }},
}

// pointsOf returns the points of a reason.
func pointsOf(of string, t Tally, person bool) int {
	for _, rule := range rules {
		if rule.reason == of && rule.holds(t, person) {
			return rule.points
		}
	}
	return 0
}

// verdictOf judges a request by the evidence. It returns nil if no rule acted.
func verdictOf(r Record, e Evidence) *Assessment {
	if !r.decided() {
		return nil
	}
	v := &Assessment{Verdict: "unknown", Text: "Cannot be told", Reasons: []Reason{}}
	for _, q := range Questions(r) {
		one := reasonFor(r, q, e)
		v.Points += one.Points
		v.Reasons = append(v.Reasons, one)
	}
	switch {
	case v.Points >= mistaken:
		v.Verdict, v.Text = "mistake", "Probably a mistake"
	case v.Points <= right:
		v.Verdict, v.Text = "right", "Probably right"
	}
	return v
}

// reasonFor returns the reason that the answer of a question gives.
func reasonFor(r Record, q Question, e Evidence) Reason {
	all := func(n int64) Count { return Count{"requests", q.Filters, n} }
	t := *e.Of(q)
	points := pointsOf(q.Of, t, r.isPerson())
	part := func(name, conditions string, n int64) Count { return Count{name, q.Filters + ", " + conditions, n} }
	switch q.Of {
	case ofRule:
		counts := []Count{all(t.Requests)}
		if t.Known > 0 {
			counts = append(counts, part("people", r.people(), t.People))
		}
		return Reason{q.Of, ruleText(t, points < 0 && r.isPerson()), points, counts}
	case ofSession:
		who := "session"
		if alike(r, "session") == "" {
			who = "address"
		}
		return Reason{q.Of, sessionText(who, t), points, []Count{
			all(t.Requests), part("passed", passed, t.Passed), part("blocked", blocked, t.Blocked),
		}}
	case ofPath:
		return Reason{q.Of, pathText(t, r.people() != ""), points, []Count{all(t.Requests), part("blocked", blocked, t.Blocked)}}
	}
	panic(fmt.Sprintf("why: no reason for %q", q.Of))
}

// ruleText says on whom else a rule acted. alone is whether this request is one of few people.
func ruleText(t Tally, alone bool) string {
	var text string
	switch {
	case t.Requests == 0:
		return "The same rule acted on nobody else."
	case t.Known == 0:
		return fmt.Sprintf("The same rule acted on %s of others, from %s.",
			requests(t.Requests), wording.Counted(t.Addresses, "address", "addresses"))
	case t.Requests == 1 && t.People == 1:
		text = "The same rule acted on 1 request of another person."
	case t.Requests == 1:
		text = "The same rule acted on 1 request of another client, which is not a person."
	default:
		text = fmt.Sprintf("The same rule acted on %s of others, %s of them by people, from %s.",
			requests(t.Requests), some(t.People, t.Requests), wording.Counted(t.Addresses, "address", "addresses"))
	}
	if alone {
		text += " The gateway took this client for a person, too."
	}
	return text
}

// sessionText says what a session, or an address, sent before.
func sessionText(who string, t Tally) string {
	switch {
	case t.Requests == 0:
		return fmt.Sprintf("Before, the %s sent nothing.", who)
	case t.Requests == 1 && t.Passed == 1:
		return fmt.Sprintf("Before, the %s sent 1 request, which passed.", who)
	case t.Requests == 1:
		return fmt.Sprintf("Before, the %s sent 1 request, which did not pass.", who)
	}
	text := fmt.Sprintf("Before, the %s sent %s, and %s of them passed.", who, requests(t.Requests), some(t.Passed, t.Requests))
	if t.Rules >= 2 {
		text += fmt.Sprintf(" %d different rules blocked others.", t.Rules)
	}
	return text
}

// pathText says what others got at a path. ofPeople is whether only people count.
func pathText(t Tally, ofPeople bool) string {
	one, many := "Another client", "Other clients"
	if ofPeople {
		one, many = "Another person", "Other people"
	}
	switch {
	case t.Requests == 0:
		return fmt.Sprintf("No %s asked for this path.", strings.ToLower(many))
	case t.Requests == 1 && t.Blocked == 1:
		return one + " sent 1 request to this path, which was blocked."
	case t.Requests == 1:
		return one + " sent 1 request to this path, which was not blocked."
	case t.Blocked == 1:
		return fmt.Sprintf("%s sent %s to this path, and 1 of them was blocked.", many, requests(t.Requests))
	}
	return fmt.Sprintf("%s sent %s to this path, and %s of them were blocked.", many, requests(t.Requests), some(t.Blocked, t.Requests))
}

func requests(n int64) string { return wording.Counted(n, "request", "requests") }

// some writes how many of several things there are.
func some(n, of int64) string {
	switch n {
	case 0:
		return "none"
	case of:
		return "all"
	}
	return wording.Count(n)
}
