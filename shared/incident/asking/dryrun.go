package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/inquiry"
)

// further is the warning of every estimate.
const further = "the questions about the hours that stand out, and about the incidents in them, follow from the first " +
	"answers and are not estimated"

// DryRun returns the meta of incidents with an estimate of the questions about hours, which are asked first. It returns
// the errors of Run.
func DryRun(ctx context.Context, from inquiry.Source, r Request) (answer.Meta, error) {
	a, err := newAsker(from, r)
	if err != nil {
		return answer.Meta{}, err
	}
	first := a.counting(nil, "1h", a.within(a.firstHours()))
	answers := make([]inquiry.Answer, len(first))
	errs := make([]error, len(first))
	inquiry.Each(len(first), a.atOnce, func(i int) {
		first[i].Params["dry_run"] = "true"
		var body []byte
		if body, errs[i] = from.Ask(ctx, first[i].Route, first[i].Params); errs[i] != nil {
			return
		}
		answers[i], errs[i] = inquiry.Read(body)
		if errs[i] == nil && answers[i].Meta.Estimate == nil {
			errs[i] = errors.New("the answer has no estimate")
		}
	})
	if err := cmp.Or(ctx.Err(), errors.Join(errs...)); err != nil {
		return answer.Meta{}, fmt.Errorf("estimate the questions of incidents: %w", err)
	}
	a.meta.Add(answers)
	m := a.meta.Estimated(r.AtOnce)
	m.Estimate.Warnings = append([]string{further}, m.Estimate.Warnings...)
	return m, nil
}
