// Package asking asks a data route together with the questions of marks, and finds the marks in the answers.
package asking

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/mark"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Request is a request for the results of a route, with marks.
type Request struct {
	Route    search.Route
	Params   map[string]string // of the route, except filters
	Filters  string            // in either form, with a period
	Syntax   filter.Syntax     // 0: determined by the first character
	Now      time.Time         // of relative times; zero: there are none
	AtOnce   int               // questions that are asked at the same time; 0: all
	Versions Versions          // nil: the caller may not read planets
}

// Versions returns the versions of the planet of a configuration.
type Versions func(ctx context.Context, config string) ([]document.Info, error)

// asker asks the questions of one request.
type asker struct {
	from       inquiry.Source
	atOnce     int
	period     query.Period
	conditions []string // on branch
	params     map[string]string
	meta       inquiry.Meta
	about      search.Meta // of the answer of the route
}

// Run adds the marks of the period to the answer of a route, whose results it reads into results. The error is a
// *query.FilterError, a *search.ParamError, the error of the context, or the error of a question.
func Run(ctx context.Context, from inquiry.Source, r Request, results any) (answer.Meta, error) {
	a, err := newAsker(from, r)
	if err != nil {
		return answer.Meta{}, err
	}
	var cells []mark.Cell
	var branches []string
	if err := a.all(ctx, a.first(r, results, &cells, &branches)...); err != nil {
		return answer.Meta{}, err
	}
	if cells, err = a.refined(ctx, cells); err != nil {
		return answer.Meta{}, err
	}
	m := a.described(a.meta.Joined(r.AtOnce))
	planets, err := a.planets(ctx, branches, r.Versions)
	marks := append(mark.Of(cells), planets...)
	slices.SortStableFunc(marks, func(x, y answer.Mark) int { return inquiry.TimeOf(x.At).Compare(inquiry.TimeOf(y.At)) })
	m.Marks = &marks
	return m, err
}

// further is the warning of estimates.
const further = "the questions about the minutes in which revisions begin and end follow from the first answers and are not estimated"

// DryRun returns the meta of an answer with the estimate of its first questions. It returns the errors of Run.
func DryRun(ctx context.Context, from inquiry.Source, r Request) (answer.Meta, error) {
	a, err := newAsker(from, r)
	if err != nil {
		return answer.Meta{}, err
	}
	if err := a.meta.Estimate(ctx, a.from, a.atOnce, a.first(r, nil, nil, nil)...); err != nil {
		return answer.Meta{}, fmt.Errorf("estimate the questions of marks: %w", err)
	}
	m := a.described(a.meta.Estimated(r.AtOnce))
	if a.segment() > mark.Minute {
		m.Estimate.Warnings = append([]string{further}, m.Estimate.Warnings...)
	}
	return m, nil
}

func newAsker(from inquiry.Source, r Request) (*asker, error) {
	clock, err := search.ClockOf(r.Now, r.Params["tz"])
	if err != nil {
		return nil, err
	}
	f := r.Syntax.Parse(r.Filters)
	q, err := query.Bind(f, query.Timeline{}, query.WithClock(clock))
	if err != nil {
		return nil, err
	}
	a := &asker{from: inquiry.Placing(from, r.Syntax, r.Filters), atOnce: r.AtOnce, period: q.Period, params: map[string]string{}}
	maps.Copy(a.params, r.Params)
	canonical := q.Filter
	canonical.Syntax = filter.QueryString
	a.params["filters"] = filter.Format(canonical)
	for _, c := range canonical.Conditions {
		if c.Field.Text == "branch" {
			a.conditions = append(a.conditions, c.String())
		}
	}
	if a.segment() == 0 {
		return nil, &search.ParamError{
			Param: "marks", Message: fmt.Sprintf("marks are found in periods of at most %d days", mostCells-1),
		}
	}
	return a, nil
}

// described returns the meta of all questions with what the answer of the route says about its results.
func (a *asker) described(m search.Meta) search.Meta {
	m.Filter, m.Fingerprint, m.Period = a.about.Filter, a.about.Fingerprint, a.about.Period
	m.SegmentSeconds, m.TZ, m.Series, m.Saturated = a.about.SegmentSeconds, a.about.TZ, a.about.Series, a.about.Saturated
	return m
}

// all asks questions at the same time.
func (a *asker) all(ctx context.Context, list ...inquiry.Question) error {
	if err := a.meta.Ask(ctx, a.from, a.atOnce, list...); err != nil {
		return fmt.Errorf("ask the questions of marks: %w", err)
	}
	return nil
}

// first returns the questions that do not follow from answers.
func (a *asker) first(r Request, results any, cells *[]mark.Cell, branches *[]string) []inquiry.Question {
	list := []inquiry.Question{a.question(r.Route, results), a.counting(a.whole(), a.segment(), cells)}
	if r.Versions != nil {
		list = append(list, a.branches(branches))
	}
	return list
}

// question returns the question of the route.
func (a *asker) question(to search.Route, results any) inquiry.Question {
	return inquiry.Question{
		Route: string(to), Params: maps.Clone(a.params), About: &a.about,
		Into: func(text json.RawMessage) error { return json.Unmarshal(text, results) },
	}
}

// whole returns the seconds of the period.
func (a *asker) whole() mark.Cell {
	return mark.Cell{From: query.SegmentStart(a.period.FromMs, 1), To: query.SegmentStart(a.period.ToMs, 1) + 1}
}

// mostCells is the number of cells of a question. With several revisions in each, an answer has room for them.
const mostCells = 1500

// segment returns the length of the cells of the period: the first one of a minute, an hour, six hours and a day that gives
// at most mostCells. It returns 0 for longer periods.
func (a *asker) segment() int64 {
	for _, seconds := range []int64{mark.Minute, mark.Hour, 6 * mark.Hour, mark.Day} {
		if query.SegmentCount(a.period, seconds) <= mostCells {
			return seconds
		}
	}
	return 0
}

const byRevision = `security_config["revision"]`

// Counted are the counts that the questions about revisions ask for.
func Counted() (query.Counts, error) { return search.BindCounts(byRevision, nil) }

// counting returns the question for the requests of a time in cells of so many seconds, by revision.
func (a *asker) counting(of mark.Cell, seconds int64, into *[]mark.Cell) inquiry.Question {
	q := a.counts(of, byRevision, fmt.Sprintf("%ds", seconds))
	q.Into = func(text json.RawMessage) error {
		requests := map[int64]map[string]int64{}
		err := search.EachCounts(text, func(r search.CountsResult) {
			if r.Value == nil {
				return
			}
			for i, at := range r.TimePeriods {
				if requests[at] == nil {
					requests[at] = map[string]int64{}
				}
				requests[at][*r.Value] = r.N[0][i]
			}
		})
		cells := make([]mark.Cell, 0, len(requests))
		for _, at := range slices.Sorted(maps.Keys(requests)) {
			cells = append(cells, mark.Cell{From: at, To: at + seconds, Requests: requests[at]})
		}
		*into = cells
		return err
	}
	return q
}

// counts returns a question for the requests of a time by segment and value of a field.
func (a *asker) counts(of mark.Cell, by, segment string) inquiry.Question {
	during := filter.During(max(of.From*1000, a.period.FromMs), min(of.To*1000-1, a.period.ToMs))
	return inquiry.Question{Route: string(search.Counts), Params: map[string]string{
		"filters": filter.Joined(append([]string{during}, a.conditions...)...), "by": by, "segment": segment,
		"of": search.SelectionsText(nil),
	}}
}

// mostBranches is the number of branches whose planets are looked at: those with most requests.
const mostBranches = 80

// branches returns the question for the branches of the period, which has a segment longer than that.
func (a *asker) branches(into *[]string) inquiry.Question {
	q := a.counts(a.whole(), "branch", inquiry.Whole)
	q.Into = func(text json.RawMessage) error {
		requests := map[string]int64{}
		err := search.EachCounts(text, func(r search.CountsResult) {
			if r.Value != nil && planet.ValidConfig(*r.Value) {
				for _, n := range r.N[0] {
					requests[*r.Value] += n
				}
			}
		})
		list := slices.SortedFunc(maps.Keys(requests), func(x, y string) int {
			return cmp.Or(cmp.Compare(requests[y], requests[x]), cmp.Compare(x, y))
		})
		*into = list[:min(len(list), mostBranches)]
		return err
	}
	return q
}

// planets returns the versions of planets that were written in the period. Branches are configurations.
func (a *asker) planets(ctx context.Context, configs []string, versions Versions) (marks []answer.Mark, err error) {
	for _, config := range configs {
		list, err := versions(ctx, config)
		if err != nil {
			return nil, fmt.Errorf("read the versions of planet %s: %w", config, err)
		}
		for _, v := range list {
			at := v.At.UnixMilli()
			if at < a.period.FromMs || at > a.period.ToMs || config == planet.FirstConfig && v.Number == 1 { // nobody wrote it
				continue
			}
			marks = append(marks, answer.Mark{
				At: v.At.UTC().Format(time.RFC3339Nano), Kind: "planet", Config: config, Version: v.Number, By: v.By,
			})
		}
	}
	return marks, nil
}

// refined asks for the minutes of the cells in which marks may be.
func (a *asker) refined(ctx context.Context, cells []mark.Cell) ([]mark.Cell, error) {
	unsure := mark.Unsure(cells)
	minutes := make([][]mark.Cell, len(cells))
	for i := range cells {
		minutes[i] = cells[i : i+1]
	}
	list := make([]inquiry.Question, len(unsure))
	for n, i := range unsure {
		list[n] = a.counting(cells[i], mark.Minute, &minutes[i])
	}
	if len(list) == 0 {
		return cells, nil
	}
	err := a.all(ctx, list...)
	return slices.Concat(minutes...), err
}
