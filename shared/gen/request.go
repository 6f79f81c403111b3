package gen

import (
	"net/url"
	"strconv"
	"strings"
)

// request is the record that is being generated. Method ask sets the request of the client, decide the decision of the
// gateway, deliver the response. A Generator reuses one request for all records.
type request struct {
	moment

	// set by ask
	client   *client
	host     int
	path     *path
	method   string
	query    []byte // as received, with its question mark; empty if there is none
	args     []byte // the members of arguments, as JSON
	argCount int
	agent    string   // the header User-Agent; "" if absent
	referer  string   // the header Referer; "" if absent
	payload  *payload // of an attack; nil for none

	// set by decide
	stage         int // the stage at which processing ended
	result        string
	rule          *rule   // the rule that blocked or challenged; nil for none
	change        *change // the change of the settings without which it would not block; nil for none
	monitors      []*rule
	challenge     bool
	ichallenge    bool
	challengeType string
	blocked       bool

	// set by deliver
	status    int
	bytesSent int
	length    int
	svcUs     int
	originUs  int // valid if there were attempts
	attempts  []attempt
}

// attempt is one request to an origin.
type attempt struct {
	addr   int // number from which the address is made
	us     int // response time in microseconds
	status int
}

// The stages at which processing can end.
const (
	stageGlobalFilter = 2
	stageRateLimit    = 3
	stageACL          = 4
	stageContent      = 5
	stageOrigin       = 6
)

func (r *request) reset(now moment) {
	*r = request{moment: now, query: r.query[:0], args: r.args[:0], monitors: r.monitors[:0], attempts: r.attempts[:0]}
}

// tally returns the tally of the attack to which the request belongs, or nil.
func (r *request) tally() *tally {
	switch {
	case r.burst != nil:
		return r.burst.tally
	case r.flow != nil:
		return r.flow.tally
	}
	return nil
}

// ask sets the request of the client.
func (g *Generator) ask(r *request) {
	s, w := &g.random, g.world
	if r.burst != nil {
		r.client = w.client(clientCount + (r.burst.first+s.below(150))%botnetSize)
		r.host = r.burst.host
		r.agent = r.client.agent
		g.attack(r)
		return
	}
	if r.flow != nil {
		g.send(r)
		return
	}
	once := g.tail > 0 && s.below(100) < g.tail
	if len(g.sessions) > 0 && !once {
		at := g.session()
		r.client, r.host = at.client, at.host
	} else {
		if !once {
			r.client = w.client(w.byClient.draw(s))
		}
		r.host = w.byHost.draw(s)
	}
	if once {
		r.client, r.path = w.newcomer(g.once)
		g.once++
	} else {
		r.path = w.path(w.byPath.draw(s))
	}
	if once || !s.oneIn(60) {
		r.agent = r.client.agent
	}
	switch v := s.below(100); {
	case v < 84 || r.path.asset || r.client.kind == goodBot:
		r.method = "GET"
	case v < 96:
		r.method = "POST"
	case v < 97:
		r.method = "HEAD"
	case v < 98:
		r.method = "PUT"
	case v < 99:
		r.method = "DELETE"
	default:
		r.method = "OPTIONS"
	}
	if r.client.kind == human && s.below(100) < 52 {
		r.referer = w.referer(w.byReferer.draw(s))
	}
	if s.oneIn(600) || r.client.kind == badBot && s.oneIn(30) {
		r.carry(g.anyPayload())
		return
	}
	if s.below(100) >= 37 {
		return
	}
	first := s.below(len(pathWords))
	for i := range s.between(1, 3) {
		name := pathWords[(first+i*17)%len(pathWords)]
		if s.oneIn(3) {
			r.addArg(name, pick(s, pathWords))
			continue
		}
		var digits [8]byte
		r.addArg(name, string(strconv.AppendInt(digits[:0], int64(s.below(3000)), 10)))
	}
}

func (g *Generator) anyPayload() *payload { return &payloads[g.random.below(len(payloads))] }

// carry adds a payload to the request. Payloads in cookies and other headers are added when these sections are written.
func (r *request) carry(p *payload) {
	r.payload = p
	switch {
	case p.path != nil:
		r.path = p.path
	case p.section == "args":
		r.startArg(p.name)
		r.query = append(r.query, p.encoded...)
		r.addBodyArg(p.name, p.value)
	case p.name == "referer":
		r.referer = p.value
	case p.name == "user-agent":
		r.agent = p.value
	}
}

// addArg adds an argument that needs no escaping to the query.
func (r *request) addArg(name, value string) {
	r.startArg(name)
	r.query = append(r.query, value...)
	r.addBodyArg(name, value)
}

func (r *request) startArg(name string) {
	if len(r.query) == 0 {
		r.query = append(r.query, '?')
	} else {
		r.query = append(r.query, '&')
	}
	r.query = append(append(r.query, name...), '=')
}

// addBodyArg adds an argument that is not in the query.
func (r *request) addBodyArg(name, value string) {
	if r.argCount > 0 {
		r.args = append(r.args, ',')
	}
	r.args = appendMember(r.args, name, value)
	r.argCount++
}

// attackKind is the kind of an attack.
type attackKind int

const (
	stuffing attackKind = iota
	scraping
	injection
	flood
	attackKinds
)

var kindOf = [attackKinds]Kind{stuffing: Guessing, scraping: Scraping, injection: Injection, flood: Flood}

// host returns a random host for a burst to attack: one with the plain name of a brand.
func (k attackKind) host(s *source) int { return s.below(len(brands)) }

// payload is one probe of the injection scan.
type payload struct {
	section, name, value string // the section and name with the value
	category             string
	rule                 rule // the rule of the content filter that finds it

	encoded string // the value, encoded for the query
	path    *path  // nil unless the payload is a path
}

var (
	loginTarget  = newPath(loginPath)
	searchTarget = newPath(searchPath)
)

// attack sets the request of a member of the botnet.
func (g *Generator) attack(r *request) {
	s := &g.random
	r.method = "GET"
	switch r.burst.kind {
	case stuffing:
		r.method, r.path = "POST", loginTarget
		user := s.below(4000)
		r.addBodyArg("username", pathWords[user%len(pathWords)]+strconv.Itoa(user)+"@mail.example")
		r.addBodyArg("password", "MASKED{"+strconv.Itoa(1000+s.below(400))+"}")
	case scraping:
		r.path = g.world.path(len(frontPages) + s.below(3000))
		if s.oneIn(3) {
			r.addArg("page", strconv.Itoa(1+s.below(40)))
		}
	case injection:
		if s.oneIn(3) {
			r.agent = scanners[r.burst.first%len(scanners)]
		}
		r.path = g.world.path(s.below(50))
		r.carry(g.anyPayload())
	case flood:
		r.path = searchTarget
		if s.oneIn(3) {
			r.path = g.world.path(0)
		}
		r.addArg("q", strconv.Itoa(s.below(20_000))) // so that no cache has the answer
	}
}

// escapeQuery encodes a value for a query as scanners do.
func escapeQuery(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}
