package why

import (
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// Evidence has the counts of requests on which a verdict is based.
type Evidence struct {
	Rule    Tally // others on whom the same rule acted, in the day around the request
	Session Tally // what the client sent in the half day before the request
	Path    Tally // other people, or others, who asked for the same path of the host, in the day around the request
}

// Tally counts requests. What the question does not ask for is 0.
type Tally struct {
	Requests  int64
	Known     int64 // requests whose log says whether they are of people
	People    int64 // requests that the gateway took for those of people
	Passed    int64 // requests that were neither blocked nor challenged
	Blocked   int64
	Addresses int64 // different addresses of clients
	Rules     int64 // different reasons for which requests were blocked
}

// Question is a question to the data route facets, whose answer is a Tally.
type Question struct {
	Of      string // rule, session or path
	Filters string // with the period, in the query-string form
	By      string // fields, with commas between them
}

// The names of questions and reasons.
const (
	ofRule    = "rule"
	ofSession = "session"
	ofPath    = "path"
)

// around is the length of time before and after a request in which other requests count. It is that of the console.
const around = 12 * time.Hour

// Questions returns the questions that the verdict on a request needs. There are none if no rule acted.
func Questions(r Record) []Question {
	at := r.Time()
	if !r.decided() || at.IsZero() {
		return nil
	}
	day, before := period(at, -around, around), period(at, -around, -time.Millisecond)
	var list []Question
	add := func(of, by string, conditions ...string) {
		list = append(list, Question{of, strings.Join(conditions, ", "), by})
	}
	others := othersOf(r)
	if rule := ruleOf(r); rule != "" {
		add(ofRule, strings.TrimPrefix(r.peopleField()+",ip", ","), append([]string{day, rule}, others...)...)
	}
	if client := clientOf(r); client != "" {
		add(ofSession, "blocked,reason", before, client)
	}
	if path := pathOf(r); path != "" {
		if people := r.people(); people != "" {
			path += ", " + people
		}
		add(ofPath, "blocked", append([]string{day, path}, others...)...)
	}
	return list
}

// decided reports whether a rule acted on the request, so that there is something to judge.
func (r Record) decided() bool { return r.stopped() || r.Result() == Monitored }

// peopleField returns the field that says which requests are of people, or "". Requests that are stopped early have only
// bot, and few logs of other products have either.
func (r Record) peopleField() string {
	for _, field := range []string{"human", "bot"} {
		if _, known := r[field].(bool); known {
			return field
		}
	}
	return ""
}

// people returns the condition of requests of people, or "" if the record does not say what a person is.
func (r Record) people() string {
	switch r.peopleField() {
	case "human":
		return "human is true"
	case "bot":
		return "bot is false"
	}
	return ""
}

// isPerson reports whether the gateway took the client for a person.
func (r Record) isPerson() bool {
	return r["human"] == true || r.peopleField() == "bot" && r["bot"] == false
}

// othersOf returns the condition of the requests of other clients, if the record says who its client is.
func othersOf(r Record) []string {
	for _, field := range []string{"session", "ip"} {
		if value := r.text(field); value != "" && !strings.ContainsRune(value, 0) {
			return []string{catalog.Equal(field, true, value).String()}
		}
	}
	return nil
}

// The conditions of parts of the requests that a question counts.
const (
	blocked = "blocked is true"
	passed  = "blocked is false, challenge not is true, ichallenge not is true"
)

// period returns the condition of a period from and to so long after an instant.
func period(at time.Time, from, to time.Duration) string {
	return filter.During(at.Add(from).UnixMilli(), at.Add(to).UnixMilli())
}

// Of returns the tally that the answer of a question is.
func (e *Evidence) Of(q Question) *Tally {
	switch q.Of {
	case ofRule:
		return &e.Rule
	case ofSession:
		return &e.Session
	case ofPath:
		return &e.Path
	}
	panic("why: no tally for " + q.Of)
}
