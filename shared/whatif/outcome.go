package whatif

import (
	"cmp"
	"slices"
)

// Seen is what is known about a request besides its time.
type Seen struct {
	Request
	Key     int32 // the number of its key
	Client  int32 // the number of its address; negative: it has none
	Session int32 // likewise; those of several requests are compared by Trial.Same
	Place   int32 // the number of the request, of several rules
	Stopped bool  // the gateway has blocked it
	Earlier bool  // it was blocked at a stage before limits, or a filter that is tried blocks it there, so it is not counted
	Before  bool  // a rule that is tried together with this one, and before it, stops the request
	Human   bool
	NoHuman bool     // it is known not to be human
	Attack  bool     // it is part of the attack that the rule is to stop
	Facets  [3]int32 // the numbers of further values, like Session
}

// Outcome is what a rule does to the requests of a period.
type Outcome struct {
	Acted   int64 // requests on which it acts
	Stopped int64 // of those, blocked today
	Before  int64 // of those, not blocked today, but a rule before this one stops them
	Newly   int64 // the others

	Clients, Sessions int64  // of the newly stopped
	Humans            *int64 // newly stopped requests of humans; nil: the log does not know
	HumanClients      *int64 // their addresses; nil: the log does not know
	FirstNs, LastNs   int64  // the first and the last newly stopped request; 0: there is none
	PhaseUnknown      int64  // keys whose first window may begin at another time
	Keys              int64  // with a request on which it acts

	NewlyNs   []int64    // the times of the newly stopped requests of each key, one key after another
	StoppedNs []int64    // likewise, of the requests that are blocked today
	BeforeNs  []int64    // likewise, of those that a rule before this one stops
	Facets    [3][]int64 // of each further value: by its number, the newly stopped requests that have it
	Affected  []Client   // those with the most newly stopped requests
	Curve     []Point

	Attack *Attack // nil: no attack is named, or not all requests are known
}

// Client is the newly stopped requests of a key.
type Client struct {
	Key             int32
	Newly, Humans   int64
	FirstNs, LastNs int64
}

// Point is what a threshold would stop.
type Point struct {
	Threshold    int64
	Acted, Newly int64
	Clients      int64 // addresses with newly stopped requests
	Humans       int64 // newly stopped requests of humans
	HumanClients int64 // addresses of them
	Attack       int64 // requests of the attack on which it acts
	Others       int64 // others that are newly stopped, see Attack
}

// MaxAffected is the maximum number of clients of an outcome.
const MaxAffected = 20

// Trial collects the outcome of a rule from one key after another.
type Trial struct {
	// Same returns the same number for the numbers of equal sessions and facets; nil: equal ones have the same number.
	Same func(number int32) int32
	// Each is called for each request on which the rule acts; nil: it is not.
	Each func(Seen)

	limit           *Limit
	sinceNs, fromNs int64

	outcome     Outcome
	humans      bool                                  // some request is known to be human or not
	sessions    numbers[bool]                         // those that are newly stopped
	people      numbers[uint8]                        // of each address: isNew, and whether it is of a human
	facets      [len(Outcome{}.Facets)]numbers[int64] // newly stopped requests
	affected    numbers[Client]
	humansNewly int64
	curve       *curve
	attack      *attack
}

// What is known about an address.
const (
	isNew   = 1 << iota // it has a newly stopped request
	isHuman             // it has one of a human
)

// NewTrial returns a trial of a rule on the requests from fromNs on. Those from sinceNs on are known. A curve says what
// each threshold from curveFrom on would do; it is for limits that count requests and have no ban. withAttack is for
// limits of which all requests are added: the outcome says how much of the attack the limit stops, and how many others.
func NewTrial(r Rule, sinceNs, fromNs int64, curveFrom int64, withAttack bool) *Trial {
	t := &Trial{limit: r.Limit, sinceNs: sinceNs, fromNs: fromNs}
	if withAttack {
		t.attack = &attack{}
	}
	if l := r.Limit; l != nil && l.HasCurve() && curveFrom > 0 {
		t.curve = &curve{least: curveFrom}
	}
	return t
}

// HasCurve reports whether a limit with another threshold has the same windows.
func (l Limit) HasCurve() bool { return l.Ban == 0 && l.With == "" && l.Threshold > 0 }

// Add adds the requests of a key, in the order of their times, or for a filter some of all requests. It changes the list.
func (t *Trial) Add(requests []Seen) {
	if t.limit != nil {
		requests = slices.DeleteFunc(requests, func(one Seen) bool { return one.Earlier })
	}
	acted, before := t.acted(requests), t.outcome.Acted
	for i := range requests {
		one := &requests[i]
		if one.TsNs < t.fromNs {
			continue
		}
		t.humans = t.humans || one.Human || one.NoHuman
		acts := acted(i)
		if t.attack != nil {
			t.attack.add(one, acts)
		}
		if !acts {
			continue
		}
		if t.Each != nil {
			t.Each(*one)
		}
		switch {
		case one.Stopped:
			t.outcome.StoppedNs = append(t.outcome.StoppedNs, one.TsNs)
		case one.Before:
			t.outcome.BeforeNs = append(t.outcome.BeforeNs, one.TsNs)
		default:
			t.addNewly(one)
		}
		t.outcome.Acted++
	}
	if t.outcome.Acted > before {
		t.outcome.Keys++
	}
}

// addNewly adds a newly stopped request.
func (t *Trial) addNewly(one *Seen) {
	t.outcome.NewlyNs = append(t.outcome.NewlyNs, one.TsNs)
	if one.Session >= 0 {
		*t.sessions.at(one.Session) = true
	}
	for i, number := range one.Facets {
		if number >= 0 {
			*t.facets[i].at(number)++
		}
	}
	is := uint8(isNew)
	if one.Human {
		is |= isHuman
		t.humansNewly++
	}
	if one.Client >= 0 {
		*t.people.at(one.Client) |= is
	}
	who := one.Key
	if t.limit == nil { // all requests have the same key: the addresses are the clients
		who = one.Client
	}
	if who < 0 {
		return
	}
	c := t.affected.at(who)
	if c.Newly == 0 {
		*c = Client{Key: who, FirstNs: one.TsNs, LastNs: one.TsNs}
	}
	c.Newly, c.FirstNs, c.LastNs = c.Newly+1, min(c.FirstNs, one.TsNs), max(c.LastNs, one.TsNs)
	if one.Human {
		c.Humans++
	}
}

// acted returns a function that reports whether the rule acts on request i.
func (t *Trial) acted(requests []Seen) func(i int) bool {
	if t.limit == nil {
		return func(int) bool { return true }
	}
	list := make([]Request, len(requests))
	for i, one := range requests {
		list[i] = one.Request
	}
	replay := t.limit.Replay(list, t.sinceNs, t.fromNs)
	if replay.PhaseUnknown {
		t.outcome.PhaseUnknown++
	}
	if t.curve != nil {
		t.curve.add(requests, replay.Places, t.fromNs)
	}
	return func(i int) bool { return replay.Acted[i] }
}

// Outcome returns the outcome of all keys.
func (t *Trial) Outcome() Outcome {
	o := t.outcome
	o.Stopped, o.Before, o.Newly = int64(len(o.StoppedNs)), int64(len(o.BeforeNs)), int64(len(o.NewlyNs))
	if o.Newly > 0 {
		o.FirstNs, o.LastNs = slices.Min(o.NewlyNs), slices.Max(o.NewlyNs)
	}
	o.Sessions = t.different(t.sessions)
	for i, counts := range t.facets {
		o.Facets[i] = t.joined(counts)
	}
	persons := int64(0)
	for _, is := range t.people {
		if is != 0 {
			o.Clients++
		}
		if is&isHuman != 0 {
			persons++
		}
	}
	if t.humans {
		o.Humans, o.HumanClients = &t.humansNewly, &persons
	}
	for _, c := range t.affected {
		if c.Newly > 0 {
			o.Affected = c.among(o.Affected)
		}
	}
	if t.attack != nil {
		o.Attack = t.attack.outcome(t.humans)
	}
	if t.curve != nil {
		t.curve.into(&o, t.limit.Threshold)
	}
	return o
}

// among returns the most affected of a list and the client. The list is in their order.
func (c Client) among(list []Client) []Client {
	order := func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.Humans, a.Humans), cmp.Compare(b.Newly, a.Newly), cmp.Compare(a.Key, b.Key))
	}
	if n := len(list); n == MaxAffected && order(c, list[n-1]) > 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, c, order)
	list = slices.Insert(list, at, c)
	return list[:min(len(list), MaxAffected)]
}

// different returns how many of the values that are met are different.
func (t *Trial) different(met numbers[bool]) (n int64) {
	var counted numbers[bool]
	for number, is := range met {
		if !is {
			continue
		}
		if of := counted.at(t.same(int32(number))); !*of {
			*of = true
			n++
		}
	}
	return n
}

// joined adds up the counts of equal values.
func (t *Trial) joined(counts numbers[int64]) (all numbers[int64]) {
	for number, n := range counts {
		if n > 0 {
			*all.at(t.same(int32(number))) += n
		}
	}
	return all
}

// same returns the number that equal values have.
func (t *Trial) same(number int32) int32 {
	if t.Same == nil {
		return number
	}
	return t.Same(number)
}
