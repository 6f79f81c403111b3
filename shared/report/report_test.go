package report

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/period"
	"github.com/orrery/orrery/shared/testkit/goldentest"
	"github.com/orrery/orrery/shared/wording"
)

// object is a JSON object of an answer.
type object map[string]any

// answerOf returns the answer of a data route with these results.
func answerOf[T any](t testing.TB, results []T, meta object) Answer {
	t.Helper()
	all := object{
		"fingerprint": "5a0d3c71f2e9", "bytes_scanned": 1_200_000, "elapsed_ms": 12.5,
		"newest": "2026-11-22T22:59:58Z", "complete_through": "2026-11-23T05:00:00Z",
	}
	for name, value := range meta {
		all[name] = value
	}
	body, err := json.Marshal(object{"data": object{"results": results}, "meta": all})
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Body: body}
}

// sample is a week with an attack, in answers that depend on the values in the data.
type sample struct {
	ip, organization, country, host, url, reason, agent, target string
}

var ordinary = sample{
	ip: "203.0.113.7", organization: "Jade Telecom", country: "Germany", host: "shop.example",
	url: "shop.example/login", reason: "acl1: scanner", agent: "curl/8.5.0", target: "/login?user=admin",
}

func settingOf(t testing.TB) Setting {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	period := Week.Last(time.Date(2026, 11, 23, 7, 0, 0, 0, zone))
	previous := period.Previous(zone)
	return Setting{
		Template: Traffic, Conditions: `host="shop.example"`, Period: period, Previous: &previous, Zone: zone,
		Link: "https://orrery.example/console", Server: "https://orrery.example/console",
	}
}

// timelineOf returns segments of an hour.
func timelineOf(p Period, requests, blocked func(hour int) int64) []object {
	var list []object
	for i, ms := 0, p.FromMs; ms <= p.ToMs; i, ms = i+1, ms+3_600_000 {
		list = append(list, object{
			"time_period": ms / 1000, "num_of_requests": requests(i), "num_of_blocked_requests": blocked(i),
			"num_of_challenges": blocked(i) / 2, "num_of_human_requests": requests(i) / 3,
			"num_of_origin_blocked_requests": 1, "sum_of_sent_bytes": requests(i) * 12_345,
			"array_origin_status_codes": []object{{"key": "200", "value": requests(i)}, {"key": "502", "value": 2}},
		})
	}
	return list
}

func (s sample) answers(t testing.TB, of Setting) map[Part]Answer {
	t.Helper()
	requests := func(i int) int64 { return int64(200 + 100*(i%24)) }
	blocked := func(i int) int64 {
		if i/24 == 3 {
			return int64(400 + 10*(i%24))
		}
		return int64(i % 7)
	}
	usual := func(i int) int64 { return int64(5 + i%7) }
	key := func(label, key string, requests, blocked int64) object {
		return object{"label": label, "key": key, "num_of_requests": requests, "num_of_blocked_requests": blocked}
	}
	challenged := func(of object, n int64) object {
		of["num_of_challenges"] = n
		return of
	}
	top := []object{
		key("country", s.country, 120_000, 9_000), key("country", "France", 80_000, 900),
		key("host", s.host, 218_400, 12_859),
		challenged(key("ip", s.ip, 11_000, 8_000), 1_500), key("ip", "198.51.100.4", 3_000, 900), key("ip", "192.0.2.9", 12, 0),
		key("organization", s.organization, 14_000, 8_700), key("organization", "Example Hosting", 900, 850),
		key("reason", s.reason, 8_100, 8_000), key("reason", "Monitor - "+s.reason, 2_000, 1_900),
		key("total_time", "shop.example/slow", 3, 0),
		key("url", s.url, 9_500, 8_200), key("url", "shop.example/search", 40_000, 300),
	}
	topBefore := []object{
		key("ip", "198.51.100.4", 500, 120), key("organization", "Example Hosting", 99, 90),
		key("host", s.host, 300_000, 1_300), key("country", s.country, 60_000, 600), key("url", s.url, 4_000, 60),
	}
	value := func(of string, n, blocked int64) object {
		return object{
			"value": of, "num_of_requests": n, "num_of_blocked_requests": blocked, "condition": "path=" + fmt.Sprintf("%q", of),
		}
	}
	facet := func(by string, values ...object) object { return object{"by": by, "values": values} }
	finding := func(by string, value any, now, before int64) object {
		return object{
			"by": by, "value": value, "selected": object{"num_of_requests": now, "share": float64(now) / 226_800},
			"baseline": object{"num_of_requests": before, "share": float64(before) / 226_800}, "condition": by + "=1",
		}
	}
	number := func(n int64) object { return object{"num_of_requests": n} }
	return map[Part]Answer{
		Timeline:       answerOf(t, timelineOf(of.Period, requests, blocked), nil),
		TimelineBefore: answerOf(t, timelineOf(*of.Previous, usualTraffic(requests), usual), nil),
		Passed:         answerOf(t, []object{}, number(207_643)), PassedBefore: answerOf(t, []object{}, number(168_132)),
		Blocked: answerOf(t, []object{
			facet("ip", challenged(value(s.ip, 8_000, 8_000), 500), value("198.51.100.4", 900, 900)),
			facet("reason", value(s.reason, 8_000, 8_000), value("gf2: bad agent", 1_000, 1_000)),
		}, number(12_792)),
		BlockedBefore:      answerOf(t, []object{facet("reason", value(s.reason, 80, 80))}, number(1_344)),
		MonitorReasons:     answerOf(t, []object{facet("monitor_reasons", value("Monitor - "+s.reason, 1_234, 900))}, nil),
		OriginErrorsBefore: answerOf(t, []object{}, number(300)),
		OtherErrors:        answerOf(t, []object{facet("host"), facet("url")}, number(0)),
		OtherErrorsBefore:  answerOf(t, []object{}, number(0)),
		Monitored:          answerOf(t, []object{{"value": 1_200}, {"value": 34}}, nil),
		MonitoredBefore:    answerOf(t, []object{{"value": 1_000}}, nil),
		Times: answerOf(t, []object{
			{"avg_latency": 0.15, "num_of_requests": 400, "p99_total_time": 1.25}, {"avg_latency": 0, "p99_total_time": nil},
		}, nil),
		TimesBefore: answerOf(t, []object{{"avg_latency": 0.1, "num_of_requests": 10, "p99_total_time": 0.8}}, nil),
		Top:         answerOf(t, top, nil),
		TopBefore:   answerOf(t, topBefore, nil),
		PassedBots: answerOf(t, []object{
			facet("organization", value(s.organization, 4_100, 0)), facet("user_agent", value(s.agent, 3_900, 0)),
			facet("url", value(s.url, 1_200, 0)),
		}, number(4_200)),
		OriginErrors: answerOf(t, []object{
			facet("host", value(s.host, 336, 0)), facet("url", value(s.url, 300, 1)),
		}, number(336)),
		Changes: answerOf(t, []object{
			finding("organization", s.organization, 14_000, 0), finding("status", 403, 12_859, 1_400),
			finding("path", s.target, 9_500, 3_000), finding("country", "Peru", 0, 700),
			finding("method", "GET", 200_000, 190_000), finding("user_agent", s.agent, 100, 4_000),
		}, object{"diff": object{"selected": number(226_800), "baseline": number(226_800)}}),
		WrongBlocks: answerOf(t, []object{facet("reason", value(s.reason, 40, 40)), facet("url", value(s.url, 41, 41))},
			number(41)),
		Incidents: answerOf(t, []object{
			s.incident("password guessing", "held", "2026-11-18T23:01:00Z", "2026-11-19T22:50:00Z", 11_000),
			s.incident("scraping", "unknown", "2026-11-20T09:00:00Z", "2026-11-20T09:20:00Z", 900),
		}, nil),
		Marks: answerOf(t, []object{}, object{"marks": []object{
			{"at": "2026-11-18T14:30:00Z", "kind": "revision", "before": "4f1c09", "after": "5e2a77"},
		}}),
		Examples: answerOf(t, []object{
			{
				"timestamp": "2026-11-22T22:59:58.123Z", "ip": s.ip, "country": s.country, "method": "POST", "host": s.host,
				"path": s.target, "status": 403, "reason": s.reason, "request_id": "9f2c1d7e",
			},
			{"timestamp": "2026-11-22T22:10:00Z", "method": "GET"},
		}, nil),
	}
}

// incident is a result of the route of incidents.
func (s sample) incident(kind, held, begin, end string, requests int64) object {
	from, to := strings.NewReplacer("T", " ", "Z", "").Replace(begin), strings.NewReplacer("T", " ", "Z", "").Replace(end)
	return object{
		"id": kind + " " + begin, "kind": kind, "target": s.host, "host": s.host, "begin": begin, "end": end,
		"sentence": "without a day", "details": fmt.Sprintf("%s of %s requests were blocked, 100 passed; they came from 12 addresses; the commonest reason is “%s” (900).",
			wording.Count(requests-100), wording.Count(requests), s.reason),
		"num_of_requests": requests, "num_of_blocked_requests": requests - 100, "num_of_passed_requests": 100,
		"addresses": []object{{"value": s.ip, "num_of_requests": requests}}, "networks": []object{}, "reasons": []object{},
		"held":   object{"state": held, "sentence": "Errors of others: none."},
		"filter": fmt.Sprintf("timestamp between %s and %s, ip=%q, host=\"shop.example\"", from, to, s.ip),
	}
}

func usualTraffic(requests func(int) int64) func(int) int64 {
	return func(i int) int64 { return requests(i) * 3 / 4 }
}

func reportOf(t testing.TB, s sample) Report {
	t.Helper()
	setting := settingOf(t)
	return New(setting, s.answers(t, setting))
}

// emptyReport is a report about a period without requests.
func emptyReport(t testing.TB) Report {
	t.Helper()
	setting := settingOf(t)
	answers := map[Part]Answer{}
	none := func(int) int64 { return 0 }
	for _, q := range setting.Questions() {
		answers[q.Part] = answerOf(t, []object{}, object{"num_of_requests": 0})
	}
	for part, p := range map[Part]Period{Timeline: setting.Period, TimelineBefore: *setting.Previous} {
		segments := timelineOf(p, none, none)
		for _, s := range segments {
			s["array_origin_status_codes"], s["num_of_origin_blocked_requests"] = nil, 0
		}
		answers[part] = answerOf(t, segments, nil)
	}
	return New(setting, answers)
}

// incompleteReport is a report with objects that could not be read, late data and questions that failed.
func incompleteReport(t testing.TB) Report {
	t.Helper()
	setting := settingOf(t)
	answers := ordinary.answers(t, setting)
	answers[Changes] = Answer{Reason: "the query takes longer than an answer may"}
	answers[Examples] = Answer{Reason: "the query takes longer than an answer may"}
	answers[PassedBots] = Answer{Body: []byte(`{"data":`)}
	answers[Top] = answerOf(t, []object{}, object{
		"skipped":          []string{"lake/2026/11/20/07/b.parquet", "lake/2026/11/20/07/a.parquet"},
		"complete_through": "2026-11-22T20:00:00Z", "cost_usd": 0.00005,
	})
	return New(setting, answers)
}

// forms are the forms of a report that have golden files.
var forms = map[string]func(Report) []byte{
	"html": Report.HTML, "txt": Report.Text, "csv": Report.CSV, "json": Report.JSON,
	"mail.html": Report.MailHTML, "mail.txt": Report.MailText,
}

var hostile = sample{
	ip: "javascript:alert(1)", organization: "<script>alert('org')</script>", country: "=cmd|' /C calc'!A0",
	host: "evil.example\u202egpj.exe", url: strings.Repeat("/<img src=x onerror=alert(1)>", 36),
	reason: "@SUM(1+1)*cmd\r\n\x00|'\"</td></table>", agent: "+44\t\u2066{{.}}${jndi:ldap://x}",
	target: "/\u05e9\u05dc\u05d5\u05dd?q=\xff%3Cscript%3E&a=-1",
}

func TestGoldens(t *testing.T) {
	for name, r := range map[string]Report{
		"week": reportOf(t, ordinary), "empty": emptyReport(t), "incomplete": incompleteReport(t),
		"hostile": reportOf(t, hostile),
	} {
		for extension, print := range forms {
			t.Run(name+" as "+extension, func(t *testing.T) {
				goldentest.Compare(t, filepath.Join("testdata", name+"."+extension), string(print(r)))
			})
		}
	}
}

func TestSameModelSameBytes(t *testing.T) {
	first, second := reportOf(t, ordinary), reportOf(t, ordinary)
	for name, print := range forms {
		if a, b := print(first), print(second); string(a) != string(b) {
			t.Errorf("%s differs", name)
		}
	}
	if string(first.Chart.Picture()) != string(second.Chart.Picture()) {
		t.Error("the picture differs")
	}
}

// TestDocumentsAreWholeReports: a report that is read from its JSON is printed as the report itself, except for the
// address of the server in its commands.
func TestDocumentsAreWholeReports(t *testing.T) {
	for name, r := range map[string]Report{
		"week": reportOf(t, ordinary), "empty": emptyReport(t), "incomplete": incompleteReport(t), "hostile": reportOf(t, hostile),
	} {
		var d Document
		if err := json.Unmarshal(r.JSON(), &d); err != nil {
			t.Fatal(err)
		}
		again := d.In(settingOf(t).Zone)
		r.server = ""
		for form, print := range forms {
			t.Run(name+" as "+form, func(t *testing.T) {
				if diff := cmp.Diff(string(print(r)), string(print(again))); diff != "" {
					t.Errorf("(-report +document):\n%s", diff)
				}
			})
		}
	}
}

// TestRunIsApart: members that may differ between two reports about the same data are not in the part that is compared.
func TestRunIsApart(t *testing.T) {
	setting := settingOf(t)
	answers := ordinary.answers(t, setting)
	first := New(setting, answers)
	for part, a := range answers {
		body := strings.Replace(string(a.Body), `"elapsed_ms":12.5`, `"elapsed_ms":99.5,"cost_usd":0.001`, 1)
		body = strings.Replace(body, "2026-11-23T05:00:00Z", "2026-11-23T06:00:00Z", 1)
		answers[part] = Answer{Body: []byte(body)}
	}
	second := New(setting, answers)
	compared := func(r Report) (report, run string) {
		var d struct{ Report, Run json.RawMessage }
		if err := json.Unmarshal(r.JSON(), &d); err != nil {
			t.Fatal(err)
		}
		return string(d.Report), string(d.Run)
	}
	report1, run1 := compared(first)
	report2, run2 := compared(second)
	if diff := cmp.Diff(report1, report2); diff != "" {
		t.Errorf("the report differs:\n%s", diff)
	}
	if run1 == run2 {
		t.Error("the run does not differ")
	}
}

func TestFigures(t *testing.T) {
	var texts []string
	for _, f := range reportOf(t, ordinary).Figures {
		texts = append(texts, fmt.Sprintf("%s %s %s", f.ID, f.value(f.Value), f.value(f.Previous)))
	}
	want := []string{
		"requests 226,800 170,100", "blocked 12,792 1,344", "challenges 6,365 624", "monitored 1,234 1,000",
		"human 75,544 56,700", "origin_blocked 168 168", "average_time 150 ms 100 ms", "p99_time 1.25 s 800 ms",
		"bytes_sent 2.8 GB 2.1 GB",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("figures differ (-want +got):\n%s", diff)
	}
}

// TestTimesOfSeveralSegments: the average of a period of more than 4096 days has the weights of its segments. The time
// that 99 % of the requests do not exceed is unknown, and the forms with texts leave it out.
func TestTimesOfSeveralSegments(t *testing.T) {
	s := settingOf(t)
	answers := ordinary.answers(t, s)
	answers[Times] = answerOf(t, []object{
		{"avg_latency": 0.1, "num_of_requests": 300, "p99_total_time": 0.9},
		{"avg_latency": 0.3, "num_of_requests": 100, "p99_total_time": 1.25},
	}, nil)
	r := New(s, answers)
	if average, p99 := r.Figures[6], r.Figures[7]; average.value(average.Value) != "150 ms" || p99.Value != nil {
		t.Errorf("average %v, 99 %% within %v", *average.Value, p99.Value)
	}
	for name, print := range forms {
		if name != "json" && strings.Contains(string(print(r)), "99 % within") {
			t.Errorf("%s has the time", name)
		}
	}
}

// TestBarsHaveEveryRequest: the sum of the bars is the figure, in every zone and in both periods.
func TestBarsHaveEveryRequest(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Chatham"} {
		for _, unit := range period.Units {
			t.Run(name+" by "+string(unit), func(t *testing.T) {
				zone := zoneNamed(t, name)
				s := Setting{Template: Traffic, Zone: zone, Period: unit.Last(time.Date(2026, 4, 6, 9, 0, 0, 0, zone))}
				previous := s.Period.Previous(zone)
				s.Previous = &previous
				one := func(int) int64 { return 1 }
				answers := map[Part]Answer{
					Timeline:       answerOf(t, timelineOf(s.Period, one, one), nil),
					TimelineBefore: answerOf(t, timelineOf(previous, one, one), nil),
				}
				r := New(s, answers)
				var now, before int64
				for _, bar := range r.Chart.Bars {
					now += bar.Requests
					if bar.RequestsBefore != nil {
						before += *bar.RequestsBefore
					}
				}
				if float64(now) != *r.Figures[0].Value || now == 0 {
					t.Errorf("%d requests in bars, %v in all", now, *r.Figures[0].Value)
				}
				if longer := float64(before) < *r.Figures[0].Previous; longer && unit != Month && unit != Day {
					t.Errorf("%d requests before in bars, %v in all", before, *r.Figures[0].Previous)
				}
			})
		}
	}
}

func TestNotices(t *testing.T) {
	want := []string{
		"2 objects of the data could not be read. Their records are missing.",
		"The data is complete through Sun 22 November 2026 21:00:00. Later requests of the period may be missing.",
		"Without passed bots: the answer does not have the API's format: unexpected end of JSON input",
		"Without examples and changes: the query takes longer than an answer may",
	}
	if diff := cmp.Diff(want, incompleteReport(t).Notices()); diff != "" {
		t.Errorf("notices differ (-want +got):\n%s", diff)
	}
	empty := []string{"No requests are in this period. The newest record is of Sun 22 November 2026 23:59:58."}
	if diff := cmp.Diff(empty, emptyReport(t).Notices()); diff != "" {
		t.Errorf("notices differ (-want +got):\n%s", diff)
	}
}

// TestNoticesComeFirst: every form says before the verdict what is missing.
func TestNoticesComeFirst(t *testing.T) {
	r := incompleteReport(t)
	for name, print := range forms {
		text := string(print(r))
		notice := strings.Index(text, "2 objects")
		verdict := strings.Index(strings.ToLower(text), "2 incidents")
		if notice < 0 || verdict < notice {
			t.Errorf("%s: the notice is at %d, the verdict at %d", name, notice, verdict)
		}
	}
}

// TestQuestionsOfTemplates: an attack report, and one that compares with nothing, ask less.
func TestQuestionsOfTemplates(t *testing.T) {
	s := settingOf(t)
	number := func(template Template, compared bool) int {
		asks := s
		asks.Template = template
		if !compared {
			asks.Previous = nil
		}
		return len(asks.Questions())
	}
	got := []int{number(Traffic, true), number(Traffic, false), number(Attack, true), number(Attack, false)}
	if diff := cmp.Diff([]int{23, 14, 22, 14}, got); diff != "" {
		t.Error(diff)
	}
}

// TestMailStaysSmall: the longest possible lists of long values in a month with a long filter fit into a mail.
func TestMailStaysSmall(t *testing.T) {
	r := longestReport(t, strings.Repeat(`"`, 1024)) // five bytes each in HTML
	if n := len(r.MailHTML()); n > mailSize {
		t.Errorf("the mail has %d bytes", n)
	}
	if n := len(r.Chart.Picture()); n > 10_000 {
		t.Errorf("the picture has %d bytes", n)
	}
}

// TestMailHasAllRowsThatFit: a mail of exactly the largest size has all rows, and one with a byte more lacks the last
// row with the smallest share.
func TestMailHasAllRowsThatFit(t *testing.T) {
	r := longestReport(t, "shop.example/search?q=shoes&page=1")
	r.Passed[3].Rows[listed-1].Blocked = 1
	rows := func(page []byte) int { return strings.Count(string(page), "search?q=shoes") }
	small := r.MailHTML()
	all := rows(small)
	if len(small) > mailSize-1000 || strings.Contains(string(small), "too long") || all < 16*listed {
		t.Fatalf("a mail of %d bytes has %d rows", len(small), all)
	}
	title := r.Passed[0].Title
	pad := strings.Repeat("x", mailSize-len(small))
	r.Passed[0].Title = title + pad
	if page := r.MailHTML(); len(page) != mailSize || rows(page) != all {
		t.Errorf("a mail of %d bytes has %d of %d rows", len(page), rows(page), all)
	}
	r.Passed[0].Title = title + pad + "x"
	page := string(r.MailHTML())
	if rows([]byte(page)) != all-1 || len(page) > mailSize || !strings.Contains(page, "too long with 1 further row of") {
		t.Errorf("a mail of %d bytes has %d of %d rows", len(page), rows([]byte(page)), all)
	}
	_, list, _ := strings.Cut(page, r.Passed[3].Title)
	if strings.Count(list[:strings.Index(list, "</table>")], "<tr>") != listed-1 {
		t.Error("the row with the smallest share is not the one that is left out")
	}
}

// longestReport is a report with the longest possible lists of a value.
func longestReport(t *testing.T, long string) Report {
	t.Helper()
	r := reportOf(t, ordinary)
	full := func(lists int) []List {
		var all []List
		for i := range lists {
			l := List{Title: fmt.Sprintf("List %d, by blocked requests", i), ByBlocked: true, All: 1 << 40}
			passed := int64(1 << 40)
			for range listed {
				l.Rows = append(l.Rows, Row{
					Key: long, Requests: 3 << 40, Blocked: 1 << 40, Challenged: 1 << 40, Passed: &passed, BlockedBefore: new(int64),
				})
			}
			all = append(all, l)
		}
		return all
	}
	r.Title, r.Filter, r.Link = long, strings.Repeat(long, 10), "https://orrery.example/#/?f="+strings.Repeat("%22", 600)
	r.Attackers, r.Targets, r.Rules, r.Passed, r.Wrong = full(3), full(2), full(2), full(7), full(2)
	r.Changes, r.Examples, r.Verdict.Sentences = nil, nil, nil
	for range listed {
		r.Changes = append(r.Changes, Change{Kind: "new", Field: "organization", Key: long, Requests: 1 << 40})
		r.Examples = append(r.Examples, Record{Method: "POST", Target: long, Reason: long, Country: long, IP: long})
	}
	for range mostSentences {
		r.Verdict.Sentences = append(r.Verdict.Sentences, Sentence{Text: strings.Repeat(long[:30], 8), Link: r.Link})
	}
	for len(r.Chart.Bars) < mailBars {
		r.Chart.Bars = append(r.Chart.Bars, r.Chart.Bars[0])
	}
	for range 21 {
		r.Failed = append(r.Failed, Failed{Part(long[:10]), long})
	}
	return r
}
