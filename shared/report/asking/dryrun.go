package asking

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/search"
)

// Estimate is what is known about a question of a report before it is asked.
type Estimate struct {
	Part report.Part
	Meta search.Meta // it has an estimate, unless there is an error
	Err  error
}

// DryRun returns what is known about each question of a report, without asking it. atOnce has the same meaning as for
// Make. search.Sum adds the estimates.
func DryRun(ctx context.Context, from Source, s report.Setting, atOnce int) []Estimate {
	questions := s.Questions()
	list := make([]Estimate, len(questions))
	each(questions, atOnce, func(i int, q report.Question) {
		list[i].Part = q.Part
		list[i].Meta, list[i].Err = dryRun(ctx, from, q)
	})
	return list
}

func dryRun(ctx context.Context, from Source, q report.Question) (meta search.Meta, err error) {
	params := maps.Clone(q.Params)
	params["dry_run"] = "true"
	body, err := from.Ask(ctx, q.Route, params)
	if err != nil {
		return meta, fmt.Errorf("estimate the question %s of a report: %w", q.Part, err)
	}
	answer, err := inquiry.Read(body)
	if err == nil && answer.Meta.Estimate == nil {
		err = errors.New("the answer has no estimate")
	}
	if err != nil {
		return meta, fmt.Errorf("estimate the question %s of a report: %w", q.Part, err)
	}
	answer.Meta.Estimate.Unrounded = answer.Unrounded
	return answer.Meta, nil
}
