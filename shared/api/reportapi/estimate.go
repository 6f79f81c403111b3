package reportapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/search"
)

// Estimate implements answering.Reports. It returns the meta of the first question about all requests of the report,
// with the estimate of all questions. If a question fails, its part would be missing in the report: a warning names the
// part, and the others are estimated. If no question about all requests can be estimated, Estimate returns the error of
// the first one.
func (m Maker) Estimate(ctx context.Context, ask answering.Ask, r answering.ReportRequest) (search.Meta, error) {
	setting, err := asking.SettingOf(m.requestOf(r))
	if err != nil {
		return search.Meta{}, errorOf(err)
	}
	list := asking.DryRun(ctx, inquiry.Placing(ask, r.Form, r.Filters), setting, m.AtOnce)
	if err := ctx.Err(); err != nil {
		return search.Meta{}, err
	}
	var whole *search.Meta
	var estimates []*search.Estimate
	warnings := []string{}
	for i, q := range setting.Questions() {
		one := list[i]
		if one.Err != nil {
			warnings = append(warnings, fmt.Sprintf("the part %q would be missing: %v", one.Part, errors.Unwrap(one.Err)))
			continue
		}
		estimates = append(estimates, one.Meta.Estimate)
		if whole == nil && q.Params["filters"] == setting.Filter(setting.Period) {
			whole = &one.Meta
		}
	}
	if whole == nil {
		return search.Meta{}, list[0].Err
	}
	whole.Estimate = search.Sum(estimates, m.AtOnce)
	whole.Estimate.Warnings = append(warnings, whole.Estimate.Warnings...)
	return *whole, nil
}
