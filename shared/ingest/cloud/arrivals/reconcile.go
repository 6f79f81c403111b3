package arrivals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	// DefaultMinAge is the default of Reconciliation.MinAge. The queue delivers a message for two to four hours before
	// it gives up.
	DefaultMinAge = 6 * time.Hour
	// DefaultSendLimit is the default of Reconciliation.Limit.
	DefaultSendLimit = 1000
	// sendEarlierAfter is the time after which a log that an earlier version may have imported is sent a second time.
	sendEarlierAfter = 30 * 24 * time.Hour
	// compareEvery is the time after which a scheduled run compares all logs again. The schedule starts runs that are
	// an hour apart, a little more or less.
	compareEvery = 23*time.Hour + 30*time.Minute
	// compareBehind is how long ago Backlog.Handled must be for a scheduled run to compare all logs before that time.
	compareBehind = time.Hour
	// clockMargin is the time by which the clocks of the function and of the bucket may differ.
	clockMargin = time.Minute
	// reconcilePage is the number of logs that are compared at a time. S3 lists as many with one request.
	reconcilePage = 1000
)

// Reconciliation compares the raw logs in a bucket with those that have arrived, and sends messages about the others.
// It finds logs whose notification was lost, and logs whose message became a dead letter that expired. Once all logs are
// compared, by one run or by several that continue each other, the time to which the lake is complete follows from it,
// see comparison.
type Reconciliation struct {
	Raw   blob.Store
	Table lakestate.Table
	// Send sends a message about a log, which was put at that time. Several messages about a log do no harm.
	Send func(ctx context.Context, log rawlog.Log, put time.Time) error
	Now  func() time.Time

	// MinAge is the age from which a log should have arrived; 0 for DefaultMinAge, negative for none. Younger logs may
	// be on their way.
	MinAge time.Duration
	// Limit is the maximum number of lost logs that a run sends, and also of earlier logs; 0 for DefaultSendLimit.
	Limit int
	// Scheduled has the run do nothing unless the last comparison was a day ago, or the time before which all messages
	// were handled is more than an hour ago: the queue always has messages then, or logs were lost.
	Scheduled bool
}

// Report describes a run.
type Report struct {
	Listed  int // logs in the bucket
	Arrived int // logs that were imported or refused
	Recent  int // logs that may still be on their way
	// Lost is the number of logs that were sent because they have not arrived.
	Lost int
	// Earlier is the number of logs that were sent because it is not known whether they have arrived: they were put
	// before the first log whose arrival was recorded. EarlierSent is the number of those that were sent by a run
	// before and have not arrived.
	Earlier, EarlierSent int
	// Left is the number of logs that were not sent because of the limit. Later runs send them.
	Left       int
	NotDue     bool // nothing was compared, because it was not time yet
	Unfinished bool // the time was up before all logs were compared, and the next run continues
	Elapsed    time.Duration
}

// reconcileState is the item that runs share.
type reconcileState struct {
	// Since is the time when the first log was put whose arrival was recorded. Earlier logs may have been imported by a
	// version that recorded no arrivals.
	Since time.Time `json:"since"`
	// After is the key after which the next run begins.
	After string `json:"after,omitempty"`
	// Compared is when the last comparison of all logs began.
	Compared time.Time `json:"compared,omitzero"`
	// Carried is the comparison that the next run continues. It has compared the logs up to After. It is nil if the last
	// run compared all logs, or was one of an earlier version.
	Carried *comparison `json:"carried,omitempty"`
}

var reconcileKey = lakestate.Key{Partition: "reconcile", Sort: "state"}

// Run compares all logs once. It begins where the run before it was cut off by its deadline, or at the first lost log
// that the limit did not allow to send. Then it compares the logs before that place. If it is cut off itself, the next
// run continues both comparisons.
func (r Reconciliation) Run(ctx context.Context) (Report, error) {
	if r.MinAge == 0 {
		r.MinAge = DefaultMinAge
	}
	if r.Limit == 0 {
		r.Limit = DefaultSendLimit
	}
	began := r.Now()
	run := &reconcileRun{
		Reconciliation: r,
		began:          began,
		missedBefore:   began.Add(-max(0, r.MinAge)),
		timeUp:         deadline.Passed(deadline.Stop(ctx, deadline.DefaultReserve, r.Now()), r.Now),
	}
	err := run.all(ctx)
	run.report.Elapsed = r.Now().Sub(began)
	if err != nil {
		return run.report, fmt.Errorf("reconcile: %w", err)
	}
	return run.report, nil
}

// reconcileRun is one run.
type reconcileRun struct {
	Reconciliation
	began        time.Time
	missedBefore time.Time
	timeUp       func() bool
	since        time.Time // reconcileState.Since

	open     []*comparison // the one that was carried here, if any, and that of this run, until they are complete
	compared time.Time     // when the latest began that is complete
	left     *string       // key after which the next run begins once all logs are compared; nil if it may begin anywhere

	previous string // key of the log before the one that is compared
	report   Report
}

// all compares all logs and writes the state for the next run.
func (r *reconcileRun) all(ctx context.Context) error {
	state, item, err := lakestate.Get[reconcileState](ctx, r.Table, reconcileKey)
	if err != nil {
		return err
	}
	if r.Scheduled {
		due, err := r.due(ctx, state)
		if err != nil {
			return err
		}
		if r.report.NotDue = !due; !due {
			return nil
		}
	}
	if state.Since.IsZero() {
		if state.Since, err = r.firstArrival(ctx); err != nil {
			return err
		}
	}
	r.since = state.Since
	if state.Carried != nil {
		r.open = append(r.open, state.Carried)
	}
	r.open = append(r.open, &comparison{Began: r.began.UTC(), From: state.After})
	done, err := r.compare(ctx, state.After, "")
	if err == nil && done {
		err = r.reachedEnd(ctx)
	}
	if err == nil && done && state.After != "" {
		if done, err = r.compare(ctx, "", state.After); err == nil && done {
			err = r.reachedFrom(ctx, state.After)
		}
	}
	if err == nil && !done {
		err = r.foundLost(ctx)
	}
	if err != nil {
		return err
	}
	r.report.Unfinished = !done
	if !r.compared.IsZero() {
		state.Compared = r.compared
	}
	state.After, state.Carried = r.next()
	err = lakestate.Replace(ctx, r.Table, item, state)
	if errors.Is(err, lakestate.ErrConflict) {
		return nil // another run has ended meanwhile, and the next one continues after it
	}
	return err
}

// due reports whether it is time for a scheduled run.
func (r *reconcileRun) due(ctx context.Context, state reconcileState) (bool, error) {
	if r.began.Sub(state.Compared) >= compareEvery {
		return true, nil
	}
	s, _, err := lakestate.Load(ctx, r.Table)
	return r.began.Sub(s.Backlog.Handled()) >= compareBehind, err
}

// firstArrival returns the time when the first log was put whose arrival was recorded, or now if there is none.
func (r *reconcileRun) firstArrival(ctx context.Context) (time.Time, error) {
	first := r.Now().UTC()
	for item, err := range r.Table.Between(ctx, partition, rawlog.Prefix, endOfRaw) {
		var a arrival
		if err == nil {
			err = item.Read(&a)
		}
		if err != nil {
			return time.Time{}, err
		}
		if a.Sent.IsZero() && a.Put.Before(first) {
			first = a.Put
		}
	}
	return first, nil
}

// endOfRaw sorts after every key of a raw log.
const endOfRaw = "raw0"

// compare compares the logs after a key up to another one, or up to the end if that is "". It reports whether it has
// compared all of them in time.
func (r *reconcileRun) compare(ctx context.Context, after, upTo string) (done bool, err error) {
	r.previous = after
	var page []blob.Info
	for info, err := range r.Raw.List(ctx, rawlog.Prefix, after) {
		if err != nil {
			return false, err
		}
		if upTo != "" && info.Name > upTo {
			break
		}
		page = append(page, info)
		if len(page) < reconcilePage {
			continue
		}
		if done, err := r.comparePage(ctx, page); err != nil || !done {
			return false, err
		}
		page = page[:0]
	}
	return r.comparePage(ctx, page)
}

// comparePage compares logs that a listing has returned. The items are read after the listing: a log that has arrived
// before it was listed has an item.
func (r *reconcileRun) comparePage(ctx context.Context, page []blob.Info) (done bool, err error) {
	if len(page) == 0 {
		return true, nil
	}
	listed := map[string]bool{}
	for _, info := range page {
		listed[info.Name] = true
	}
	items := map[string]lakestate.Item{}
	for item, err := range r.Table.Between(ctx, partition, page[0].Name, page[len(page)-1].Name) {
		if err != nil {
			return false, err
		}
		if listed[item.Key.Sort] { // items outlive their logs
			items[item.Key.Sort] = item
		}
	}
	for _, info := range page {
		if err := r.reachedFrom(ctx, r.previous); err != nil {
			return false, err
		}
		if r.timeUp() {
			return false, nil
		}
		item := items[info.Name]
		item.Key = arrivalKey(info.Name)
		if err := r.compareLog(ctx, info, item); err != nil {
			return false, err
		}
		r.previous = info.Name
	}
	return true, nil
}

// compareLog compares one log with its item, and sends the log if it has not arrived. Like the handler of the queue, it
// ignores objects that are no logs.
func (r *reconcileRun) compareLog(ctx context.Context, raw blob.Info, item lakestate.Item) error {
	if rawlog.NoLog(raw.Name) != "" {
		return nil
	}
	var known arrival
	if err := item.Read(&known); err != nil {
		return err
	}
	r.report.Listed++
	found := item.Revision > 0 && known.isOf(raw)
	earlier := raw.Modified.Before(r.since)
	if found && known.Sent.IsZero() {
		r.report.Arrived++
		return nil
	}
	r.isMissing(raw.Modified, !earlier && !raw.Modified.After(r.missedBefore))
	switch {
	case raw.Modified.After(r.missedBefore):
		r.report.Recent++
	case earlier && found && r.Now().Sub(known.Sent) < sendEarlierAfter:
		r.report.EarlierSent++
	case earlier && r.report.Earlier == r.Limit:
		r.report.Left++
	case earlier:
		return r.sendEarlier(ctx, raw, item)
	case r.report.Lost == r.Limit:
		r.report.Left++
		r.leave()
	default:
		r.report.Lost++
		return r.send(ctx, raw)
	}
	return nil
}

// earliest returns the earlier time, or t if at is zero.
func earliest(at, t time.Time) time.Time {
	if at.IsZero() || t.Before(at) {
		return t.UTC()
	}
	return at
}

func (r *reconcileRun) send(ctx context.Context, raw blob.Info) error {
	return r.Send(ctx, rawlog.Log{Key: raw.Name}, raw.Modified)
}

// sendEarlier sends a log that may have been imported by an earlier version, and writes that down. Otherwise logs that
// cannot be imported would use up the limit in every run.
func (r *reconcileRun) sendEarlier(ctx context.Context, raw blob.Info, item lakestate.Item) error {
	r.report.Earlier++
	if err := r.send(ctx, raw); err != nil {
		return err
	}
	sent := arrivalOf(raw)
	sent.Sent = r.Now().UTC()
	err := lakestate.Replace(ctx, r.Table, item, sent)
	if errors.Is(err, lakestate.ErrConflict) {
		return nil // the log has arrived meanwhile, or another run has sent it
	}
	return err
}
