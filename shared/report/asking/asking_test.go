package asking_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/search"
)

// apiSource asks the API over generated records.
type apiSource struct {
	t       testing.TB
	handler http.Handler
	rows    []*lake.Row

	mutex sync.Mutex
	fail  map[string]string // route → reason
	asked int
}

var now = time.Date(2026, 1, 3, 7, 0, 0, 0, time.UTC)

// newSource returns the API over two generated days, 2026-01-01 and 2026-01-02 in UTC.
func newSource(t testing.TB) *apiSource {
	t.Helper()
	return newSourceOf(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
}

// newSourceOf returns the API over two generated days.
func newSourceOf(t testing.TB, first time.Time) *apiSource {
	t.Helper()
	var rows []*lake.Row
	decoder := record.NewDecoder()
	for day, n := range []int{1500, 2500} {
		from := first.AddDate(0, 0, day)
		text, err := io.ReadAll(gen.New(gen.Options{Records: n, Seed: uint64(day + 1), From: from, To: from.Add(24 * time.Hour)}))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			row := &lake.Row{}
			if _, err := decoder.Decode(line, row); err != nil {
				t.Fatal(err)
			}
			row.Source, row.Line = "s", int64(len(rows)+1)
			rows = append(rows, row)
		}
	}
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Config{
		Search: service, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Serves: []string{
			"timeline-post", "topx-post", "facets-post", "histogram-post", "stats-post", "diff-post", "logs-post", "incidents-post",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &apiSource{t: t, handler: handler, rows: rows}
}

func (s *apiSource) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	s.mutex.Lock()
	s.asked++
	reason := s.fail[route]
	s.mutex.Unlock()
	if reason != "" {
		return nil, errors.New(reason)
	}
	members := map[string]any{}
	for name, value := range params {
		members[name] = value
	}
	if limit, err := strconv.Atoi(params["limit"]); err == nil {
		members["limit"] = limit
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/api/v4.0/data/"+route, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%d %s", w.Code, w.Body)
	}
	return w.Body.Bytes(), nil
}

// results returns the results of a data route for a filter.
func (s *apiSource) results(route string, params map[string]string) []map[string]any {
	s.t.Helper()
	body, err := s.Ask(s.t.Context(), route, params)
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct {
		Data struct{ Results []map[string]any }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Results
}

const secondDay = "timestamp between 2026-01-02 00:00:00 and 2026-01-02 23:59:59.999"

// TestRun compares a report about generated records with the answers of the data routes.
func TestRun(t *testing.T) {
	s := newSource(t)
	got := run(t, s, asking.Request{Filters: secondDay})
	sums := func(filters, member, route string) float64 {
		sum := 0.0
		for _, r := range s.results(route, map[string]string{"filters": filters}) {
			sum += r[member].(float64)
		}
		return sum
	}
	const firstDay = "timestamp between 2026-01-01 00:00:00 and 2026-01-01 23:59:59.999"
	for i, member := range map[int]string{
		0: "num_of_requests", 1: "num_of_blocked_requests", 2: "num_of_challenges", 4: "num_of_human_requests",
		5: "num_of_origin_blocked_requests", 8: "sum_of_sent_bytes",
	} {
		want, before := sums(secondDay, member, "timeline"), sums(firstDay, member, "timeline")
		if f := got.Figures[i]; *f.Value != want || *f.Previous != before || want == 0 {
			t.Errorf("%s is %v, before %v, want %v and %v", f.ID, *f.Value, *f.Previous, want, before)
		}
	}
	for i, f := range []string{firstDay, secondDay} {
		monitored, timed, seconds := 0.0, 0.0, 0.0
		for _, r := range s.results("histogram", map[string]string{"filters": f, "measure": "monitored"}) {
			monitored += r["value"].(float64)
		}
		for _, r := range s.results("stats", map[string]string{"filters": f + ", request_time>=0", "segment": "1d"}) {
			timed += r["num_of_requests"].(float64)
			seconds += r["num_of_requests"].(float64) * r["avg_latency"].(float64)
		}
		slow := s.results("stats", map[string]string{
			"filters": f + ", request_time>=0", "segment": "4d", "figures": "percentiles",
		})
		figures := []*float64{got.Figures[3].Previous, got.Figures[6].Previous, got.Figures[7].Previous}
		if i == 1 {
			figures = []*float64{got.Figures[3].Value, got.Figures[6].Value, got.Figures[7].Value}
		}
		if len(slow) != 1 || slow[0]["p99_total_time"] != *figures[2] || *figures[2] <= *figures[1] {
			t.Errorf("99 %% within %v, want %v", *figures[2], slow)
		}
		if *figures[0] != monitored || monitored == 0 || math.Abs(*figures[1]-seconds/timed) > 1e-9 {
			t.Errorf("%v monitored, want %v; average %v, want %v", *figures[0], monitored, *figures[1], seconds/timed)
		}
	}
	if len(got.Failed) > 0 || len(got.Notices()) > 0 {
		t.Errorf("%v %v", got.Failed, got.Notices())
	}
	if got.Run.Questions != 23 || len(got.Chart.Bars) != 24 || len(got.Examples) != 5 || len(got.Attackers) != 3 {
		t.Errorf("%d questions, %d bars, %d examples, %d lists of attackers", got.Run.Questions, len(got.Chart.Bars),
			len(got.Examples), len(got.Attackers))
	}
	if got.Incidents == nil || got.Marks == nil {
		t.Errorf("incidents: %v, changes of settings: %v", got.Incidents, got.Marks)
	}
	if !got.Compared || got.Verdict.State == report.Unknown {
		t.Errorf("compared: %v, verdict %s", got.Compared, got.Verdict.State)
	}
	// Every condition of a row selects the requests that the row counts.
	rows := 0
	for _, lists := range [][]report.List{got.Attackers, got.Targets, got.Rules} {
		for _, l := range lists {
			for _, row := range l.Rows {
				filters, want := secondDay+", "+row.Condition, row.Requests
				if l.ByBlocked {
					filters, want = filters+", blocked is true", row.Blocked
				}
				if n := sums(filters, "num_of_requests", "timeline"); row.Condition == "" || n != float64(want) {
					t.Errorf("%s %s: %v requests, %d in the report", l.Field, row.Key, n, want)
				}
				passed := secondDay + ", " + row.Condition + ", blocked not is true, challenge not is true, ichallenge not is true"
				if n := sums(passed, "num_of_requests", "timeline"); l.Field != "reason" && l.Field != "monitor_reasons" &&
					(row.Passed == nil || n != float64(*row.Passed)) {
					t.Errorf("%s %s: %v requests passed, %v in the report", l.Field, row.Key, n, row.Passed)
				}
				rows++
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows", rows)
	}
}

// TestTimesAcrossSegments: 99 % within is a time of the whole period, also if a segment of 4096 days since 1970 ends in
// it, as one does at the end of 2026-01-26.
func TestTimesAcrossSegments(t *testing.T) {
	s := newSourceOf(t, time.Date(2026, 1, 26, 0, 0, 0, 0, time.UTC))
	got := run(t, s, asking.Request{Filters: "timestamp between 2026-01-26 and 2026-01-27 23:59:59.999"})
	var times []int64
	for _, r := range s.rows {
		if r.TotalUs != nil {
			times = append(times, *r.TotalUs)
		}
	}
	slices.Sort(times)
	want := float64(times[(len(times)*99+99)/100-1]) / 1e6
	if p99 := got.Figures[7].Value; p99 == nil || *p99 > want || *p99 <= 0.99*want {
		t.Errorf("99 %% within %v, want %v, rounded down", got.Figures[7], want)
	}
}

func run(t *testing.T, s asking.Source, r asking.Request) report.Report {
	t.Helper()
	got, err := asking.Run(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestComparisons: a report compares with the period before, with the same time of an earlier week, or with nothing,
// and its command asks for the same.
func TestComparisons(t *testing.T) {
	const day = "timestamp between 2026-01-14 and 2026-01-14 23:59:59.999"
	const part = "timestamp between 2026-01-14 10:00:00 and 2026-01-22 09:59:59.999"
	for _, test := range []struct{ filters, compare, from, to, flag string }{
		{day, "", "2026-01-13T00:00:00Z", "2026-01-13T23:59:59.999Z", ""},
		{day, asking.Previous, "2026-01-13T00:00:00Z", "2026-01-13T23:59:59.999Z", ""},
		{day, asking.SameWeekday, "2026-01-07T00:00:00Z", "2026-01-07T23:59:59.999Z", "--compare same-weekday "},
		{part, asking.SameWeekday, "2025-12-31T10:00:00Z", "2026-01-08T09:59:59.999Z", "--compare same-weekday "},
		{day, asking.None, "", "", "--compare none "},
	} {
		t.Run(test.filters+" "+test.compare, func(t *testing.T) {
			r := run(t, newSource(t), asking.Request{Filters: test.filters, Compare: test.compare})
			var previous report.Span
			if r.Previous != nil {
				previous = *r.Previous
			}
			if previous.From != test.from || previous.To != test.to {
				t.Errorf("it is compared with %s – %s", previous.From, previous.To)
			}
			text := strings.Join(strings.Fields(string(r.Text())), " ")
			if !strings.Contains(text, "orrery report run "+test.flag+"'timestamp") {
				t.Errorf("the command is another one: %s", text[strings.Index(text, "orrery report run"):])
			}
		})
	}
}

// TestSameDataSameReport: two reports about the same data have the same bytes, apart from what they rest on.
func TestSameDataSameReport(t *testing.T) {
	s := newSource(t)
	compared := func() string {
		r := run(t, s, asking.Request{Last: report.Day, Now: now, Zone: "Asia/Kolkata"})
		r.Run = report.Run{}
		return string(r.HTML()) + string(r.Text()) + string(r.CSV()) + string(r.JSON())
	}
	if diff := cmp.Diff(compared(), compared()); diff != "" {
		t.Error(diff)
	}
}

func TestFailedQuestions(t *testing.T) {
	t.Run("a question that fails is a part that is missing", func(t *testing.T) {
		s := newSource(t)
		s.fail = map[string]string{"diff": "too many values", "logs": "too many values"}
		got := run(t, s, asking.Request{Filters: secondDay})
		want := []report.Failed{{Part: report.Examples, Reason: "too many values"}, {Part: report.Changes, Reason: "too many values"}}
		if diff := cmp.Diff(want, got.Failed); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("without any answer there is no report", func(t *testing.T) {
		s := newSource(t)
		s.fail = map[string]string{}
		for _, route := range []string{"timeline", "topx", "facets", "histogram", "stats", "diff", "logs", "incidents"} {
			s.fail[route] = "the server is busy"
		}
		_, err := asking.Run(t.Context(), s, asking.Request{Filters: secondDay})
		if err == nil || !strings.Contains(err.Error(), "the server is busy") {
			t.Error(err)
		}
	})
	t.Run("the caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := asking.Run(ctx, newSource(t), asking.Request{Filters: secondDay}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// crowd is a source that answers no question before a number of them are asked at the same time. Later ones are
// answered at once.
type crowd struct {
	all     int
	arrived chan struct{} // is closed then
	once    sync.Once

	mutex     sync.Mutex
	now, most int
}

func (c *crowd) Ask(context.Context, string, map[string]string) ([]byte, error) {
	c.mutex.Lock()
	c.now++
	if c.most = max(c.most, c.now); c.now == c.all {
		c.once.Do(func() { close(c.arrived) })
	}
	c.mutex.Unlock()
	<-c.arrived
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now--
	return []byte(`{"data":{"results":[]},"meta":{"estimate":{"bytes":null}}}`), nil
}

// TestQuestionsAtTheSameTime: questions, and dry runs of them, are asked at the same time, all of them or some.
func TestQuestionsAtTheSameTime(t *testing.T) {
	setting, err := asking.SettingOf(asking.Request{Filters: secondDay})
	if err != nil {
		t.Fatal(err)
	}
	all := len(setting.Questions()) - 2 // those for incidents and for changes of settings come alone
	for _, test := range []struct {
		rule         string
		atOnce, want int
	}{{"all", 0, all}, {"a few", inquiry.Few, inquiry.Few}, {"more than there are", all + 1, all}} {
		t.Run(test.rule, func(t *testing.T) {
			for what, ask := range map[string]func(s asking.Source) error{
				"questions": func(s asking.Source) error {
					_, err := asking.Make(t.Context(), s, setting, test.atOnce, nil)
					return err
				},
				"dry runs": func(s asking.Source) error {
					for _, one := range asking.DryRun(t.Context(), s, setting, test.atOnce) {
						if one.Err != nil {
							return one.Err
						}
					}
					return nil
				},
			} {
				c := &crowd{all: test.want, arrived: make(chan struct{})}
				if err := ask(c); err != nil || c.most != test.want {
					t.Errorf("%d %s at the same time, want %d; %v", c.most, what, test.want, err)
				}
			}
		})
	}
}

// TestDryRun: each question has its estimate, or why there is none.
func TestDryRun(t *testing.T) {
	s := newSource(t)
	s.fail = map[string]string{"diff": "too many values"}
	setting, err := asking.SettingOf(asking.Request{Filters: secondDay})
	if err != nil {
		t.Fatal(err)
	}
	list := asking.DryRun(t.Context(), s, setting, 0)
	for i, q := range setting.Questions() {
		one := list[i]
		failed := one.Err != nil && strings.Contains(one.Err.Error(), "changes of a report: too many values")
		if one.Part != q.Part || failed != (q.Route == "diff") || failed == one.Meta.DryRun ||
			failed != (one.Meta.Estimate == nil) {
			t.Errorf("%s: %+v", q.Part, one)
		}
	}
}

func TestProgress(t *testing.T) {
	var steps []string
	run(t, newSource(t), asking.Request{
		Filters: secondDay, Compare: asking.None, Template: report.Attack,
		Done: func(done, all int) { steps = append(steps, fmt.Sprintf("%d/%d", done, all)) },
	})
	if diff := cmp.Diff([]string{
		"1/14", "2/14", "3/14", "4/14", "5/14", "6/14", "7/14", "8/14", "9/14", "10/14", "11/14", "12/14", "13/14", "14/14",
	}, steps); diff != "" {
		t.Error(diff)
	}
}

func TestSettings(t *testing.T) {
	for _, test := range []struct {
		rule, want string // filter, or a part of the error
		r          asking.Request
	}{
		{"the period of the filter", "timestamp between 2026-01-02 00:00:00 and 2026-01-03 00:00:00, host=\"a\"",
			asking.Request{Filters: "host=a, timestamp between 2026-01-02 and 2026-01-03"}},
		{"the filter in json", "timestamp between 2026-01-02 00:00:00 and 2026-01-03 00:00:00, status=404", asking.Request{
			Filters: `{"AND":[{"field":"timestamp","op":"between","value":["2026-01-02","2026-01-03"]},` +
				`{"field":"status","op":"eq","value":404}]}`}},
		{"the last day of the zone", "timestamp between 2026-01-01 18:30:00 and 2026-01-02 18:29:59.999, host=\"a\"",
			asking.Request{Filters: "host=a", Last: report.Day, Now: now, Zone: "Asia/Kolkata"}},
		{"all requests of the last week", "timestamp between 2025-12-22 00:00:00 and 2025-12-28 23:59:59.999",
			asking.Request{Last: report.Week, Now: now}},
		{"a filter without a period", "period", asking.Request{Filters: "host=a"}},
		{"two periods", "filters: it has a period", asking.Request{Filters: secondDay, Last: report.Day, Now: now}},
		{"a mistake in the filter", "hots", asking.Request{Filters: "hots=a", Last: report.Day, Now: now}},
		{"relative times", "timestamp between 2026-01-03 06:00:00 and 2026-01-03 07:00:00",
			asking.Request{Filters: "timestamp between now-1h and now", Now: now}},
		{"days of the zone", "timestamp between 2026-01-01 18:30:00 and 2026-01-02 18:30:00",
			asking.Request{Filters: "timestamp between yesterday and today", Now: now, Zone: "Asia/Kolkata"}},
		{"relative times beside the last day", "timestamp not between 2026-01-02 06:00:00 and 2026-01-02 07:00:00",
			asking.Request{Filters: "not timestamp between now-25h and now-24h", Last: report.Day, Now: now}},
		{"relative times without a clock", "relative", asking.Request{Filters: "timestamp between now-1h and now"}},
		{"an unknown zone", `tz: there is no time zone "Europe/Berlim"; did you mean "Europe/Berlin"?`, asking.Request{Filters: secondDay, Zone: "Europe/Berlim"}},
		{"the zone of the machine", "tz: there is no time zone", asking.Request{Filters: secondDay, Zone: "Local"}},
		{"a zone that is a path", "tz: there is no time zone", asking.Request{Filters: secondDay, Zone: "../../etc/passwd"}},
		{"an unknown template", "template: unknown", asking.Request{Filters: secondDay, Template: "weekly"}},
		{"an unknown comparison", "compare: ", asking.Request{Filters: secondDay, Compare: "next"}},
		{"a long title", "title: ", asking.Request{Filters: secondDay, Title: strings.Repeat("ä", 121)}},
		{"a title with an escape sequence", "title: it has control characters",
			asking.Request{Filters: secondDay, Title: "a\u009b2Jb"}},
		{"a link that is no address", "link: ", asking.Request{Filters: secondDay, Link: "javascript:alert(1)"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, err := asking.SettingOf(test.r)
			var got string
			if err != nil {
				got = err.Error()
			} else {
				got = s.Filter(s.Period)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
