package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
)

// ErrUnfinished means that the time was up before the end of the log. The lines read so far are imported, and importing
// the log again continues after them. Each call that returns ErrUnfinished has imported lines, so that a log is
// finished after some number of calls.
var ErrUnfinished = errors.New("the log is longer than the time allows: " +
	"its beginning is imported, and the rest follows when it is delivered again")

// errNoProgress means that the time was up and that nothing was imported, so that another call begins at the same line.
var errNoProgress = errors.New("the time was up before anything could be imported")

// errOvertaken means that another import of the log was committed after the ledger was read.
var errOvertaken = errors.New("another import of the log was committed meanwhile")

// maxOvertaken is how often an import starts again after errOvertaken.
const maxOvertaken = 10

// Import imports the new lines of a raw log. Importing the same log again, also rotated or compressed, changes nothing;
// see ledger.LogName for the keys that a log may have. When Import returns nil, all lines are in the ledger and visible
// to readers. The exception is hours that are being compacted at that moment: their new records become visible when the
// compaction ends.
//
// An error of kind fault.Invalid means that the log is refused. Import has written a note about it to the quarantine,
// and importing the log again has the same result. After any other error, including ErrUnfinished, the log should be
// imported again.
func (c *Store) Import(ctx context.Context, log rawlog.Log) (ingest.Report, error) {
	began := c.Now()
	timeUp := deadline.Passed(deadline.Stop(ctx, c.config.Reserve, c.Now()), c.Now)
	for overtaken := 0; ; overtaken++ {
		report, raw, err := c.importOnce(ctx, log, timeUp)
		if errors.Is(err, errOvertaken) && overtaken < maxOvertaken {
			if err := c.Wait(ctx, overtaken); err != nil {
				return ingest.Report{}, err
			}
			continue
		}
		if fault.KindOf(err) == fault.Invalid {
			if failed := c.refuse(ctx, log, err); failed != nil {
				err = fault.Wrap(fault.Unavailable, errors.Join(err, failed), "write a note about the refused log")
			}
		}
		if err == nil || fault.KindOf(err) == fault.Invalid {
			if failed := arrivals.Record(ctx, c.Table, raw, c.Wait); failed != nil {
				err = fault.Wrap(fault.Unavailable, errors.Join(err, failed), "record the arrival of the log")
			}
		}
		report.Elapsed = c.Now().Sub(began)
		if err != nil {
			return report, fmt.Errorf("import %s: %w", log.Key, err)
		}
		return report, nil
	}
}

// importOnce makes one attempt: it opens the log, converts, commits and publishes. It describes the log that it read.
func (c *Store) importOnce(
	ctx context.Context, log rawlog.Log, timeUp func() bool,
) (report ingest.Report, info blob.Info, err error) {
	raw, err := blob.Open(ctx, c.config.Raw, log.Key, log.Version)
	if err != nil {
		return ingest.Report{}, blob.Info{}, err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	report, err = c.importOpen(ctx, log, raw, timeUp)
	return report, raw.Info(), err
}

func (c *Store) importOpen(
	ctx context.Context, log rawlog.Log, raw *blob.Reader, timeUp func() bool,
) (report ingest.Report, err error) {
	dir, err := os.MkdirTemp(c.Scratch, "import-")
	if err != nil {
		return ingest.Report{}, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	staged := c.NewArea()
	ledger := ledgertable.New(c.Table, c.Now)
	options := c.config.Options
	switch {
	case log.Format != "":
		options.Format = log.Format
	case strings.HasPrefix(log.Key, retriedPrefix):
		options.Format = recordFormat
	}
	options.From, options.Until = c.period()
	options.Horizon, options.Arrival = c.horizon(log, raw.Info())
	staged.Arrived = options.Arrival
	options.OnObject, options.Stop = staged.Add, timeUp
	options.LookUp = func(
		source string, slots []ingest.FingerprintSlot, fingerprints []ingest.Fingerprint,
	) (map[string][]ingest.Fingerprint, error) {
		return c.lookUpFingerprints(ctx, source, slots, fingerprints)
	}
	options.Quarantined = func(source string, generation int) (int64, error) {
		return ledger.Quarantined(source, generation, c.Now()), nil
	}
	ledger.Origin = ledgertable.Origin{Version: log.Version, From: options.From, Until: options.Until}
	if horizon := options.Arrival.Add(-options.Horizon); options.Horizon > 0 && horizon.After(options.From) {
		ledger.Origin.From = horizon
	}
	options.Path = "raw/" + strings.TrimPrefix(strings.TrimPrefix(log.Key, rawlog.HistoryPrefix), "raw/")
	conversion, err := ingest.Convert(ctx, log.Key, raw, ledger, dir, options)
	report = conversion.Report
	if older := (*ingest.OlderCopy)(nil); errors.As(err, &older) {
		report, err = c.olderCopy(ctx, log, older.Of, err)
	}
	switch {
	case err != nil:
		return report, errors.Join(err, staged.Remove(ctx))
	case conversion.New:
		ledger.Origin.Base, ledger.Origin.Report = conversion.Base, report
		err = c.commit(ctx, ledger, staged, &conversion)
		report = conversion.Report
		if err == nil {
			if failed := c.putFingerprints(ctx, conversion.Entry, conversion.Fingerprints); failed != nil {
				report.Unchecked = failed.Error() // the log is imported all the same
			}
		}
	case conversion.RejectedFile != "":
		report.Quarantine = bucket.RefusedRoot + log.Key + linesSuffix
		err = c.Lake.PutFile(ctx, report.Quarantine, conversion.RejectedFile, blob.Always)
	}
	if err != nil {
		report.Quarantine = "" // the next attempt puts the lines there
		return report, err
	}
	err = c.Settle(ctx, func(o lakestate.OpenImport) bool { return ledger.Covers(o.Family) })
	if err == nil {
		err = c.antedate(ctx, ledger, options.Arrival)
	}
	if err != nil {
		if !conversion.New {
			report.Quarantine = ""
		}
		return report, err
	}
	if !conversion.Stopped { // otherwise the time is up
		if moved, err := ledger.MoveOld(ctx, c.config.Move, c.Copies); err != nil || moved.Sources > 0 {
			c.config.Moved(ctx, moved, err)
		}
	}
	switch {
	case conversion.Stopped && conversion.New:
		return report, ErrUnfinished
	case conversion.Stopped:
		return report, errNoProgress
	}
	return report, nil
}

// antedate sets the arrival of the open imports that may be of a log to the arrival of the log, if the log arrived
// earlier. It may consist of lines that they have imported from a later copy of it, and that readers do not see yet.
func (c *Store) antedate(ctx context.Context, ledger *ledgertable.Ledger, arrival time.Time) error {
	_, err := c.ChangeState(ctx, func(s *lakestate.State) (changed bool) {
		for id, o := range s.Open {
			if ledger.Covers(o.Family) && o.Rebuilds == "" && o.Arrived.After(arrival) {
				o.Arrived = arrival.UTC()
				s.Open[id] = o
				changed = true
			}
		}
		return changed
	})
	return err
}

// horizon returns the horizon of a log and the time when the log arrived. That is the time when it was put, so that a
// log that waits for its import keeps its records.
func (c *Store) horizon(log rawlog.Log, raw blob.Info) (horizon time.Duration, arrival time.Time) {
	arrival = c.Now()
	if raw.Modified.Before(arrival) {
		arrival = raw.Modified
	}
	if strings.HasPrefix(log.Key, rawlog.HistoryPrefix) {
		return 0, arrival
	}
	return c.config.Horizon, arrival
}
