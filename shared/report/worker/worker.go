// Package worker runs scheduled reports: it finds those that are due, makes them when their data is there, and
// delivers them.
//
// Every step is recorded before the next one begins, by a write that fails if another worker was faster. So after a
// crash at any time, and with several workers, each destination gets each report at least once. A destination gets a
// report twice only if a worker ends between the delivery and its record, or cannot write the record; the mails then
// have the same X-Orrery-Run.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/pause"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/schedule"
)

// Config has the parts of a runner.
type Config struct {
	Documents Documents
	Runs      runs.Store
	Deliver   Deliverer
	Settings  destination.Settings
	Log       *slog.Logger
	Now       func() time.Time
	AtOnce    int // questions of a report that are asked at the same time; 0: all

	// Ask returns what answers the questions of a report about branches; nil are all of them.
	Ask func(branches []string, key string) asking.Source
	// Complete returns through which time the data is complete, or the zero time if that is not known.
	Complete func(ctx context.Context) (time.Time, error)
	// Key returns why the key with an ID cannot be used, in words after because; "": it can.
	Key func(ctx context.Context, id string) (reason string, err error)
	// Pause waits for d or until ctx ends, before a failed write of a record is repeated; nil: by a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Documents is a store of definitions.
type Documents interface {
	document.Store
	// Configurations returns the configurations with documents of a kind.
	Configurations(ctx context.Context, kind document.Kind) ([]string, error)
}

// Deliverer delivers reports: delivery.Sender.
type Deliverer interface {
	Deliver(ctx context.Context, to definition.Destination, files []runs.File) (note string, err error)
}

// The times and limits of runs.
const (
	leaseTime    = 10 * time.Minute // of a worker; longer than a report or a delivery takes
	askTime      = 7 * time.Minute  // for the questions of a report; those without an answer then are missing in it
	deliverTime  = 3 * time.Minute  // for a delivery
	graceTime    = 5 * time.Second  // for a destination to end when its time is over
	recordTime   = 10 * time.Second // for the record of a delivery
	mostWait     = 6 * time.Hour    // for the data of a period
	mostAttempts = 5                // to make a report, and deliveries during which the worker ended
	mostDelay    = 24 * time.Hour   // for deliveries, after the wait for the data
	mostVersions = 100              // of a definition that are read to find out what is due
	atOnce       = 4                // reports that are made, and deliveries to one destination
	keptRuns     = 500              // of a report
	keptTime     = 90 * 24 * time.Hour
	trimPause    = time.Hour // between two removals of old runs
)

// recordPauses are the pauses before each repetition of a failed write of a record. Together they fit in recordTime.
var recordPauses = []time.Duration{
	100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond, 4 * time.Second,
}

// retryAfter returns how long to wait after a number of failed attempts.
func retryAfter(attempts int) time.Duration {
	waits := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	return waits[min(attempts, len(waits))-1]
}

// Runner runs scheduled reports.
type Runner struct {
	Config

	making             *semaphore.Weighted
	deliverTime, grace time.Duration

	mutex   sync.Mutex
	busy    map[string]*semaphore.Weighted // by destination
	trimmed time.Time                      // when old runs were removed
}

// New returns a runner.
func New(c Config) *Runner {
	if c.Pause == nil {
		c.Pause = pause.For
	}
	return &Runner{
		Config: c, making: semaphore.NewWeighted(atOnce), deliverTime: deliverTime, grace: graceTime,
		busy: map[string]*semaphore.Weighted{},
	}
}

// Loop calls Tick for each tick of a clock until ctx ends.
func (r *Runner) Loop(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if err := catchPanic(func() error { return r.Tick(ctx) }); err != nil && ctx.Err() == nil {
			r.Log.Error("scheduled reports", "error", err)
		}
	}
}

// catchPanic calls a function, and returns a panic of it as a *panicError.
func catchPanic(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicError{cause, debug.Stack()}
		}
	}()
	return f()
}

// panicError is the error of a function that panicked.
type panicError struct {
	cause any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.cause, e.stack) }

// Tick queues the reports that are due, and continues all runs that can be continued: the runs of different reports at
// the same time, the runs of one report one after the other. A report that cannot be run does not stop the others.
func (r *Runner) Tick(ctx context.Context) error {
	trimmed := r.trim(ctx)
	list, queued := r.continuable(ctx)
	byReport := map[string][]string{}
	for _, run := range list {
		name := run.Config + "/" + run.Report
		byReport[name] = append(byReport[name], run.ID)
	}
	failed := make(chan error)
	for _, ids := range byReport {
		go func() {
			var err error
			for _, id := range ids {
				if ctx.Err() == nil {
					err = errors.Join(err, r.Advance(ctx, id))
				}
			}
			failed <- err
		}()
	}
	err := errors.Join(trimmed, queued)
	for range byReport {
		err = errors.Join(err, <-failed)
	}
	return err
}

// trim removes old runs now and then, if the store does not do so by itself.
func (r *Runner) trim(ctx context.Context) error {
	store, ok := r.Runs.(runs.Trimmer)
	now := r.Now()
	r.mutex.Lock()
	wait := now.Before(r.trimmed.Add(trimPause))
	if !wait {
		r.trimmed = now
	}
	r.mutex.Unlock()
	if !ok || wait {
		return nil
	}
	return store.Trim(ctx, keptRuns, now.Add(-keptTime))
}

// Queue creates the runs that are due, and returns the IDs of the runs that can be continued now, those that were due
// first first. There may be IDs and an error: a report that cannot be queued does not stop the others.
func (r *Runner) Queue(ctx context.Context) (ids []string, err error) {
	list, err := r.continuable(ctx)
	for _, run := range list {
		ids = append(ids, run.ID)
	}
	return ids, err
}

// continuable creates the runs that are due, and returns the runs that can be continued now.
func (r *Runner) continuable(ctx context.Context) (list []runs.Run, err error) {
	failed := r.queue(ctx)
	unfinished, err := r.Runs.Unfinished(ctx)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	now := r.Now()
	for _, run := range unfinished {
		if canContinue(run, now) {
			list = append(list, run)
		}
	}
	return list, failed
}

// Advance continues the run with an ID as far as possible. A run that has ended, or that another worker has, is left
// alone.
func (r *Runner) Advance(ctx context.Context, id string) error {
	run, err := r.Runs.Run(ctx, id)
	if err != nil {
		return err
	}
	if !canContinue(run, r.Now()) {
		return nil
	}
	err = catchPanic(func() error { return r.advance(ctx, run) })
	if err == nil || fault.KindOf(err) == fault.Conflict { // another worker was faster
		return nil
	}
	return fmt.Errorf("run %s of report %s: %w", run.ID, run.Report, err)
}

// canContinue reports whether a run has not ended, no worker has it, and it is not to be tried later.
func canContinue(run runs.Run, now time.Time) bool {
	return !run.State.Ended() && !run.Lease.After(now) && isDue(run.Next, now)
}

// isDue reports whether it is time to try again, to the nearest tick. Ticks come every minute, so what failed some
// seconds after one would otherwise wait for two.
func isDue(next, now time.Time) bool { return !next.After(now.Add(time.Minute / 2)) }

// queue creates the runs that are due.
func (r *Runner) queue(ctx context.Context) (failed error) {
	configs, err := r.Documents.Configurations(ctx, definition.Kind)
	if err != nil {
		return err
	}
	for _, config := range configs {
		list, err := r.Documents.List(ctx, definition.Kind, config)
		failed = errors.Join(failed, err)
		for _, one := range list {
			if err := catchPanic(func() error { return r.queueReport(ctx, config, one) }); err != nil {
				failed = errors.Join(failed, fmt.Errorf("report %s of configuration %s: %w", one.Name, config, err))
			}
		}
	}
	return failed
}

// queueReport creates the runs of a report that are due. It pauses the report if its key cannot be used.
func (r *Runner) queueReport(ctx context.Context, config string, one document.Named) error {
	stored, err := definition.Read(one.Text)
	if err != nil || stored.Paused {
		return err
	}
	reason, err := r.Key(ctx, stored.Key)
	if err != nil {
		return err
	}
	if reason != "" {
		return r.pause(ctx, config, one, stored, reason)
	}
	done, err := r.Runs.Latest(ctx, config, one.Name)
	if err != nil {
		return err
	}
	newest := schedule.Version{Number: one.Number, Since: one.At, Stored: stored}
	versions, err := r.versions(ctx, definition.DocumentOf(config, one.Name), newest, done)
	if err != nil {
		return err
	}
	now := r.Now()
	ticks, err := schedule.Due(schedule.Item{Config: config, Name: one.Name, Versions: versions}, done, now)
	if err != nil {
		return err
	}
	for _, tick := range ticks { // in order, because Latest returns how far they are created
		err := r.Runs.Create(ctx, runOf(tick, now))
		if fault.KindOf(err) == fault.Conflict {
			err = r.takeOver(ctx, tick)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// versions returns the versions of a definition that decide what is due: the newest one, and those before it back to
// that which was in force when the latest report was due, or with which the definition began.
func (r *Runner) versions(
	ctx context.Context, id document.ID, newest schedule.Version, done time.Time,
) ([]schedule.Version, error) {
	list := []schedule.Version{newest}
	for first := newest; first.Since.After(done) && first.Number > 1 && len(list) < mostVersions; {
		v, err := r.Documents.Version(ctx, id, first.Number-1)
		if err != nil {
			return nil, err
		}
		if v.Deleted() {
			break
		}
		stored, err := definition.Read(v.Text)
		if err != nil { // it cannot be known what was due according to a damaged version
			break
		}
		first = schedule.Version{Number: v.Number, Since: v.At, Stored: stored}
		list = append(list, first)
	}
	slices.Reverse(list)
	return list, nil //nolint:nilerr // later reports do not depend on a damaged version
}

// takeOver makes a run that somebody requested the scheduled one, now that it is due. If it was requested before that,
// or made before late logs had arrived, or has failed, it is queued, and every destination gets the report.
func (r *Runner) takeOver(ctx context.Context, tick schedule.Tick) error {
	if tick.Missed {
		return nil // there is a report
	}
	scheduled := runOf(tick, r.Now())
	run, err := r.Runs.Run(ctx, scheduled.ID)
	if err != nil || run.By == "" || !run.State.Ended() {
		return err // a run that has not ended is taken over by a later tick
	}
	made := run.State == runs.Delivered || run.State == runs.Kept || run.State == runs.Quiet
	if run.Due.Before(tick.Due) || run.Early || !made {
		scheduled.Revision = run.Revision
		return ignoreConflict(r.Runs.Update(ctx, scheduled))
	}
	run.By, run.Due = "", scheduled.Due
	return ignoreConflict(r.Runs.Update(ctx, run))
}

// pause pauses a report, unless it was changed meanwhile.
func (r *Runner) pause(
	ctx context.Context, config string, one document.Named, stored definition.Stored, reason string,
) error {
	stored.Paused, stored.Reason = true, reason
	_, err := document.Put(ctx, r.Documents, definition.DocumentOf(config, one.Name), document.Change{
		Text: stored.Text(), By: "orrery", At: r.Now(), Precondition: document.Precondition{Match: []string{one.ETag}},
	})
	if fault.KindOf(err) == fault.Conflict {
		return nil
	}
	if err == nil {
		r.Log.Warn("scheduled report paused", "config", config, "report", one.Name, "because", reason)
	}
	return err
}

// runOf returns the run of a report that is due.
func runOf(tick schedule.Tick, now time.Time) runs.Run {
	from, to := time.UnixMilli(tick.Period.FromMs).UTC(), time.UnixMilli(tick.Period.ToMs+1).UTC()
	run := runs.New(tick.Config, tick.Name, tick.Number, tick.Stored, from, to, tick.Due)
	run.Queued = now.UTC()
	if tick.Missed {
		run.State, run.Ended, run.Reason = runs.Missed, now, "it was not made before a later one was due"
	}
	return run
}

// advance continues a run that can be continued. An error of kind fault.Conflict means that another worker
// continues it.
func (r *Runner) advance(ctx context.Context, run runs.Run) error {
	if run.State != runs.Rendered {
		made, err := r.make(ctx, &run)
		if err != nil || !made {
			return err
		}
	}
	return r.deliver(ctx, run)
}

// ignoreConflict returns nil if another worker was faster.
func ignoreConflict(err error) error {
	if fault.KindOf(err) == fault.Conflict {
		return nil
	}
	return err
}

// update stores a run.
func (r *Runner) update(ctx context.Context, run *runs.Run, files ...runs.File) error {
	if run.State.Ended() {
		run.Ended, run.Lease, run.Next = r.Now().UTC(), time.Time{}, time.Time{}
	}
	if err := r.Runs.Update(ctx, *run, files...); err != nil {
		return err
	}
	if run.State.Ended() { // an alarm counts these lines
		r.Log.Info("scheduled report", "config", run.Config, "report", run.Report, "run", run.ID,
			"state", string(run.State), "reason", run.Reason, "refused", refused(*run))
	}
	run.Revision++
	return nil
}

// refused returns the number of destinations that have not got the report of a run, and will not get it; 0 of a missed
// run, which is no failure.
func refused(run runs.Run) (n int) {
	if run.State == runs.Missed {
		return 0
	}
	for _, d := range run.Deliveries {
		if d.State == runs.Refused {
			n++
		}
	}
	return n
}

// end ends a run in a state for a reason. If a destination has the report, the run is delivered, and the others get the
// reason, as they do if the report was made.
func (r *Runner) end(ctx context.Context, run *runs.Run, state runs.State, reason string) error {
	made := run.State == runs.Rendered
	if run.State, run.Reason = state, reason; hasIt(*run) {
		run.State, made = runs.Delivered, true
	}
	run.Deliveries = slices.Clone(run.Deliveries)
	for i := range run.Deliveries {
		if d := &run.Deliveries[i]; made && d.State == runs.Waiting {
			giveUp(d, reason)
		}
	}
	return r.update(ctx, run)
}

// hasIt reports whether a destination has the report of a run.
func hasIt(run runs.Run) bool {
	return slices.ContainsFunc(run.Deliveries, func(d runs.Delivery) bool { return d.State == runs.Sent })
}
