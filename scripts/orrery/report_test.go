package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/why"
)

func TestReport(t *testing.T) {
	data := tourData(t)
	page := filepath.Join(t.TempDir(), "report.html")
	for _, test := range []struct {
		rule           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"text by default", []string{tourDay, "--data", data}, exit.Done, "VERDICT: ", ""},
		{"json", []string{tourDay, "--data", data, "--format", "json"}, exit.Done, `"verdict": {`, ""},
		{"csv", []string{tourDay, "--data", data, "--format", "csv"}, exit.Done, "figure,requests,requests,", ""},
		{"a mail", []string{tourDay, "--data", data, "--format", "mail", "--to", "ops@example.com"}, exit.Done,
			"Content-Type: multipart/mixed;", ""},
		{"a mail without a valid sender", []string{tourDay, "--data", data, "--format", "mail", "--from", "x"}, exit.Failed, "",
			"the sender \"x\""},
		{"html to a file", []string{tourDay, "--data", data, "--format", "html", "--output", page}, exit.Done, "",
			"the report is in " + page},
		{"the last week has no requests", []string{"--last", "week", "--data", data}, exit.Done, "No requests are in this period",
			"No requests are in this period. The newest record is of"},
		{"an attack report", []string{tourDay, "--data", data, "--template", "attack", "--compare", "none"}, exit.Done,
			"orrery report run --template attack --compare none", ""},
		{"the same weekday", []string{tourDay, "--data", data, "--compare", "same-weekday"}, exit.Done,
			"orrery report run --compare same-weekday", ""},
		{"no period", []string{"--data", data}, exit.Usage, "", "name a period"},
		{"a filter without a period", []string{"host=a", "--data", data}, exit.Failed, "", "period"},
		{"a mistake in the filter", []string{"hots=1, " + tourDay, "--data", data}, exit.Failed, "", "corrected: host=1"},
		{"two periods", []string{tourDay, "--last", "week", "--data", data}, exit.Usage, "", "filters: it has a period"},
		{"an unknown zone", []string{tourDay, "--tz", "Berlin", "--data", data}, exit.Usage, "", `there is no time zone "Berlin"`},
		{"no folder of data", []string{tourDay, "--data", filepath.Join(data, "none")}, exit.Failed, "", "there is no data"},
		{"a page cannot be text", []string{tourDay, "--data", data, "--open", "--format", "csv"}, exit.Usage, "", "--format html"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			out, stderr, code := orrery(t, "", append([]string{"report", "run"}, test.args...)...)
			if code != test.code || !strings.Contains(out, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d\n%s\n%s", code, out, stderr)
			}
		})
	}
	if text, err := os.ReadFile(page); err != nil || !strings.HasPrefix(string(text), "<!doctype html>") {
		t.Errorf("the file has %.40q, %v", text, err)
	}
}

// TestReportIsOpened: --open writes the page into a file that stays, and gives it to the program that shows pages.
func TestReportIsOpened(t *testing.T) {
	name := map[string]string{"linux": "xdg-open", "darwin": "open"}[runtime.GOOS]
	if name == "" {
		t.Skip("no script can stand for the program of this system that shows pages")
	}
	data := tourData(t)
	folder := t.TempDir()
	opened := filepath.Join(folder, "opened")
	t.Setenv("TMPDIR", folder)
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	opener := func(script string) {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a script
			t.Fatal(err)
		}
	}
	own := filepath.Join(folder, "own.html")
	opener(`printf '%s' "$*" > '` + opened + `'`)
	for _, args := range [][]string{{tourDay}, {"--last", "week"}, {tourDay, "--output", own}} {
		if err := os.RemoveAll(opened); err != nil {
			t.Fatal(err)
		}
		out, stderr, code := orrery(t, "", append([]string{"report", "run", "--open", "--data", data}, args...)...)
		file, err := os.ReadFile(opened)
		if code != exit.Done || out != "" || err != nil || slices.Contains(args, own) && string(file) != own {
			t.Fatalf("exit code %d, opened %q, %v\n%s%s", code, file, err, out, stderr)
		}
		if page, err := os.ReadFile(string(file)); err != nil || !strings.HasPrefix(string(page), "<!doctype html>") {
			t.Errorf("the file has %.40q, %v", page, err)
		}
	}
	opener("echo no display; exit 3")
	_, stderr, code := orrery(t, "", "report", "run", tourDay, "--data", data, "--open")
	if code != exit.Failed || !strings.Contains(stderr, "in a browser: exit status 3 no display") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestReportOverURL: a server gives the same report as its folder of data, and so does its route of reports.
func TestReportOverURL(t *testing.T) {
	data := tourData(t)
	s := startServer(t, data)
	local := reportOf(t, "--data", data, tourDay)
	served := reportOf(t, "--url", s.base, tourDay)
	if diff := cmp.Diff(asJSON(t, local.Report), asJSON(t, served.Report)); diff != "" {
		t.Errorf("reports differ (-data +url):\n%s", diff)
	}
	status, body := s.get("/api/v4.0/data/report", url.Values{"filters": {tourDay}, "format": {"json"}})
	var route report.Document
	if err := json.Unmarshal(body, &route); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v %s", status, err, body)
	}
	linked := reportOf(t, "--data", data, "--link", s.base, tourDay)
	if diff := cmp.Diff(asJSON(t, linked.Report), asJSON(t, route.Report)); diff != "" {
		t.Errorf("reports differ (-command +route):\n%s", diff)
	}
	if err := s.interrupt(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reportOf runs a report in JSON.
func reportOf(t *testing.T, args ...string) report.Document {
	t.Helper()
	out, stderr, code := orrery(t, "", append([]string{"report", "run", "--format", "json"}, args...)...)
	var d report.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exit.Done {
		t.Fatalf("exit code %d: %v\n%s", code, err, stderr)
	}
	return d
}

// TestReportOfRealLog compares every number of a weekly report about a real log with the data routes, and of a daily
// one, because the log begins and ends within a week.
func TestReportOfRealLog(t *testing.T) {
	logs, there := realLogs(t)
	if !there {
		t.Skip("there are no real logs next to the repository")
	}
	data := filepath.Join(t.TempDir(), "data")
	log := filepath.Join(logs, "semicomplete-2015.combined.log.gz")
	if out, stderr, code := orrery(t, "", "import", "--data", data, log); code != exit.Done {
		t.Fatalf("import exited %d: %s%s", code, out, stderr)
	}
	const (
		week       = "timestamp between 2015-05-18 00:00:00 and 2015-05-24 23:59:59.999"
		weekBefore = "timestamp between 2015-05-11 00:00:00 and 2015-05-17 23:59:59.999"
		day        = "timestamp between 2015-05-19 00:00:00 and 2015-05-19 23:59:59.999"
		dayBefore  = "timestamp between 2015-05-18 00:00:00 and 2015-05-18 23:59:59.999"
	)
	t.Run("a week", func(t *testing.T) {
		r := realReport{newQuerier(t, data), reportOf(t, "--data", data, week), week, weekBefore, true}
		r.check()
		got := r.d.Report
		if *got.Figures[0].Value+*got.Figures[0].Previous != 10_000 || len(got.Chart.Bars) != 7 {
			t.Errorf("%v and %v requests, want 10000; %d bars", *got.Figures[0].Value, *got.Figures[0].Previous, len(got.Chart.Bars))
		}
		// The log ends on Wednesday, and begins in the week before on Sunday.
		var gaps []string
		for _, g := range append(append([]report.Span{}, got.Gaps...), got.GapsBefore...) {
			gaps = append(gaps, g.From+" "+g.To)
		}
		want := []string{"2015-05-20T22:00:00Z 2015-05-24T23:59:59.999Z", "2015-05-11T00:00:00Z 2015-05-17T09:59:59.999Z"}
		if diff := cmp.Diff(want, gaps); diff != "" {
			t.Errorf("gaps differ (-want +got):\n%s", diff)
		}
		if got.Verdict.State != report.Unknown || len(r.d.Notices) != 2 || got.Compared || len(got.Changes) > 0 {
			t.Errorf("verdict %v, notices %q, compared %v, changes %v", got.Verdict, r.d.Notices, got.Compared, got.Changes)
		}
	})
	t.Run("a day", func(t *testing.T) {
		r := realReport{newQuerier(t, data), reportOf(t, "--data", data, day), day, dayBefore, true}
		r.check()
		got := r.d.Report
		if len(got.Changes) == 0 || !got.Compared || len(got.Chart.Bars) != 24 || got.Verdict.State != report.Quiet {
			t.Errorf("%d changes, compared %v, %d bars, verdict %v", len(got.Changes), got.Compared, len(got.Chart.Bars), got.Verdict)
		}
	})
}

// TestReportOfGeneratedTraffic does the same for generated traffic, which has what the real log does not have: blocked,
// challenged and monitored requests, bots, humans and errors of the origin.
func TestReportOfGeneratedTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	data := filepath.Join(t.TempDir(), "data")
	if out, stderr, code := orrery(t, "", "generate", "--records", "8000", "--seed", "5",
		"--from", "2026-01-01", "--to", "2026-01-03",
		"--data", data); code != exit.Done {
		t.Fatalf("generate exited %d: %s%s", code, out, stderr)
	}
	const (
		day    = "timestamp between 2026-01-02 00:00:00 and 2026-01-02 23:59:59.999"
		before = "timestamp between 2026-01-01 00:00:00 and 2026-01-01 23:59:59.999"
	)
	r := realReport{newQuerier(t, data), reportOf(t, "--data", data, day), day, before, false}
	r.check()
	got := r.d.Report
	for _, f := range got.Figures {
		if f.Value == nil || *f.Value == 0 || f.Previous == nil || *f.Previous == 0 {
			t.Errorf("%s is %v, before %v", f.ID, f.Value, f.Previous)
		}
	}
	lists := len(got.Attackers) + len(got.Targets) + len(got.Rules) + len(got.Passed) + len(got.Wrong)
	if lists < 13 || len(got.Examples) != 5 || len(got.Verdict.Sentences) == 0 {
		t.Errorf("%d lists, %d examples, verdict %v", lists, len(got.Examples), got.Verdict)
	}
}

// realReport is a report, and the periods that it is about.
type realReport struct {
	querier
	d           report.Document
	now, before string
	plain       bool // no record says what a gateway did with its request, so what that would count is unknown
}

const passingText = ", blocked not is true, challenge not is true, ichallenge not is true"

// check compares every number of the report with the data routes.
func (r realReport) check() {
	r.t.Helper()
	got := r.d.Report
	r.figures(got.Figures)
	r.chart(got.Chart)
	rows := 0
	for _, lists := range [][]report.List{got.Attackers, got.Targets} {
		for _, l := range lists {
			rows += r.top(l)
		}
	}
	if rows < 10 {
		r.t.Errorf("only %d rows", rows)
	}
	const bots = ", bot is true" + passingText
	const origin, other = passingText + ", upstream_status>=500", passingText + ", not upstream_status>=0, status>=500"
	r.lists(got.Passed, []facetsAsked{
		{bots, "organization"}, {bots, "user_agent"}, {bots, "url"}, {origin, "host"}, {origin, "url"}, {other, "host"}, {other, "url"},
	})
	r.lists(got.Wrong, []facetsAsked{{", blocked is true, human is true", "reason"}, {", blocked is true, human is true", "url"}})
	r.lists(got.Rules, []facetsAsked{{", blocked is true", "reason"}, {"", "monitor_reasons"}})
	r.changes(got)
	r.examples(got.Examples)
	r.foot()
}

// same reports whether two numbers are equal, or both unknown.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func (r realReport) figures(figures []report.Figure) {
	r.t.Helper()
	for i, filters := range []string{r.before, r.now} {
		value := func(f report.Figure) float64 {
			n := f.Previous
			if i == 1 {
				n = f.Value
			}
			if n == nil {
				return math.NaN()
			}
			return *n
		}
		for figure, member := range map[int]string{
			0: "num_of_requests", 1: "num_of_blocked_requests", 2: "num_of_challenges", 4: "num_of_human_requests",
			5: "num_of_origin_blocked_requests", 8: "sum_of_sent_bytes",
		} {
			f, n := figures[figure], r.sum("timeline", member, filters)
			if r.plain && 0 < figure && figure < 6 {
				n = math.NaN()
			}
			if !same(value(f), n) {
				r.t.Errorf("%s of %s is %v, want %v", f.ID, filters, value(f), n)
			}
		}
		n := r.sum("histogram", "value", filters, "--measure", "monitored")
		if r.plain {
			n = math.NaN()
		}
		if !same(value(figures[3]), n) {
			r.t.Errorf("%v monitored, want %v", value(figures[3]), n)
		}
		timed, seconds := 0.0, 0.0
		for _, segment := range r.results("stats", filters+", request_time>=0") {
			timed += segment["num_of_requests"].(float64)
			seconds += segment["num_of_requests"].(float64) * segment["avg_latency"].(float64)
		}
		if average := value(figures[6]); timed == 0 && !math.IsNaN(average) || timed > 0 && math.Abs(average-seconds/timed) > 1e-9 {
			r.t.Errorf("an average time of %v, want %v", average, seconds/timed)
		}
		slow := math.NaN()
		for _, s := range r.results("stats", filters+", request_time>=0", "--segment", "512d", "--figures", "percentiles") {
			if p99, timed := s["p99_total_time"].(float64); timed {
				slow = p99
			}
		}
		if p99 := value(figures[7]); p99 != slow && !(math.IsNaN(p99) && math.IsNaN(slow)) {
			r.t.Errorf("99 %% within %v, want %v", p99, slow)
		}
	}
	if len(figures) != 9 {
		r.t.Errorf("%d figures", len(figures))
	}
}

func (r realReport) chart(c report.Chart) {
	r.t.Helper()
	segment := "1d"
	if c.Step == "hour" {
		segment = "1h"
	}
	now, before := r.results("timeline", r.now, "--segment", segment), r.results("timeline", r.before, "--segment", segment)
	if len(c.Bars) != len(now) || len(c.LeftOut) > 0 {
		r.t.Fatalf("%d bars, want %d", len(c.Bars), len(now))
	}
	hadData := false // in an earlier bar of the period before
	for i, bar := range c.Bars {
		if bar.RequestsBefore == nil { // the data begins later
			if n := wholeNumber(before[i]["num_of_requests"]); n > 0 || hadData {
				r.t.Errorf("%s: requests of the period before are missing, which has %d", bar.Label, n)
			}
			bar.RequestsBefore, bar.BlockedBefore = new(int64), new(int64)
		} else {
			hadData = true
		}
		numbers := []int64{bar.Requests, bar.Blocked, *bar.RequestsBefore, *bar.BlockedBefore}
		want := []int64{
			wholeNumber(now[i]["num_of_requests"]), wholeNumber(now[i]["num_of_blocked_requests"]),
			wholeNumber(before[i]["num_of_requests"]), wholeNumber(before[i]["num_of_blocked_requests"]),
		}
		if diff := cmp.Diff(want, numbers); diff != "" {
			r.t.Errorf("%s: %s", bar.Label, diff)
		}
	}
}

// top compares a list with topx, and its rows with the requests that their conditions select. It returns the number of
// rows.
func (r realReport) top(l report.List) int {
	r.t.Helper()
	var want []string
	for _, k := range r.results("topx", r.now, "--limit", "5") {
		if k["label"] == l.Field && (!l.ByBlocked || wholeNumber(k["num_of_blocked_requests"]) > 0) {
			want = append(want, fmt.Sprint(k["key"]))
		}
	}
	all := r.sum("timeline", "num_of_requests", r.now)
	if l.ByBlocked {
		all = r.sum("timeline", "num_of_blocked_requests", r.now)
	}
	var keys []string
	for _, row := range l.Rows {
		keys = append(keys, row.Key)
		count := func(period, more string) int64 {
			return int64(r.sum("timeline", "num_of_requests", period+", "+row.Condition+more, "--segment", "1d"))
		}
		const challenge, invisible = ", challenge is true", ", ichallenge is true"
		challenged := count(r.now, challenge) + count(r.now, invisible) - count(r.now, challenge+invisible)
		numbers := []int64{row.Requests, row.Blocked, row.Challenged, *row.Passed}
		selected := []int64{count(r.now, ""), count(r.now, ", blocked is true"), challenged, count(r.now, passingText)}
		if diff := cmp.Diff(selected, numbers); diff != "" {
			r.t.Errorf("%s %s (-selected +report): %s", l.Field, row.Key, diff)
		}
		if row.BlockedBefore != nil && *row.BlockedBefore != count(r.before, ", blocked is true") ||
			row.New && count(r.before, "") > 0 {
			r.t.Errorf("%s %s: before %d, new %v", l.Field, row.Key, *row.BlockedBefore, row.New)
		}
	}
	if diff := cmp.Diff(want, keys); diff != "" || float64(l.All) != all {
		r.t.Errorf("%s is about %d requests, want %v; keys (-topx +report): %s", l.Field, l.All, all, diff)
	}
	return len(l.Rows)
}

// facetsAsked is a question for the values of a field.
type facetsAsked struct{ more, by string }

// lists compares lists with facets. A list without values is left out.
func (r realReport) lists(got []report.List, asked []facetsAsked) {
	r.t.Helper()
	type row struct {
		Field, Key, Condition              string
		Requests, Blocked, Challenged, All int64
		Passed                             int64
	}
	var want, have []row
	for _, a := range asked {
		for _, f := range r.results("facets", r.now+a.more, "--by", a.by, "--limit", "5") {
			for _, value := range f["values"].([]any) {
				v := value.(map[string]any)
				one := row{
					Field: a.by, Key: fmt.Sprint(v["value"]), Condition: fmt.Sprint(v["condition"]),
					Requests: wholeNumber(v["num_of_requests"]), Blocked: wholeNumber(v["num_of_blocked_requests"]),
					Challenged: wholeNumber(v["num_of_challenges"]), All: int64(r.sum("timeline", "num_of_requests", r.now+a.more)),
				}
				if a.by == "monitor_reasons" {
					one.All = int64(r.sum("histogram", "value", r.now, "--measure", "monitored"))
				}
				of := r.now + a.more + ", " + one.Condition
				one.Passed = int64(r.sum("timeline", "num_of_requests", of+passingText))
				want = append(want, one)
			}
		}
	}
	for _, l := range got {
		for _, of := range l.Rows {
			one := row{
				Field: l.Field, Key: of.Key, Condition: of.Condition, Requests: of.Requests, Blocked: of.Blocked,
				Challenged: of.Challenged, All: l.All,
			}
			if i := len(have); of.Passed != nil {
				one.Passed = *of.Passed
			} else if i < len(want) && of.Blocked > 0 && of.Challenged > 0 {
				one.Passed = want[i].Passed // some may be both, so it is unknown
			}
			have = append(have, one)
			if of.BlockedBefore != nil && *of.BlockedBefore != int64(r.sum("timeline", "num_of_requests",
				r.before+", "+of.Condition+", blocked is true")) {
				r.t.Errorf("%s %s: before %d", l.Field, of.Key, *of.BlockedBefore)
			}
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		r.t.Errorf("lists differ (-facets +report):\n%s", diff)
	}
}

// changes compares the changes with diff.
func (r realReport) changes(got report.Report) {
	r.t.Helper()
	period := strings.TrimPrefix(strings.ReplaceAll(r.before, " and ", ".."), "timestamp between ")
	findings := r.results("diff", r.now, "--against", period, "--limit", "80")
	for _, c := range got.Changes {
		found := false
		for _, f := range findings {
			selected, baseline := f["selected"].(map[string]any), f["baseline"].(map[string]any)
			if f["by"] == c.Field && fmt.Sprint(f["value"]) == c.Key {
				found = wholeNumber(selected["num_of_requests"]) == c.Requests && selected["share"] == c.Share &&
					wholeNumber(baseline["num_of_requests"]) == c.Before && baseline["share"] == c.ShareBefore
			}
		}
		if !found {
			r.t.Errorf("%s %s is not a finding of the diff", c.Field, c.Key)
		}
	}
}

func (r realReport) examples(got []report.Record) {
	r.t.Helper()
	records := r.results("logs", r.now+", blocked is true", "--limit", "5")
	if len(records) != len(got) {
		r.t.Fatalf("%d examples, want %d", len(got), len(records))
	}
	for i, record := range records {
		text := func(name string) string {
			if record[name] == nil {
				return ""
			}
			return fmt.Sprint(record[name])
		}
		want := report.Record{
			Time: text("timestamp"), Local: got[i].Local, IP: text("ip"), Country: text("country"), Method: text("method"),
			Target: text("host") + text("path"), Status: text("status"), Reason: text("reason"), ID: text("request_id"),
			Link: got[i].Link, Cause: why.CauseOf(text("reason")),
		}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			r.t.Errorf("example %d (-logs +report): %s", i, diff)
		}
	}
}

// foot compares the numbers of records in the foot of the table.
func (r realReport) foot() {
	r.t.Helper()
	table, stderr, code := orrery(r.t, "", "report", "run", "--format", "csv", "--data", r.data, r.now)
	if code != exit.Done {
		r.t.Fatalf("exit code %d\n%s", code, stderr)
	}
	want := fmt.Sprintf("\nabout,Records,\"%s of the period, %s of the previous one\",",
		grouped(r.sum("timeline", "num_of_requests", r.now)), grouped(r.sum("timeline", "num_of_requests", r.before)))
	if !strings.Contains(table, want) {
		r.t.Errorf("%q is missing in:\n%s", want, table)
	}
}

// querier asks the data routes with the command, each question once. A server answers them, because the command itself
// would open the folder for each.
type querier struct {
	t         *testing.T
	data, url string
	known     map[string][]map[string]any
}

func newQuerier(t *testing.T, data string) querier {
	t.Helper()
	return querier{t, data, startServer(t, data, "--no-demo").base, map[string][]map[string]any{}}
}

func (q querier) results(route, filters string, args ...string) []map[string]any {
	q.t.Helper()
	args = append([]string{"query", route, filters, "--url", q.url, "--format", "json"}, args...)
	asked := strings.Join(args, "\n")
	if results, ok := q.known[asked]; ok {
		return results
	}
	out, stderr, code := orrery(q.t, "", args...)
	var answer struct {
		Data struct{ Results []map[string]any }
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != exit.Done {
		q.t.Fatalf("query %s %s exited %d: %v %s", route, filters, code, err, stderr)
	}
	q.known[asked] = answer.Data.Results
	return answer.Data.Results
}

func (q querier) sum(route, member, filters string, args ...string) float64 {
	q.t.Helper()
	total := 0.0
	for _, r := range q.results(route, filters, args...) {
		total += r[member].(float64)
	}
	return total
}

func wholeNumber(value any) int64 {
	n, err := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	if err != nil {
		return int64(value.(float64))
	}
	return n
}
