package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/record"
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
	began := c.config.Now()
	timeUp := deadline.Passed(deadline.Stop(ctx, c.config.Reserve, c.config.Now()), c.config.Now)
	for overtaken := 0; ; overtaken++ {
		report, raw, err := c.importOnce(ctx, log, timeUp)
		if errors.Is(err, errOvertaken) && overtaken < maxOvertaken {
			if err := c.pause(ctx, overtaken); err != nil {
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
			if failed := arrivals.Record(ctx, c.table, raw, c.pause); failed != nil {
				err = fault.Wrap(fault.Unavailable, errors.Join(err, failed), "record the arrival of the log")
			}
		}
		report.Elapsed = c.config.Now().Sub(began)
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
	raw, err := blob.Open(ctx, c.raw, log.Key, log.Version)
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
	dir, err := os.MkdirTemp(c.config.Scratch, "import-")
	if err != nil {
		return ingest.Report{}, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	staged := &stagingArea{cloud: c, attempt: newAttempt(), began: c.config.Now()}
	ledger := ledgertable.New(c.table, c.config.Now)
	options := c.config.Options
	switch {
	case log.Format != "":
		options.Format = log.Format
	case strings.HasPrefix(log.Key, retriedPrefix):
		options.Format = recordFormat
	}
	options.From, options.Until = c.period()
	options.Horizon, options.Arrival = c.horizon(log, raw.Info())
	staged.arrived = options.Arrival
	options.OnObject, options.Stop = staged.add, timeUp
	options.LookUp = func(
		source string, slots []ingest.FingerprintSlot, fingerprints []ingest.Fingerprint,
	) (map[string][]ingest.Fingerprint, error) {
		return c.lookUpFingerprints(ctx, source, slots, fingerprints)
	}
	options.Quarantined = func(source string, generation int) (int64, error) {
		return ledger.Quarantined(source, generation, c.config.Now()), nil
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
		return report, errors.Join(err, staged.remove(ctx))
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
		report.Quarantine = refusedRoot + log.Key + linesSuffix
		err = c.putFile(ctx, report.Quarantine, conversion.RejectedFile, blob.Always)
	}
	if err != nil {
		report.Quarantine = "" // the next attempt puts the lines there
		return report, err
	}
	err = c.settle(ctx, func(o lakestate.OpenImport) bool { return ledger.Covers(o.Family) })
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
		if moved, err := ledger.MoveOld(ctx, c.config.Move, c.config.Copies); err != nil || moved.Sources > 0 {
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

// antedate changes the arrival of the open imports that may be of a log to that of the log, if it arrived before them.
// It may consist of lines that they have imported from a later copy of it, and that readers do not see yet.
func (c *Store) antedate(ctx context.Context, ledger *ledgertable.Ledger, arrival time.Time) error {
	_, err := c.changeState(ctx, func(s *lakestate.State) (changed bool) {
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
	arrival = c.config.Now()
	if raw.Modified.Before(arrival) {
		arrival = raw.Modified
	}
	if strings.HasPrefix(log.Key, rawlog.HistoryPrefix) {
		return 0, arrival
	}
	return c.config.Horizon, arrival
}

// olderCopy decides whether a log that looks like an older copy of an imported log is one: the snapshots of a growing
// log may be delivered in any order. It compares the two logs if the longer one is still in the bucket. Otherwise, or
// if they differ, it returns the error refused.
func (c *Store) olderCopy(
	ctx context.Context, log rawlog.Log, of ingest.Entry, refused error,
) (report ingest.Report, err error) {
	longer, err := blob.Open(ctx, c.raw, of.Name, "")
	if errors.Is(err, blob.ErrNotFound) {
		return ingest.Report{}, refused
	}
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, longer.Close()) }()
	shorter, err := blob.Open(ctx, c.raw, log.Key, log.Version)
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, shorter.Close()) }()
	same, err := ingest.IsOlderCopy(ctx, shorter, longer, of)
	if err == nil && !same {
		err = refused
	}
	return ingest.Report{Name: log.Key, Source: of.Source, Format: of.Format}, err
}

// commit writes the list of the staged objects and commits the import to the ledger. From then on it will be published,
// by this process or another one. The same transaction binds the import to the current boundary between fresh and
// compacted hours, and adds it to the open imports, so that no compaction merges an hour to which the import may still
// add objects.
func (c *Store) commit(
	ctx context.Context, ledger *ledgertable.Ledger, staged *stagingArea, conversion *ingest.Conversion,
) error {
	e := &conversion.Entry
	e.At = c.config.Now()
	var newest record.Code // of the rejected lines
	if conversion.RejectedFile != "" {
		var err error
		if newest, err = ingest.NewestCode(conversion.RejectedFile); err != nil {
			return err
		}
		conversion.Report.Quarantine = quarantineName(*e)
		kept, err := os.Stat(conversion.RejectedFile)
		if err != nil {
			return fmt.Errorf("put %s: %w", conversion.Report.Quarantine, err)
		}
		ledger.Origin.Quarantined = kept.Size()
		if err := staged.quarantine(ctx, conversion.RejectedFile, conversion.Report.Quarantine); err != nil {
			return err
		}
	}
	if err := staged.writeIndex(ctx); err != nil {
		return err
	}
	if err := ledger.Place(ctx, e); err != nil {
		return err
	}
	changes, err := ledger.Changes(ctx, *e, staged.attempt)
	if err != nil {
		return err
	}
	for conflicts := 0; ; conflicts++ {
		err := c.tryCommit(ctx, *e, newest, staged, changes)
		if err == nil {
			return nil
		}
		// Either the response to an earlier call was lost, or another writer was first.
		held, lookup := ledger.Holds(ctx, *e, staged.attempt)
		if lookup != nil {
			return errors.Join(err, lookup)
		}
		if held {
			return nil
		}
		if !errors.Is(err, lakestate.ErrConflict) || conflicts == lakestate.MaxConflicts {
			return fmt.Errorf("commit import: %w", err)
		}
		same, err := ledger.Refresh(ctx, e.Log)
		if err != nil {
			return err
		}
		if !same {
			return errors.Join(errOvertaken, staged.remove(ctx))
		}
		if changes, err = ledger.Changes(ctx, *e, staged.attempt); err != nil {
			return err
		}
		if err := c.pause(ctx, conflicts); err != nil {
			return err
		}
	}
}

func (c *Store) tryCommit(
	ctx context.Context, e ingest.Entry, newest record.Code, staged *stagingArea, changes []lakestate.Change,
) error {
	if c.config.Now().Sub(staged.began) > abandonedAfter/2 {
		return errors.New("the attempt took so long that its staged objects may have been removed as abandoned")
	}
	s, item, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	o := lakestate.OpenImport{
		Family:   e.Family,
		Attempt:  staged.attempt,
		Boundary: s.Closed,
		Extent:   extentOf(e.Objects),
		Arrived:  staged.arrived.UTC(),
	}
	for _, object := range e.Objects {
		if object.Partition >= s.Watermark && object.Partition < s.Closed {
			o.Late = max(o.Late, object.Partition+1)
		}
	}
	s.AddImport(e.Name, e.At, e.Rejected, string(newest))
	if s.Open == nil {
		s.Open = map[string]lakestate.OpenImport{}
	}
	s.Open[ledgertable.ImportID(e.Source, e.Generation)] = o
	opened, err := lakestate.ChangeOf(item, s)
	if err != nil {
		return err
	}
	return c.table.Write(ctx, append(changes[:len(changes):len(changes)], opened)...)
}

func extentOf(objects []lake.Object) lake.Extent {
	var e lake.Extent
	for _, o := range objects {
		e = e.Union(o.Extent())
	}
	return e
}

// quarantineName returns the name of the object with the rejected lines of an import, as in a data directory.
func quarantineName(e ingest.Entry) string {
	return quarantineRoot + ingest.QuarantineName(e.Source, e.Generation)
}

// refusal is a note that a log is refused as a whole.
type refusal struct {
	Key     string    `json:"key"`
	Version string    `json:"version,omitempty"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason"`

	// Of a log in JSON whose format is not known, the names of the members, and mappings that fit.
	Members string   `json:"members,omitempty"`
	Map     []string `json:"map,omitempty"`
}

// message returns the reason and what helps against it.
func (r refusal) message() string {
	text := r.Reason
	if r.Members != "" {
		text += "; its members are " + r.Members
	}
	if len(r.Map) > 0 {
		text += "; these mappings fit: " + logformat.MapFlags(r.Map)
	}
	return text
}

// What follows the key of a log in the names of the note that it is refused, and of its lines if none is a record.
const (
	refusalSuffix = ".json"
	linesSuffix   = ".ndjson"
)

// refuse writes a note that a log is refused as a whole, with the reason.
func (c *Store) refuse(ctx context.Context, log rawlog.Log, reason error) error {
	why := refusal{Key: log.Key, Version: log.Version, At: c.config.Now().UTC(), Reason: reason.Error()}
	if unknown, is := errors.AsType[*logformat.UnrecognizedError](reason); is {
		why.Members, why.Map = unknown.ShownMembers(), unknown.Map
	}
	note, err := json.MarshalIndent(why, "", "  ")
	if err != nil {
		return err
	}
	return c.lake.Put(ctx, refusedRoot+log.Key+refusalSuffix, bytes.NewReader(append(note, '\n')), blob.Always)
}

// putFile puts a local file into the bucket of the lake.
func (c *Store) putFile(ctx context.Context, name, path string, when blob.Condition) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	return errors.Join(c.lake.Put(ctx, name, f, when), f.Close())
}
