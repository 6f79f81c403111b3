package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/runs"
)

// deliver delivers a rendered report to the destinations that do not have it yet, to all of them at the same time.
func (r *Runner) deliver(ctx context.Context, run runs.Run) error {
	decision, err := r.decide(ctx, run)
	switch {
	case err != nil:
		return err
	case decision.state == runs.Queued:
		return r.wait(ctx, &run, decision.reason)
	case decision.state != "":
		return r.end(ctx, &run, decision.state, decision.reason)
	}
	since, err := r.since(ctx, run, decision.newest)
	if err != nil {
		return err
	}
	files, err := r.files(ctx, run)
	if err != nil {
		return r.unreadable(ctx, &run, since, err)
	}
	r.splitForbidden(&run)
	h := &handover{Runner: r, asked: run, since: since, run: run, files: files}
	h.run.Deliveries = slices.Clone(run.Deliveries) // the deliveries of asked are read without a lock
	var group sync.WaitGroup
	failed := make([]error, len(run.Deliveries))
	for i, d := range run.Deliveries {
		if d.State == runs.Waiting && isDue(d.Next, r.Now()) {
			group.Go(func() { failed[i] = catchPanic(func() error { return h.deliverTo(ctx, i) }) })
		}
	}
	group.Wait()
	err = causeOf(failed)
	if err == nil || ctx.Err() != nil { // a server that stops gives the run back to the next one
		err = errors.Join(err, h.settle(ctx))
	}
	return err
}

// causeOf returns the first error that is no conflict, or else the first one. A write that fails after it had its
// effect makes the next write of the same run a conflict, though no other worker has it.
func causeOf(failed []error) error {
	for _, err := range failed {
		if err != nil && fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return cmp.Or(failed...)
}

// files returns the files of a rendered run. The error is runs.ErrLost if a delivery has none.
func (r *Runner) files(ctx context.Context, run runs.Run) ([]runs.File, error) {
	files, err := r.Runs.Files(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	for i, d := range run.Deliveries {
		if d.State == runs.Waiting && len(of(files, i)) == 0 {
			return nil, fmt.Errorf("%w: the files for %s", runs.ErrLost, d.Destination)
		}
	}
	return files, nil
}

// unreadable handles a rendered run whose files cannot be read. The report is made again if they are lost, or cannot be
// read as long as deliveries are repeated. Other errors may pass until the next tick.
func (r *Runner) unreadable(ctx context.Context, run *runs.Run, since time.Time, cause error) error {
	lost := errors.Is(cause, runs.ErrLost) || r.deliveriesAreOver(since)
	if ctx.Err() != nil || !lost {
		return cause
	}
	r.Log.Error("files of a scheduled report cannot be read", "config", run.Config, "report", run.Report, "run", run.ID,
		"error", cause)
	if run.Attempts >= mostAttempts {
		return r.end(ctx, run, runs.Failed, "its files cannot be read; the log of the server has the cause")
	}
	run.State, run.Reason = runs.Queued, "its files were lost, so it is made again"
	run.Lease, run.Next = time.Time{}, time.Time{}
	return r.update(ctx, run)
}

// splitForbidden moves the addresses to which the operator no longer allows mail from the waiting mails to deliveries
// of their own, which have failed. A mail that has no other address keeps them, and its delivery refuses it.
func (r *Runner) splitForbidden(run *runs.Run) {
	domains := r.Settings.Rules().Domains
	forbidden := func(address string) bool {
		_, allowed := definition.DomainOf(address, domains)
		return !allowed
	}
	run.Deliveries = slices.Clone(run.Deliveries)
	for i := range run.Deliveries {
		d := &run.Deliveries[i]
		list := slices.DeleteFunc(slices.Clone(left(d).Mail), func(a string) bool { return !forbidden(a) })
		if d.State != runs.Waiting || len(list) == 0 || len(list) == len(left(d).Mail) {
			continue
		}
		without := func(addresses []string) []string {
			return slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return slices.Contains(list, a) })
		}
		d.Destination.Mail, d.Left = without(d.Destination.Mail), without(d.Left)
		to := definition.Destination{Mail: list}
		failed := runs.Delivery{Destination: to, State: runs.Refused, At: r.Now().UTC(), Reason: r.refusal(to)}
		run.Deliveries = append(run.Deliveries, failed)
		r.Log.Warn("scheduled report not delivered", "config", run.Config, "report", run.Report, "run", run.ID,
			"to", to.String(), "error", failed.Reason, "state", string(failed.State))
	}
}

// deliveriesAreOver reports whether the time for the deliveries of a run is over if the run could go on since the given
// time.
func (r *Runner) deliveriesAreOver(since time.Time) bool {
	return !r.Now().Before(since.Add(mostWait + mostDelay))
}

// handover hands the report of a run over to its destinations.
type handover struct {
	*Runner
	asked runs.Run  // as it was when the deliveries began
	since time.Time // from when the run could go on
	files []runs.File

	writing sync.Mutex
	run     runs.Run
	over    bool      // no further delivery begins
	unknown bool      // it is not known whether the last write had its effect
	lease   time.Time // of the run in the last write
}

// deliverTo delivers to one destination.
func (h *handover) deliverTo(ctx context.Context, index int) error {
	place := h.placeAt(h.asked.Deliveries[index].Destination)
	if err := place.Acquire(ctx, 1); err != nil {
		return err
	}
	defer place.Release(1)
	to, err := h.begin(ctx, index)
	if err != nil || to == nil {
		return err
	}
	note, err := h.within(ctx, *to, of(h.files, index))
	return h.finish(ctx, index, note, err)
}

// placeAt returns the places at a destination. Those of a destination that is slow do not stop deliveries to others.
func (r *Runner) placeAt(to definition.Destination) *semaphore.Weighted {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.busy[to.To] == nil { // "" is the mail server
		r.busy[to.To] = semaphore.NewWeighted(atOnce)
	}
	return r.busy[to.To]
}

// begin records that a delivery begins. It returns nil if the delivery must not be made now: the report may have been
// paused since it was rendered, and a delivery that does not end before ctx is left to the next tick, because its
// outcome would not be recorded. Its record and the record of the end of the run may each take recordTime.
func (h *handover) begin(ctx context.Context, index int) (*definition.Destination, error) {
	decision, err := h.decide(ctx, h.asked)
	if err != nil {
		return nil, err
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	d := &h.run.Deliveries[index]
	switch deadline, limited := ctx.Deadline(); {
	case h.over:
		return nil, nil
	case decision.state != "", limited && time.Until(deadline) < h.deliverTime+h.grace+2*recordTime:
		h.over = true
		return nil, nil
	case d.Unknown >= mostAttempts:
		giveUp(d, "the server ended each time it delivered the report")
		return nil, h.write(ctx)
	}
	d.Attempts++
	d.Unknown++
	h.run.Lease, h.run.Next, h.run.Reason = h.Now().Add(leaseTime), time.Time{}, ""
	if err := h.write(ctx); err != nil {
		d.Attempts--
		d.Unknown--
		return nil, err
	}
	to := left(d)
	return &to, nil
}

// left returns the destination of a delivery, without the addresses that have the mail already.
func left(d *runs.Delivery) definition.Destination {
	to := d.Destination
	if d.Left != nil {
		to.Mail = d.Left
	}
	return to
}

// within delivers. It returns an error when the time of a delivery is over, also if the destination goes on, as a
// folder of a network may do.
func (h *handover) within(ctx context.Context, to definition.Destination, files []runs.File) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, h.deliverTime)
	defer cancel()
	type outcome struct {
		note string
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = catchPanic(func() (err error) { o.note, err = h.Deliver.Deliver(ctx, to, files); return err })
		ended <- o
	}()
	select {
	case o := <-ended:
		return o.note, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-ended: // it heeds the end of its time
		return o.note, o.err
	case <-time.After(h.grace):
		return "", ctx.Err()
	}
}

// finish records the outcome of a delivery, also if the server stops, or it would be delivered twice.
func (h *handover) finish(ctx context.Context, index int, note string, err error) error {
	var partial *delivery.PartialError // some addresses have it, so the outcome is recorded
	stopped := err != nil && ctx.Err() != nil && !errors.As(err, &partial)
	failed := h.save(ctx, func() {
		d := &h.run.Deliveries[index]
		d.Unknown--
		if stopped { // a later server tries again at once
			d.Attempts--
			h.over = true
		} else {
			h.record(d, note, err)
		}
	})
	if failed == nil && stopped {
		return ctx.Err()
	}
	return failed
}

// save changes the run and stores it, also if the server stops. A write that fails is repeated, because without it a
// later worker would deliver the report again. Other deliveries may be recorded meanwhile.
func (h *handover) save(ctx context.Context, change func()) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	write := func() error {
		h.writing.Lock()
		defer h.writing.Unlock()
		change()
		change = func() {}
		return h.write(ctx)
	}
	err := write()
	for _, pause := range recordPauses {
		if err == nil || fault.KindOf(err) == fault.Conflict || h.Pause(ctx, pause) != nil {
			break
		}
		err = write()
	}
	return err
}

// write stores the run. No further delivery begins after a write that fails. A failed write may have had its effect all
// the same. The next write would then be a conflict, and the delivery that it records would be repeated, so the next
// write reads the run first.
func (h *handover) write(ctx context.Context) error {
	if h.unknown {
		stored, err := h.Runs.Run(ctx, h.run.ID)
		if err != nil {
			return err
		}
		if stored.Revision == h.run.Revision+1 && stored.Lease.Equal(h.lease) {
			h.run.Revision++
		}
	}
	err := h.update(ctx, &h.run)
	h.lease = h.run.Lease // an update that ends the run clears it
	h.over, h.unknown = h.over || err != nil, err != nil && fault.KindOf(err) != fault.Conflict
	return err
}

// of returns the files of a delivery.
func of(files []runs.File, index int) []runs.File {
	var list []runs.File
	for _, f := range files {
		if f.Delivery == index {
			list = append(list, f)
		}
	}
	return list
}

// record writes the outcome of a delivery into the run. A delivery is tried some times even if its time is over,
// because no server may have been running meanwhile.
func (h *handover) record(d *runs.Delivery, note string, err error) {
	now := h.Now().UTC()
	d.At, d.Next, d.Note = now, time.Time{}, together(d.Note, note)
	if err == nil {
		d.State, d.Reason, d.Left = runs.Sent, d.Note, nil
		return
	}
	reason := h.reasonOf(left(d), err)
	var partial *delivery.PartialError
	if errors.As(err, &partial) {
		d.Left = partial.Left
	}
	final := errors.Is(err, delivery.ErrRefused) || d.Attempts >= mostAttempts && h.deliveriesAreOver(h.since)
	if giveUp(d, reason); !final {
		d.State, d.Next = runs.Waiting, now.Add(retryAfter(d.Attempts))
	}
	h.Log.Warn("scheduled report not delivered", "config", h.run.Config, "report", h.run.Report, "run", h.run.ID,
		"to", d.Destination.String(), "error", err.Error(), "state", string(d.State))
}

// giveUp ends a delivery for a reason. If only some addresses of a mail do not have it, it is delivered.
func giveUp(d *runs.Delivery, reason string) {
	d.State = runs.Refused
	if d.Left != nil {
		d.State, reason = runs.Sent, fmt.Sprintf("not to %s: %s", strings.Join(d.Left, ", "), reason)
	}
	d.Reason, d.Next = together(d.Note, reason), time.Time{}
}

// together joins texts that are not empty.
func together(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// settle ends a run if no destination waits for it. Otherwise the next tick after a while continues it. No delivery may
// be under way, because the run is given back.
func (h *handover) settle(ctx context.Context) error {
	sent, waiting, next := false, false, time.Time{}
	for _, d := range h.run.Deliveries {
		sent = sent || d.State == runs.Sent
		if d.State == runs.Waiting && (!waiting || d.Next.Before(next)) {
			waiting, next = true, d.Next
		}
	}
	return h.save(ctx, func() {
		switch {
		case waiting:
			h.run.Lease, h.run.Next = time.Time{}, next
		case sent:
			h.run.State = runs.Delivered
		default:
			h.run.State = runs.Failed
			h.run.Reason = cmp.Or(h.run.Reason, "no destination took it")
		}
	})
}
