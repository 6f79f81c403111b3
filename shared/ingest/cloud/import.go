package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// Log names one raw log.
type Log struct {
	Key     string
	Version string // of the object, when the bucket keeps versions; "" for the latest
}

// ErrUnfinished says that the time ran out before the log's end. What was read is imported; importing the log again goes
// on from there.
var ErrUnfinished = errors.New("the log is longer than the time allows: its beginning is imported, the rest follows when it is delivered again")

// errOvertaken says that another import of the family was committed since the ledger was read.
var errOvertaken = errors.New("another import of logs with this first line was committed meanwhile")

// maxOvertaken is how often an import begins anew.
const maxOvertaken = 10

// Import takes in what is new in a raw log. The same log again, under any name, changes nothing. When it returns without
// error all of it is in the ledger and where readers look, but for hours that are being compacted at that moment, whose
// records show as soon as that is done.
//
// An error of kind fault.Invalid means that the log itself is refused: a note about it is in quarantine, and another try
// will end the same way. After any other error, ErrUnfinished too, it should be imported again.
func (c *Store) Import(ctx context.Context, log Log) (ingest.Report, error) {
	began := c.config.Now()
	enough := c.enough(ctx)
	for overtaken := 0; ; overtaken++ {
		report, err := c.importOnce(ctx, log, enough)
		if errors.Is(err, errOvertaken) && overtaken < maxOvertaken {
			if err := c.pause(ctx, overtaken); err != nil {
				return ingest.Report{}, err
			}
			continue
		}
		if fault.KindOf(err) == fault.Invalid {
			if unnoted := c.refuse(ctx, log, err); unnoted != nil {
				err = fault.Wrap(fault.Unavailable, errors.Join(err, unnoted), "leave a note that the log is refused")
			}
		}
		report.Elapsed = c.config.Now().Sub(began)
		if err != nil {
			return report, fmt.Errorf("import %s: %w", log.Key, err)
		}
		return report, nil
	}
}

// importOnce is one attempt: convert, commit, publish.
func (c *Store) importOnce(ctx context.Context, log Log, enough func() bool) (report ingest.Report, err error) {
	dir, err := os.MkdirTemp(c.config.Scratch, "import-")
	if err != nil {
		return ingest.Report{}, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	raw, err := blob.Open(ctx, c.raw, log.Key, log.Version)
	if err != nil {
		return ingest.Report{}, err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()

	staged := &staging{cloud: c, attempt: newAttempt(), began: c.config.Now()}
	book := &ledger{table: c.table}
	options := c.config.Options
	options.From, options.Until = c.period()
	options.Take, options.Enough = staged.take, enough
	converted, err := ingest.Convert(ctx, log.Key, raw, book, dir, options)
	report = converted.Report
	if older := (*ingest.OlderCopy)(nil); errors.As(err, &older) {
		report, err = c.olderCopy(ctx, log, older.Of, err)
	}
	switch {
	case err != nil:
		return report, errors.Join(err, staged.remove(ctx))
	case converted.New:
		err = c.commit(ctx, book, staged, &converted)
		report = converted.Report
	case converted.Rejected != "":
		report.Quarantine = refusedRoot + log.Key + ".ndjson"
		err = c.putFile(ctx, report.Quarantine, converted.Rejected, blob.Always)
	}
	if err != nil {
		return report, err
	}
	if err := c.settle(ctx, func(o lakestate.OpenImport) bool { return o.Family == book.family }); err != nil {
		return report, err
	}
	if converted.Stopped {
		return report, ErrUnfinished
	}
	return report, nil
}

// olderCopy looks whether a log that may be an older copy of one imported before is that: snapshots of a log that grows
// may be delivered in any order. The longer one is compared, if it is still in the bucket; else the log stays refused.
func (c *Store) olderCopy(ctx context.Context, log Log, of ingest.Entry, refused error) (report ingest.Report, err error) {
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
	same, err := ingest.HasBeginning(ctx, longer, shorter)
	if err == nil && !same {
		err = refused
	}
	return ingest.Report{Name: log.Key, Source: of.Source, Format: of.Format}, err
}

// commit puts down what is to be published and takes the import into the ledger: the point from which it will be
// published, whoever does it. In the same transaction it is bound to the boundary between fresh and compacted hours, and
// opened, so that nobody compacts an hour which it may still bring objects to.
func (c *Store) commit(ctx context.Context, book *ledger, staged *staging, converted *ingest.Converted) error {
	e := &converted.Entry
	e.At = c.config.Now()
	if converted.Rejected != "" {
		converted.Report.Quarantine = quarantineName(*e)
		if err := staged.quarantine(ctx, converted.Rejected, converted.Report.Quarantine); err != nil {
			return err
		}
	}
	if err := staged.conclude(ctx); err != nil {
		return err
	}
	changes, err := book.changes(*e, staged.attempt)
	if err != nil {
		return err
	}
	for conflicts := 0; ; conflicts++ {
		err := c.tryCommit(ctx, *e, staged, changes)
		if err == nil {
			return nil
		}
		// Either the answer of an earlier call was lost, or somebody else wrote first.
		held, lookup := book.holds(ctx, *e, staged.attempt)
		if lookup != nil {
			return errors.Join(err, lookup)
		}
		if held {
			return nil
		}
		if !errors.Is(err, lakestate.ErrConflict) || conflicts == maxConflicts {
			return fmt.Errorf("commit import: %w", err)
		}
		unchanged, err := book.unchanged(ctx)
		if err != nil {
			return err
		}
		if !unchanged {
			return errors.Join(errOvertaken, staged.remove(ctx))
		}
		if err := c.pause(ctx, conflicts); err != nil {
			return err
		}
	}
}

func (c *Store) tryCommit(ctx context.Context, e ingest.Entry, staged *staging, changes []lakestate.Change) error {
	if c.config.Now().Sub(staged.began) > abandonedAfter/2 {
		return errors.New("the attempt took so long that its objects may be taken for leftovers")
	}
	s, item, err := lakestate.Load(ctx, c.table)
	if err != nil {
		return err
	}
	o := lakestate.OpenImport{Family: e.Family, Attempt: staged.attempt, Boundary: s.Closed, Extent: extentOf(e.Objects)}
	for _, object := range e.Objects {
		if object.Partition >= s.Watermark && object.Partition < s.Closed {
			o.Late = max(o.Late, object.Partition+1)
		}
	}
	if s.Open == nil {
		s.Open = map[string]lakestate.OpenImport{}
	}
	s.Open[fmt.Sprintf("%s#%d", e.Source, e.Generation)] = o
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

// quarantineName is where the rejected lines of an import lie, as in a data directory.
func quarantineName(e ingest.Entry) string {
	if e.Generation > 1 {
		return fmt.Sprintf("%s%s.%d.ndjson", quarantineRoot, e.Source, e.Generation)
	}
	return quarantineRoot + e.Source + ".ndjson"
}

// refuse leaves a note that a log is refused as a whole, and why.
func (c *Store) refuse(ctx context.Context, log Log, reason error) error {
	note, err := json.MarshalIndent(struct {
		Key     string    `json:"key"`
		Version string    `json:"version,omitempty"`
		At      time.Time `json:"at"`
		Reason  string    `json:"reason"`
	}{log.Key, log.Version, c.config.Now().UTC(), reason.Error()}, "", "  ")
	if err != nil {
		return err
	}
	return c.lake.Put(ctx, refusedRoot+log.Key+".json", bytes.NewReader(append(note, '\n')), blob.Always)
}

// putFile puts a file of this machine.
func (c *Store) putFile(ctx context.Context, name, path string, when blob.Condition) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	return errors.Join(c.lake.Put(ctx, name, f, when), f.Close())
}
