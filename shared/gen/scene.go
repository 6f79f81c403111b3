package gen

import (
	"cmp"
	"math"
	"slices"
)

// Scene is a period with known attacks, or without any. The other traffic follows the time of day and the day of the
// week. Its clients send several requests within a few minutes. A search engine is always there. All origins are
// healthy, except where Doc says otherwise.
//
// The attacks are in the last 24 hours of the period. In a shorter period, they are compressed in proportion. A longer
// period begins with days without attacks. If the period ends at midnight UTC, the attacks are at realistic times of
// the day, which the seed shifts by up to 15 minutes.
//
// An attack is a fixed share of the requests of its day, so more records give it a higher rate and more addresses. With
// 17,000 records a day and more, each attack has at least 50 requests.
type Scene struct {
	Name string
	Doc  string

	attacks  []plan
	quiet    []plan    // events that are not attacks
	surge    *surge    // of the ordinary traffic
	outage   *outage   // without an attack
	settings []setting // changes, in the order of time
}

// plan is a part of the traffic of a scene. All minutes of scenes count from the start of the last day.
type plan struct {
	kind    Kind
	shape   Shape // Steady if empty
	begin   int   // minute
	minutes int   // 0 for the whole period
	first   bool  // in the first 24 hours of the period
	share   int   // requests, per 100,000 of a day
	hosts   []int // indexes of the hosts of the world
	path    string
	crew    crew
	gateway []verdict
	harm    Harm
}

// The kinds of traffic that is not an attack.
const (
	visit   Kind = "visit"   // people
	login   Kind = "login"   // people who log in; some mistype the password
	missing Kind = "missing" // people whose pages refer to a file that does not exist
	crawl   Kind = "crawl"   // a search engine
	poll    Kind = "poll"    // a program that asks the same again and again
)

func (k Kind) isAttack() bool {
	switch k {
	case Flood, Guessing, Scraping, Scan, Injection:
		return true
	}
	return false
}

func (k Kind) byPeople() bool { return k == visit || k == login || k == missing }

// crew describes the clients of a plan.
type crew struct {
	kind     clientKind // as the gateway sees them
	each     int        // average number of requests of an address; 0 for a single address
	agents   []string   // browsers if empty
	networks int        // number of networks; 0 for networks anywhere
	subnet   bool       // neighboring addresses of one network
	rotating bool       // each address sends only for a part of the time
}

// verdict applies a rule to a share of the requests. A rule with status 0 only monitors.
type verdict struct {
	perMille int
	rule     *rule // nil for the rule that finds the payload of the request
}

// surge multiplies the ordinary traffic.
type surge struct{ begin, minutes, percent int }

// outage is an incident of the origin of a host.
type outage struct {
	begin, minutes int
	host           int
	failing        bool
}

// setting is a change of the settings, after which a rule also blocks a share of the requests of some clients, or of all
// clients at a host. It stays until the end of the period.
type setting struct {
	begin    int
	by       *rule // nil: one that no other change of the scene has, drawn by the seed
	clients  clientKind
	atHost   bool // all clients at a host instead
	host     int
	perMille int
}

// SceneByName returns the scene with a name.
func SceneByName(name string) (*Scene, bool) {
	for i := range Scenes {
		if Scenes[i].Name == name {
			return &Scenes[i], true
		}
	}
	return nil, false
}

const (
	dayMs   = 24 * hourMs
	shareOf = 100_000

	maxShift = 15 * minuteMs
)

// timetable determines the times of the records and what happens at them.
type timetable interface {
	// next returns the moment of the next record, which is never before the last. It must not be called more often than
	// the number of records.
	next(random *source) moment
	// incidentAt returns the incident of the origin of a host at an instant, or nil.
	incidentAt(ms int64, host int) *incident
	// revision returns the number of the revision of the settings that the gateway of a host has at an instant.
	revision(ms int64, host int) int64
}

// program is the timetable of a scene: its ordinary requests and its plans, merged by time.
type program struct {
	from, to  int64
	shift     int64   // of all events, in milliseconds of a period of a day and more
	flows     []*flow // the ordinary requests first
	incidents []incident
	changes   []change
}

// change is a change of the settings in the program.
type change struct {
	Change
	setting
}

// A change comes to the gateways one after the other. Each host has one of them.
const (
	gateways     = 4
	rolloutEvery = 20_000 // milliseconds
)

// activeAt reports whether the gateway of a host has the new settings.
func (c *change) activeAt(ms int64, host int) bool {
	return ms >= c.At+int64(host%gateways)*rolloutEvery
}

// applies reports whether the new settings block a request.
func (c *change) applies(to *request, s *source) bool {
	concerned := to.client.kind == c.clients
	if c.atHost {
		concerned = to.host == c.host
	}
	return concerned && c.activeAt(to.ms, to.host) && s.perMille(c.perMille)
}

// flow is a part of the traffic with its times.
type flow struct {
	plan    *plan // nil for the ordinary requests
	tally   *tally
	clients []*client // of the plan, made when first drawn
	stream  uint64    // the first stream of the clients
	total   int       // number of requests
	sent    int

	from, to int64
	slots    []uint32 // number of requests in each equal part of the time
	random   source
	slot     int
	drawn    int   // requests of the slot so far
	at       int64 // time of the next request; math.MaxInt64 after the last
}

func newProgram(scene *Scene, seed uint64, from, to int64, records int) *program {
	random := newSource(seed, streamScenes)
	p := &program{from: from, to: to, shift: int64(random.between(-maxShift, maxShift))}
	rest := records
	for i, list := range [][]plan{scene.attacks, scene.quiet, background} {
		for j := range list {
			f := p.newFlow(&list[j], seed, uint64(2+i*100+j))
			if f.plan.kind.isAttack() {
				f.tally = newTally(f.plan.kind, f.plan.shape, f.plan.harm, f.from, f.to, f.plan.hosts...)
				begin, end := p.window(f.plan)
				f.tally.attack.Cut = begin < from || end > to
			}
			n := p.requests(f.plan, records)
			rest -= n
			f.place(n, f.plan.weight(p))
			f.total = n
			p.flows = append(p.flows, f)
		}
	}
	ordinary := &flow{from: from, to: to, random: newSource(seed, streamScenes+1)}
	ordinary.place(rest, p.ordinaryWeight(scene.surge, random))
	p.flows = append([]*flow{ordinary}, p.flows...)
	p.placeIncidents(scene)
	p.placeChanges(scene, seed)
	return p
}

// placeChanges adds the changes of the settings.
func (p *program) placeChanges(scene *Scene, seed uint64) {
	s := newSource(seed, streamChanges)
	rules := blockingRules()
	first := p.from/(12*hourMs) + 1
	for i, of := range scene.settings {
		if of.by == nil {
			at := s.below(len(rules))
			of.by = rules[at]
			rules = slices.Delete(rules, at, at+1)
		}
		p.changes = append(p.changes, change{Change{
			At: p.minute(of.begin), Rule: of.by.id, Reason: of.by.blocking(),
			RevisionBefore: revisionText(first + int64(i)), RevisionAfter: revisionText(first + int64(i) + 1),
		}, of})
	}
}

// tallies returns the tallies of the attacks, by their beginning.
func (p *program) tallies() []*tally {
	var list []*tally
	for _, f := range p.flows {
		if f.tally != nil {
			list = append(list, f.tally)
		}
	}
	slices.SortStableFunc(list, func(a, b *tally) int { return cmp.Compare(a.from, b.from) })
	return list
}

// revision changes with the settings.
func (p *program) revision(ms int64, host int) int64 {
	revision := p.from/(12*hourMs) + 1
	for i := range p.changes {
		if p.changes[i].activeAt(ms, host) {
			revision++
		}
	}
	return revision
}

func (p *program) newFlow(of *plan, seed, number uint64) *flow {
	begin, end := p.window(of)
	from := max(begin, p.from)
	return &flow{
		plan: of, from: from, to: max(min(end, p.to), from+1),
		random: newSource(seed, streamScenes+number), stream: streamAttackers + number<<24,
	}
}

// day returns the length of a day of the scene in milliseconds.
func (p *program) day() int64 { return min(p.to-p.from, dayMs) }

// minute returns the instant of a minute of the last day, with the shift.
func (p *program) minute(n int) int64 {
	return p.to - p.day() + (int64(n)*minuteMs+p.shift)*p.day()/dayMs
}

// window returns the time of a plan, which may exceed the period.
func (p *program) window(of *plan) (from, to int64) {
	if of.minutes == 0 {
		return p.from, p.to
	}
	from, to = p.minute(of.begin), p.minute(of.begin+of.minutes)
	if of.first {
		back := p.to - p.from - p.day()
		from, to = from-back, to-back
	}
	return from, to
}

// requests returns the number of requests of a plan.
func (p *program) requests(of *plan, records int) int {
	n := int64(records) * int64(of.share)
	if of.minutes == 0 {
		return int(n / shareOf)
	}
	return int(muldiv(n, p.day(), (p.to-p.from)*shareOf))
}

// placeIncidents adds the harm that attacks do to origins, and the outage of the scene. An origin withstands the first
// sixth of an attack.
func (p *program) placeIncidents(scene *Scene) {
	for i := range scene.attacks {
		of := &scene.attacks[i]
		if of.harm == Unharmed {
			continue
		}
		from, to := p.window(of)
		for _, host := range of.hosts {
			p.incidents = append(p.incidents, incident{
				from: from + (to-from)/6, to: to, host: host, failing: of.harm == Failing,
			})
		}
	}
	if o := scene.outage; o != nil {
		p.incidents = append(p.incidents, incident{
			from: p.minute(o.begin), to: p.minute(o.begin + o.minutes), host: o.host, failing: o.failing,
		})
	}
}

func (p *program) incidentAt(ms int64, host int) *incident {
	for i := range p.incidents {
		if in := &p.incidents[i]; in.host == host && ms >= in.from && ms < in.to {
			return in
		}
	}
	return nil
}

func (p *program) next(*source) moment {
	first := p.flows[0]
	for _, f := range p.flows[1:] {
		if f.at < first.at {
			first = f
		}
	}
	m := moment{ms: first.at}
	if first.plan != nil {
		m.flow = first
	}
	first.advance()
	return m
}

// place distributes n requests over the time of the flow. The requests are independent of each other, so the numbers of
// requests per minute vary as in real traffic.
func (f *flow) place(n int, weight func(ms int64) uint64) {
	f.slots = make([]uint32, min(max((f.to-f.from)/1000, 1), maxSlots))
	weights := make([]uint64, len(f.slots))
	for i := range weights {
		weights[i] = weight(f.startOf(i))
	}
	bySlot := newAlias(weights)
	for range n {
		f.slots[bySlot.draw(&f.random)]++
	}
	f.slot, f.drawn = 0, 0
	f.advance()
}

func (f *flow) startOf(slot int) int64 {
	return f.from + muldiv(f.to-f.from, int64(slot), int64(len(f.slots)))
}

// advance sets the time of the next request.
func (f *flow) advance() {
	for f.slot < len(f.slots) && f.drawn == int(f.slots[f.slot]) {
		f.slot, f.drawn = f.slot+1, 0
	}
	if f.slot == len(f.slots) {
		f.at = math.MaxInt64
		return
	}
	begin := f.startOf(f.slot)
	length := f.startOf(f.slot+1) - begin
	f.at = begin + (length*int64(f.drawn)+int64(f.random.below(int(length))))/int64(f.slots[f.slot])
	f.drawn++
}

// The intervals of paused and pulsed attacks.
const (
	pausedEvery, pausedFor = 30 * minuteMs, 10 * minuteMs
	pulsedEvery, pulsedFor = 10 * minuteMs, minuteMs / 2
)

// weight returns the rate of a plan at an instant.
func (of *plan) weight(p *program) func(ms int64) uint64 {
	begin, end := p.window(of)
	return func(ms int64) uint64 {
		into := muldiv(max(ms-begin, 0), dayMs, p.day()) // as in a period of a day and more
		switch of.shape {
		case Rising:
			return 5 + uint64(100*(ms-begin)/max(end-begin, 1))
		case Paused:
			return one(into%pausedEvery < pausedFor)
		case Pulsed:
			return one(into%pulsedEvery < pulsedFor)
		}
		switch {
		case of.kind.byPeople(): // most come at once
			perMille := 1000 * (ms - begin) / max(end-begin, 1)
			return uint64(min(8*perMille, 1000-perMille) + 1)
		case of.minutes == 0:
			return rateAt(ms) * weekAt(ms) / 100
		}
		return 1
	}
}

func one(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// ordinaryWeight returns the rate of the ordinary requests at an instant. It varies from minute to minute and from ten
// minutes to the next.
func (p *program) ordinaryWeight(s *surge, random source) func(ms int64) uint64 {
	minute, ten := int64(math.MinInt64), int64(math.MinInt64)
	var byMinute, byTen uint64
	return func(ms int64) uint64 {
		if now := ms / minuteMs; now != minute {
			minute, byMinute = now, uint64(random.between(90, 110))
		}
		if now := ms / (10 * minuteMs); now != ten {
			ten, byTen = now, uint64(random.between(93, 107))
		}
		weight := rateAt(ms) * weekAt(ms) / 100 * byMinute / 100 * byTen / 100
		if s != nil && ms >= p.minute(s.begin) && ms < p.minute(s.begin+s.minutes) {
			weight = weight * uint64(s.percent) / 100
		}
		return weight
	}
}

// rateByDay is the rate at noon UTC of each day of the week in per cent, from Thursday, the day of the Unix epoch.
var rateByDay = [7]int64{104, 99, 72, 66, 100, 104, 106}

// weekAt returns the rate of the day of the week in per cent.
func weekAt(ms int64) uint64 {
	const week = 7 * dayMs
	sinceNoon := ((ms-dayMs/2)%week + week) % week
	day, within := sinceNoon/dayMs, sinceNoon%dayMs
	return uint64((rateByDay[day]*(dayMs-within) + rateByDay[(day+1)%7]*within) / dayMs)
}
