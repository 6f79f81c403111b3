package gen

import (
	"strconv"
	"strings"
)

// client returns the client of the next request of the flow.
func (f *flow) client(g *Generator) *client {
	if f.clients == nil {
		f.clients = make([]*client, f.plan.crew.size(f.total))
	}
	i := f.index(&g.random)
	if f.clients[i] == nil {
		if f.plan.kind.byPeople() {
			f.clients[i] = g.visitor()
		} else {
			f.clients[i] = f.plan.crew.client(g.world, f.stream, i)
		}
	}
	return f.clients[i]
}

// index returns the index of the client of the next request. Some clients send more than others.
func (f *flow) index(s *source) int {
	n, first := len(f.clients), 0
	if f.plan.crew.rotating {
		n = max(n/6, 1)
		first = (len(f.clients) - n) * f.sent / max(f.total, 1)
	}
	return first + min(s.below(n), s.below(n))
}

// visitor returns a person who takes part in an event.
func (g *Generator) visitor() *client {
	for {
		if c := g.anyone(); c.kind == human {
			return c
		}
	}
}

// anyone returns a client of the ordinary traffic of a scene. A third are new.
func (g *Generator) anyone() *client {
	if g.random.oneIn(3) {
		s := newSource(g.world.seed, streamNewcomers+uint64(g.once))
		g.once++
		return g.world.clientFrom(&s, false)
	}
	return g.world.client(g.world.byClient.draw(&g.random))
}

// session is a series of requests of one client at one host.
type session struct {
	client *client
	host   int
}

const (
	sessionLength = 8     // average number of requests
	sessionsPer   = 2_300 // requests of a day per simultaneous session, so that a session takes some minutes
)

// session returns the session of the next ordinary request of a scene.
func (g *Generator) session() session {
	at := &g.sessions[g.random.below(len(g.sessions))]
	if at.client == nil || g.random.oneIn(sessionLength) {
		*at = session{g.anyone(), g.world.byHost.draw(&g.random)}
	}
	return *at
}

// size returns the number of addresses that send a number of requests.
func (c *crew) size(requests int) int {
	if c.each == 0 {
		return 1
	}
	return max(requests/c.each, 1)
}

// client makes the i-th client of the crew.
func (c *crew) client(w *world, stream uint64, i int) *client {
	s := newSource(w.seed, stream+uint64(i))
	shared := newSource(w.seed, stream+1<<23) // the same for all clients of the crew
	made := &client{kind: c.kind}
	switch {
	case c.subnet:
		made.network = w.hosting(&shared)
	case c.networks > 0:
		made.network = w.network(shared.below(60) + s.below(c.networks))
	default:
		made.network = w.network(w.byNetwork.draw(&s))
	}
	w.complete(made, &s)
	if c.subnet {
		prefix := strconv.Itoa(shared.between(41, 95)) + "." + strconv.Itoa(shared.below(256)) + "."
		made.ip = prefix + strconv.Itoa(shared.below(200)+i/254) + "." + strconv.Itoa(1+i%254)
		made.render(&s)
	}
	if len(c.agents) > 0 {
		made.agent = pick(&s, c.agents)
	}
	return made
}

// hosting returns a network of servers.
func (w *world) hosting(s *source) *network {
	for {
		if n := w.network(s.below(400)); n.kind >= firstHosting {
			return n
		}
	}
}

// send sets the request of a client of a flow.
func (g *Generator) send(r *request) {
	s, f := &g.random, r.flow
	of := f.plan
	r.client = f.client(g)
	f.sent++
	r.agent = r.client.agent
	r.host = pick(s, of.hosts)
	r.method = "GET"
	switch of.kind {
	case Guessing:
		r.path = of.target(loginTarget)
		if s.oneIn(12) {
			return // the form
		}
		r.method = "POST"
		user := s.below(4000)
		r.addBodyArg("username", pathWords[user%len(pathWords)]+strconv.Itoa(user)+"@mail.example")
		r.addBodyArg("password", "MASKED{"+strconv.Itoa(1000+s.below(400))+"}")
	case Scraping:
		if of.path != "" {
			r.path = newPath(of.path + "/" + strconv.Itoa(100_000+f.sent))
			return
		}
		r.path = g.world.path(len(frontPages) + s.below(3000))
		if s.oneIn(3) {
			r.addArg("page", strconv.Itoa(1+s.below(40)))
		}
	case Scan:
		if s.oneIn(8) {
			r.carry(&payloads[firstProbe+s.below(len(payloads)-firstProbe)])
			return
		}
		r.path = newPath("/" + pick(s, pathWords) + pick(s, scanEndings))
		if s.oneIn(3) {
			r.path = newPath("/" + pick(s, pathWords) + r.path.text)
		}
	case Injection:
		r.path = of.target(g.world.path(s.below(50)))
		r.carry(&payloads[s.below(firstProbe)])
	case Flood:
		r.path = of.target(searchTarget)
		if !s.oneIn(4) {
			r.addArg("q", strconv.Itoa(s.below(20_000))) // so that no cache has the answer
		}
	case visit:
		r.path = g.world.path(pick(s, landing))
		if s.oneIn(3) {
			r.path = of.target(r.path)
		}
		if s.oneIn(2) {
			r.referer = g.world.referer(g.world.byReferer.draw(s))
		}
	case login:
		r.method, r.path = "POST", loginTarget
		r.referer = "https://" + g.world.hosts[r.host].name + loginPath
	case poll:
		r.path = of.target(nil)
	case missing:
		r.path = of.target(nil)
		r.referer = "https://" + g.world.hosts[r.host].name + "/"
	case crawl:
		r.path = g.world.path(g.world.byPath.draw(s))
		if s.oneIn(200) {
			r.path = robots
		}
	}
}

// target returns the path of the plan, or another if it has none.
func (of *plan) target(otherwise *path) *path {
	if of.path == "" {
		return otherwise
	}
	return newPath(of.path)
}

// scanEndings lists the ends of paths that scanners try.
var scanEndings = strings.Fields("/.env .bak .old .zip .sql .php ~ /admin /backup.tar.gz /config.json /.git/HEAD " +
	"/id_rsa .yml.bak /console /debug /phpinfo.php /web.config .swp")

var robots = newPath("/robots.txt")

// landing lists the front pages that people see first.
var landing = []int{0, 0, 0, 3, 4, 5, 6, 6, 7, 7, 8}

// judge sets the decision about a request of an attack.
func (g *Generator) judge(r *request) {
	switch by := g.verdictOn(r); {
	case by == nil:
	case by == &challengeRule:
		r.challengeScript()
	case by.status == 0:
		r.monitors, r.result = append(r.monitors, by), "Monitored"
	default:
		r.block(by)
	}
}

// verdictOn returns the rule that applies to a request of an attack, or nil.
func (g *Generator) verdictOn(r *request) *rule {
	v := g.random.below(1000)
	for _, verdict := range r.flow.plan.gateway {
		switch {
		case verdict.rule == nil && r.payload == nil:
		case v >= verdict.perMille:
			v -= verdict.perMille
		case verdict.rule == nil:
			return &r.payload.rule
		default:
			return verdict.rule
		}
	}
	return nil
}

// attackStatus returns the status with which a healthy origin answers a request of a flow, or 0 for any.
func (g *Generator) attackStatus(r *request) int {
	v := g.random.below(1000)
	switch r.flow.plan.kind {
	case Guessing:
		switch {
		case r.method == "GET":
			return 200
		case v < 985:
			return 401
		}
	case Scan:
		switch {
		case v < 950:
			return 404
		case v < 975:
			return 403
		}
	case login:
		if v < 150 {
			return 401
		}
		return 302
	case missing:
		return 404
	case crawl, poll:
		if v < 960 {
			return 200
		}
	}
	return 0
}
