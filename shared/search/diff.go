package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// fewSelected is the number of selected requests below which meta marks an answer as small.
const fewSelected = 30

func diffOf(a query.DiffAnswer, shape query.Diff) []DiffResult {
	findings := query.Findings(shape, a)
	results := make([]DiffResult, len(findings))
	for i, f := range findings {
		r := DiffResult{
			By:       f.By.String(),
			Value:    typedValue(f.By, f.Value),
			Selected: DiffSide{NumOfRequests: f.Selected, Share: share(f.Selected, a.Requests.Selected)},
			Baseline: DiffSide{NumOfRequests: f.Baseline, Share: share(f.Baseline, a.Requests.Baseline)},
			Score:    f.Score,
		}
		if f.Baseline > 0 {
			lift := math.Round(r.Selected.Share/r.Baseline.Share*1000) / 1000
			r.Lift = &lift
		}
		r.Condition, r.Excluded, _ = f.By.Condition(f.Value)
		results[i] = r
	}
	return results
}

func share(n, all int64) float64 { return float64(n) / float64(all) }

func diffMetaOf(a query.DiffAnswer, q query.Query, shape query.Diff) *DiffMeta {
	meta := &DiffMeta{
		Selected: diffSideOf(a.Requests.Selected, q),
		Baseline: diffSideOf(a.Requests.Baseline, q),
		Small:    a.Requests.Selected < fewSelected,
		Fields:   make([]DiffTermMeta, len(shape.By)),
	}
	if shape.Against.Kind == query.AgainstNothing {
		both := q.Filter
		both.Conditions = slices.Concat(both.Conditions, shape.Select.Filter.Conditions)
		meta.Selected.Filter = filter.Format(both)
		meta.Baseline.Except = filter.Format(shape.Select.Filter)
	} else {
		meta.Baseline.Period = PeriodOf(shape.Baseline)
		meta.Baseline.Filter = filter.Format(q.FilterOf(shape.Baseline))
	}
	for i, by := range shape.By {
		var t query.DiffTerm
		if a.Terms != nil {
			t = a.Terms[i]
		}
		meta.Fields[i] = DiffTermMeta{
			By: by.String(), Distinct: t.Distinct,
			NumOfAbsentSelected: a.Requests.Selected - t.Requests.Selected,
			NumOfAbsentBaseline: a.Requests.Baseline - t.Requests.Baseline,
		}
	}
	return meta
}

// diffSideOf returns a side that has the period and the filter of the query.
func diffSideOf(requests int64, q query.Query) DiffSideMeta {
	return DiffSideMeta{NumOfRequests: requests, Period: PeriodOf(q.Period), Filter: filter.Format(q.Filter)}
}

// PeriodOf returns a period as meta has it.
func PeriodOf(p query.Period) MetaPeriod {
	return MetaPeriod{From: instant(p.FromMs), To: instant(p.ToMs)}
}

func (r Request) diff() (query.Shape, error) {
	const how = "give either select, the conditions of the requests to compare with all others, " +
		"or against, another period to compare with"
	switch {
	case r.Select == "" && r.Against == "":
		return nil, &ParamError{Param: "select", Message: "it is missing; " + how, Suggestion: "blocked is true"}
	case r.Select != "" && r.Against != "":
		return nil, &ParamError{Param: "against", Message: "it cannot be combined with select; " + how}
	}
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	least, err := r.least()
	if err != nil {
		return nil, err
	}
	by, err := dimensionsOf("by", r.By)
	if err != nil {
		return nil, err
	}
	shape := query.Diff{By: by, Limit: limit, Least: least}
	clock, err := ClockOf(r.Now, r.TZ)
	if err != nil {
		return nil, err
	}
	if r.Against != "" {
		shape.Against, err = query.ParseAgainst(r.Against, clock)
		return shape, againstError(err)
	}
	shape.Select, err = query.BindSelection(r.Syntax.Parse(r.Select), append(r.listOptions(), query.WithClock(clock))...)
	var wrong *query.FilterError
	switch {
	case errors.As(err, &wrong):
		wrong.Param = "select"
		return nil, wrong
	case err == nil && len(shape.Select.Conditions) == 0:
		return nil, &ParamError{Param: "select", Message: "it has no condition", Suggestion: "blocked is true"}
	}
	return shape, err
}

// least returns the least number of requests of a finding.
func (r Request) least() (int64, error) {
	p := ParameterOf(r.Route, "least")
	n, ok := wholeNumber(cmp.Or(r.Least, p.Default))
	if !ok {
		return 0, &ParamError{
			Param:      p.Name,
			Message:    fmt.Sprintf("%q is not a whole number of at least 1", r.Least),
			Suggestion: p.Default,
		}
	}
	return n, nil
}

// againstError returns an error about the other period of a diff as one about its parameter.
func againstError(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return &ParamError{Param: "against", Message: known.Message, Suggestion: "previous"}
	}
	return err
}
