package asking

import (
	"context"
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
	if err := a.meta.Estimate(ctx, a.from, a.atOnce, a.counting(nil, "1h", a.within(a.firstHours()))...); err != nil {
		if ctx.Err() != nil {
			return answer.Meta{}, err
		}
		return answer.Meta{}, fmt.Errorf("estimate the questions of incidents: %w", err)
	}
	m := a.meta.Estimated(r.AtOnce)
	m.Estimate.Warnings = append([]string{further}, m.Estimate.Warnings...)
	return m, nil
}
