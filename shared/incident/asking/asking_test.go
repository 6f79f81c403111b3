package asking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// The tests below have two days of ordinary traffic, and look for incidents on the second one.
var first = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const secondDay = "timestamp between 2026-01-02 and 2026-01-02 23:59:59.999"

// noon is the time of the attacks.
var noon = first.Add(36 * time.Hour)

// log is a log in memory.
type log struct{ rows []*lake.Row }

// line is a request. Members that are nil or "" are absent.
type line struct {
	host, path, ip, agent, branch string
	status                        int64
	blocked, human, challenged    *bool
}

func (l *log) add(at time.Time, r line) {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	method, took := "GET", int64(40_000)
	l.rows = append(l.rows, &lake.Row{
		TsMs: at.UnixMilli(), Source: "s", Line: int64(len(l.rows) + 1), Host: text(r.host), Method: &method, Path: text(r.path),
		IP: text(r.ip), UserAgent: text(r.agent), Branch: text(r.branch), Status: &r.status, Blocked: r.blocked, Human: r.human,
		Challenge: r.challenged,
		TotalUs:   &took,
	})
}

// ordinary adds two days with a request each so many seconds, from 50 addresses, for 30 paths.
func (l *log) ordinary(each int, r line) {
	for i := range 48 * 3600 / each {
		r.ip, r.path, r.status = fmt.Sprintf("192.0.2.%d", i%50), fmt.Sprintf("/page/%d", i%30), 200
		if i%40 == 0 {
			r.status = 404
		}
		l.add(first.Add(time.Duration(i*each)*time.Second), r)
	}
}

// attack adds requests at regular times, each with its number.
func (l *log) attack(from time.Time, length time.Duration, n int, of func(i int) line) {
	for i := range n {
		l.add(from.Add(length*time.Duration(i)/time.Duration(n)), of(i))
	}
}

// source returns the source over the log, which sorts it.
func (l *log) source(t *testing.T, branches ...string) source {
	t.Helper()
	slices.SortStableFunc(l.rows, func(a, b *lake.Row) int { return int(a.TsMs - b.TsMs) })
	service, err := search.New(enginetest.Oracle{Rows: l.rows}, search.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return source(answering.AskAs(service, branches, "", nil))
}

func (l *log) incidents(t *testing.T, filters string) []answer.IncidentResult {
	t.Helper()
	return run(t, l.source(t), asking.Request{Filters: filters}).Results
}

var yes, no = true, false

// guess is a request of an attack on a login. Nine tenths of these requests are blocked.
func guess(host string) func(i int) line {
	return func(i int) line {
		r := line{host: host, path: "/login", ip: fmt.Sprintf("203.0.113.%d", i%100), status: 401, blocked: &no, human: &no}
		if i%10 > 0 {
			r.status, r.blocked = 429, &yes
		}
		return r
	}
}

// TestWithoutDecisions: logs of servers have incidents, too. They are less certain, and nobody knows who is human.
func TestWithoutDecisions(t *testing.T) {
	for _, test := range []struct {
		rule, host string
		attack     func(i int) line
		n          int
		kind       incident.Kind
		target     string
	}{
		{"passwords", "shop.example", func(i int) line {
			return line{host: "shop.example", path: "/account/enter", ip: fmt.Sprintf("203.0.113.%d", i%9), status: 401}
		}, 200, incident.Guessing, "shop.example/account/enter"},
		{"missing paths", "shop.example", func(i int) line {
			return line{host: "shop.example", path: fmt.Sprintf("/%d.bak", i), ip: "203.0.113.9", status: 404}
		}, 200, incident.Scan, "shop.example"},
		{"an agent that names a scanner", "shop.example", func(i int) line {
			return line{host: "shop.example", path: fmt.Sprintf("/%d", i), ip: "203.0.113.9", status: 200, agent: "Nikto/2.5"}
		}, 60, incident.Scan, "shop.example"},
		{"a flood", "shop.example", func(i int) line {
			return line{host: "shop.example", path: "/search", ip: fmt.Sprintf("203.0.113.%d", i%200), status: 200}
		}, 2000, incident.Flood, "shop.example/search"},
		{"a log without hosts", "", func(i int) line {
			return line{path: fmt.Sprintf("/%d.bak", i), ip: "203.0.113.9", status: 404}
		}, 200, incident.Scan, "–"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			var l log
			l.ordinary(20, line{host: test.host})
			l.attack(noon, 5*time.Minute, test.n, test.attack)
			got := l.incidents(t, secondDay)
			if len(got) != 1 {
				t.Fatalf("%d incidents: %+v", len(got), got)
			}
			r := got[0]
			if r.Kind != string(test.kind) || r.Target != test.target || r.Certain || !strings.Contains(r.Why, "less certain") ||
				r.NumOfBlockedHumans != nil || r.NumOfNetworks != nil || r.NumOfRequests < int64(test.n) ||
				r.Begin != "2026-01-02T12:00:00Z" || *r.End != "2026-01-02T12:05:00Z" {
				t.Errorf("%+v", r)
			}
			counted(t, l.source(t), r)
		})
	}
}

// TestPulses: an access log has a flood in pulses, though each of its addresses sends only a few requests in a pulse.
// The same pulses of as many people as requests are no incident.
func TestPulses(t *testing.T) {
	for _, test := range []struct{ addresses, want int }{{20, 1}, {900, 0}} {
		var l log
		l.ordinary(20, line{host: "shop.example"})
		for pulse := range 9 {
			l.attack(noon.Add(time.Duration(pulse)*10*time.Minute), 30*time.Second, 80, func(i int) line {
				ip := (pulse*80 + i) % test.addresses
				return line{host: "shop.example", path: "/search", ip: fmt.Sprintf("203.0.%d.%d", ip/200, ip%200), status: 200}
			})
		}
		got := l.incidents(t, secondDay)
		if len(got) != test.want {
			t.Fatalf("%d addresses: %d incidents: %+v", test.addresses, len(got), got)
		}
		if test.want == 0 {
			continue
		}
		r := got[0]
		if r.Kind != string(incident.Flood) || r.Target != "shop.example/search" || r.NumOfRequests != 720 ||
			r.Begin != "2026-01-02T12:00:00Z" || *r.End != "2026-01-02T13:21:00Z" {
			t.Errorf("%+v", r)
		}
		counted(t, l.source(t), r)
	}
}

// TestTargets: the target is the prefix of many different paths, also of requests that were only challenged, and two hosts
// that are attacked at once have an incident each.
func TestTargets(t *testing.T) {
	product := func(host string, blocked, challenged *bool) func(i int) line {
		return func(i int) line {
			return line{
				host: host, path: fmt.Sprintf("/products/%d/reviews", i), ip: fmt.Sprintf("203.0.113.%d", i%40), status: 403,
				blocked: blocked, challenged: challenged,
			}
		}
	}
	var l log
	for _, host := range []string{"a.example", "b.example"} {
		l.ordinary(20, line{host: host, blocked: &no})
	}
	l.attack(noon, 5*time.Minute, 500, product("a.example", &yes, nil))
	l.attack(noon, 5*time.Minute, 500, product("b.example", &no, &yes))
	got := l.incidents(t, secondDay)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, target := range []string{"a.example/products", "b.example/products"} {
		if r := got[i]; r.Target != target || r.Kind != string(incident.Scraping) || !r.Certain || r.NumOfRequests != 500 ||
			r.NumOfIP != 40 {
			t.Errorf("%+v", r)
		}
	}
	if got[0].NumOfBlockedRequests != 500 || got[1].NumOfChallenges != 500 {
		t.Errorf("%+v", got)
	}
}

// TestNothing: a crawler that names itself, an hour of tripled traffic, people who come at once, and a missing file are
// no incidents.
func TestNothing(t *testing.T) {
	const google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	for rule, attack := range map[string]func(l *log){
		"a crawler": func(l *log) {
			l.attack(noon, time.Hour, 4000, func(i int) line {
				return line{host: "shop.example", path: fmt.Sprintf("/page/%d", i), ip: "66.249.66.1", status: 200, agent: google}
			})
		},
		"tripled traffic": func(l *log) {
			l.attack(noon, time.Hour, 3600*2/20, func(i int) line {
				return line{host: "shop.example", path: fmt.Sprintf("/page/%d", i%30), ip: fmt.Sprintf("192.0.2.%d", i), status: 200}
			})
		},
		"people": func(l *log) {
			l.attack(noon, 10*time.Minute, 4000, func(i int) line {
				return line{host: "shop.example", path: "/offer", ip: fmt.Sprintf("192.0.2.%d", i), status: 200, human: &yes}
			})
		},
		"a missing file": func(l *log) {
			l.attack(noon, 10*time.Minute, 300, func(i int) line {
				return line{host: "shop.example", path: "/app.js", ip: fmt.Sprintf("192.0.2.%d", i), status: 404}
			})
		},
	} {
		t.Run(rule, func(t *testing.T) {
			var l log
			l.ordinary(20, line{host: "shop.example"})
			attack(&l)
			if got := l.incidents(t, secondDay); len(got) > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSameIncident: unrelated traffic, another order of the records, and another period around an incident change
// nothing about it.
func TestSameIncident(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", blocked: &no, human: &yes})
	l.attack(noon.Add(3*time.Minute), 6*time.Minute, 400, guess("bank.example"))
	want := l.incidents(t, secondDay)
	if len(want) != 1 || want[0].Target != "bank.example/login" || want[0].Sentence !=
		"Password guessing at bank.example/login, 12:03–12:09: held" {
		t.Fatalf("%+v", want)
	}
	same := func(rule string, got []answer.IncidentResult) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", rule, diff)
		}
	}
	same("a shorter period", l.incidents(t, "timestamp between 2026-01-02 11:47:11 and 2026-01-02 13:30:00"))
	same("a longer period", l.incidents(t, "timestamp between 2026-01-01 23:00 and 2026-01-03 06:00"))
	for i, r := range l.rows {
		r.Source, r.Line = fmt.Sprint(i%3), int64(len(l.rows)-i)
	}
	same("another order", l.incidents(t, secondDay))
	l.ordinary(5, line{host: "news.example", blocked: &no, human: &yes})
	l.ordinary(7, line{})
	same("unrelated traffic", l.incidents(t, secondDay))
	l.attack(noon.Add(4*time.Minute), 6*time.Minute, 900, guess("news.example"))
	both := l.incidents(t, secondDay)
	if len(both) != 2 || both[1].Target != "news.example/login" {
		t.Fatalf("an attack on another host: %+v", both)
	}
	same("an attack on another host", both[:1])
}

// TestEdges: a flood that rises slowly begins with its first requests, and ends with the last ones, whatever the period
// around it is. A period that begins with the flood on its way cuts it.
func TestEdges(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "shop.example"})
	search := func(i int) line {
		return line{host: "shop.example", path: "/search", ip: fmt.Sprintf("203.0.113.%d", i%30), status: 200}
	}
	l.attack(noon, 12*time.Minute, 24, search)
	l.attack(noon.Add(12*time.Minute), 20*time.Minute, 500, search)
	l.attack(noon.Add(32*time.Minute), 10*time.Minute, 2000, search)
	for _, test := range []struct {
		filters, begin string
		isCut          bool
	}{
		{secondDay, "2026-01-02T12:00:00Z", false},
		{"timestamp between 2026-01-02 12:00 and 2026-01-02 13:10", "2026-01-02T12:00:00Z", false},
		{"timestamp between 2026-01-02 12:05:30 and 2026-01-02 13:10", "2026-01-02T12:05:00Z", true},
	} {
		got := l.incidents(t, test.filters)
		if len(got) != 1 || got[0].Target != "shop.example/search" || got[0].Begin != test.begin ||
			got[0].BeginsEarlier != test.isCut || *got[0].End != "2026-01-02T12:42:00Z" {
			t.Errorf("%s: %+v", test.filters, got)
			continue
		}
		if !test.isCut && got[0].NumOfRequests != 2524 {
			t.Errorf("%s: %d requests", test.filters, got[0].NumOfRequests)
		}
		counted(t, l.source(t), got[0])
	}
}

// TestCutIncidents: an incident that the period cuts says so, and one that goes on at the end of the data has no end.
func TestCutIncidents(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", blocked: &no, human: &yes})
	l.attack(noon, 20*time.Minute, 2000, guess("bank.example"))
	cut := l.incidents(t, "timestamp between 2026-01-02 12:05 and 2026-01-02 12:09:59.999")
	if len(cut) != 1 || !cut[0].BeginsEarlier || !cut[0].EndsLater || cut[0].End == nil || *cut[0].End != "2026-01-02T12:10:00Z" ||
		!strings.Contains(cut[0].Sentence, "12:05–12:10, cut by the period: ") {
		t.Errorf("%+v", cut)
	}
	l.rows = slices.DeleteFunc(l.rows, func(r *lake.Row) bool { return r.TsMs >= noon.Add(10*time.Minute).UnixMilli() })
	l.add(noon.Add(10*time.Minute), line{host: "bank.example", path: "/", ip: "192.0.2.1", status: 200, blocked: &no})
	for _, end := range []string{"12:09:59.999", "12:10:20"} { // the second one has a minute that has just begun
		going := l.incidents(t, "timestamp between 2026-01-02 11:00 and 2026-01-02 "+end)
		if len(going) != 1 || going[0].End != nil || !strings.Contains(going[0].Sentence, "since 2026-01-02 12:00") {
			t.Errorf("%+v", going)
		}
	}
	old := run(t, l.source(t), asking.Request{Filters: secondDay, Now: noon.Add(24 * time.Hour)}).Results
	if len(old) != 1 || old[0].End == nil || *old[0].End != "2026-01-02T12:10:00Z" {
		t.Errorf("a day later: %+v", old)
	}
}

// TestHeld compares what the origin answers to others.
func TestHeld(t *testing.T) {
	for rule, test := range map[string]struct {
		spoil func(r *lake.Row)
		want  string
	}{
		"nothing changes": {func(*lake.Row) {}, "held"},
		"errors":          {func(r *lake.Row) { *r.Status = 502 }, "not held"},
		"slow answers":    {func(r *lake.Row) { *r.TotalUs = 900_000 }, "not held"},
		"one timeout": {func(r *lake.Row) {
			if r.TsMs == noon.UnixMilli() {
				*r.Status, *r.TotalUs = 504, 30_000_000
			}
		}, "held"},
	} {
		t.Run(rule, func(t *testing.T) {
			var l log
			l.ordinary(4, line{host: "bank.example", blocked: &no, human: &yes})
			for _, r := range l.rows {
				if at := r.TsMs - noon.UnixMilli(); at >= 0 && at < 300_000 && r.TsMs%8000 == 0 {
					test.spoil(r)
				}
			}
			l.attack(noon, 5*time.Minute, 1000, guess("bank.example"))
			got := l.incidents(t, secondDay)
			if len(got) != 1 || got[0].Held.State != test.want || got[0].Held.During.NumOfRequests != 75 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("blocked humans", func(t *testing.T) {
		var l log
		l.ordinary(4, line{host: "bank.example", blocked: &no, human: &yes})
		l.attack(noon, 5*time.Minute, 1000, guess("bank.example"))
		l.attack(noon, 5*time.Minute, 80, func(i int) line {
			return line{
				host: "bank.example", path: "/login", ip: fmt.Sprintf("192.0.2.%d", i%50), status: 429, blocked: &yes, human: &yes,
			}
		})
		got := l.incidents(t, secondDay)
		if len(got) != 1 || got[0].Held.State != "look" || *got[0].NumOfBlockedHumans != 80 {
			t.Errorf("%+v", got)
		}
	})
}

// TestBranches: a caller who is limited to branches learns nothing about others, and all bytes are rounded up once.
func TestBranches(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", branch: "own", blocked: &no})
	l.ordinary(10, line{host: "news.example", branch: "other", blocked: &no})
	l.attack(noon, 5*time.Minute, 400, func(i int) line {
		r := guess("news.example")(i)
		r.branch = "other"
		return r
	})
	if got := run(t, l.source(t, "own"), asking.Request{Filters: secondDay}); len(got.Results) > 0 {
		t.Errorf("%+v", got.Results)
	}
	got := run(t, l.source(t, "other"), asking.Request{Filters: secondDay})
	if len(got.Results) != 1 || got.Meta.BytesScanned != 10_000_000 || got.Meta.Objects != nil || got.Meta.Oldest != nil {
		t.Errorf("%+v", got)
	}
}

// small answers questions about at most a day, as if there were many hosts.
type small struct {
	source
	most time.Duration
}

func (s small) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	q, err := query.Bind(filter.Parse(params["filters"]), query.Timeline{})
	if err != nil {
		return nil, err
	}
	if route == "counts" && params["segment"] == "1h" &&
		q.Period.ToMs-q.Period.FromMs > s.most.Milliseconds() {
		return nil, fault.New(fault.EngineLimit, "there are more than 100000 segments and values")
	}
	return s.source.Ask(ctx, route, params)
}

// TestManyHosts: if there are too many hosts for an answer, the hours are asked about in parts.
func TestManyHosts(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", blocked: &no})
	l.attack(noon, 5*time.Minute, 400, guess("bank.example"))
	want := l.incidents(t, secondDay)
	got, err := asking.Run(t.Context(), small{l.source(t), 13 * time.Hour}, asking.Request{Filters: secondDay})
	if diff := cmp.Diff(want, got.Results); diff != "" || err != nil || len(want) != 1 {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := asking.Run(t.Context(), small{l.source(t), time.Minute}, asking.Request{Filters: secondDay}); fault.KindOf(err) != fault.EngineLimit {
		t.Error(err)
	}
}

// manyPaths answers no counts of paths.
type manyPaths struct{ source }

func (m manyPaths) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if route == string(search.Counts) && params["by"] == "path" {
		return nil, fault.New(fault.EngineLimit, "too many values")
	}
	return m.source.Ask(ctx, route, params)
}

// TestManyPaths: if there are too many paths for an answer, the most frequent ones tell what an incident is.
func TestManyPaths(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", blocked: &no})
	l.attack(noon, 5*time.Minute, 400, guess("bank.example"))
	want := l.incidents(t, secondDay)
	got, err := asking.Run(t.Context(), manyPaths{l.source(t)}, asking.Request{Filters: secondDay})
	if diff := cmp.Diff(want, got.Results); diff != "" || err != nil || len(want) != 1 || want[0].Path != "/login" {
		t.Errorf("%v %v %s", err, want, diff)
	}
}

// failing answers no question of a route.
type failing struct {
	source
	route string
}

var errBusy = errors.New("12 queries wait already")

func (f failing) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if route == f.route {
		return nil, errBusy
	}
	return f.source.Ask(ctx, route, params)
}

// TestFailedQuestions: without the answer to a question there are no incidents, because some might be missing.
func TestFailedQuestions(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", blocked: &no})
	l.attack(noon, 5*time.Minute, 400, guess("bank.example"))
	for _, route := range []string{"counts", "stats", "facets"} {
		if _, err := asking.Run(t.Context(), failing{l.source(t), route}, asking.Request{Filters: secondDay}); !errors.Is(err, errBusy) {
			t.Errorf("%s: %v", route, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := asking.Run(ctx, l.source(t), asking.Request{Filters: secondDay}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestManyIncidents: an answer is full although some of the largest episodes are no incidents.
func TestManyIncidents(t *testing.T) {
	var l log
	for n := range 55 {
		host := fmt.Sprintf("%02d.example", n)
		l.ordinary(1800, line{host: host})
		requests, agent := 60, ""
		if n < 4 {
			requests, agent = 200, "Googlebot/2.1"
		}
		l.attack(noon, 5*time.Minute, requests, func(i int) line {
			return line{host: host, path: fmt.Sprintf("/%d.bak", i), ip: "203.0.113.9", status: 404, agent: agent}
		})
	}
	got := run(t, l.source(t), asking.Request{Filters: secondDay})
	if len(got.Results) != 50 || got.Meta.Truncated == nil {
		t.Errorf("%d incidents, truncated: %v", len(got.Results), got.Meta.Truncated)
	}
	for _, r := range got.Results {
		if strings.HasPrefix(r.Target, "00.") || strings.HasPrefix(r.Target, "03.") {
			t.Errorf("%s is a crawler: %+v", r.Target, r)
		}
	}
}
