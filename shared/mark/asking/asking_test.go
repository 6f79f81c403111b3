package asking_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/mark/asking"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// sourceOf returns the source over rows for a caller who is limited to branches, unless there are none.
func sourceOf(t *testing.T, rows []*lake.Row, branches ...string) answering.Ask {
	t.Helper()
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return day.AddDate(1, 0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return answering.AskAs(service, branches, "", nil)
}

// counted counts the questions to a source.
func counted(from answering.Ask, questions *[]map[string]string) answering.Ask {
	return func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		*questions = append(*questions, params)
		return from(ctx, to, params)
	}
}

// generated returns the records of a generator.
func generated(t *testing.T, g *gen.Generator) (rows []*lake.Row) {
	t.Helper()
	decoder := record.NewDecoder()
	for line, more := g.Next(nil); more; line, more = g.Next(nil) {
		row := &lake.Row{Source: "generated", Line: int64(len(rows) + 1)}
		if _, err := decoder.Decode(line, row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// run returns the answer to a question about timeline.
func run(t *testing.T, from answering.Ask, filters string) (results []answer.TimelineResult, meta answer.Meta) {
	t.Helper()
	r := asking.Request{Route: search.Timeline, Filters: filters, AtOnce: 1}
	meta, err := asking.Run(t.Context(), from, r, &results)
	if err != nil {
		t.Fatal(err)
	}
	return results, meta
}

// days is the filter for days from the first one on.
func days(n int) string { return filter.During(day.UnixMilli(), day.AddDate(0, 0, n).UnixMilli()-1) }

func minuteOf(ms int64) string {
	return time.UnixMilli(ms).UTC().Truncate(time.Minute).Format(time.RFC3339)
}

// TestPlantedChanges: each of fifty planted changes of the settings has a mark within a minute, and there are no others,
// whether the period is so short that its minutes are asked for at once or not.
func TestPlantedChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("long: left out with -short, for the race detector")
	}
	scene, _ := gen.SceneByName("quiet-changes")
	marked := 0
	seeds := testlevel.Of(0, 1, 5)
	for seed := range uint64(seeds) {
		g := gen.New(gen.Options{Records: 60_000, Seed: 300 + seed, From: day, Scene: scene})
		from := sourceOf(t, generated(t, g))
		for _, length := range []int{1, 3} {
			_, meta := run(t, from, days(length))
			changes := g.Truth().Changes
			if len(*meta.Marks) != len(changes) {
				t.Fatalf("seed %d, %d days: %d marks of %d changes: %v", seed, length, len(*meta.Marks), len(changes), *meta.Marks)
			}
			for i, change := range changes {
				m := (*meta.Marks)[i]
				at, err := time.Parse(time.RFC3339, m.At)
				if err != nil {
					t.Fatal(err)
				}
				late := at.Sub(time.UnixMilli(change.At).Truncate(time.Minute))
				if late < 0 || late > time.Minute || m.Before != change.RevisionBefore || m.After != change.RevisionAfter {
					t.Errorf("seed %d: %+v for the change %+v", seed, m, change)
				}
				marked++
			}
		}
	}
	if want := 20 * seeds; marked != want {
		t.Errorf("%d marks, want %d: ten changes a seed, each in two periods", marked, want)
	}
}

// TestQuietDays: thirty quiet days have no marks, and two questions tell it.
func TestQuietDays(t *testing.T) {
	scene, _ := gen.SceneByName("quiet")
	for seed := range uint64(3) {
		g := gen.New(gen.Options{Records: 1500, Seed: 300 + seed, From: day, To: day.AddDate(0, 0, 30), Scene: scene})
		var questions []map[string]string
		results, meta := run(t, counted(sourceOf(t, generated(t, g)), &questions), days(30))
		if len(*meta.Marks) != 0 || len(questions) != 2 {
			t.Errorf("seed %d: %v with %d questions", seed, *meta.Marks, len(questions))
		}
		requests := int64(0)
		for _, r := range results {
			requests += r.NumOfRequests
		}
		if requests != 1500 {
			t.Errorf("seed %d: the results have %d requests", seed, requests)
		}
	}
}

// twoBranches returns requests of an hour with their revisions: at half past, prod changes from a to b and staging keeps s.
func twoBranches() (rows []*lake.Row) {
	for i := range int64(360) {
		branch, revision := "prod", "a"
		switch {
		case i%2 == 1:
			branch, revision = "staging", "s"
		case i >= 180:
			revision = "b"
		}
		rows = append(rows, &lake.Row{
			TsMs: day.UnixMilli() + 10_000*i, Source: "s", Line: i + 1, Branch: &branch,
			SecurityConfig: &lake.SecurityConfig{Revision: &revision},
		})
	}
	return rows
}

// TestConditions: only conditions on branch limit the questions about revisions, and so do the branches of the caller.
func TestConditions(t *testing.T) {
	want := fmt.Sprint([]answer.Mark{{At: minuteOf(day.Add(30 * time.Minute).UnixMilli()), Kind: "revision", Before: "a", After: "b"}})
	for _, test := range []struct {
		filters  string
		branches []string
		want     string
	}{
		{days(1), nil, want},
		{days(1) + `, status=404`, nil, want},
		{days(1) + `, branch="prod"`, nil, want},
		{days(1) + `, branch="staging"`, nil, "[]"},
		{days(1), []string{"staging"}, "[]"},
		{filter.FormatJSON(filter.ParseQueryString(days(1))), nil, want},
	} {
		_, meta := run(t, sourceOf(t, twoBranches(), test.branches...), test.filters)
		if got := fmt.Sprint(*meta.Marks); got != test.want {
			t.Errorf("%s %v: %s, want %s", test.filters, test.branches, got, test.want)
		}
	}
}

// TestTheAnswerOfTheRouteStays: the results and what the meta says about them are those of the route without marks. The
// costs are sums.
func TestTheAnswerOfTheRouteStays(t *testing.T) {
	from := sourceOf(t, twoBranches())
	params := map[string]string{"by": "branch", "segment": "6h", "tz": "Europe/Berlin"}
	var got []answer.HistogramResult
	r := asking.Request{Route: search.Histogram, Params: params, Filters: days(4)}
	meta, err := asking.Run(t.Context(), from, r, &got)
	if err != nil {
		t.Fatal(err)
	}
	with := maps.Clone(params)
	with["filters"] = r.Filters
	body, err := from(t.Context(), "histogram", with)
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Data struct{ Results []answer.HistogramResult }
		Meta answer.Meta
	}
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Data.Results, got); diff != "" || len(got) == 0 {
		t.Error(diff)
	}
	if meta.BytesScanned != 30 { // of the histogram, the hours, and the minutes of one hour
		t.Errorf("%d bytes, want 30", meta.BytesScanned)
	}
	if len(*meta.Marks) != 1 {
		t.Errorf("%v", *meta.Marks)
	}
	meta.Marks = nil
	for _, m := range []*answer.Meta{&meta, &want.Meta} {
		m.BytesScanned, m.ElapsedMS, m.EngineMS, m.Estimate = 0, 0, 0, nil
	}
	if diff := cmp.Diff(want.Meta, meta); diff != "" {
		t.Errorf("meta (-without +with marks): %s", diff)
	}
}

// TestDryRun: an estimate runs nothing, and says what it lacks.
func TestDryRun(t *testing.T) {
	for length, lacks := range map[int]bool{1: false, 2: true} {
		m, err := asking.DryRun(t.Context(), sourceOf(t, twoBranches()), asking.Request{Route: search.Timeline, Filters: days(length)})
		if err != nil || !m.DryRun || m.BytesScanned != 0 || m.Marks != nil || m.SegmentSeconds == 0 {
			t.Fatalf("%+v, %v", m, err)
		}
		if got := strings.Contains(strings.Join(m.Estimate.Warnings, "\n"), "not estimated"); got != lacks {
			t.Errorf("%d days: %q", length, m.Estimate.Warnings)
		}
	}
}

// TestMistakes: each names its parameter.
func TestMistakes(t *testing.T) {
	from := sourceOf(t, twoBranches())
	for _, r := range []asking.Request{
		{Route: search.Timeline, Filters: "timestamp between 2000-01-01 and 2020-01-01"},
		{Route: search.Timeline, Filters: days(1), Params: map[string]string{"tz": "Nowhere"}},
	} {
		if _, err := asking.Run(t.Context(), from, r, new([]answer.TimelineResult)); !errors.As(err, new(*search.ParamError)) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	_, err := asking.Run(t.Context(), from, asking.Request{Route: search.Timeline, Filters: "hots=a"}, new([]answer.TimelineResult))
	if !errors.As(err, new(*query.FilterError)) {
		t.Errorf("a filter with a mistake: %v", err)
	}
}

// TestCountsAreRolledUp: rollups have the counts for which the questions about revisions and branches ask.
func TestCountsAreRolledUp(t *testing.T) {
	hosts, err := search.BindCounts("host", nil)
	if err != nil {
		t.Fatal(err)
	}
	rolledUp := map[string]bool{}
	for _, shape := range rollup.Counted(hosts) {
		rolledUp[rollup.CountsName(shape)] = true
	}
	rows := generated(t, gen.New(gen.Options{Records: 100, Seed: 1, From: day, To: day.Add(time.Hour)}))
	var asked []string
	from := func(ctx context.Context, to string, params map[string]string) ([]byte, error) {
		if to == string(search.Counts) {
			shape, err := search.BindCounts(params["by"], nil)
			if err != nil || params["of"] != search.SelectionsText(nil) || !rolledUp[rollup.CountsName(shape)] {
				t.Errorf("no rollup has the counts of %v: %v", params, err)
			}
			asked = append(asked, params["by"])
		}
		return sourceOf(t, rows).Ask(ctx, to, params)
	}
	none := func(context.Context, string) ([]document.Info, error) { return nil, nil }
	r := asking.Request{Route: search.Timeline, Filters: days(1), AtOnce: 1, Versions: none}
	if _, err := asking.Run(t.Context(), answering.Ask(from), r, &[]answer.TimelineResult{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(asked, "branch") || len(asked) < 2 {
		t.Errorf("counts were asked for by %q", asked)
	}
}
