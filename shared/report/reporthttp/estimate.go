package reporthttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/report/reporting"
	"github.com/orrery/orrery/shared/search"
)

// Estimate implements api.Reports. The meta is that of the first question, whose period and conditions are those of the
// report, with the estimate of all questions.
func (Maker) Estimate(ctx context.Context, ask api.Ask, r api.ReportRequest) (search.Meta, error) {
	setting, err := reporting.SettingOf(requestOf(r))
	if err != nil {
		return search.Meta{}, errorOf(err)
	}
	var first search.Meta
	var estimates []*search.Estimate
	for i, q := range setting.Questions() {
		params := map[string]string{"dry_run": r.DryRun}
		maps.Copy(params, q.Params)
		body, err := ask(ctx, q.Route, params)
		if err != nil {
			return search.Meta{}, fmt.Errorf("estimate the questions of a report: %w", err)
		}
		var answer struct {
			Meta search.Meta `json:"meta"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return search.Meta{}, fmt.Errorf("estimate the questions of a report: %w", err)
		}
		if answer.Meta.Estimate == nil {
			return search.Meta{}, errors.New("estimate the questions of a report: an answer has no estimate")
		}
		if i == 0 {
			first = answer.Meta
		}
		estimates = append(estimates, answer.Meta.Estimate)
	}
	first.Estimate = search.Sum(estimates, reporting.AtOnce)
	return first, nil
}
