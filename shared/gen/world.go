package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The numbers of clients, paths and so on. A million requests use most of them.
const (
	clientCount  = 60_000
	botnetSize   = 500
	pathCount    = 24_000
	agentCount   = 3_000
	refererCount = 6_500
	networkCount = 3_000
)

// world contains the clients that send requests, and the hosts and paths that they request. Each of them is made when
// first drawn, from its own stream of random numbers, so that a small data set costs little and has the same clients
// and paths as a large one.
type world struct {
	seed uint64

	hosts    []host
	clients  []*client // the ordinary clients, then the botnet
	networks []*network
	agents   []*agent
	paths    []*path
	referers []string

	byClient, byHost, byPath, byReferer, byNetwork, byAgent, byCountry *zipf
}

type host struct {
	name   string
	brand  string // also the name of the policy that protects the host
	static bool
}

type network struct {
	asn, name, tag string
	kind           int // index of networkTypes
	country        *country
}

type agent struct {
	text   string
	mobile bool
}

type path struct {
	text  string
	parts string // the field path_parts, as JSON
	entry string // the entry of the security policy that protects it
	asset bool   // an image, a script or another static file
}

type client struct {
	ip                   string
	kind                 clientKind
	network              *network
	region               string
	agent                string
	mobile               bool
	language             string
	session, svcid, gaID string
	noCookies            bool
	branch               string
	protocol             string
	fingerprint          string
	analytics            bool   // has the cookie _ga
	identified           bool   // has session_ids
	place, tags, proxy   string // the constant parts of its records, as JSON
}

type clientKind uint8

const (
	human clientKind = iota
	goodBot
	badBot
	zombie // a member of the botnet
)

func newWorld(seed uint64, uniform bool) *world {
	drawn := newZipf
	if uniform {
		drawn = func(n, _, _ int) *zipf { return newAlias(slices.Repeat([]uint64{1}, n)) }
	}
	w := &world{
		seed:      seed,
		clients:   make([]*client, clientCount+botnetSize),
		networks:  make([]*network, networkCount),
		agents:    make([]*agent, agentCount),
		paths:     make([]*path, pathCount),
		referers:  make([]string, refererCount),
		byClient:  drawn(clientCount, 40, 1),
		byHost:    newZipf(len(brands)*len(subdomains), 2, 2),
		byPath:    drawn(pathCount, 10, 1),
		byReferer: drawn(refererCount, 4, 1),
		byNetwork: newZipf(networkCount, 8, 2),
		byAgent:   drawn(agentCount, 5, 1),
		byCountry: newZipf(len(countries), 3, 2),
	}
	for _, sub := range subdomains {
		for _, brand := range brands {
			w.hosts = append(w.hosts, host{name: sub + brand + ".example", brand: brand, static: sub == "static."})
		}
	}
	return w
}

func (w *world) client(i int) *client {
	if w.clients[i] == nil {
		w.clients[i] = w.makeClient(i)
	}
	return w.clients[i]
}

func (w *world) makeClient(i int) *client {
	s := newSource(w.seed, streamClients+uint64(i))
	return w.clientFrom(&s, i >= clientCount)
}

// newcomer returns a client that has made no request before, and its path, which nobody has requested.
func (w *world) newcomer(i int) (*client, *path) {
	s := newSource(w.seed, streamNewcomers+uint64(i))
	c := w.clientFrom(&s, false)
	c.agent += " Build/" + strconv.Itoa(i)
	return c, newPath("/" + pick(&s, pathWords) + "/" + strconv.Itoa(i) + "-" + s.hex(8))
}

// clientFrom makes a client, which may be in the botnet.
func (w *world) clientFrom(s *source, inBotnet bool) *client {
	c := &client{network: w.network(w.byNetwork.draw(s))}
	switch {
	case inBotnet:
		c.kind = zombie
		c.network = w.network(s.below(60)) // a botnet is in few networks
	case s.oneIn(30):
		c.kind = goodBot
	case s.oneIn(20):
		c.kind = badBot
	}
	w.complete(c, s)
	return c
}

// complete sets what follows from the kind and the network of a client, or is random.
func (w *world) complete(c *client, s *source) {
	c.ip = makeAddress(s)
	c.region = c.network.country.code + "-" + strconv.Itoa(1+s.below(24))
	a := w.agent(w.byAgent.draw(s))
	switch c.kind {
	case human, zombie:
		c.agent, c.mobile = a.text, a.mobile
	case goodBot:
		c.agent = pick(s, goodBots)
	case badBot:
		c.agent = pick(s, badBots)
	}
	c.language = pick(s, languages)
	c.session, c.svcid = s.hex(32), s.hex(24)
	c.gaID = "GA1.2." + strconv.Itoa(s.between(1e8, 1e9)) + ".1767225600"
	c.noCookies = c.kind != human && !s.oneIn(3)
	c.branch, c.protocol = "prod", "HTTP/2.0"
	if s.oneIn(25) {
		c.branch = "staging"
	}
	if c.kind != human || s.oneIn(8) {
		c.protocol = "HTTP/1.1"
	}
	c.analytics, c.identified = c.session[0] < '8', c.session[0] < '4'
	c.fingerprint = "t13d" + strconv.Itoa(1500+s.below(12)) + "h2_8daaf6152771"
	c.render(s)
}

// makeAddress returns a random address that looks public. One in sixteen is IPv6.
func makeAddress(s *source) string {
	if s.oneIn(16) {
		group := func() string { return strconv.FormatInt(int64(s.between(0x1000, 0xffff)), 16) }
		return "2a0" + strconv.Itoa(s.below(10)) + ":" + group() + ":" + group() + "::" + group()
	}
	first := s.between(11, 222)
	for first == 100 || first == 127 || first == 169 || first == 172 || first == 192 || first == 198 || first == 203 {
		first = s.between(11, 222)
	}
	second, third, last := s.below(256), s.below(256), s.between(1, 254)
	return fmt.Sprintf("%d.%d.%d.%d", first, second, third, last)
}

// render sets the constant parts of the client's records.
func (c *client) render(s *source) {
	n := c.network
	b := appendMember(nil, "country", n.country.name)
	b = appendMember(append(b, ','), "geo_region", c.region)
	b = appendMember(append(b, ','), "asn", n.asn)
	b = appendMember(append(b, ','), "organization", n.name)
	c.place = string(b)

	b = append(b[:0], `"all","geo-country:`...)
	b = append(b, n.country.tag...)
	b = append(b, `","geo-asn:`...)
	b = append(b, n.asn[2:]...)
	b = append(b, `","geo-org:`...)
	b = append(b, n.tag...)
	b = append(b, `","ip:`...)
	b = append(b, strings.NewReplacer(".", "-", ":", "-").Replace(c.ip)...)
	b = append(b, '"')
	switch c.kind {
	case goodBot:
		b = append(b, `,"bot","bot-kind:crawler","verified-bot"`...)
	case badBot:
		b = append(b, `,"bot","bot-kind:script"`...)
	case zombie:
		b = append(b, `,"bot","bot-kind:automation"`...)
	default:
		b = append(b, `,"human"`...)
	}
	if c.mobile {
		b = append(b, `,"device:mobile"`...)
	} else {
		b = append(b, `,"device:desktop"`...)
	}
	if n.kind >= firstHosting {
		b = append(b, `,"geo-datacenter"`...)
	}
	if s.oneIn(40) {
		b = append(b, `,"geo-anon","geo-proxy"`...)
	}
	if s.oneIn(150) {
		b = append(b, `,"geo-tor"`...)
	}
	c.tags = string(b)

	b = appendPair(b[:0], "realip", c.ip)
	b = appendPair(append(b, ','), "ssl_protocol", "TLSv1.3")
	b = appendPair(append(b, ','), "ssl_cipher", "TLS_AES_128_GCM_SHA256")
	b = appendPair(append(b, ','), "geo_lat", strconv.Itoa(n.country.lat)+".25")
	b = appendPair(append(b, ','), "geo_long", strconv.Itoa(n.country.long)+".5")
	switch {
	case n.kind == mobileNetwork && c.mobile:
		b = appendPair(append(b, ','), "geo_mobile_carrier", n.name)
		b = appendPair(append(b, ','), "geo_mobile_country", n.country.code)
		b = appendPair(append(b, ','), "geo_mobile_mcc", strconv.Itoa(200+n.country.lat+90))
		b = appendPair(append(b, ','), "geo_mobile_mnc", "0"+n.asn[len(n.asn)-1:])
	case n.kind >= firstHosting:
		b = appendPair(append(b, ','), "geo_as_name", n.name)
		b = appendPair(append(b, ','), "geo_as_type", "hosting")
		b = appendPair(append(b, ','), "geo_company_country", n.country.code)
	}
	c.proxy = string(b)
}

func (w *world) network(i int) *network {
	if w.networks[i] == nil {
		s := newSource(w.seed, streamNetworks+uint64(i))
		n := &network{kind: s.below(firstHosting), country: &countries[w.byCountry.draw(&s)]}
		if s.oneIn(6) {
			n.kind += firstHosting
		}
		// The numbers are for private use, so that no real network appears in the data.
		if i < 1000 {
			n.asn = "AS" + strconv.Itoa(64512+i)
		} else {
			n.asn = "AS" + strconv.Itoa(4_200_000_000+i)
		}
		n.name = pick(&s, networkNames) + " " + networkTypes[n.kind]
		if i >= 40 {
			n.name += " " + strconv.Itoa(i)
		}
		n.tag = strings.ReplaceAll(strings.ToLower(n.name), " ", "-")
		w.networks[i] = n
	}
	return w.networks[i]
}

func (w *world) agent(i int) *agent {
	if w.agents[i] == nil {
		s := newSource(w.seed, streamAgents+uint64(i))
		w.agents[i] = makeAgent(&s)
	}
	return w.agents[i]
}

func makeAgent(s *source) *agent {
	major := strconv.Itoa(s.between(96, 141))
	build := strconv.Itoa(s.between(4000, 6999)) + "." + strconv.Itoa(s.below(200))
	chrome := " AppleWebKit/537.36 (KHTML, like Gecko) Chrome/" + major + ".0." + build
	switch s.below(8) {
	case 0, 1:
		ios := strconv.Itoa(s.between(13, 18))
		system, version := strconv.Itoa(s.below(8)), strconv.Itoa(s.below(8))
		return &agent{mobile: true, text: "Mozilla/5.0 (iPhone; CPU iPhone OS " + ios + "_" + system +
			" like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/" + ios + "." + version +
			" Mobile/15E148 Safari/604.1"}
	case 2, 3:
		android, model := strconv.Itoa(s.between(9, 15)), strconv.Itoa(s.between(900, 999))
		return &agent{mobile: true, text: "Mozilla/5.0 (Linux; Android " + android + "; SM-G" + model + ")" +
			chrome + " Mobile Safari/537.36"}
	case 4:
		minor := strconv.Itoa(s.below(9))
		return &agent{text: "Mozilla/5.0 (X11; Linux x86_64; rv:" + major + ".0) Gecko/20100101 " +
			"Firefox/" + major + "." + minor}
	case 5:
		return &agent{text: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + chrome + " Safari/537.36"}
	default:
		return &agent{text: "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + chrome + " Safari/537.36"}
	}
}

func (w *world) path(i int) *path {
	if w.paths[i] == nil {
		s := newSource(w.seed, streamPaths+uint64(i))
		w.paths[i] = makePath(&s, i)
	}
	return w.paths[i]
}

func makePath(s *source, i int) *path {
	var text string
	switch {
	case i < len(frontPages):
		text = frontPages[i]
	default:
		for range s.between(1, 3) {
			text += "/" + pick(s, pathWords)
		}
		if s.oneIn(2) {
			text += "/" + strconv.Itoa(s.below(100_000))
		} else if s.oneIn(4) {
			text += pick(s, []string{".js", ".css", ".png", ".webp", ".json"})
		}
	}
	return newPath(text)
}

func newPath(text string) *path {
	p := &path{text: text, entry: "default"}
	switch {
	case strings.HasPrefix(text, "/api/"):
		p.entry = "api"
	case text == loginPath || strings.HasPrefix(text, "/account") || strings.HasPrefix(text, "/auth"):
		p.entry = "login"
	case strings.HasPrefix(text, "/static/") || strings.Contains(text, "."):
		p.entry, p.asset = "static", true
	}
	b := append([]byte(nil), '{')
	if text != "/" {
		for i, part := range strings.Split(text[1:], "/") {
			b = appendMember(b, "part"+strconv.Itoa(i+1), part)
			b = append(b, ',')
		}
	}
	b = appendMember(b, "path", text)
	p.parts = string(append(b, '}'))
	return p
}

// referer returns a page with a link to a host: a search engine, or a page of one of the hosts.
func (w *world) referer(i int) string {
	if w.referers[i] == "" {
		s := newSource(w.seed, streamReferers+uint64(i))
		switch {
		case i == 0 || s.oneIn(40):
			w.referers[i] = "https://www.google.com/"
		default:
			w.referers[i] = "https://" + w.hosts[w.byHost.draw(&s)].name + w.path(w.byPath.draw(&s)).text
		}
	}
	return w.referers[i]
}
