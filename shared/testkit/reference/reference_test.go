package reference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

func ptr[T any](v T) *T { return &v }

// evaluate returns the answer of a shape over all the records.
func evaluate(shape query.Shape, rows ...*lake.Row) query.Answer {
	q := query.Query{Scope: query.Scope{Period: query.Period{FromMs: -1 << 62, ToMs: 1 << 62}}, Shape: shape}
	return reference.Evaluate(&q, rows)
}

func TestLogs(t *testing.T) {
	rows := []*lake.Row{
		{TsMs: 2, TsNanos: 0, Source: "a", Line: 1},
		{TsMs: 2, TsNanos: 5, Source: "a", Line: 2},
		{TsMs: 2, TsNanos: 5, Source: "b", Line: 1},
		{TsMs: 2, TsNanos: 5, Source: "a", Line: 10},
		{TsMs: 3, TsNanos: 0, Source: "a", Line: 3},
		{TsMs: 1, TsNanos: 9, Source: "c", Line: 99},
	}
	var got []string
	for _, r := range evaluate(query.Logs{Limit: 5}, rows...).Logs {
		got = append(got, fmt.Sprintf("%d.%d %s%d", r.TsMs, r.TsNanos, r.Source, r.Line))
	}
	if want := "3.0 a3, 2.5 b1, 2.5 a10, 2.5 a2, 2.0 a1"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestStats(t *testing.T) {
	rows := []*lake.Row{
		{
			TsMs: 59_999, Hostname: ptr("b"),
			BytesSent: ptr(int64(10)), RequestLength: ptr(int64(1)), TotalUs: ptr(int64(5)),
		},
		{TsMs: 60_000, Host: ptr("b")},
		{TsMs: 60_000, Hostname: ptr("a"), Host: ptr("b"), TotalUs: ptr(int64(7)), RequestLength: ptr(int64(3))},
		{TsMs: 119_999},
		{TsMs: 119_999},
		{TsMs: 180_000},
	}
	got := evaluate(query.Stats{SegmentSeconds: 60}, rows...).Stats
	want := []query.StatsRow{
		{Segment: 0, Hostname: "b", Requests: 1, Bandwidth: 11, TimeUs: 5, Timed: 1},
		// a and b are equally busy; two records have no hostname
		{Segment: 60, Hostname: "a", Requests: 4, Bandwidth: 3, TimeUs: 7, Timed: 1},
		{Segment: 180, Requests: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	grouped := evaluate(query.Stats{SegmentSeconds: 60, GroupByHostname: true}, rows...).Stats
	want = []query.StatsRow{
		{Segment: 0, Hostname: "b", Requests: 1, Bandwidth: 11, TimeUs: 5, Timed: 1},
		{Segment: 60, Hostname: "", Requests: 2},
		{Segment: 60, Hostname: "a", Requests: 1, Bandwidth: 3, TimeUs: 7, Timed: 1},
		{Segment: 60, Hostname: "b", Requests: 1},
		{Segment: 180, Requests: 1},
	}
	if diff := cmp.Diff(want, grouped); diff != "" {
		t.Errorf("by hostname (-want +got):\n%s", diff)
	}
}

func TestStatsByField(t *testing.T) {
	rows := []*lake.Row{
		{TsMs: 0, Tags: []string{"a", "b", "a"}, Hostname: ptr("h"), BytesSent: ptr(int64(2)), TotalUs: ptr(int64(1009))},
		{TsMs: 1, Tags: []string{"b"}, TotalUs: ptr(int64(3)), SvcUs: ptr(int64(0))},
		{TsMs: 2, Tags: []string{}, OriginUs: ptr(int64(12345))},
		{TsMs: 60_000, Tags: []string{""}},
	}
	by, err := query.ParseDimensions("tags")
	if err != nil {
		t.Fatal(err)
	}
	alike := func(us int64) query.Ranks { return query.RanksAt([]int64{us, us, us}) }
	want := []query.StatsRow{
		{
			Value: "a", HasValue: true, Requests: 1, Bandwidth: 2, TimeUs: 1009, Timed: 1,
			Percentiles: query.Percentiles{Total: alike(1000)},
		},
		{
			Value: "b", HasValue: true, Requests: 2, Bandwidth: 2, TimeUs: 1012, Timed: 2,
			Percentiles: query.Percentiles{Total: query.RanksAt([]int64{3, 1000, 1000}), Svc: alike(0)},
		},
		{Requests: 1, Percentiles: query.Percentiles{Origin: alike(12300)}},
		{Segment: 60, HasValue: true, Requests: 1},
	}
	got := evaluate(query.Stats{SegmentSeconds: 60, By: &by[0], Percentiles: true}, rows...).Stats
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range want {
		want[i].Percentiles = query.Percentiles{}
	}
	without := evaluate(query.Stats{SegmentSeconds: 60, By: &by[0]}, rows...).Stats
	if diff := cmp.Diff(want, without); diff != "" {
		t.Errorf("without percentiles (-want +got):\n%s", diff)
	}
}

func TestPercentilesOfKeys(t *testing.T) {
	rows := []*lake.Row{
		{URL: ptr("/a"), TotalUs: ptr(int64(5)), OriginUs: ptr(int64(1_234_567))},
		{URL: ptr("/a"), TotalUs: ptr(int64(4))},
		{URL: ptr("/b"), TotalUs: ptr(int64(9))},
	}
	shape := query.TopX{Limit: 1, Labels: []string{"total_time", "url"}}
	plain := evaluate(shape, rows...).TopX
	shape.Percentiles = true
	got := evaluate(shape, rows...).TopX
	if len(got) != 2 || got[0].Key != "/b" || got[1].Key != "/a" {
		t.Fatalf("keys %+v", got)
	}
	if want := (query.Percentiles{Total: query.RanksAt([]int64{9, 9, 9})}); got[0].Percentiles != want {
		t.Errorf("percentiles of /b %+v, want %+v", got[0].Percentiles, want)
	}
	origin := query.RanksAt([]int64{1_230_000, 1_230_000, 1_230_000})
	want := query.Percentiles{Total: query.RanksAt([]int64{4, 5, 5}), Origin: origin}
	if got[1].Percentiles != want {
		t.Errorf("percentiles of /a %+v, want %+v", got[1].Percentiles, want)
	}
	for i := range got {
		got[i].Percentiles = query.Percentiles{}
	}
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("percentiles change other figures (-without +with):\n%s", diff)
	}
}

func TestTimeline(t *testing.T) {
	rows := []*lake.Row{
		{
			TsMs: 0, Status: ptr(int64(200)), IP: ptr("1"), Session: ptr("s"),
			Blocked: ptr(true), BytesSent: ptr(int64(4)),
		},
		{
			TsMs: 1, Status: ptr(int64(99)), IP: ptr("1"),
			Challenge: ptr(true), IChallenge: ptr(true), Human: ptr(true),
		},
		{
			TsMs: 2, Status: ptr(int64(1000)), IP: ptr("2"), Session: ptr(""),
			IChallenge: ptr(true), UpstreamStatus: []int64{502, 200},
		},
		{
			TsMs: 3, Status: ptr(int64(200)),
			Challenge: ptr(false), Blocked: ptr(false), UpstreamStatus: []int64{200, 404},
		},
	}
	got := evaluate(query.Timeline{SegmentSeconds: 60}, rows...).Timeline
	want := []query.TimelineRow{{
		Requests: 4, Blocked: 1, Challenges: 2, Human: 1, OriginBlocked: 1, IPs: 2, Sessions: 2, BytesSent: 4,
		Statuses:       []query.StatusCount{{Status: 200, Count: 2}, {Status: 1000, Count: 1}, {Status: 99, Count: 1}},
		OriginStatuses: []query.StatusCount{{Status: 200, Count: 2}, {Status: 404, Count: 1}, {Status: 502, Count: 1}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// keysOf returns the keys of a label in their order.
func keysOf(answer query.Answer, label string) string {
	var keys []string
	for _, r := range answer.TopX {
		if r.Label == label {
			keys = append(keys, r.Key)
		}
	}
	return strings.Join(keys, " ")
}

func TestTopXLabels(t *testing.T) {
	all := &lake.Row{
		Country: ptr("c"), Host: ptr("h"), IP: ptr("i"), Organization: ptr("o"),
		Reason: ptr("r"), MonitorReasons: []string{"m", "r", "m"},
		Referer: ptr("f"), SvcID: ptr("s"), URL: ptr("u"), UserAgent: ptr("a"),
		OriginUs: ptr(int64(1)), SvcUs: ptr(int64(2)), TotalUs: ptr(int64(3)),
	}
	answer := evaluate(query.TopX{Limit: 5}, all, &lake.Row{})
	var got []string
	for _, r := range answer.TopX {
		got = append(got, r.Label+":"+r.Key)
	}
	const want = "country:c host:h ip:i organization:o origin_time:u reason:m reason:r referer:f " +
		"svc_time:u svcid:s total_time:u url:u user_agent:a"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if !slices.IsSorted(query.Labels) || len(query.Labels) != 12 {
		t.Errorf("the labels are %v", query.Labels)
	}
}

func TestTopXRanksByBlockedThenRequestsThenKey(t *testing.T) {
	var rows []*lake.Row
	add := func(ip string, blocked, passed int) {
		for i := range blocked + passed {
			rows = append(rows, &lake.Row{IP: &ip, Blocked: ptr(i < blocked)})
		}
	}
	add("few", 0, 1)
	add("busy", 0, 9)
	add("bad", 2, 0)
	add("worse", 2, 1)
	add("tie", 0, 1)
	if got := keysOf(evaluate(query.TopX{Limit: 4}, rows...), "ip"); got != "worse bad busy few" {
		t.Errorf("the order is %s", got)
	}
}

// TestTopXTimes checks that the labels of times rank by the average, and order the top keys by blocked requests.
func TestTopXTimes(t *testing.T) {
	row := func(url string, blocked bool, us ...int64) (rows []*lake.Row) {
		for _, n := range us {
			rows = append(rows, &lake.Row{URL: &url, Blocked: &blocked, TotalUs: &n})
		}
		return rows
	}
	rows := slices.Concat(
		row("slow", false, 100, 200), row("slower", false, 170), row("fast", true, 1, 1, 1), row("blocked", true, 149),
		[]*lake.Row{{URL: ptr("untimed"), Blocked: ptr(true)}, {URL: ptr("slow")}},
	)
	answer := evaluate(query.TopX{Limit: 3}, rows...)
	if got := keysOf(answer, "total_time"); got != "blocked slow slower" {
		t.Errorf("the order of the three slowest is %s", got)
	}
	if got := keysOf(answer, "svc_time"); got != "" {
		t.Errorf("label svc_time has keys without a time: %s", got)
	}
	times := query.Times{Count: 2, Sum: 300, Min: 100, Max: 200}
	for _, r := range answer.TopX {
		if r.Label == "total_time" && r.Key == "slow" && (r.Requests != 3 || r.Total != times) {
			t.Errorf("slow is %+v", r)
		}
	}
	if got := (query.Times{}).Average(); got != 0 {
		t.Errorf("the average of no durations is %v", got)
	}
}

func TestTopXFigures(t *testing.T) {
	url := ptr("u")
	rows := []*lake.Row{
		{
			URL: url, ASN: ptr("b"), Country: ptr("z"),
			Blocked: ptr(true), Bot: ptr(true), Monitor: ptr(true), BytesSent: ptr(int64(1)),
		},
		{
			URL: url, ASN: ptr("a"), Country: ptr("y"),
			Human: ptr(true), MonitorReasons: []string{"m"}, RequestLength: ptr(int64(2)),
		},
		{URL: url, Challenge: ptr(true), MonitorReasons: []string{}, OriginUs: ptr(int64(9)), SvcUs: ptr(int64(8))},
	}
	want := query.TopXRow{
		Label: "url", Key: "u",
		Requests: 3, Blocked: 1, Bots: 1, Challenges: 1, Human: 1, Monitored: 2, BytesSent: 1, RequestLength: 2,
		Origin: query.Times{Count: 1, Sum: 9, Min: 9, Max: 9}, Svc: query.Times{Count: 1, Sum: 8, Min: 8, Max: 8},
		FirstASN: "a", FirstCountry: "y",
	}
	for _, r := range evaluate(query.TopX{Limit: 1}, rows...).TopX {
		if r.Label == "url" {
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
}

// facetsOf returns the answer about dimensions, and each facet as text.
func facetsOf(t *testing.T, shape query.Facets, by string, rows ...*lake.Row) (query.FacetsAnswer, []string) {
	t.Helper()
	var err error
	if shape.By, err = query.ParseDimensions(by); err != nil {
		t.Fatal(err)
	}
	answer := evaluate(shape, rows...).Facets
	var texts []string
	for _, f := range answer.Facets {
		text := fmt.Sprint(f.Requests, "/", f.Distinct)
		for _, v := range f.Values {
			text += fmt.Sprintf(" %s:%d", v.Value, v.Requests)
		}
		rest, blocked := f.Rest()
		texts = append(texts, fmt.Sprint(text, " rest ", rest, " ", blocked))
	}
	return answer, texts
}

func TestFacets(t *testing.T) {
	rows := []*lake.Row{
		{Country: ptr("b"), Status: ptr(int64(10)), Tags: []string{"x", "x", "y"}, Blocked: ptr(true)},
		{Country: ptr("a"), Status: ptr(int64(9)), Tags: []string{"x"}, MonitorReasons: []string{"m"}},
		{Country: ptr("b"), Status: ptr(int64(9)), Tags: []string{}, IChallenge: ptr(true), Human: ptr(true)},
		{Country: ptr(""), Status: ptr(int64(10)), Monitor: ptr(true)},
		{},
	}
	for _, c := range []struct {
		name  string
		shape query.Facets
		by    string
		want  string
	}{
		{"values by requests, then by text", query.Facets{Limit: 9}, "country", "4/3 b:2 :1 a:1 rest 0 0"},
		{"equal counts of integers by text", query.Facets{Limit: 9}, "status", "4/2 10:2 9:2 rest 0 0"},
		{"a record counts once for each different element", query.Facets{Limit: 9}, "tags", "2/2 x:2 y:1 rest 0 0"},
		{"the rest beyond the limit", query.Facets{Limit: 1}, "country", "4/3 b:2 rest 2 0"},
		{"blocked requests first", query.Facets{Limit: 1, ByBlocked: true}, "status", "4/2 10:2 rest 2 0"},
		{"blocked requests of the rest", query.Facets{Limit: 1}, "tags", "2/2 x:2 rest 1 1"},
		{"no value at all", query.Facets{Limit: 1}, "url", "0/0 rest 0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, got := facetsOf(t, c.shape, c.by, rows...)
			if answer.Requests != 5 || len(got) != 1 || got[0] != c.want {
				t.Errorf("%d records: %q, want %q", answer.Requests, got, c.want)
			}
		})
	}
	answer, _ := facetsOf(t, query.Facets{Limit: 1}, "country", rows...)
	want := query.Flagged{Requests: 2, Blocked: 1, Challenges: 1, Human: 1}
	if got := answer.Facets[0].Values[0].Flagged; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if answer, _ := facetsOf(t, query.Facets{Limit: 1}, "country"); answer.Facets != nil {
		t.Errorf("without records: %+v", answer)
	}
}

func TestHistogram(t *testing.T) {
	rows := []*lake.Row{
		{TsMs: 1_000, Country: ptr("b"), Blocked: ptr(true), Tags: []string{"x", "y", "x"}, BytesSent: ptr(int64(5))},
		{TsMs: 2_000, Country: ptr("a"), Tags: []string{"y"}, BytesSent: ptr(int64(-7))},
		{TsMs: 61_000, Country: ptr("c"), Tags: []string{"z"}, Monitor: ptr(true)},
		{TsMs: 62_000, Country: ptr("b"), Human: ptr(true), Challenge: ptr(true)},
		{TsMs: 183_000},
	}
	for _, c := range []struct {
		name    string
		by      string
		limit   int
		measure query.Measure
		want    string
	}{
		{"not split", "", 0, query.MeasureRequests, "all: 5 = 0:2 60:2 180:1"},
		{
			"values by total, then by text", "country", 5, query.MeasureRequests,
			"value b: 2 = 0:1 60:1; value a: 1 = 0:1; value c: 1 = 60:1; absent: 1 = 180:1",
		},
		{
			"other values together", "country", 1, query.MeasureRequests,
			"value b: 2 = 0:1 60:1; other: 2 = 0:1 60:1; absent: 1 = 180:1",
		},
		{
			"a record in the series of each of its elements", "tags", 1, query.MeasureRequests,
			"value y: 2 = 0:2; other: 2 = 0:1 60:1; absent: 2 = 60:1 180:1",
		},
		{
			"blocked", "country", 1, query.MeasureBlocked,
			"value b: 1 = 0:1 60:0; other: 0 = 0:0 60:0; absent: 0 = 180:0",
		},
		{
			"negative sums", "country", 1, query.MeasureBytesSent,
			"value b: 5 = 0:5 60:0; other: -7 = 0:-7 60:0; absent: 0 = 180:0",
		},
		{"monitored", "", 0, query.MeasureMonitored, "all: 1 = 0:0 60:1 180:0"},
		{"challenges", "", 0, query.MeasureChallenges, "all: 1 = 0:0 60:1 180:0"},
		{"human", "", 0, query.MeasureHuman, "all: 1 = 0:0 60:1 180:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := query.Histogram{SegmentSeconds: 60, Limit: c.limit, Measure: c.measure}
			if c.by != "" {
				list, err := query.ParseDimensions(c.by)
				if err != nil {
					t.Fatal(err)
				}
				shape.By = &list[0]
			}
			var texts []string
			for _, s := range evaluate(shape, rows...).Histogram {
				text := fmt.Sprintf("%s: %d =", strings.TrimSpace(fmt.Sprint(s.Kind, " ", s.Value)), s.Total)
				for _, p := range s.Points {
					text += fmt.Sprintf(" %d:%d", p.Segment, p.N)
				}
				texts = append(texts, text)
			}
			if got := strings.Join(texts, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if got := evaluate(query.Histogram{SegmentSeconds: 60}).Histogram; got != nil {
		t.Errorf("without records: %+v", got)
	}
}

func TestDiff(t *testing.T) {
	rows := []*lake.Row{
		{Country: ptr("b"), Tags: []string{"x", "x", "y"}, Blocked: ptr(true)},
		{Country: ptr("a"), Tags: []string{"x"}},
		{Country: ptr("b"), Tags: []string{}},
		{Country: ptr(""), Blocked: ptr(true)},
		{Blocked: ptr(false)},
	}
	selection, err := query.BindSelection(filter.Parse("blocked is true"))
	if err != nil {
		t.Fatal(err)
	}
	by, err := query.ParseDimensions("country,tags,url")
	if err != nil {
		t.Fatal(err)
	}
	got := evaluate(query.Diff{By: by, Least: 1, Select: selection}, rows...).Diff
	value := func(text string, selected, baseline int64) query.DiffValue {
		return query.DiffValue{Value: text, Sides: query.Sides{Selected: selected, Baseline: baseline}}
	}
	want := query.DiffAnswer{
		Requests: query.Sides{Selected: 2, Baseline: 3},
		Terms: []query.DiffTerm{
			{
				Requests: query.Sides{Selected: 2, Baseline: 2}, Distinct: 3,
				Values: []query.DiffValue{value("", 1, 0), value("a", 0, 1), value("b", 1, 1)},
			},
			{
				Requests: query.Sides{Selected: 1, Baseline: 1}, Distinct: 2,
				Values: []query.DiffValue{value("x", 1, 1), value("y", 1, 0)},
			},
			{},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = evaluate(query.Diff{By: by, Least: 2, Select: selection}, rows...).Diff
	if n := len(got.Terms[0].Values) + len(got.Terms[1].Values); n != 0 || got.Terms[0].Distinct != 3 {
		t.Errorf("with least 2: %+v", got)
	}
}

// TestCounts: a record counts in each of its values and selections, and records without a value are the last group.
func TestCounts(t *testing.T) {
	at := func(seconds, status int64, tags ...string) *lake.Row {
		return &lake.Row{TsMs: seconds * 1000, Status: &status, Tags: tags}
	}
	selection, err := query.BindSelection(filter.Parse("status>=400"))
	if err != nil {
		t.Fatal(err)
	}
	by, err := query.ParseDimensions("tags")
	if err != nil {
		t.Fatal(err)
	}
	shape := query.Counts{SegmentSeconds: 60, By: by[0], Of: []query.Selection{selection, {}}}
	got := evaluate(shape, at(0, 200, "b", "a"), at(59, 404, "b", "b"), at(60, 200), at(61, 500), at(62, 404, "")).Counts
	want := []query.CountsRow{
		{Segment: 60, Value: "", HasValue: true, N: []int64{1, 1, 1}},
		{Segment: 0, Value: "a", HasValue: true, N: []int64{1, 0, 1}},
		{Segment: 0, Value: "b", HasValue: true, N: []int64{2, 1, 2}},
		{Segment: 60, N: []int64{2, 1, 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
