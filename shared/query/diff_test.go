package query_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// counted returns an answer about one field with some values.
func counted(all query.Sides, distinct int64, values ...query.DiffValue) query.DiffAnswer {
	return query.DiffAnswer{Requests: all, Terms: []query.DiffTerm{{Distinct: distinct, Values: values}}}
}

func valueOf(text string, selected, baseline int64) query.DiffValue {
	return query.DiffValue{Value: text, Sides: query.Sides{Selected: selected, Baseline: baseline}}
}

func findingTexts(list []query.Finding) string {
	var texts []string
	for _, f := range list {
		texts = append(texts, fmt.Sprintf("%s=%s %d/%d %g", f.By, f.Value, f.Selected, f.Baseline, f.Score))
	}
	return strings.Join(texts, ", ")
}

// TestFindings compares findings with scores that were worked out by hand: the first is
// 2·(30·ln(30/20) + 10·ln(10/20) + 70·ln(70/80) + 90·ln(90/80)) = 12.97.
func TestFindings(t *testing.T) {
	hundred := query.Sides{Selected: 100, Baseline: 100}
	for _, c := range []struct {
		name   string
		answer query.DiffAnswer
		least  int64
		want   string
	}{
		{"a value that is more frequent", counted(hundred, 1, valueOf("x", 30, 10)), 5, "country=x 30/10 13"},
		{"a value that is less frequent", counted(hundred, 1, valueOf("x", 10, 30)), 5, "country=x 10/30 -13"},
		{"a value that only the baseline has", counted(hundred, 1, valueOf("x", 0, 40)), 5, "country=x 0/40 -65.6"},
		{"the same counts among more values are no finding", counted(hundred, 3, valueOf("x", 30, 10)), 5, ""},
		{"the same share on both sides", counted(hundred, 1, valueOf("x", 30, 30)), 5, ""},
		{
			"the same share of different totals",
			counted(query.Sides{Selected: 100, Baseline: 3_000_000_000}, 1, valueOf("x", 10, 300_000_000)), 5, "",
		},
		{
			"fewer selected requests than least",
			counted(query.Sides{Selected: 10, Baseline: 10_000}, 1, valueOf("x", 4, 0)), 5, "",
		},
		{
			"as many selected requests as least",
			counted(query.Sides{Selected: 10, Baseline: 10_000}, 1, valueOf("x", 4, 0)), 4, "country=x 4/0 57.1",
		},
		{
			"requests of the other side do not count for least",
			counted(query.Sides{Selected: 10, Baseline: 10_000}, 1, valueOf("x", 4, 9)), 5, "",
		},
		{"no selected records", counted(query.Sides{Baseline: 100}, 1, valueOf("x", 0, 40)), 5, ""},
		{"no baseline", counted(query.Sides{Selected: 100}, 1, valueOf("x", 40, 0)), 5, ""},
		{
			"the larger difference of shares comes first, then the larger score, then the value",
			counted(hundred, 5, valueOf("a", 60, 30), valueOf("b", 20, 50), valueOf("c", 50, 20), valueOf("d", 90, 50),
				valueOf("e", 50, 20)), 5,
			"country=d 90/50 40.7, country=b 20/50 -20.3, country=c 50/20 20.3, country=e 50/20 20.3, " +
				"country=a 60/30 18.5",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := query.Diff{By: querytest.Dimensions("country"), Limit: 80, Least: c.least}
			if got := findingTexts(query.Findings(shape, c.answer)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("fields by name, at most limit", func(t *testing.T) {
		shape := query.Diff{By: querytest.Dimensions("url,country,path"), Limit: 2, Least: 1}
		term := query.DiffTerm{Distinct: 1, Values: []query.DiffValue{valueOf("x", 30, 0)}}
		got := findingTexts(query.Findings(shape, query.DiffAnswer{
			Requests: hundred, Terms: []query.DiffTerm{term, term, term},
		}))
		if want := "country=x 30/0 46.9, path=x 30/0 46.9"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestFewerFindingsAreTheFirst: a smaller limit leaves out the last findings, and changes nothing else. Many findings
// are equal in difference and score.
func TestFewerFindingsAreTheFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 12))
	all := query.Sides{Selected: 1000, Baseline: 1000}
	shape := query.Diff{By: querytest.Dimensions("url,country,path"), Limit: 80, Least: 1}
	for range 50 {
		answer := query.DiffAnswer{Requests: all}
		for range shape.By {
			term := query.DiffTerm{Distinct: 200}
			for i := range 200 {
				v := valueOf(fmt.Sprintf("%03d", i), 1+random.Int64N(5)*20, 1+random.Int64N(5)*20)
				term.Values = append(term.Values, v)
			}
			answer.Terms = append(answer.Terms, term)
		}
		shape.Limit = 1000
		every := query.Findings(shape, answer)
		sorted := slices.IsSortedFunc(every, func(a, b query.Finding) int {
			difference := func(f query.Finding) int64 { return max(f.Selected-f.Baseline, f.Baseline-f.Selected) }
			return cmp.Or(
				cmp.Compare(difference(b), difference(a)),
				cmp.Compare(math.Abs(b.Score), math.Abs(a.Score)),
				strings.Compare(a.By.String(), b.By.String()),
				strings.Compare(a.Value, b.Value),
			)
		})
		if !sorted || len(every) < 100 {
			t.Fatalf("%d findings, in order: %v", len(every), sorted)
		}
		for _, shape.Limit = range []int{1, 2, 7, 80} {
			if got, want := findingTexts(query.Findings(shape, answer)), findingTexts(every[:shape.Limit]); got != want {
				t.Fatalf("the first %d are\n%s\nwant\n%s", shape.Limit, got, want)
			}
		}
	}
}

// TestFindingsAreFrequent checks that engines may leave out values for which Frequent does not hold, and that a
// score has the direction of the shares.
func TestFindingsAreFrequent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 11))
	found := 0
	for range 20_000 {
		all := query.Sides{Selected: 1 + random.Int64N(1<<random.IntN(30)), Baseline: 1 + random.Int64N(1<<random.IntN(30))}
		v := valueOf("x", random.Int64N(1+min(all.Selected, 50)), random.Int64N(1+min(all.Baseline, 50)))
		shape := query.Diff{By: querytest.Dimensions("country"), Limit: 1, Least: 1 + random.Int64N(20)}
		for _, f := range query.Findings(shape, counted(all, 1, v)) {
			found++
			larger := float64(v.Selected)/float64(all.Selected) > float64(v.Baseline)/float64(all.Baseline)
			if !shape.Frequent(v.Sides) || larger != (f.Score > 0) || math.IsNaN(f.Score) {
				t.Errorf("%+v of %+v with least %d is the finding %+v", v, all, shape.Least, f)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d findings", found)
	}
}

func TestDiffOf(t *testing.T) {
	text := func(s string) *string { return &s }
	shape := query.Diff{By: querytest.Dimensions("country,path"), Least: 5}
	got, err := query.DiffOf([]query.DiffRow{
		{Kind: query.DiffAbsent, Distinct: 1, Sides: query.Sides{Selected: 10, Baseline: 90}},
		{Dimension: 1, Kind: query.DiffFrequent, Value: text("a"), Distinct: 1, Sides: query.Sides{Selected: 7}},
		{Dimension: 1, Kind: query.DiffOthers, Distinct: 4, Sides: query.Sides{Selected: 1, Baseline: 5}},
		{Dimension: 1, Kind: query.DiffAbsent, Distinct: 1, Sides: query.Sides{Selected: 2, Baseline: 85}},
	}, shape)
	want := "{Requests:{Selected:10 Baseline:90} Terms:[" +
		"{Requests:{Selected:8 Baseline:5} Distinct:5 Values:[{Value:a Sides:{Selected:7 Baseline:0}}]} " +
		"{Requests:{Selected:10 Baseline:90} Distinct:0 Values:[]}]}"
	if text := fmt.Sprintf("%+v", got); text != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
	t.Run("no records", func(t *testing.T) {
		if got, err := query.DiffOf(nil, shape); got.Terms != nil || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("too many values", func(t *testing.T) {
		rows := make([]query.DiffRow, query.MaxDiffValues+1)
		for i := range rows {
			rows[i] = query.DiffRow{Dimension: 1, Value: text("x"), Distinct: 1, Sides: query.Sides{Selected: 5}}
		}
		if _, err := query.DiffOf(rows, shape); fault.KindOf(err) != fault.EngineLimit {
			t.Errorf("error %v, want one of kind EngineLimit", err)
		}
		rows[0] = query.DiffRow{Kind: query.DiffAbsent, Sides: query.Sides{Selected: 5}}
		if _, err := query.DiffOf(rows, shape); err != nil {
			t.Errorf("with one value fewer: %v", err)
		}
	})
}

func TestAgainst(t *testing.T) {
	const period = "timestamp between 2026-01-08 20:00 and 2026-01-08 22:00"
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	clock := query.Clock{Now: time.Date(2026, 1, 10, 10, 0, 30, 0, time.UTC), Zone: berlin}
	for _, c := range []struct{ against, filter, want string }{
		{"previous", period, "2026-01-08T18:00:00Z … 2026-01-08T19:59:59.999Z"},
		{"1d", period, "2026-01-07T20:00:00Z … 2026-01-07T22:00:00Z"},
		{"2h", period, "2026-01-08T18:00:00Z … 2026-01-08T19:59:59.999Z"},
		{"7200s", period, "2026-01-08T18:00:00Z … 2026-01-08T19:59:59.999Z"},
		{"2026-01-01..2026-01-02T12:00Z", period, "2026-01-01T00:00:00Z … 2026-01-02T12:00:00Z"},
		{"2026-01-08 22:00..2026-01-09", period, "2026-01-08T22:00:00.001Z … 2026-01-09T00:00:00Z"},
		{"2026-01-08 23:00..2026-01-09", period, "2026-01-08T23:00:00Z … 2026-01-09T00:00:00Z"},
		{
			"previous", "timestamp between 2026-01-08 and 2026-01-08",
			"2026-01-07T23:59:59.999Z … 2026-01-07T23:59:59.999Z",
		},
		{"119m", period, "at least 2h"},
		{"1d", "timestamp between 2026-01-01 and 2026-01-08", "at least 7d"},
		{"1h", "timestamp between 2026-01-01 and 2026-01-01 01:00:00.5", "at least 3601s"},
		{"2026-01-08 21:00..2026-01-09", period, "overlaps"},
		{"2026-01-01..2026-02-01", period, "overlaps"},
		{"previous", "timestamp between 0001-01-01 and 0002-01-01", "before the year 1"},
		{"2147483647d", period, "before the year 1"},
		{"2026-01-02..2026-01-01", period, "ends before it begins"},
		{"now-2d..now-1d", period, "2026-01-08T10:00:30Z … 2026-01-09T10:00:30Z"},
		{"yesterday..today", period, "2026-01-08T23:00:00Z … 2026-01-09T23:00:00Z"},
		{"2026-01-01..now - 7d", period, "2026-01-01T00:00:00Z … 2026-01-03T10:00:30Z"},
		{"now-1d..now-2d", period, "ends before it begins"},
		{"now-1d..tomorrow", period, `"tomorrow" must contain`},
		{"now-2 days..now-1d", period, "write now-2d"},
		{"-2d..now", period, "write now-2d"},
		{"NOW-2d..now", period, "write now-2d"},
		{"now-9999999d..now", period, "is outside the years"},
		{"yesterday", period, "is not previous"},
		{"0d", period, "is not previous"},
		{"-1d", period, "is not previous"},
		{"1w", period, "is not previous"},
		{"d", period, "is not previous"},
	} {
		t.Run(c.against+" of "+c.filter, func(t *testing.T) {
			against, err := query.ParseAgainst(c.against, clock)
			var q query.Query
			if err == nil {
				q, err = query.Bind(filter.Parse(c.filter), query.Diff{Against: against})
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || fault.KindOf(err) != fault.Invalid {
					t.Errorf("error %v, want %s", err, c.want)
				}
				return
			}
			shape := q.Shape.(query.Diff)
			if got := shape.Baseline.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if q.Scope.FromMs > shape.Baseline.FromMs || q.Scope.ToMs < shape.Baseline.ToMs ||
				q.Scope.FromMs > q.Period.FromMs || q.Scope.ToMs < q.Period.ToMs {
				t.Errorf("the scope %s does not contain both periods", q.Scope.Period)
			}
		})
	}
}

// TestSpans checks that a diff of periods with a gap does not read the gap.
func TestSpans(t *testing.T) {
	for _, c := range []struct{ against, conditions, want string }{
		{"previous", "", "[2026-01-08T18:00:00Z … 2026-01-08T22:00:00Z]"},
		{
			"1d", "", "[2026-01-07T20:00:00Z … 2026-01-07T22:00:00Z 2026-01-08T20:00:00Z … 2026-01-08T22:00:00Z]",
		},
		{
			"2026-01-10..2026-01-11", "",
			"[2026-01-08T20:00:00Z … 2026-01-08T22:00:00Z 2026-01-10T00:00:00Z … 2026-01-11T00:00:00Z]",
		},
		{"1d", ", timestamp between 2026-01-08 21:00 and 2026-01-09", "[2026-01-08T21:00:00Z … 2026-01-08T22:00:00Z]"},
		{"1d", ", timestamp between 2026-01-08 and 2026-01-08 01:00", "[nothing]"},
		{"1d", ", timestamp between 2026-02-08 and 2026-02-08 01:00", "[nothing]"},
	} {
		t.Run(c.against+c.conditions, func(t *testing.T) {
			against, err := query.ParseAgainst(c.against, query.Clock{})
			if err != nil {
				t.Fatal(err)
			}
			text := "timestamp between 2026-01-08 20:00 and 2026-01-08 22:00" + c.conditions
			q, err := query.Bind(filter.Parse(text), query.Diff{Against: against})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(q.Spans()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			gap := &lake.Row{TsMs: q.Period.FromMs - 7_200_001}
			if query.Match(&q, gap) || q.TimeBounds().Touches(gap.TsMs, gap.TsMs) {
				t.Error("a record of neither period matches")
			}
		})
	}
}

func TestBindSelection(t *testing.T) {
	t.Run("needs no period", func(t *testing.T) {
		s, err := query.BindSelection(filter.Parse("status>=500, BLOCKED is true"))
		if err == nil {
			t.Errorf("bound %v", s)
		}
		s, err = query.BindSelection(filter.Parse(`status>=500, blocked is true, status>=500`))
		if got := filter.Format(s.Filter); got != `status>=500, blocked is true` || err != nil || len(s.Conditions) != 2 {
			t.Errorf("%s, %v", got, err)
		}
	})
	t.Run("a period is a condition", func(t *testing.T) {
		s, err := query.BindSelection(filter.Parse(`[{"field":"status","op":"eq","value":200},` +
			`{"field":"timestamp","op":"between","value":["2026-01-02","2026-01-01"]}]`))
		want := `status=200, timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00`
		if got := filter.Format(s.Filter); got != want || err != nil {
			t.Errorf("%s, %v", got, err)
		}
	})
	t.Run("corrects mistakes", func(t *testing.T) {
		_, err := query.BindSelection(filter.Parse(`staus=200, hots="a"`))
		var wrong *query.FilterError
		if !errors.As(err, &wrong) || len(wrong.Errors) != 2 || wrong.Fixed != `status=200, host="a"` {
			t.Errorf("%+v", err)
		}
	})
}

// TestFindingConditionsSelectTheirRequests checks that the conditions of every finding are filters, one for the
// requests that the finding counts and one for all others.
func TestFindingConditionsSelectTheirRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 12))
	const period = "timestamp between 1970-01-01 and 1970-01-02"
	rows := make([]*lake.Row, 400)
	for i := range rows {
		text := func() string {
			return []string{"", "a", " a", `"q"`, `\`, "a, b=c", "ä\n", "null", "true", "7", "[x]"}[random.IntN(11)]
		}
		number, flag, name := random.Int64N(4), random.IntN(2) == 0, text()
		rows[i] = &lake.Row{
			TsMs: int64(i), Blocked: &flag, Status: &number, Path: &name, Tags: []string{text(), text()},
			Headers: []lake.Pair{{Name: "X-A", Value: text()}, {Name: "x-a", Value: text()}},
		}
	}
	dimensions := querytest.Dimensions(`status,blocked,path,tags,headers["x-a"]`)
	for _, selection := range []string{`path~"a"`, "blocked is true", `tags="[x]"`, "status<2"} {
		shape := query.Diff{By: dimensions, Limit: 1000, Least: 1, Select: querytest.Selection(selection)}
		q, err := query.Bind(filter.Parse(period), shape)
		if err != nil {
			t.Fatal(err)
		}
		answer := reference.Evaluate(&q, rows).Diff
		findings := query.Findings(shape, answer)
		if len(findings) == 0 {
			t.Errorf("%s: no findings", selection)
		}
		for _, f := range findings {
			with, without, ok := f.By.Condition(f.Value)
			if !ok {
				t.Fatalf("%s has no condition for %q", f.By, f.Value)
			}
			for text, want := range map[string]query.Sides{
				with: f.Sides,
				without: {
					Selected: answer.Requests.Selected - f.Selected, Baseline: answer.Requests.Baseline - f.Baseline,
				},
			} {
				narrow, err := query.Bind(filter.ParseQueryString(period+", "+text), shape)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if got := reference.Evaluate(&narrow, rows).Diff.Requests; got != want {
					t.Errorf("%s selects %+v, want %+v", text, got, want)
				}
			}
		}
	}
}
