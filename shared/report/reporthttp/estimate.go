package reporthttp

import (
	"context"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/report/reporting"
	"github.com/orrery/orrery/shared/search"
)

// Estimate implements api.Reports. The meta is that of the first question, whose period and conditions are those of the
// report, with the estimate of all questions.
func (m Maker) Estimate(ctx context.Context, ask api.Ask, r api.ReportRequest) (search.Meta, error) {
	setting, err := reporting.SettingOf(m.requestOf(r))
	if err != nil {
		return search.Meta{}, errorOf(err)
	}
	list := reporting.DryRun(ctx, source(ask), setting, m.AtOnce)
	estimates := make([]*search.Estimate, len(list))
	for i, one := range list {
		if one.Err != nil {
			return search.Meta{}, one.Err
		}
		estimates[i] = one.Meta.Estimate
	}
	first := list[0].Meta
	first.Estimate = search.Sum(estimates, m.AtOnce)
	return first, nil
}
