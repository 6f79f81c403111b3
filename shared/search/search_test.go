package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// oracle is an engine that answers with the reference evaluation over rows in memory.
type oracle struct {
	rows    []*lake.Row
	fail    error
	through time.Time
	unknown error // of CompleteThrough
}

func (o oracle) CompleteThrough(context.Context) (time.Time, error) { return o.through, o.unknown }

func (oracle) Name() string { return "oracle" }

func (o oracle) Extent(context.Context) (lake.Extent, error) {
	e := lake.Extent{Rows: int64(len(o.rows))}
	for i, r := range o.rows {
		if i == 0 {
			e.MinTsMs, e.MaxTsMs = r.TsMs, r.TsMs
		}
		e.MinTsMs, e.MaxTsMs = min(e.MinTsMs, r.TsMs), max(e.MaxTsMs, r.TsMs)
	}
	return e, nil
}

func (o oracle) Run(_ context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	if o.fail != nil {
		return query.Answer{}, engine.Cost{}, o.fail
	}
	objects, rows := 1, int64(len(o.rows))
	cost := engine.Cost{Objects: &objects, BytesScanned: 10, RowsConsidered: &rows}
	return reference.Evaluate(&q, o.rows), cost, nil
}

func (oracle) Explain(context.Context, query.Query) (engine.Plan, error) { return engine.Plan{}, nil }

// rowsOf decodes lines with one record each.
func rowsOf(t *testing.T, lines string) []*lake.Row {
	t.Helper()
	var rows []*lake.Row
	decoder := record.NewDecoder()
	for line := range strings.Lines(lines) {
		row := &lake.Row{}
		if _, err := decoder.Decode([]byte(line), row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		row.Source, row.Line = "s", int64(len(rows)+1)
		rows = append(rows, row)
	}
	return rows
}

const traffic = `{"timestamp":"2026-01-01T10:00:00Z","host":"a.example","ip":"192.0.2.1","status":200,"request_time":0.5,"bytes_sent":100,"request_length":10,"upstream_status":[502,200],"country":"Germany"}
{"timestamp":"2026-01-01T10:00:30Z","host":"b.example","ip":"192.0.2.2","status":403,"request_time":0.25,"blocked":true,"reason":"acl","upstream_response_time":null}
{"timestamp":"2026-01-01T10:00:30Z","host":"b.example","ip":"192.0.2.2","status":403,"blocked":true,"reason":"acl","session":"x"}
{"timestamp":"2026-01-01T10:02:00Z","host":"a.example","status":200}
`

func service(t *testing.T, e engine.Engine) *search.Service {
	t.Helper()
	s, err := search.New(e, search.Options{Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, r search.Request) search.Result {
	t.Helper()
	if r.Filters == "" {
		r.Filters = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:02"
	}
	result, err := service(t, oracle{rows: rowsOf(t, traffic)}).Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestMetaReportsThePeriodOfTheData(t *testing.T) {
	ask := func(t *testing.T, rows []*lake.Row, branches ...string) (oldest, newest string) {
		t.Helper()
		r := search.Request{
			Route: search.Stats, Filters: "timestamp between 2026-01-01 10:00 and 2026-01-01 10:00:30, status=200",
			Branches: branches,
		}
		found, err := service(t, oracle{rows: rows}).Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		r.DryRun = "true"
		dry, err := service(t, oracle{rows: rows}).Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		of := func(m search.Meta) (oldest, newest string) {
			return orNull(m.Oldest), orNull(m.Newest)
		}
		oldest, newest = of(found.Meta)
		if o, n := of(dry.Meta); o != oldest || n != newest {
			t.Errorf("a dry run has %s and %s, the answer %s and %s", o, n, oldest, newest)
		}
		return oldest, newest
	}
	for name, test := range map[string]struct {
		rows           []*lake.Row
		branches       []string
		oldest, newest string
	}{
		"of all records, not only of those that match": {rowsOf(t, traffic), nil, "2026-01-01T10:00:00Z", "2026-01-01T10:02:00Z"},
		"as null if there is none":                     {nil, nil, "null", "null"},
		"of the newest record only for some branches":  {rowsOf(t, traffic), []string{"b"}, "null", "2026-01-01T10:02:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			if oldest, newest := ask(t, test.rows, test.branches...); oldest != test.oldest || newest != test.newest {
				t.Errorf("from %s to %s", oldest, newest)
			}
		})
	}
}

func orNull(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

func TestMetaReportsToWhichTimeTheDataIsComplete(t *testing.T) {
	request := search.Request{Route: search.Stats, Filters: "timestamp between 2026-01-01 10:00 and 2026-01-01 10:02"}
	ask := func(t *testing.T, e engine.Engine) *string {
		t.Helper()
		r, err := service(t, e).Search(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return r.Meta.Complete
	}
	rows := rowsOf(t, traffic)
	t.Run("in milliseconds, rounded down", func(t *testing.T) {
		through := time.Date(2026, 1, 1, 11, 0, 0, 1_999_999, time.UTC)
		if got := ask(t, oracle{rows: rows, through: through}); got == nil || *got != "2026-01-01T11:00:00.001Z" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("as null if it is not known", func(t *testing.T) {
		if got := ask(t, oracle{rows: rows}); got != nil {
			t.Errorf("got %s", *got)
		}
	})
	t.Run("as null if the engine does not report it", func(t *testing.T) {
		if got := ask(t, struct{ engine.Engine }{oracle{rows: rows, through: time.Unix(1, 0)}}); got != nil {
			t.Errorf("got %s", *got)
		}
	})
	t.Run("errors fail the request", func(t *testing.T) {
		failing := oracle{rows: rows, unknown: errors.New("no state")}
		if _, err := service(t, failing).Search(t.Context(), request); !errors.Is(err, failing.unknown) {
			t.Error(err)
		}
	})
}

// truncating is an engine that holds only some records of an answer.
type truncating struct {
	oracle
	holds int
}

func (e truncating) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := e.oracle.Run(ctx, q)
	if e.holds < len(answer.Logs) {
		answer.Logs, answer.Truncated = answer.Logs[:e.holds], true
	}
	return answer, cost, err
}

func TestTruncatedLogsReportTheReason(t *testing.T) {
	for name, test := range map[string]struct {
		holds, records int
		reason         string
	}{
		"an engine that holds all records":            {4, 3, "limit"},
		"an engine that holds as many as the limit":   {3, 3, "limit"},
		"an engine that holds fewer than the limit":   {2, 2, "bytes"},
		"an engine that holds only the newest record": {1, 1, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := service(t, truncating{oracle{rows: rowsOf(t, traffic)}, test.holds})
			r, err := s.Search(t.Context(), search.Request{
				Route: search.Logs, Limit: "3", Filters: "timestamp between 2026-01-01 and 2026-01-02",
			})
			if err != nil {
				t.Fatal(err)
			}
			truncated := r.Meta.Truncated
			if r.Logs.Len() != test.records || truncated == nil || truncated.Reason != test.reason {
				t.Errorf("%d records, truncated %+v; want %d, %s", r.Logs.Len(), truncated, test.records, test.reason)
			}
		})
	}
}

func TestSearchLogs(t *testing.T) {
	t.Run("records are sorted by time and line, the last first", func(t *testing.T) {
		var got []string
		found := ask(t, search.Request{Route: search.Logs, Fields: "timestamp,session"}).Logs
		for i := range found.Len() {
			got = append(got, string(found.AppendJSON(nil, i)))
		}
		want := []string{
			`{"timestamp":"2026-01-01T10:02:00Z"}`, `{"timestamp":"2026-01-01T10:00:30Z","session":"x"}`,
			`{"timestamp":"2026-01-01T10:00:30Z"}`, `{"timestamp":"2026-01-01T10:00:00Z"}`,
		}
		if !jsonEqual(t, want, got) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("an answer that reaches the limit is marked as truncated", func(t *testing.T) {
		r := ask(t, search.Request{Route: search.Logs, Limit: "3"})
		if r.Logs.Len() != 3 || r.Meta.Truncated == nil || r.Meta.Truncated.Reason != "limit" {
			t.Errorf("%d records, truncated %v", r.Logs.Len(), r.Meta.Truncated)
		}
	})
	t.Run("an answer with all matches is not", func(t *testing.T) {
		if r := ask(t, search.Request{Route: search.Logs, Limit: "4"}); r.Logs.Len() != 4 || r.Meta.Truncated != nil {
			t.Errorf("%d records, truncated %v", r.Logs.Len(), r.Meta.Truncated)
		}
	})
	t.Run("an answer without records is an empty list", func(t *testing.T) {
		r := ask(t, search.Request{Route: search.Logs, Filters: "timestamp between 2030-01-01 and 2030-01-02"})
		if text, err := json.Marshal(r.Logs); err != nil || string(text) != "[]" {
			t.Errorf("got %s, %v, want an empty list", text, err)
		}
	})
}

func jsonEqual(t *testing.T, want, got []string) bool {
	t.Helper()
	return slices.EqualFunc(want, got, func(a, b string) bool {
		var x, y any
		if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
			t.Fatalf("%s or %s is not JSON", a, b)
		}
		return cmp.Equal(x, y)
	})
}

func text(s string) *string { return &s }

func seconds(s float64) *float64 { return &s }

func TestSearchStats(t *testing.T) {
	r := ask(t, search.Request{Route: search.Stats})
	want := []search.StatsResult{
		{
			AvgLatency: seconds(0.375), Hostname: text("b.example"), NumOfRequests: 3, SumOfBandwidth: 110,
			TimePeriod: 1767261600, TimeperiodString: "2026-01-01 10:00:00",
		},
		{
			AvgLatency: seconds(0), Hostname: text(""),
			TimePeriod: 1767261660, TimeperiodString: "2026-01-01 10:01:00",
		},
		{ // a request without a time
			Hostname: text("a.example"), NumOfRequests: 1,
			TimePeriod: 1767261720, TimeperiodString: "2026-01-01 10:02:00",
		},
	}
	if diff := cmp.Diff(want, r.Stats); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatsOfGroupsWithoutTimes(t *testing.T) {
	for groupBy, want := range map[string][]*float64{
		"hostname": {seconds(0.5), seconds(0.25), seconds(0), nil}, // two hosts, an empty segment, one host
		"country":  {seconds(0.5), seconds(0.25), seconds(0), nil},
		"session":  {nil, seconds(0.375), seconds(0), nil},
	} {
		var got []*float64
		for _, r := range ask(t, search.Request{Route: search.Stats, GroupBy: groupBy, Figures: "percentiles"}).Stats {
			got = append(got, r.AvgLatency)
			if timed := r.AvgLatency != nil && r.NumOfRequests > 0; timed != (r.P99TotalTime != nil) {
				t.Errorf("grouped by %s: the average is known: %v, but the percentile is %v", groupBy, timed, r.P99TotalTime)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("grouped by %s (-want +got):\n%s", groupBy, diff)
		}
	}
}

func TestSearchTimeline(t *testing.T) {
	first := ask(t, search.Request{Route: search.Timeline}).Timeline[0]
	want := search.TimelineResult{
		ArrayOriginStatusCodes: []search.StatusResult{{Key: "200", Value: 1}, {Key: "502", Value: 1}},
		ArrayStatusCodes:       []search.StatusResult{{Key: "403", Value: 2}, {Key: "200", Value: 1}},
		NumOfBlockedRequests:   2, NumOfIP: 2, NumOfRequests: 3, NumOfSessions: 1, SumOfSentBytes: 100,
		TimePeriod: 1767261600, TimeperiodString: "2026-01-01 10:00:00",
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSearchTopX(t *testing.T) {
	results := ask(t, search.Request{Route: search.TopX}).TopX
	i := slices.IndexFunc(results, func(r search.TopXResult) bool { return r.Label == "host" && r.Key == "a.example" })
	if i < 0 {
		t.Fatalf("no such key in %v", results)
	}
	got := results[i]
	if got.AvgOriginTime != nil || got.MaxOriginTime != nil || got.MinOriginTime != nil {
		t.Error("no request reached the origin, so its times must be null")
	}
	if got.AvgTotalTime == nil || *got.AvgTotalTime != 0.5 {
		t.Errorf("mean total time in %+v", got)
	}
	if got.FirstGeoCountry != "Germany" || got.NumOfRequests != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestSearchMeta(t *testing.T) {
	const text = "status=404, timestamp between 2026-01-02 and 2026-01-01T10:00:00.5Z"
	const jsonText = `[{"field":"timestamp","op":"between","value":["2026-01-01 10:00:00.5","2026-01-02"]},` +
		`{"value":"404","op":"eq","field":"status"}]`
	a := ask(t, search.Request{Route: search.Stats, Filters: text}).Meta
	b := ask(t, search.Request{Route: search.Stats, Filters: jsonText}).Meta
	if a.Fingerprint != b.Fingerprint || a.Filter != b.Filter {
		t.Errorf("filters with equal meaning have the canonical forms %q and %q", a.Filter, b.Filter)
	}
	want := search.MetaPeriod{From: "2026-01-01T10:00:00.5Z", To: "2026-01-02T00:00:00Z"}
	if a.Period != want || a.SegmentSeconds != 60 {
		t.Errorf("got %+v", a)
	}
	if a.Engine != "oracle" || a.BytesScanned != 10 || *a.Objects != 1 || *a.RowsConsidered != 4 {
		t.Errorf("got %+v", a)
	}
}

// quiet is an oracle that does not know how many objects it reads, like an engine that runs as a service.
type quiet struct{ oracle }

func (q quiet) Run(ctx context.Context, bound query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := q.oracle.Run(ctx, bound)
	cost.Objects, cost.RowsConsidered = nil, nil
	return answer, cost, err
}

func TestMetaOmitsUnknownFigures(t *testing.T) {
	const text = "timestamp between 2026-01-01 and 2026-01-02"
	for name, test := range map[string]struct {
		engine engine.Engine
		want   bool
	}{
		"an engine that lists its objects":   {oracle{}, true},
		"an engine that knows only its cost": {quiet{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			request := search.Request{Route: search.Stats, Filters: text}
			result, err := service(t, test.engine).Search(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			printed, err := json.Marshal(result.Meta)
			if err != nil {
				t.Fatal(err)
			}
			for _, member := range []string{`"objects":`, `"rows_considered":`} {
				if got := strings.Contains(string(printed), member); got != test.want {
					t.Errorf("meta has the member %s: %t\n%s", member, got, printed)
				}
			}
		})
	}
}

func TestSearchErrors(t *testing.T) {
	const period = "timestamp between 2026-01-01 and 2026-01-02"
	const years = "timestamp between 2020-01-01 and 2026-01-01"
	s := service(t, oracle{})
	for name, test := range map[string]struct {
		request search.Request
		param   string
	}{
		"a limit of logs over 2,500":      {search.Request{Route: search.Logs, Limit: "2501"}, "limit"},
		"a limit of topx over 80":         {search.Request{Route: search.TopX, Limit: "81"}, "limit"},
		"a limit of 0":                    {search.Request{Route: search.TopX, Limit: "0"}, "limit"},
		"a limit with a sign":             {search.Request{Route: search.Logs, Limit: "+5"}, "limit"},
		"a limit with a leading zero":     {search.Request{Route: search.Logs, Limit: "05"}, "limit"},
		"a segment with a leading zero":   {search.Request{Route: search.Stats, Segment: "05m"}, "segment"},
		"a limit that is not a number":    {search.Request{Route: search.Logs, Limit: "ten"}, "limit"},
		"a segment that is not a length":  {search.Request{Route: search.Stats, Segment: "5 minutes"}, "segment"},
		"a segment that is not supported": {search.Request{Route: search.Stats, Segment: "7m"}, "segment"},
		"a segment that gives too many results": {
			search.Request{Route: search.Timeline, Segment: "60", Filters: years}, "segment",
		},
		"a group of times":              {search.Request{Route: search.Stats, GroupBy: "timestamp"}, "group_by"},
		"groups of two fields":          {search.Request{Route: search.Stats, GroupBy: "ip,url"}, "group_by"},
		"figures that do not exist":     {search.Request{Route: search.Stats, Figures: "p50"}, "figures"},
		"figures of keys likewise":      {search.Request{Route: search.TopX, Figures: "p50"}, "figures"},
		"a field that does not exist":   {search.Request{Route: search.Logs, Fields: "ip,hots"}, "fields"},
		"a limit of facets over 80":     {search.Request{Route: search.Facets, Limit: "81"}, "limit"},
		"an order that does not exist":  {search.Request{Route: search.Facets, Order: "human"}, "order"},
		"a facet that is not groupable": {search.Request{Route: search.Facets, By: "timestamp"}, "by"},
		"a limit of series over 20":     {search.Request{Route: search.Histogram, By: "ip", Limit: "21"}, "limit"},
		"a limit without series":        {search.Request{Route: search.Histogram, Limit: "3"}, "limit"},
		"a histogram of two fields":     {search.Request{Route: search.Histogram, By: "ip,url"}, "by"},
		"a measure that does not exist": {search.Request{Route: search.Histogram, Measure: "bytes"}, "measure"},
		"a segment with too many results of series": {
			search.Request{Route: search.Histogram, By: "ip", Limit: "20", Segment: "1m"}, "segment",
		},
		"a diff without another side":  {search.Request{Route: search.Diff}, "select"},
		"a diff with two other sides":  {search.Request{Route: search.Diff, Select: "ip=1", Against: "1d"}, "against"},
		"a selection of all records":   {search.Request{Route: search.Diff, Select: "[]"}, "select"},
		"another period that overlaps": {search.Request{Route: search.Diff, Against: "1s"}, "against"},
		"another period without a unit": {
			search.Request{Route: search.Diff, Against: "10"}, "against",
		},
		"a limit of findings over 80":    {search.Request{Route: search.Diff, Against: "1d", Limit: "81"}, "limit"},
		"a number of requests of 0":      {search.Request{Route: search.Diff, Against: "1d", Least: "0"}, "least"},
		"a field that is not comparable": {search.Request{Route: search.Diff, Against: "1d", By: "headers"}, "by"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.request.Filters == "" {
				test.request.Filters = period
			}
			_, err := s.Search(t.Context(), test.request)
			var wrong *search.ParamError
			if !errors.As(err, &wrong) || wrong.Param != test.param {
				t.Errorf("got %v, want a ParamError of %s", err, test.param)
			}
		})
	}
	t.Run("an invalid filter has a correction", func(t *testing.T) {
		_, err := s.Search(t.Context(), search.Request{Route: search.Logs, Filters: "hots=1, " + period})
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || wrong.Fixed != "host=1, "+period {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an invalid selection names its parameter", func(t *testing.T) {
		_, err := s.Search(t.Context(), search.Request{Route: search.Diff, Filters: period, Select: "ip=1, hots=1"})
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || wrong.Param != "select" || wrong.Fixed != "ip=1, host=1" ||
			wrong.Errors[0].Span.Offset != 6 {
			t.Errorf("got %+v", err)
		}
	})
	t.Run("the kind of an engine's error is preserved", func(t *testing.T) {
		failing := service(t, oracle{fail: fault.New(fault.EngineLimit, "too much")})
		_, err := failing.Search(t.Context(), search.Request{Route: search.Logs, Filters: period})
		if fault.KindOf(err) != fault.EngineLimit {
			t.Errorf("got %v", err)
		}
	})
}

func TestSearchBranches(t *testing.T) {
	rows := rowsOf(t, `{"timestamp":"2026-01-01T10:00:00Z","branch":"a"}
{"timestamp":"2026-01-01T10:00:00Z","branch":"b"}
{"timestamp":"2026-01-01T10:00:00Z"}
`)
	result, err := service(t, oracle{rows: rows}).Search(t.Context(), search.Request{
		Route: search.Logs, Branches: []string{"b"}, Filters: "timestamp between 2026-01-01 and 2026-01-02",
	})
	if err != nil || result.Logs.Len() != 1 {
		t.Fatalf("got %d records, %v, want one", result.Logs.Len(), err)
	}
	if record := string(result.Logs.AppendJSON(nil, 0)); !strings.Contains(record, `"branch":"b"`) {
		t.Errorf("got %s, want the record of branch b", record)
	}
}

// TestDiffBranches checks that the answer to a key with branches is the answer over data without other branches, for
// both kinds of sides.
func TestDiffBranches(t *testing.T) {
	var lines, own strings.Builder
	for i := range 400 {
		branch := []string{`"branch":"a",`, `"branch":"b",`, ""}[i%3]
		line := fmt.Sprintf(`{"timestamp":"2026-01-01T10:%02d:00Z",%s"country":"x%d","status":%d,"tags":["t%d"]}`+"\n",
			i%60, branch, i%7, 200+i/200, i%5)
		lines.WriteString(line)
		if strings.Contains(line, `"branch":"b"`) {
			own.WriteString(line)
		}
	}
	for _, r := range []search.Request{
		{Select: "status<201"}, {Select: `tags="t1", country!="x1"`}, {Against: "previous"}, {Select: `branch="a"`},
	} {
		r.Route, r.Least, r.By = search.Diff, "1", "branch,country,status,tags"
		r.Filters = "timestamp between 2026-01-01 10:30 and 2026-01-01 10:59"
		answer := func(text string, branches []string) search.Result {
			r.Branches = branches
			result, err := service(t, oracle{rows: rowsOf(t, text)}).Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		got, want := answer(lines.String(), []string{"b"}), answer(own.String(), []string{"b"})
		if diff := cmp.Diff(want.Diff, got.Diff); diff != "" {
			t.Errorf("%s%s: findings (-alone +among others):\n%s", r.Select, r.Against, diff)
		}
		if diff := cmp.Diff(want.Meta.Diff, got.Meta.Diff); diff != "" {
			t.Errorf("%s%s: sides (-alone +among others):\n%s", r.Select, r.Against, diff)
		}
		if all := answer(lines.String(), nil); cmp.Equal(all.Meta.Diff, got.Meta.Diff) {
			t.Errorf("%s%s: a key without branches gets the same answer", r.Select, r.Against)
		}
	}
}

func TestNew(t *testing.T) {
	if _, err := search.New(nil, search.Options{Now: time.Now}); err == nil {
		t.Error("New without an engine returns no error")
	}
	if _, err := search.New(oracle{}, search.Options{}); err == nil {
		t.Error("New without a clock returns no error")
	}
}
