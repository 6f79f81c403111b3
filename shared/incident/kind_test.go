package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/incident"
)

// paths returns so many paths with the same number of blocked requests.
func paths(n int, format string, each int64) incident.Field {
	f := incident.Field{Distinct: int64(n)}
	for i := range n {
		text := format
		if n > 1 {
			text = fmt.Sprintf(format, i)
		}
		f.Values = append(f.Values, incident.Value{Text: text, Requests: each, Blocked: each})
	}
	return f
}

func only(text string, n int64) incident.Field {
	return incident.Field{Distinct: 1, Values: []incident.Value{{Text: text, Requests: n, Blocked: n}}}
}

// TestKinds: the kind and the target follow from what dominates.
func TestKinds(t *testing.T) {
	total := incident.Value{Requests: 500, Blocked: 400}
	all := incident.Value{Requests: 400, Blocked: 400}
	for _, test := range []struct {
		rule   string
		signal incident.Signal
		signs  incident.Signs
		kind   incident.Kind
		prefix string
	}{
		{
			"requests of a login", incident.Stopping,
			incident.Signs{Total: total, Paths: only("/login", 400)}, incident.Guessing, "/login",
		},
		{
			"a reason that names logins", incident.Stopping,
			incident.Signs{Total: total, Paths: paths(40, "/a%d", 10), Reasons: only("rate limit [\"login\"]", 300)},
			incident.Guessing, "",
		},
		{
			"one path that denies", incident.Denying, incident.Signs{Total: all, Paths: only("/api/v2/basket", 400)},
			incident.Guessing, "/api/v2/basket",
		},
		{
			"denied everywhere", incident.Denying, incident.Signs{Total: all, Paths: paths(40, "/a%d", 10)},
			incident.Scraping, "",
		},
		{
			"payloads", incident.Stopping,
			incident.Signs{Total: total, Paths: paths(40, "/a%d", 10), Reasons: only("content filter sqli", 300)},
			incident.Injection, "",
		},
		{
			"payloads among as many requests that are blocked every day", incident.Stopping,
			incident.Signs{
				Total: incident.Value{Requests: 900, Blocked: 800}, Paths: paths(40, "/a%d", 20), Reasons: only("content filter sqli", 300),
			},
			incident.Injection, "",
		},
		{
			"queries with payloads that pass", incident.Rush,
			incident.Signs{Total: all, Paths: only("/search", 400), Probes: 200}, incident.Injection, "/search",
		},
		{
			"an agent that names a scanner", incident.Stopping,
			incident.Signs{Total: total, Paths: paths(40, "/a%d", 10), Agents: only("Nikto/2.5", 100)}, incident.Scan, "",
		},
		{
			"many paths that are missing", incident.Missed,
			incident.Signs{Total: all, Paths: paths(80, "/old/%d.html", 5)}, incident.Scan, "/old",
		},
		{
			"one path", incident.Rush, incident.Signs{Total: all, Paths: only("/api/v1/items/9/reviews", 400)}, incident.Flood,
			"/api/v1/items",
		},
		{
			"two paths", incident.Stopping, incident.Signs{Total: total, Paths: paths(2, "/a%d", 200)}, incident.Flood, "",
		},
		{
			"many paths", incident.Stopping, incident.Signs{Total: total, Paths: paths(80, "/items/%d", 5)}, incident.Scraping,
			"/items",
		},
		{
			"some paths", incident.Stopping, incident.Signs{Total: total, Paths: paths(10, "/a%d", 40)}, incident.Unusual, "",
		},
		{
			"the root", incident.Stopping, incident.Signs{Total: total, Paths: only("/", 400)}, incident.Flood, "",
		},
		{
			"paths that are usual do not count", incident.Stopping, incident.Signs{
				Total: incident.Value{Requests: 900, Blocked: 800},
				Paths: incident.Field{Distinct: 2, Values: []incident.Value{
					{Text: "/login", Requests: 420, Blocked: 400}, {Text: "/", Requests: 400, Blocked: 400},
				}},
				Usual: []incident.Value{{Text: "/", Requests: 9000, Blocked: 9000}},
			}, incident.Guessing, "/login",
		},
	} {
		t.Run(test.rule, func(t *testing.T) {
			e := incident.Episode{Host: shop, Signal: test.signal, Excess: 400, Ratio: 900}
			if f, _ := incident.New(e, test.signs); f.Kind != test.kind || f.Prefix != test.prefix {
				t.Errorf("%s at %q", f.Kind, f.Prefix)
			}
		})
	}
}

// TestDismissed: an episode is no incident if crawlers, people or a missing file explain it.
func TestDismissed(t *testing.T) {
	const google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	for _, test := range []struct {
		rule      string
		signal    incident.Signal
		signs     incident.Signs
		dismissed bool
		harmed    bool // unless it did not hold
		slow      bool // fewer than one request in a minute
	}{
		{"a crawler", incident.Rush, incident.Signs{Agents: only(google, 400)}, true, false, false},
		{"a crawler that is stopped", incident.Stopping, incident.Signs{Agents: only(google, 400)}, false, false, false},
		{"a browser", incident.Rush, incident.Signs{Agents: only("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", 400)}, false, false, false},
		{"a scanner that calls itself a bot", incident.Rush, incident.Signs{Agents: only("nuclei-bot/3", 400)}, false, false, false},
		{"people after a release", incident.Rush, incident.Signs{Humans: 300}, true, false, false},
		{"a flood of people", incident.Rush, incident.Signs{Humans: 300, Paths: only("/search", 400)}, true, true, false},
		{
			"a flood of people that rules stop in part", incident.Rush,
			incident.Signs{Humans: 300, Paths: only("/search", 400), Total: incident.Value{Requests: 500, Blocked: 30, Challenged: 10}},
			false, false, false,
		},
		{
			"people after a release whom rules stop", incident.Rush,
			incident.Signs{Humans: 300, Total: incident.Value{Requests: 500, Blocked: 40}}, true, false, false,
		},
		{"people who are monitored", incident.Watching, incident.Signs{Humans: 300}, false, false, false},
		{"payloads of people", incident.Rush, incident.Signs{Humans: 300, Probes: 300}, false, false, false},
		{"what rules stop every day", incident.Stopping, incident.Signs{Paths: paths(40, "/%d", 10)}, true, false, true},
		{"many paths, faster", incident.Stopping, incident.Signs{Paths: paths(40, "/%d", 10)}, false, false, false},
		{"one path that rules stop", incident.Stopping, incident.Signs{Paths: stopped("/search", 400)}, false, false, true},
		{"people who are stopped", incident.Stopping, incident.Signs{Humans: 300}, true, false, false},
		{"guesses of people", incident.Stopping, incident.Signs{Humans: 300, Paths: stopped("/login", 400)}, false, false, false},
		{"a crowd whose clients are unknown", incident.Rush, incident.Signs{Addresses: addresses(100, 4)}, true, false, false},
		{
			"a flood of such a crowd", incident.Rush, incident.Signs{Addresses: addresses(100, 4), Paths: only("/search", 400)},
			true, true, false,
		},
		{"a crowd of which some are known", incident.Rush, incident.Signs{Addresses: addresses(100, 4), HumansKnown: true}, false, false, false},
		{"a botnet", incident.Rush, incident.Signs{Addresses: addresses(16, 25)}, false, false, false},
		{
			"a botnet that repeats a path", incident.Repeating,
			incident.Signs{Addresses: addresses(16, 25), Paths: only("/search", 400)}, false, false, false,
		},
		{"a botnet that reads paths", incident.Repeating, incident.Signs{Addresses: addresses(16, 25)}, true, false, false},
		{
			"many clients of one path", incident.Repeating,
			incident.Signs{Addresses: addresses(100, 4), Paths: only("/search", 400)}, true, false, false,
		},
		{
			"clients that always poll", incident.Repeating,
			incident.Signs{Addresses: addresses(4, 100), Before: addresses(4, 99), Paths: only("/search", 400)}, true, false, false,
		},
		{"one client", incident.Repeating, incident.Signs{Addresses: addresses(1, 400)}, false, false, false},
		{
			"browsers without a screen", incident.Repeating,
			incident.Signs{Addresses: addresses(40, 10), Agents: only("Mozilla/5.0 HeadlessChrome/124.0", 400)}, false, false, false,
		},
		{"a missing file", incident.Missed, incident.Signs{Paths: only("/app.js", 400)}, true, false, false},
		{"many missing files", incident.Missed, incident.Signs{Paths: paths(40, "/%d", 10)}, false, false, false},
		{"sessions that ended", incident.Denying, incident.Signs{Paths: paths(10, "/api/%d", 40)}, true, false, false},
		{"one path that denies", incident.Denying, incident.Signs{Paths: only("/api/1", 400), Humans: 500}, false, false, false},
	} {
		e := incident.Episode{Host: shop, Signal: test.signal, Excess: 400, Span: incident.Span{To: 40 * incident.Minute}}
		if test.slow {
			e.To = 401 * incident.Minute
		}
		if of := &test.signs.Total; of.Requests == 0 {
			of.Requests = 500
			if of.Blocked = 39; test.signal == incident.Stopping {
				of.Blocked = 500
			}
		}
		f, isIncident := incident.New(e, test.signs)
		if isIncident != (!test.dismissed || test.harmed) || f.OnlyIfHarmed != test.harmed {
			t.Errorf("%s: %v, only if harmed: %v", test.rule, isIncident, f.OnlyIfHarmed)
		}
	}
}

// TestFewStopped: what rules stop at many paths is an incident from 100 requests more than usual on, or from five a minute
// on.
func TestFewStopped(t *testing.T) {
	for _, of := range []struct {
		excess, minutes int64
		is              bool
	}{{99, 40, false}, {100, 40, true}, {49, 10, false}, {50, 10, true}, {119, 120, false}, {120, 120, true}} {
		e := incident.Episode{Host: shop, Excess: of.excess, Span: incident.Span{To: of.minutes * incident.Minute}}
		signs := incident.Signs{Paths: paths(40, "/%d", 3), Total: incident.Value{Requests: 120, Blocked: 120}}
		if f, isIncident := incident.New(e, signs); isIncident != of.is || f.Kind != incident.Scraping {
			t.Errorf("%+v: %s, %v", of, f.Kind, isIncident)
		}
	}
}

// addresses returns so many addresses, each with so many requests.
func addresses(n int, each int64) []incident.Value {
	list := make([]incident.Value, n)
	for i := range list {
		list[i] = incident.Value{Text: fmt.Sprintf("192.0.2.%d", i), Requests: each}
	}
	return list
}

// stopped returns a path whose requests were blocked.
func stopped(path string, n int64) incident.Field {
	return incident.Field{Values: []incident.Value{{Text: path, Requests: n, Blocked: n}}, Distinct: 1}
}

// TestEvidenceOfRobots: if browsers without a screen send most of a signal of all requests, their agents are the evidence
// of where the incident begins and ends. Otherwise, the addresses are.
func TestEvidenceOfRobots(t *testing.T) {
	const byAgent, byAddress = "user_agent~", "ip in"
	for _, test := range []struct {
		rule   string
		signal incident.Signal
		robots int64 // of 400 requests
		paths  incident.Field
		want   []string // in the evidence
	}{
		{"most are robots", incident.Rush, 320, paths(40, "/a%d", 10), []string{byAgent}},
		{"some are robots", incident.Rush, 319, paths(40, "/a%d", 10), []string{byAddress}},
		{"repeated requests", incident.Repeating, 320, paths(40, "/a%d", 10), []string{byAgent}},
		{"what was stopped has addresses", incident.Stopping, 400, paths(40, "/a%d", 10), []string{byAddress}},
		{"with a prefix", incident.Rush, 400, only("/a", 400), []string{"path~", byAgent}},
	} {
		e := incident.Episode{
			Host: incident.Host{Name: "shop.example", Named: true}, Signal: test.signal, Excess: 400, Ratio: 900,
			Span: incident.Span{From: 0, To: incident.Hour},
		}
		agents := only("Mozilla/5.0 HeadlessChrome/124.0", test.robots)
		agents.Values = append(agents.Values, only("Mozilla/5.0 Chrome/124.0", 400-test.robots).Values...)
		f, _ := incident.New(e, incident.Signs{
			Total: only("", 400).Values[0], Paths: test.paths, Agents: agents, Addresses: addresses(40, 10),
		})
		evidence := f.Evidence(incident.NewTrace(f), "")
		for _, part := range []string{"path~", byAgent, byAddress} {
			if strings.Contains(evidence, part) != slices.Contains(test.want, part) {
				t.Errorf("%s: %s", test.rule, evidence)
			}
		}
	}
}

// TestSeries: incidents of one kind at one target are one if the pause between them is short.
func TestSeries(t *testing.T) {
	part := func(host string, kind incident.Kind, from, to, excess int64) incident.Found {
		return incident.Found{Kind: kind, Episode: incident.Episode{
			Host: incident.Host{Name: host, Named: true}, Signal: incident.Rush, Excess: excess,
			Span: incident.Span{From: from * incident.Minute, To: to * incident.Minute},
		}}
	}
	later := part("a", incident.Guessing, 35, 45, 20)
	later.Signal, later.EndsLater = incident.Stopping, true
	single, series := incident.Series([]incident.Found{
		part("a", incident.Guessing, 0, 10, 10), part("b", incident.Guessing, 12, 20, 10), later,
		part("a", incident.Guessing, 76, 80, 10), part("a", incident.Flood, 82, 90, 10),
	})
	var begins []int64
	for _, f := range single {
		begins = append(begins, f.From/incident.Minute)
	}
	if want := []int64{76, 82, 12}; !slices.Equal(begins, want) {
		t.Errorf("incidents without pauses begin at %v, want %v", begins, want)
	}
	want := incident.Episode{
		Host: incident.Host{Name: "a", Named: true}, Signal: incident.Stopping, Excess: 30, EndsLater: true,
		Span: incident.Span{To: 45 * incident.Minute},
	}
	if len(series) != 1 || series[0] != want {
		t.Errorf("series: %+v", series)
	}
}
