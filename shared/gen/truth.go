package gen

import (
	"cmp"
	"slices"
	"strings"
)

// Truth describes what happened in a generated period, so that programs that look for attacks can be judged.
type Truth struct {
	Attacks []Attack `json:"attacks"` // in the order of their beginning
	Changes []Change `json:"changes"`
}

// Attack is one attack. Its figures are counted from its records.
type Attack struct {
	Kind      Kind        `json:"kind"`
	Shape     Shape       `json:"shape"`
	Targets   []Target    `json:"targets"` // one for each host, the busiest first
	From      int64       `json:"from"`    // time of the first request in Unix milliseconds
	To        int64       `json:"to"`      // time of the last request in Unix milliseconds
	Cut       bool        `json:"cut"`     // it began before the period or continues after it
	Requests  int         `json:"requests"`
	Addresses int         `json:"addresses"`
	Statuses  map[int]int `json:"statuses"`            // requests by status
	Decisions *Decisions  `json:"decisions,omitempty"` // nil in an access log
	Harm      Harm        `json:"harm"`
	Others    Others      `json:"others"`
}

// Target is a host under attack.
type Target struct {
	Host     string `json:"host"`
	Path     string `json:"path"` // the longest common prefix of the paths, in whole segments
	Requests int    `json:"requests"`
}

// Decisions counts the requests of an attack by the decision of the gateway. Their sum is the number of requests.
type Decisions struct {
	Blocked    int `json:"blocked"`
	Challenged int `json:"challenged"`
	Monitored  int `json:"monitored"` // neither blocked nor challenged
	Passed     int `json:"passed"`
}

// Others counts the other requests at the hosts under attack, between the first and the last request of the attack.
type Others struct {
	Requests int `json:"requests"`
	Failed   int `json:"failed"` // status 500 and higher
	Slow     int `json:"slow"`   // took a second and more
}

// Kind is the kind of an attack.
type Kind string

// The kinds of attacks.
const (
	Flood     Kind = "flood"
	Guessing  Kind = "guessing" // of passwords
	Scraping  Kind = "scraping"
	Scan      Kind = "scan" // for paths that should not exist
	Injection Kind = "injection"
)

// Shape is the course of the rate of an attack.
type Shape string

// The shapes of attacks.
const (
	Steady Shape = "steady"
	Rising Shape = "rising"
	Paused Shape = "paused" // some minutes of attack, a longer pause, and so on
	Pulsed Shape = "pulsed" // some seconds of attack, a pause of minutes, and so on
)

// Harm is the effect of an attack on the origin, and so on all other clients of the host.
type Harm string

// The kinds of harm.
const (
	Unharmed Harm = ""
	Slow     Harm = "slow"
	Failing  Harm = "failing"
)

// Change is a change of the settings of the gateway, after which a rule blocks more. The gateways get it one after the
// other, within a minute.
type Change struct {
	At             int64  `json:"at"` // of the first gateway, in Unix milliseconds
	RevisionBefore string `json:"revision_before"`
	RevisionAfter  string `json:"revision_after"`
	Rule           string `json:"rule"`   // its id
	Reason         string `json:"reason"` // of the requests that it blocks
	Before         int    `json:"before"` // requests that the rule blocked before
	After          int    `json:"after"`  // requests that the rule blocked after the change
	Added          int    `json:"added"`  // requests that were blocked because of the change
}

// tally counts the records of an attack.
type tally struct {
	attack    Attack
	from, to  int64 // the planned time
	hosts     []int
	targets   map[int]*Target
	addresses map[string]bool
	pending   Others // since the last request of the attack
}

func newTally(kind Kind, shape Shape, harm Harm, from, to int64, hosts ...int) *tally {
	return &tally{
		attack: Attack{Kind: kind, Shape: cmp.Or(shape, Steady), Harm: harm, Statuses: map[int]int{}, Decisions: &Decisions{}},
		from:   from, to: to, hosts: hosts,
		targets: map[int]*Target{}, addresses: map[string]bool{},
	}
}

// count adds a request to the tally of its attack, and to the tallies of other attacks at its host.
func (g *Generator) count(r *request) {
	for g.over < len(g.tallies) && g.tallies[g.over].to <= r.ms {
		g.over++
	}
	for i := range g.changes {
		c := &g.changes[i]
		switch {
		case r.rule != c.by:
		case r.ms < c.At:
			c.Before++
		default:
			c.After++
		}
	}
	if r.change != nil {
		r.change.Added++
	}
	own := r.tally()
	for _, t := range g.tallies[g.over:] {
		switch {
		case t.from > r.ms:
			return
		case t == own:
			t.add(r, g.world.hosts[r.host].name)
		case t.attack.Requests > 0 && slices.Contains(t.hosts, r.host):
			t.pending.add(r)
		}
	}
}

func (t *tally) add(r *request, host string) {
	a := &t.attack
	if a.Requests == 0 {
		a.From = r.ms
	}
	a.To = r.ms
	a.Requests++
	a.Statuses[r.status]++
	t.addresses[r.client.ip] = true
	switch r.result {
	case "Blocked":
		a.Decisions.Blocked++
	case "Challenged":
		a.Decisions.Challenged++
	case "Monitored":
		a.Decisions.Monitored++
	default:
		a.Decisions.Passed++
	}
	if t.targets[r.host] == nil {
		t.targets[r.host] = &Target{Host: host, Path: r.path.text}
	}
	target := t.targets[r.host]
	target.Requests++
	target.Path = commonPath(target.Path, r.path.text)
	a.Others.Requests += t.pending.Requests
	a.Others.Failed += t.pending.Failed
	a.Others.Slow += t.pending.Slow
	t.pending = Others{}
}

func (o *Others) add(r *request) {
	o.Requests++
	if r.status >= 500 {
		o.Failed++
	}
	if r.svcUs+r.originUs >= 1_000_000 {
		o.Slow++
	}
}

// commonPath returns the longest prefix of whole segments that two paths have in common.
func commonPath(a, b string) string {
	for a != "/" && a != b && !strings.HasPrefix(b, a+"/") {
		a = a[:strings.LastIndexByte(a, '/')]
		if a == "" {
			return "/"
		}
	}
	return a
}

// Truth returns the attacks and changes in the records so far. Hostile records, see Options.Nasty, do not show them.
func (g *Generator) Truth() Truth {
	truth := Truth{Attacks: []Attack{}, Changes: []Change{}}
	for _, t := range g.tallies {
		a := t.attack
		if a.Requests == 0 {
			continue
		}
		a.Addresses = len(t.addresses)
		for _, target := range t.targets {
			a.Targets = append(a.Targets, *target)
		}
		slices.SortFunc(a.Targets, func(x, y Target) int {
			return cmp.Or(y.Requests-x.Requests, strings.Compare(x.Host, y.Host))
		})
		if g.accessLog {
			a.Decisions = nil
		}
		truth.Attacks = append(truth.Attacks, a)
	}
	slices.SortStableFunc(truth.Attacks, func(x, y Attack) int { return cmp.Compare(x.From, y.From) })
	for i := range g.changes {
		truth.Changes = append(truth.Changes, g.changes[i].Change)
	}
	return truth
}
