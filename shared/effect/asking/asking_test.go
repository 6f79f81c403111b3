package asking_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/effect/asking"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// sourceOf returns the source over rows, which are in the order of their times, for a caller who is limited to branches
// unless there are none.
func sourceOf(t *testing.T, rows []*lake.Row, branches ...string) answering.Ask {
	t.Helper()
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return sceneDay.AddDate(1, 0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return answering.AskAs(service, branches, "", nil)
}

func run(t *testing.T, from answering.Ask, r asking.Request) asking.Effect {
	t.Helper()
	got, err := asking.Run(t.Context(), from, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// log is a log in memory.
type log struct{ rows []*lake.Row }

// every adds requests at regular times, n in each hour. They are blocked if reason is not nil, and have no reason if it is
// empty.
func (l *log) every(from time.Time, hours, n int, reason *string, human *bool, branch string) {
	for i := range n * hours {
		blocked := reason != nil
		row := &lake.Row{
			TsMs: from.Add(time.Hour * time.Duration(i) / time.Duration(n)).UnixMilli(), Source: "s", Line: int64(len(l.rows) + 1),
			Blocked: &blocked, Human: human, Branch: &branch,
		}
		if blocked && *reason != "" {
			row.Reason = reason
		}
		l.rows = append(l.rows, row)
	}
}

func (l *log) sorted() []*lake.Row {
	slices.SortStableFunc(l.rows, func(a, b *lake.Row) int { return int(a.TsMs - b.TsMs) })
	return l.rows
}

var (
	noon    = sceneDay.Add(12 * time.Hour)
	yes, no = true, false
	acl     = `Block - acl Deny ["all"] - acl3 - [request]`
	aclBot  = `Block - acl Deny Bot ["bot"] - acl3 - [request]`
	limit   = `Block - rate limit ["login"] - Login attempts - [request]`
	unnamed = ""
)

// changed is a log in which a rule blocks more from noon on, with two reasons.
func changed() *log {
	l := &log{}
	l.every(noon.Add(-3*time.Hour), 6, 600, nil, &yes, "prod")
	l.every(noon.Add(-3*time.Hour), 6, 20, &limit, &no, "prod")
	l.every(noon.Add(-3*time.Hour), 6, 6, &unnamed, nil, "prod")
	l.every(noon, 3, 100, &acl, &yes, "prod")
	l.every(noon, 3, 40, &aclBot, nil, "test")
	return l
}

// TestEffect: the rule that blocks more explains the difference, its reasons have their parts of it, and every number is
// the number of requests that its filter selects.
func TestEffect(t *testing.T) {
	from := sourceOf(t, changed().sorted())
	got := run(t, from, asking.Request{At: "2026-11-20 12:00"})
	var lines []string
	for _, r := range got.Results {
		value := "–"
		if r.Value != nil {
			value = *r.Value
		}
		lines = append(lines, fmt.Sprintf("%s %s: %d = %d + %d + %d", r.By, value, r.Difference, r.FromRequests, r.FromRules, r.Rest), r.Sentence)
		if r.Difference != r.FromRequests+r.FromRules+r.Rest {
			t.Errorf("the parts of %s do not add up", lines[len(lines)-2])
		}
		for _, side := range []answer.EffectSide{r.Before, r.After} {
			if n := counted(t, from, side.Filter); n != side.NumOfBlockedRequests {
				t.Errorf("%s: the filter %s selects %d requests, want %d", value, side.Filter, n, side.NumOfBlockedRequests)
			}
		}
	}
	want := []string{
		"all –: 140 = 6 + 140 + -6",
		"In the hour from 2026-11-20 12:00, 166 of 766 requests were blocked, and 26 of 626 in the hour before: " +
			"acl acl3 blocked 140 more than expected; 100 of the blocked requests were of humans, and none before.",
		"rule acl acl3: 140 = 0 + 140 + 0",
		"Acl acl3 blocked 140 requests in the hour from 2026-11-20 12:00, and none in the hour before: 140 more than expected.",
		"rule rate limit Login attempts: 0 = 4 + 0 + -4",
		"Rate limit Login attempts blocked 20 requests in the hour from 2026-11-20 12:00, and 20 in the hour before, as expected.",
		"rule –: 0 = 1 + 0 + -1",
		"An unnamed rule blocked 6 requests in the hour from 2026-11-20 12:00, and 6 in the hour before, as expected.",
		"reason " + acl + ": 100 = 0 + 100 + 0",
		"100 requests blocked for the reason “" + acl + "” in the hour from 2026-11-20 12:00, and none in the hour before: " +
			"100 more than expected.",
		"reason " + aclBot + ": 40 = 0 + 40 + 0",
		"40 requests blocked for the reason “" + aclBot + "” in the hour from 2026-11-20 12:00, and none in the hour before: " +
			"40 more than expected.",
		"reason " + limit + ": 0 = 4 + 0 + -4",
		"20 requests blocked for the reason “" + limit + "” in the hour from 2026-11-20 12:00, and 20 in the hour before, as expected.",
		"reason –: 0 = 1 + 0 + -1",
		"6 requests blocked without a reason in the hour from 2026-11-20 12:00, and 6 in the hour before, as expected.",
	}

	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	m := got.Meta.Effect
	if m.Before.NumOfRequests != 626 || *m.After.NumOfHumans != 700 || m.Before.Period.From != "2026-11-20T11:00:00Z" ||
		m.After.Period.To != "2026-11-20T12:59:59.999Z" || m.LengthSeconds != 3600 || m.Shortened {
		t.Errorf("%+v", m)
	}
	if n := counted(t, from, m.After.Filter); n != m.After.NumOfRequests {
		t.Errorf("the filter %s selects %d requests", m.After.Filter, n)
	}
	humans := func(i int) (before, after *int64) {
		return got.Results[i].Before.NumOfBlockedHumans, got.Results[i].After.NumOfBlockedHumans
	}
	if before, after := humans(1); before != nil || *after != 100 {
		t.Errorf("humans of acl3: %v, %v", before, after)
	}
	if before, after := humans(2); *before != 0 || *after != 0 {
		t.Errorf("humans of the rate limit: %v, %v", before, after)
	}
	if before, after := humans(3); before != nil || after != nil {
		t.Errorf("humans without a reason: %v, %v", before, after)
	}
}

// counted returns the number of requests that a filter selects.
func counted(t *testing.T, from answering.Ask, filters string) (n int64) {
	t.Helper()
	body, err := from.Ask(t.Context(), "stats", map[string]string{"filters": filters, "segment": "1d"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resultsOf[answer.StatsResult](t, body) {
		n += r.NumOfRequests
	}
	return n
}

// TestPeriods: the periods are equally long, and end where the data ends.
func TestPeriods(t *testing.T) {
	rows := changed().sorted() // until 14:59
	for _, test := range []struct {
		rule          string
		request       asking.Request
		before, after string
	}{
		{"a length", asking.Request{Length: "15m"}, "2026-11-20T11:45:00Z", "2026-11-20T12:14:59.999Z"},
		{"seconds", asking.Request{Length: "900"}, "2026-11-20T11:45:00Z", "2026-11-20T12:14:59.999Z"},
		{"another day", asking.Request{Against: "7d"}, "2026-11-13T12:00:00Z", "2026-11-20T12:59:59.999Z"},
		{"the end of the data", asking.Request{Length: "6h"}, "2026-11-20T09:00:00Z", "2026-11-20T14:59:59.999Z"},
		{"the present", asking.Request{Now: noon.Add(150*time.Second + time.Millisecond)}, "2026-11-20T11:58:00Z", "2026-11-20T12:01:59.999Z"},
		{
			"an hour that is repeated in the zone", asking.Request{At: "2026-10-25 12:00", Against: "1d", Length: "1d", Zone: "Europe/Berlin"},
			"2026-10-24T11:00:00Z", "2026-10-26T11:59:59.999Z",
		},
	} {
		r := test.request
		if r.At == "" {
			r.At = "2026-11-20 12:00"
		}
		m := run(t, sourceOf(t, rows), r).Meta.Effect
		if m.Before.Period.From != test.before || m.After.Period.To != test.after ||
			m.Shortened != (strings.HasPrefix(test.rule, "the ")) {
			t.Errorf("%s: %+v", test.rule, m)
		}
	}
}

// TestSegmentsWithoutRequests: only rules and reasons that blocked requests have a result.
func TestSegmentsWithoutRequests(t *testing.T) {
	l := &log{}
	l.every(noon.Add(-time.Hour), 1, 4, &acl, nil, "prod")
	l.every(noon, 2, 1, nil, nil, "prod")
	got := run(t, sourceOf(t, l.sorted()), asking.Request{At: "2026-11-20 12:00"})
	var lines []string
	for _, r := range got.Results {
		lines = append(lines, r.By+": "+r.Sentence)
	}
	want := []string{
		"all: In the hour from 2026-11-20 12:00, none of 1 request was blocked, and 4 of 4 in the hour before; " +
			"the number of requests and chance explain the difference.",
		"rule: Acl acl3 blocked no requests in the hour from 2026-11-20 12:00, and 4 in the hour before, as expected.",
		"reason: No requests blocked for the reason “" + acl + "” in the hour from 2026-11-20 12:00, and 4 in the hour before, " +
			"as expected.",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// TestSentences: what is said when there is nothing to compare, or nothing to explain.
func TestSentences(t *testing.T) {
	from := sourceOf(t, changed().sorted())
	for _, test := range []struct{ at, filters, want string }{
		{"2026-11-20 11:00", "", "In the hour from 2026-11-20 11:00, 26 of 626 requests were blocked, and 26 of 626 in the hour before; " +
			"the number of requests and chance explain the difference."},
		{"2026-11-20 12:00", "branch=none", "In the hour from 2026-11-20 12:00, and in the hour before, there were no requests."},
		{"2026-11-20 12:00", "branch=test", "In the hour from 2026-11-20 12:00, 40 of 40 requests were blocked; " +
			"in the hour before, there were no requests to compare them with."},
		{"2026-11-20 12:00", "blocked is false", "In the hour from 2026-11-20 12:00, none of 600 requests was blocked, " +
			"and none of 600 in the hour before."},
	} {
		if got := run(t, from, asking.Request{At: test.at, Filters: test.filters}).Results[0].Sentence; got != test.want {
			t.Errorf("%s %s: %s", test.at, test.filters, got)
		}
	}
	limited := sourceOf(t, changed().sorted(), "test")
	if got := run(t, limited, asking.Request{At: "2026-11-20 12:00"}).Meta.Effect.After.NumOfRequests; got != 40 {
		t.Errorf("a caller who is limited to a branch sees %d requests, want 40", got)
	}
}

// TestMistakes: each names its parameter.
func TestMistakes(t *testing.T) {
	from := sourceOf(t, changed().sorted())
	for _, test := range []struct {
		param   string
		request asking.Request
	}{
		{"at", asking.Request{}},
		{"at", asking.Request{At: "noon"}},
		{"at", asking.Request{At: "2026-11-20 16:00"}},
		{"at", asking.Request{At: "2026-11-20 12:00", Now: noon.Add(59 * time.Second)}},
		{"length", asking.Request{At: "2026-11-20", Length: "soon"}},
		{"length", asking.Request{At: "2026-11-20", Length: "30s"}},
		{"length", asking.Request{At: "2026-11-20", Length: "8d"}},
		{"against", asking.Request{At: "2026-11-20", Against: "12h"}},
		{"against", asking.Request{At: "2026-11-20", Against: "32d"}},
		{"against", asking.Request{At: "2026-11-20", Length: "2d", Against: "1d"}},
		{"filters", asking.Request{At: "2026-11-20", Filters: "timestamp between 2026-01-01 and 2026-01-02"}},
		{"tz", asking.Request{At: "2026-11-20", Zone: "Nowhere"}},
	} {
		_, err := asking.Run(t.Context(), from, test.request)
		var wrong *search.ParamError
		if !errors.As(err, &wrong) || wrong.Param != test.param {
			t.Errorf("%+v: %v", test.request, err)
		}
	}
	_, err := asking.Run(t.Context(), from, asking.Request{At: "2026-11-20", Filters: "hots=a"})
	if !errors.As(err, new(*query.FilterError)) {
		t.Errorf("a filter with a mistake: %v", err)
	}
}

// TestDryRun: an estimate asks nothing.
func TestDryRun(t *testing.T) {
	m, err := asking.DryRun(t.Context(), sourceOf(t, changed().sorted()), asking.Request{At: "2026-11-20 12:00"})
	if err != nil || !m.DryRun || m.Estimate == nil || m.BytesScanned != 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

func resultsOf[T any](t *testing.T, body []byte) []T {
	t.Helper()
	var from struct {
		Data struct {
			Results []T `json:"results"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &from); err != nil {
		t.Fatal(err)
	}
	return from.Data.Results
}
