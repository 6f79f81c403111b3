package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/ledgertable"
	"github.com/orrery/orrery/shared/ingest/cloud/publication"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/record"
)

// commit writes the list of the staged objects and commits the import to the ledger. From then on it will be published,
// by this process or another one. The same transaction binds the import to the current boundary between fresh and
// compacted hours, and adds it to the open imports, so that no compaction merges an hour to which the import may still
// add objects.
func (c *Store) commit(
	ctx context.Context, ledger *ledgertable.Ledger, staged *publication.Area, conversion *ingest.Conversion,
) error {
	e := &conversion.Entry
	e.At = c.Now()
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
		if err := staged.Quarantine(ctx, conversion.RejectedFile, conversion.Report.Quarantine); err != nil {
			return err
		}
	}
	if err := staged.WriteIndex(ctx); err != nil {
		return err
	}
	if err := ledger.Place(ctx, e); err != nil {
		return err
	}
	changes, err := ledger.Changes(ctx, *e, staged.Attempt)
	if err != nil {
		return err
	}
	for conflicts := 0; ; conflicts++ {
		err := c.tryCommit(ctx, *e, newest, staged, changes)
		if err == nil {
			return nil
		}
		// Either the response to an earlier call was lost, or another writer was first.
		held, lookup := ledger.Holds(ctx, *e, staged.Attempt)
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
			return errors.Join(errOvertaken, staged.Remove(ctx))
		}
		if changes, err = ledger.Changes(ctx, *e, staged.Attempt); err != nil {
			return err
		}
		if err := c.Wait(ctx, conflicts); err != nil {
			return err
		}
	}
}

func (c *Store) tryCommit(
	ctx context.Context, e ingest.Entry, newest record.Code, staged *publication.Area, changes []lakestate.Change,
) error {
	if c.Now().Sub(staged.Began) > publication.AbandonedAfter/2 {
		return errors.New("the attempt took so long that its staged objects may have been removed as abandoned")
	}
	s, item, err := lakestate.Load(ctx, c.Table)
	if err != nil {
		return err
	}
	o := lakestate.OpenImport{
		Family:   e.Family,
		Attempt:  staged.Attempt,
		Boundary: s.Closed,
		Extent:   extentOf(e.Objects),
		Arrived:  staged.Arrived.UTC(),
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
	return c.Table.Write(ctx, append(changes[:len(changes):len(changes)], opened)...)
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
	return bucket.QuarantineRoot + ingest.QuarantineName(e.Source, e.Generation)
}
