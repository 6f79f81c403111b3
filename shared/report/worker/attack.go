package worker

import (
	"context"
	"slices"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/schedule"
)

// attacked reports whether a verdict says that there was an attack, or that there may have been one because data or
// parts are missing.
func attacked(s report.State) bool { return certain(s) || s == report.Unknown || s == report.Look }

// certain reports whether a verdict says that there was an attack.
func certain(s report.State) bool {
	return s == report.AttackedHeld || s == report.AttackedLook || s == report.Attacked
}

// allJudged reports whether all earlier hourly reports have a verdict or will never get one. A later report waits for
// that, because its text depends on them.
func allJudged(earlier []runs.Run) bool {
	return !slices.ContainsFunc(earlier, func(e runs.Run) bool { return e.Verdict == "" && !e.State.Ended() })
}

// afterAttack reports whether there was an attack in the latest earlier hour for which that is known. An hour
// whose report reached nobody does not count, because the receivers may know of an attack before it.
func afterAttack(earlier []runs.Run) bool {
	for _, e := range earlier {
		if e.State == runs.Failed || e.State == runs.Missed {
			continue
		}
		if verdict := report.State(e.Verdict); verdict != "" && (certain(verdict) || !attacked(verdict)) {
			return certain(verdict)
		}
	}
	return false
}

// earlier returns the scheduled runs that asked the same questions about the hours before the hour of a scheduled
// hourly run, the latest first. Other runs have none.
func (r *Runner) earlier(ctx context.Context, run runs.Run, stored definition.Stored) ([]runs.Run, error) {
	if stored.Period != definition.Hour || run.By != "" {
		return nil, nil
	}
	all, err := r.Runs.List(ctx, run.Config, run.Report, 2*schedule.MaxMissed)
	if err != nil {
		return nil, err
	}
	same := map[int]bool{run.Version: true} // by version
	var list []runs.Run
	for _, e := range all {
		if e.By != "" || !e.To.Before(run.To) {
			continue
		}
		if _, known := same[e.Version]; !known {
			if same[e.Version], err = r.asksTheSame(ctx, e, run, stored); err != nil {
				return nil, err
			}
		}
		if same[e.Version] {
			list = append(list, e)
		}
	}
	return list, nil
}

// asksTheSame reports whether an earlier run asked the same questions as a run with a definition. Runs of a deleted
// report whose name another one has now did not.
func (r *Runner) asksTheSame(ctx context.Context, e, run runs.Run, stored definition.Stored) (bool, error) {
	id := definition.DocumentOf(e.Config, e.Report)
	list, err := r.Documents.Versions(ctx, id)
	if err != nil {
		return false, err
	}
	for _, v := range list {
		if v.Deleted() && e.Version < v.Number && v.Number < run.Version {
			return false, nil
		}
	}
	v, err := document.Read(ctx, r.Documents, id, e.Version)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	before, err := definition.Read(v.Text)
	if err != nil { // it never asked anything
		return false, nil //nolint:nilerr // later runs do not depend on it
	}
	return before.Filters == stored.Filters && before.Template == stored.Template && before.Period == stored.Period &&
		slices.Equal(before.Branches, stored.Branches), nil
}
