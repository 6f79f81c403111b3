package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report"
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
		{"text by default", []string{tourDay, "--data", data}, exitDone, "VERDICT: ", ""},
		{"json", []string{tourDay, "--data", data, "--format", "json"}, exitDone, `"verdict": {`, ""},
		{"csv", []string{tourDay, "--data", data, "--format", "csv"}, exitDone, "figure,requests,requests,", ""},
		{"a mail", []string{tourDay, "--data", data, "--format", "mail", "--to", "ops@example.com"}, exitDone,
			"Content-Type: multipart/mixed;", ""},
		{"a mail without a valid sender", []string{tourDay, "--data", data, "--format", "mail", "--from", "x"}, exitFailed, "",
			"the sender \"x\""},
		{"html to a file", []string{tourDay, "--data", data, "--format", "html", "--output", page}, exitDone, "",
			"the report is in " + page},
		{"the last week has no requests", []string{"--last", "week", "--data", data}, exitDone, "No requests are in this period",
			"No requests are in this period. The newest record is of"},
		{"an attack report", []string{tourDay, "--data", data, "--template", "attack", "--compare", "none"}, exitDone,
			"orrery report run --template attack --compare none", ""},
		{"no period", []string{"--data", data}, exitUsage, "", "name a period"},
		{"a filter without a period", []string{"host=a", "--data", data}, exitFailed, "", "period"},
		{"a mistake in the filter", []string{"hots=1, " + tourDay, "--data", data}, exitFailed, "", "corrected: host=1"},
		{"two periods", []string{tourDay, "--last", "week", "--data", data}, exitUsage, "", "filters: it has a period"},
		{"an unknown zone", []string{tourDay, "--tz", "Berlin", "--data", data}, exitUsage, "", "unknown zone"},
		{"no folder of data", []string{tourDay, "--data", filepath.Join(data, "none")}, exitFailed, "", "there is no data"},
		{"a page cannot be text", []string{tourDay, "--data", data, "--open", "--format", "csv"}, exitUsage, "", "--format html"},
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
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitDone {
		t.Fatalf("exit code %d: %v\n%s", code, err, stderr)
	}
	return d
}

// TestReportOfRealLog compares every number of a weekly report about a real log with the data routes.
func TestReportOfRealLog(t *testing.T) {
	logs, there := realLogs(t)
	if !there {
		t.Skip("there are no real logs next to the repository")
	}
	data := filepath.Join(t.TempDir(), "data")
	log := filepath.Join(logs, "semicomplete-2015.combined.log.gz")
	if out, stderr, code := orrery(t, "", "import", "--data", data, log); code != exitDone {
		t.Fatalf("import exited %d: %s%s", code, out, stderr)
	}
	const (
		week   = "timestamp between 2015-05-18 00:00:00 and 2015-05-24 23:59:59.999"
		before = "timestamp between 2015-05-11 00:00:00 and 2015-05-17 23:59:59.999"
	)
	got := reportOf(t, "--data", data, week).Report
	q := querier{t, data}

	for i, filters := range []string{before, week} {
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
			5: "num_of_origin_blocked_requests", 7: "sum_of_sent_bytes",
		} {
			f := got.Figures[figure]
			if n := q.sum("timeline", member, filters); value(f) != n {
				t.Errorf("%s of %s is %v, want %v", f.ID, filters, value(f), n)
			}
		}
		if n := q.sum("histogram", "value", filters, "--measure", "monitored"); value(got.Figures[3]) != n {
			t.Errorf("%v monitored, want %v", value(got.Figures[3]), n)
		}
		if q.sum("stats", "num_of_requests", filters+", request_time>=0") == 0 && !math.IsNaN(value(got.Figures[6])) {
			t.Errorf("an average time of %v, but no request has one", value(got.Figures[6]))
		}
	}
	if *got.Figures[0].Value+*got.Figures[0].Previous != 10_000 {
		t.Errorf("%v and %v requests, want 10000", *got.Figures[0].Value, *got.Figures[0].Previous)
	}

	if len(got.Chart.Bars) != 7 {
		t.Fatalf("%d bars", len(got.Chart.Bars))
	}
	days, daysBefore := q.results("timeline", week, "--segment", "1d"), q.results("timeline", before, "--segment", "1d")
	for i, bar := range got.Chart.Bars {
		numbers := []int64{bar.Requests, bar.Blocked, *bar.RequestsBefore, *bar.BlockedBefore}
		want := []int64{
			wholeNumber(days[i]["num_of_requests"]), wholeNumber(days[i]["num_of_blocked_requests"]),
			wholeNumber(daysBefore[i]["num_of_requests"]), wholeNumber(daysBefore[i]["num_of_blocked_requests"]),
		}
		if diff := cmp.Diff(want, numbers); diff != "" {
			t.Errorf("%s: %s", bar.Label, diff)
		}
	}

	rows := 0
	top := q.results("topx", week, "--limit", "5")
	for _, l := range append(append(append([]report.List{}, got.Attackers...), got.Targets...), got.Rules...) {
		for _, row := range l.Rows {
			found := false
			for _, k := range top {
				if k["label"] == l.Field && k["key"] == row.Key {
					found = wholeNumber(k["num_of_requests"]) == row.Requests && wholeNumber(k["num_of_blocked_requests"]) == row.Blocked
				}
			}
			if n := q.sum("timeline", "num_of_requests", week+", "+row.Condition); !found || n != float64(row.Requests) {
				t.Errorf("%s %s: %d requests, want %v", l.Field, row.Key, row.Requests, n)
			}
			rows++
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows", rows)
	}

	findings := q.results("diff", week, "--against", "2015-05-11..2015-05-17 23:59:59.999", "--limit", "80")
	if len(got.Changes) == 0 {
		t.Error("nothing changed")
	}
	for _, c := range got.Changes {
		found := false
		for _, f := range findings {
			selected, baseline := f["selected"].(map[string]any), f["baseline"].(map[string]any)
			if f["by"] == c.Field && fmt.Sprint(f["value"]) == c.Key {
				found = wholeNumber(selected["num_of_requests"]) == c.Requests && wholeNumber(baseline["num_of_requests"]) == c.Before
			}
		}
		if !found {
			t.Errorf("%s %s is not a finding of the diff", c.Field, c.Key)
		}
	}
	if n := len(q.results("logs", week+", blocked is true", "--limit", "5")); n != len(got.Examples) {
		t.Errorf("%d examples, want %d", len(got.Examples), n)
	}
	passed := q.results("facets", week+", upstream_status>=500", "--by", "host", "--limit", "5")
	if n := len(passed[0]["values"].([]any)); n == 0 && len(got.Passed) != 0 {
		t.Errorf("%d lists of what got through, want none", len(got.Passed))
	}
}

// querier asks the data routes with the command.
type querier struct {
	t    *testing.T
	data string
}

func (q querier) results(route, filters string, args ...string) []map[string]any {
	q.t.Helper()
	args = append([]string{"query", route, filters, "--data", q.data, "--format", "json"}, args...)
	out, stderr, code := orrery(q.t, "", args...)
	var answer struct {
		Data struct{ Results []map[string]any }
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != exitDone {
		q.t.Fatalf("query %s %s exited %d: %v %s", route, filters, code, err, stderr)
	}
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
