// Package recordtest generates log lines like those of a busy site, for tests and benchmarks of storage.
package recordtest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Lines returns n records of about 2.6 kB each, whose times are spread evenly from start over the given duration. Equal
// arguments yield equal lines. Addresses, paths, agents and referers repeat as on real sites, and about one record in
// six is blocked early.
func Lines(n int, start time.Time, over time.Duration) [][]byte {
	s := newSite(rand.New(rand.NewPCG(1, 2)))
	lines := make([][]byte, n)
	for i := range lines {
		line, err := json.Marshal(s.request(start.Add(over * time.Duration(i) / time.Duration(n)).UTC()))
		if err != nil {
			panic(err) // impossible: the struct has only plain values
		}
		lines[i] = line
	}
	return lines
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type attempt struct {
	Addr         string  `json:"addr"`
	ResponseTime float64 `json:"response_time"`
	Status       int     `json:"status"`
}

type trigger struct {
	Action      string `json:"action"`
	Extra       string `json:"extra"`
	Name        string `json:"name"`
	RiskLevel   int    `json:"risk_level"`
	RuleID      string `json:"ruleid"`
	Section     string `json:"section"`
	TriggerID   string `json:"trigger_id"`
	TriggerName string `json:"trigger_name"`
	Value       string `json:"value"`
}

type request struct {
	Timestamp     string         `json:"timestamp"`
	TimePeriod    int64          `json:"time_period"`
	RequestID     string         `json:"request_id"`
	IP            string         `json:"ip"`
	Host          string         `json:"host"`
	Hostname      string         `json:"hostname"`
	Authority     string         `json:"authority"`
	Method        string         `json:"method"`
	Path          string         `json:"path"`
	Query         *string        `json:"query,omitempty"`
	URL           string         `json:"url"`
	Protocol      string         `json:"protocol"`
	Port          string         `json:"port"`
	Version       string         `json:"version"`
	Branch        string         `json:"branch"`
	Country       string         `json:"country"`
	GeoRegion     string         `json:"geo_region"`
	ASN           string         `json:"asn"`
	Organization  string         `json:"organization"`
	UserAgent     string         `json:"user_agent"`
	Referer       *string        `json:"referer,omitempty"`
	Session       string         `json:"session"`
	Result        string         `json:"result"`
	Reason        *string        `json:"reason,omitempty"`
	Status        int            `json:"status"`
	BytesSent     int64          `json:"bytes_sent"`
	RequestLength int64          `json:"request_length"`
	RequestTime   float64        `json:"request_time"`
	SvcLatency    int64          `json:"svc_latency"`
	OriginTime    *float64       `json:"upstream_response_time"`
	OriginStatus  []int          `json:"upstream_status,omitempty"`
	OriginAddr    []string       `json:"upstream_addr,omitempty"`
	Attempts      []attempt      `json:"upstream_data,omitempty"`
	Blocked       bool           `json:"blocked"`
	Bot           bool           `json:"bot"`
	Human         bool           `json:"human"`
	Challenge     bool           `json:"challenge"`
	IChallenge    bool           `json:"ichallenge"`
	Monitor       bool           `json:"monitor"`
	Stage         int            `json:"processing_stage"`
	Headers       []pair         `json:"headers"`
	Cookies       []pair         `json:"cookies,omitempty"`
	Arguments     []pair         `json:"arguments,omitempty"`
	PathParts     []pair         `json:"path_parts"`
	Tags          []string       `json:"tags"`
	Counters      map[string]int `json:"trigger_counters"`
	Config        map[string]any `json:"security_config"`
	CFTriggers    []trigger      `json:"cf_triggers,omitempty"`
	Profiling     []pair         `json:"profiling"`
	Proxy         []pair         `json:"proxy"`
}

type client struct {
	ip, country, region, asn, org, agent, session, svcid string
	bot                                                  bool
}

type site struct {
	r                      *rand.Rand
	hosts, paths, referers []string
	clients                []client
	zClient, zPath, zHost  *rand.Zipf
	zReferer               *rand.Zipf
}

// words are the words of paths, hosts and names.
var words = strings.Fields(`
	account api app assets auth basket blog cart catalog checkout client cloud config css data download edit
	event feed file form gallery group help image index item language list login media menu message news order
	page partner pay photo post price product profile search shop status store support team ticket upload user
	video widget`)

// chrome is the format of a User-Agent header with three parts of the version.
const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
	"Chrome/%d.0.%d.%d Safari/537.36"

func newSite(r *rand.Rand) *site {
	zipf := func(s, v float64, n int) *rand.Zipf { return rand.NewZipf(r, s, v, uint64(n-1)) }
	s := &site{
		r:        r,
		hosts:    make([]string, 40),
		paths:    make([]string, 20_000),
		referers: make([]string, 5_000),
		clients:  make([]client, 60_000),
		zClient:  zipf(1.1, 40, 60_000),
		zPath:    zipf(1.12, 10, 20_000),
		zHost:    zipf(1.3, 2, 40),
		zReferer: zipf(1.15, 4, 5_000),
	}
	for i := range s.hosts {
		s.hosts[i] = s.word() + strconv.Itoa(i) + ".example.com"
	}
	for i := range s.paths {
		for range 1 + r.IntN(4) {
			s.paths[i] += "/" + s.word()
		}
		if r.IntN(2) == 0 {
			s.paths[i] += "/" + strconv.Itoa(r.IntN(100_000))
		}
	}
	for i := range s.referers {
		s.referers[i] = "https://" + s.hosts[i%len(s.hosts)] + s.paths[i]
	}
	agents, organizations := zipf(1.15, 5, 2_500), zipf(1.2, 8, 3_000)
	for i := range s.clients {
		org, agent := int(organizations.Uint64()), int(agents.Uint64())
		c := client{
			ip:      fmt.Sprintf("%d.%d.%d.%d", 1+r.IntN(222), r.IntN(256), r.IntN(256), 1+r.IntN(254)),
			country: "Country " + strconv.Itoa(int(math.Sqrt(float64(org)))), region: "R" + strconv.Itoa(r.IntN(30)),
			asn: "AS" + strconv.Itoa(1_000+org*7), org: words[org%len(words)] + " Networks " + strconv.Itoa(org),
			agent:   fmt.Sprintf(chrome, 90+agent%50, 4_000+agent, agent%200),
			session: s.hex(32), svcid: s.hex(24), bot: r.IntN(12) == 0,
		}
		if c.bot {
			c.agent = "python-requests/2." + strconv.Itoa(agent%30) + ".0"
		}
		s.clients[i] = c
	}
	return s
}

func (s *site) word() string { return words[s.r.IntN(len(words))] }

func (s *site) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[s.r.IntN(16)]
	}
	return string(b)
}

// request generates a request at time t.
func (s *site) request(t time.Time) *request {
	r := s.r
	c := &s.clients[s.zClient.Uint64()]
	host, path := s.hosts[s.zHost.Uint64()], s.paths[s.zPath.Uint64()]
	x := &request{
		Timestamp: t.Format("2006-01-02T15:04:05.000Z"), TimePeriod: t.Unix(), RequestID: s.hex(32),
		IP: c.ip, Host: host, Hostname: host, Authority: host, Method: "GET", Path: path, URL: host + path,
		Protocol: "HTTP/2.0", Port: "443", Version: "5.3.1", Branch: "prod", Country: c.country, GeoRegion: c.region,
		ASN: c.asn, Organization: c.org, UserAgent: c.agent, Session: c.session, Result: "Passed", Status: 200,
		Stage: 6, Bot: c.bot, Human: !c.bot,
		BytesSent:     int64(300 + math.Exp(r.NormFloat64()*1.3+8)),
		RequestLength: int64(300 + r.IntN(1_500)),
		SvcLatency:    int64(80 + r.IntN(900)),
		Counters:      map[string]int{"acl": 0, "cf": 0, "cf_restrict": 0, "dr": 0, "gf": 0, "rl": 0},
	}
	if r.IntN(7) == 0 {
		x.Method = "POST"
	}
	s.addArguments(x)
	s.addHeaders(x, c)
	for i, part := range strings.Split(path[1:], "/") {
		x.PathParts = append(x.PathParts, pair{"part" + strconv.Itoa(i+1), part})
	}
	x.PathParts = append(x.PathParts, pair{"path", path})
	origin := math.Round(math.Exp(r.NormFloat64()*.9-3)*1e6) / 1e6
	if r.IntN(6) == 0 {
		s.block(x)
	} else {
		s.answer(x, origin)
	}
	x.RequestTime = math.Round(origin*1e6+float64(x.SvcLatency)) / 1e6
	entry, policy := "e"+strconv.Itoa(len(path)%7), "sp"+strconv.Itoa(len(host)%5)
	x.Config = map[string]any{
		"acl_active":    true,
		"cf_active":     true,
		"cf_rules":      1800,
		"gf_rules":      64,
		"revision":      "9f2c1d7",
		"rl_rules":      12,
		"secpolentryid": entry,
		"secpolid":      policy,
	}
	x.Profiling = []pair{{"secpol", policy}, {"acl", "acl1"}}
	x.Proxy = []pair{
		{"realip", c.ip},
		{"ssl_protocol", "TLSv1.3"},
		{"ssl_cipher", "TLS_AES_128_GCM_SHA256"},
		{"geo_lat", strconv.Itoa(len(c.org) * 3)},
	}
	s.addTags(x, c, entry)
	return x
}

func (s *site) addArguments(x *request) {
	if s.r.IntN(10) >= 4 {
		return
	}
	query := "?"
	for range 1 + s.r.IntN(3) {
		a := pair{s.word(), strconv.Itoa(s.r.IntN(3_000))}
		x.Arguments = append(x.Arguments, a)
		query += "&" + a.Name + "=" + a.Value
	}
	query = strings.Replace(query, "?&", "?", 1)
	x.Query = &query
}

func (s *site) addHeaders(x *request, c *client) {
	x.Headers = []pair{
		{"host", x.Host},
		{"user-agent", c.agent},
		{"accept", "text/html,application/xhtml+xml,*/*;q=0.8"},
		{"accept-encoding", "gzip, deflate, br"},
	}
	if !c.bot {
		x.Headers = append(x.Headers, pair{"accept-language", "en-US,en;q=0.9"})
	}
	if s.r.IntN(2) == 0 {
		referer := s.referers[s.zReferer.Uint64()]
		x.Referer = &referer
		x.Headers = append(x.Headers, pair{"referer", referer})
	}
	if s.r.IntN(4) == 0 {
		x.Headers = append(x.Headers, pair{"x-forwarded-for", s.clients[s.zClient.Uint64()].ip})
	}
	if x.Method == "POST" {
		x.Headers = append(x.Headers,
			pair{"content-type", "application/x-www-form-urlencoded"},
			pair{"content-length", strconv.Itoa(20 + s.r.IntN(800))},
		)
	}
	if s.r.IntN(10) < 7 {
		x.Cookies = []pair{{"svcid", c.svcid}, {"svcsessionid", c.session}}
		if s.r.IntN(2) == 0 {
			x.Cookies = append(x.Cookies, pair{"_ga", "GA1.2." + strconv.Itoa(s.r.IntN(1<<30))})
		}
	}
}

func (s *site) block(x *request) {
	k := s.r.IntN(12)
	reason := "Block - content filter - rule" + strconv.Itoa(k) + " - [request]"
	x.Blocked, x.Result, x.Status, x.Stage, x.Reason = true, "Blocked", 403, 2+s.r.IntN(4), &reason
	x.BytesSent = int64(180 + s.r.IntN(60))
	x.Counters["cf"] = 1
	x.CFTriggers = []trigger{{
		Action:      "custom",
		Name:        "q",
		RiskLevel:   1 + k%5,
		RuleID:      strconv.Itoa(100_000 + k),
		Section:     "args",
		TriggerID:   "cf" + strconv.Itoa(k),
		TriggerName: "content filter " + strconv.Itoa(k),
		Value:       "1' OR 1=1--",
	}}
}

func (s *site) answer(x *request, origin float64) {
	switch q := s.r.IntN(1_000); {
	case q < 30:
		x.Status = 304
	case q < 80:
		x.Status = 404
	case q < 122:
		x.Status = 500
	}
	address := "10.0.0." + strconv.Itoa(10+s.r.IntN(6)) + ":8080"
	x.OriginTime, x.OriginStatus, x.OriginAddr = &origin, []int{x.Status}, []string{address}
	x.Attempts = []attempt{{address, origin, x.Status}}
}

func (s *site) addTags(x *request, c *client, entry string) {
	x.Tags = []string{
		"all",
		"geo-country:" + c.country,
		"geo-asn:" + c.asn,
		"geo-org:" + c.org,
		"ip:" + c.ip,
		"host:" + x.Host,
		"method:" + x.Method,
		"securitypolicy:default",
		"securitypolicy-entry:" + entry,
		"status:" + strconv.Itoa(x.Status),
		"status-class:" + strconv.Itoa(x.Status/100) + "xx",
		"aclid:acl1",
		"contentfilterid:cf1",
		"protocol:h2",
		"args:" + strconv.Itoa(len(x.Arguments)),
		"cookies:" + strconv.Itoa(len(x.Cookies)),
		"headers:" + strconv.Itoa(len(x.Headers)),
	}
	if c.bot {
		x.Tags = append(x.Tags, "bot", "bot-kind:script")
	} else {
		x.Tags = append(x.Tags, "human")
	}
	if x.Blocked {
		x.Tags = append(x.Tags, "blocked", "action:deny")
	}
}
