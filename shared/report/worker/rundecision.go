package worker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/schedule"
)

// runDecision says whether a run goes on, waits or ends. The versions of its report and its key decide that.
type runDecision struct {
	stored definition.Stored // the definition of the run
	newest document.Version  // of the report
	state  runs.State        // "": the run goes on; Queued: it waits until its report is resumed; otherwise it ends so
	reason string            // unless state is ""
}

const deleted = "the report was deleted"

// decide returns whether a run goes on, waits or ends.
//
//   - A run of a report that was deleted ends, also if another report has its name now.
//   - A scheduled run waits while its report is paused, unless a later one would be due meanwhile. A key that cannot be used
//     pauses the report at the next tick.
//   - If the report was written again with another key, which may see all branches of the run, that key counts.
func (r *Runner) decide(ctx context.Context, run runs.Run) (s runDecision, err error) {
	id := definition.DocumentOf(run.Config, run.Report)
	newest, err := r.Documents.Newest(ctx, id)
	if fault.KindOf(err) == fault.NotFound || err == nil && newest.Deleted() {
		return runDecision{state: runs.Missed, reason: deleted}, nil
	}
	if err != nil {
		return s, err
	}
	current, err := definition.Read(newest.Text)
	if err != nil {
		return s, err
	}
	s.stored = current
	if newest.Number != run.Version {
		if s, err = r.versionOf(ctx, id, run.Version); err != nil || s.state != "" {
			return s, err
		}
	}
	s.newest = newest
	if current.Paused && run.By == "" {
		return r.paused(s, current, newest)
	}
	return r.withKey(ctx, s, current, run.By == "")
}

// since returns the time from which a run could go on and its waits count: when it was due, when it was queued, or when
// its report was resumed, whichever was last. Other changes of the report give its runs no more time, because the
// runs of a report that is written every hour would never end. A version that cannot be read counts as not paused.
func (r *Runner) since(ctx context.Context, run runs.Run, newest document.Version) (time.Time, error) {
	from := latest(run.Due, run.Queued)
	id := definition.DocumentOf(run.Config, run.Report)
	was := func(v document.Version) bool { // paused
		stored, err := definition.Read(v.Text)
		return err == nil && stored.Paused
	}
	after := newest
	for n := 0; after.Number > 1 && after.At.After(from) && n < mostVersions; n++ {
		before, err := document.Read(ctx, r.Documents, id, after.Number-1)
		if fault.KindOf(err) == fault.NotFound {
			break // the report begins with the version after it
		}
		if err != nil {
			return from, err
		}
		if was(before) && !was(after) {
			return after.At, nil
		}
		after = before
	}
	return from, nil
}

// latest returns the latest of some times.
func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// versionOf returns an earlier version of a report, unless the report was deleted after it.
func (r *Runner) versionOf(ctx context.Context, id document.ID, number int) (s runDecision, err error) {
	list, err := r.Documents.Versions(ctx, id)
	if err != nil {
		return s, err
	}
	for _, v := range list {
		if v.Number > number && v.Deleted() {
			return runDecision{state: runs.Missed, reason: deleted}, nil
		}
	}
	v, err := document.Read(ctx, r.Documents, id, number)
	if err != nil {
		return s, err
	}
	s.stored, err = definition.Read(v.Text)
	return s, err
}

// paused returns the runDecision of a scheduled run whose report is paused.
func (r *Runner) paused(s runDecision, current definition.Stored, newest document.Version) (runDecision, error) {
	later, _, err := schedule.Next(current.Definition, newest.At)
	if err != nil {
		return s, err
	}
	if s.state, s.reason = runs.Queued, pausedBecause(current.Reason); !later.After(r.Now()) {
		s.state, s.reason = runs.Missed, "the report was paused until a later one would have been due"
	}
	return s, nil
}

// pausedBecause returns why a run waits.
func pausedBecause(reason string) string {
	return strings.TrimSuffix("the report is paused because "+reason, " because ")
}

// withKey returns the runDecision of a run whose report is not paused.
func (r *Runner) withKey(
	ctx context.Context, s runDecision, current definition.Stored, scheduled bool,
) (runDecision, error) {
	unusable, err := r.Key(ctx, s.stored.Key)
	if err != nil || unusable == "" {
		return s, err
	}
	s.state, s.reason = runs.Failed, unusable
	if current.Key != s.stored.Key {
		if !definition.VisibleTo(current.Branches, s.stored.Branches) {
			return s, nil
		}
		unusable, err := r.Key(ctx, current.Key)
		if err != nil || unusable == "" {
			s.state, s.reason = "", ""
			return s, err
		}
		s.reason = unusable
	}
	if scheduled {
		s.state, s.reason = runs.Queued, pausedBecause(s.reason)
	}
	return s, nil
}
