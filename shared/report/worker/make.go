package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/mail"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/schedule"
	"github.com/orrery/orrery/shared/zone"
)

// make makes the report of a run if it can be made now, and stores it. It reports whether there is something to deliver.
func (r *Runner) make(ctx context.Context, run *runs.Run) (made bool, err error) {
	decision, err := r.decide(ctx, *run)
	stored := decision.stored
	switch {
	case err != nil:
		return false, err
	case decision.state == runs.Queued:
		return false, r.wait(ctx, run, decision.reason)
	case decision.state != "":
		return false, r.end(ctx, run, decision.state, decision.reason)
	case run.State == runs.Running && run.Attempts >= mostAttempts: // nothing was recorded after the last one
		return false, r.end(ctx, run, runs.Failed, "the server ended each time it made the report")
	}
	since, err := r.since(ctx, *run, decision.newest)
	if err != nil {
		return false, err
	}
	data, err := r.data(ctx, *run, since)
	if err != nil {
		return false, err
	}
	if data == waited {
		return false, r.wait(ctx, run, "the data of the period is not complete yet")
	}
	earlier, err := r.earlier(ctx, *run, stored)
	if err != nil || !allJudged(earlier) {
		return false, err
	}
	if err := r.making.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer r.making.Release(1)
	run.State, run.Reason, run.Lease = runs.Running, "", r.Now().Add(leaseTime)
	run.Attempts++
	if err := r.update(ctx, run); err != nil {
		return false, err
	}
	var result rendered
	err = catchPanic(func() (err error) {
		result, err = r.render(ctx, *run, stored, data == late, afterAttack(earlier))
		return err
	})
	if err != nil {
		return false, r.failed(ctx, run, err)
	}
	run.Verdict, run.Partial = string(result.verdict), result.partial
	run.HasReport = run.HasReport || result.kept
	run.Incomplete, run.Early = data == late, data != complete && run.By != ""
	if result.quiet {
		return false, r.end(ctx, run, runs.Quiet, "there was no attack")
	}
	if len(run.Deliveries) == 0 {
		return false, r.keep(ctx, run, result)
	}
	for i, reason := range result.refused {
		d := &run.Deliveries[i]
		d.State, d.Reason, d.At = runs.Refused, reason, r.Now().UTC()
	}
	run.State, run.Lease = runs.Rendered, r.Now().Add(leaseTime)
	return true, r.update(ctx, run, result.files...)
}

// keep ends a run without destinations, whose report is there for readers.
func (r *Runner) keep(ctx context.Context, run *runs.Run, result rendered) error {
	if !result.kept {
		return r.end(ctx, run, runs.Failed, fmt.Sprintf(
			"the report is too large to be kept: it has more than %d bytes with gzip; give it a destination", runs.MaxKept))
	}
	run.State = runs.Kept
	return r.update(ctx, run, result.files...)
}

// failed records that a report could not be made. It is tried again later, unless that has no use. If the server stops,
// the next one tries again at once, and the attempt does not count.
func (r *Runner) failed(ctx context.Context, run *runs.Run, cause error) error {
	var limit *limitError
	switch {
	case errors.As(cause, &limit):
		return r.end(ctx, run, runs.Failed, limit.Error())
	case ctx.Err() != nil:
		run.State, run.Lease = runs.Queued, time.Time{}
		run.Attempts--
		return errors.Join(ctx.Err(), r.update(context.WithoutCancel(ctx), run))
	}
	r.Log.Error("scheduled report not made", "config", run.Config, "report", run.Report, "run", run.ID, "error", cause)
	if run.Attempts >= mostAttempts {
		return r.end(ctx, run, runs.Failed, readable(cause))
	}
	run.State, run.Reason, run.Lease = runs.Queued, readable(cause), time.Time{}
	run.Next = r.Now().Add(retryAfter(run.Attempts))
	return r.update(ctx, run)
}

// rendered is a report that is made.
type rendered struct {
	verdict report.State
	partial bool
	quiet   bool // it is not to be sent
	files   []runs.File
	refused map[int]string // deliveries that cannot be made, with the reasons
	kept    bool           // one of the files is for readers of the run
}

// render asks the questions of a report, and renders it for its destinations.
func (r *Runner) render(
	ctx context.Context, run runs.Run, stored definition.Stored, late, after bool,
) (v rendered, err error) {
	model, ended, err := r.report(ctx, run, stored, late, after)
	if err != nil {
		return v, err
	}
	v.verdict = model.Verdict.State
	v.partial = slices.ContainsFunc(model.Failed, func(f report.Failed) bool { return f.Part != report.LateLogs })
	if stored.When == definition.Attacks && !attacked(model.Verdict.State) && !ended && !hasIt(run) {
		v.quiet = true
		return v, nil
	}
	v.files, v.refused, err = r.filesOf(model, run)
	if err != nil {
		return v, err
	}
	model.Run.Scheduled = scheduledBy(run)
	if kept, ok := runs.Keep(model.JSON()); ok {
		v.kept, v.files = true, append(v.files, kept)
	} else {
		r.Log.Warn("scheduled report not kept: it is too large", "config", run.Config, "report", run.Report, "run", run.ID,
			"bytes", len(kept.Content), "most", runs.MaxKept)
	}
	return v, nil
}

// completeness is how far the data of a run is complete.
type completeness int

const (
	complete completeness = iota
	early                 // through the end of the period, but late logs may arrive
	late                  // less
	waited                // so little that the run waits
)

// data returns how far the data of a run is complete. Scheduled runs wait some hours for late logs, counted from when
// they could go on. If it is not known how far the data is complete, late logs count as arrived when their delay is
// over.
func (r *Runner) data(ctx context.Context, run runs.Run, since time.Time) (completeness, error) {
	now := r.Now()
	through, err := r.Complete(ctx)
	if err != nil {
		return waited, err
	}
	known := !through.IsZero()
	if !known {
		through = now
	}
	switch wanted := run.To.Add(r.Settings.Delay); {
	case !through.Before(wanted):
		return complete, nil
	case run.By != "" && known && through.Before(run.To):
		return late, nil
	case run.By != "":
		return early, nil
	case known && !now.Before(since.Add(mostWait)):
		return late, nil
	}
	return waited, nil
}

// wait records that a run waits for a reason, once. A run that is rendered stays so.
func (r *Runner) wait(ctx context.Context, run *runs.Run, reason string) error {
	if run.Reason == reason && run.State != runs.Running && run.Lease.IsZero() {
		return nil
	}
	if run.State != runs.Rendered {
		run.State = runs.Queued
	}
	run.Reason, run.Lease = reason, time.Time{}
	return r.update(ctx, run)
}

// report asks the questions of a report, which may be the next one after an attack. ended reports that it is the first
// quiet one.
func (r *Runner) report(
	ctx context.Context, run runs.Run, stored definition.Stored, late, after bool,
) (model report.Report, ended bool, err error) {
	location, err := zone.Load(stored.TZ)
	if err != nil {
		return model, false, err
	}
	period := report.Period{FromMs: run.From.UnixMilli(), ToMs: run.To.UnixMilli() - 1}
	before, err := schedule.Compared(stored.Definition, period)
	if err != nil {
		return model, false, err
	}
	setting := report.Setting{
		Title: stored.Title, Template: report.Template(stored.Template), Conditions: stored.Filters,
		Period: period, Previous: before, SameWeekday: stored.Compare == definition.SameWeekday,
		Zone: location, Link: r.Settings.Link, Server: r.Settings.Link,
	}
	if late {
		setting.Late = "the data of the period was not complete when the report was made"
	}
	source := questions{r, r.Ask(stored.Branches, stored.Key), run, time.Now().Add(askTime)}
	if model, err = makeWithin(ctx, source, setting, stored.MaxBytes, r.AtOnce); err != nil {
		return model, false, err
	}
	if after && !attacked(model.Verdict.State) {
		model.Title = cmp.Or(stored.Title, model.Title) + ": the attack has ended"
		return model, true, nil
	}
	return model, false, nil
}

// questions asks the questions of a report. Those that have no answer until a time, and those that panic, are parts that
// are missing. The log has why.
type questions struct {
	runner *Runner
	from   asking.Source
	run    runs.Run
	until  time.Time
}

// Ask implements asking.Source.
func (q questions) Ask(ctx context.Context, route string, params map[string]string) (body []byte, err error) {
	ctx, cancel := context.WithDeadline(ctx, q.until)
	defer cancel()
	err = catchPanic(func() (err error) { body, err = q.from.Ask(ctx, route, params); return err })
	if err == nil {
		return body, nil
	}
	cause := err
	if reason := errors.Unwrap(err); reason != nil { // err is for readers of the report
		cause = reason
	}
	q.runner.Log.Warn("question of a scheduled report failed", "config", q.run.Config, "report", q.run.Report,
		"run", q.run.ID, "route", route, "error", cause)
	if errors.As(err, new(*panicError)) {
		return nil, errors.New("the query failed; the log of the server has the cause")
	}
	return nil, err
}

// filesOf returns the files of each delivery of a report, and why there are none for some of them.
func (r *Runner) filesOf(model report.Report, run runs.Run) (files []runs.File, refused map[int]string, err error) {
	model.Run.Scheduled = scheduledBy(run)
	refused = map[int]string{}
	for i, d := range run.Deliveries {
		if d.State != runs.Waiting {
			continue // it has the report of an earlier attempt
		}
		if d.Destination.To != "" {
			base := fmt.Sprintf("%s-%s-%s-%s.", run.Config, run.Report, run.From.UTC().Format("20060102T1504Z"), run.ID[:8])
			files = append(files,
				runs.File{Delivery: i, Name: base + "html", Content: model.HTML()},
				runs.File{Delivery: i, Name: base + "txt", Content: model.Text()},
				runs.File{Delivery: i, Name: base + "csv", Content: model.CSV()},
				runs.File{Delivery: i, Name: base + "json", Content: model.JSON()})
			continue
		}
		if r.Settings.Mail == nil {
			refused[i] = "the operator has not set up mail"
			continue
		}
		envelope := r.envelope(run)
		envelope.To = d.Destination.Mail
		text, err := mail.Write(model, envelope)
		if err != nil {
			return nil, nil, fmt.Errorf("write the mail: %w", err)
		}
		files = append(files, runs.File{Delivery: i, Name: delivery.MailName, Content: text})
	}
	return files, refused, nil
}
