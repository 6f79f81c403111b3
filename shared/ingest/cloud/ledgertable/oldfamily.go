package ledgertable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/ledger"
	"github.com/orrery/orrery/shared/lakestate"
)

// oldFamily is the family of all sources with the same first line, in which earlier versions have recorded them. All
// logs of some servers begin with the same line, so it grows with every log, and each import reads all of it. Therefore
// its sources move to families of their own. The item family of its partition has the state:
//
//	none      there are no sources
//	open      as earlier versions write it: imports read and write the family
//	moving    imports read the family. It never changes again, and its sources are being copied
//	moved     imports do not read the family
//
// Earlier versions of the program may run at the same time, during a deployment or after a rollback. They read and
// write the open family, and so does this version, so that both find all imports. Commits of this version note since
// when no earlier version has committed one: those drop the note. The move begins when the note is a day old. From then
// on, earlier versions cannot decode the item: they fail, and their logs wait for this version. A first line that no
// family has gets such an item, too, so that no earlier version imports a log that this version has imported.
type oldFamily struct {
	id      string
	guard   lakestate.Item // the item as read
	item    oldFamilyItem
	records records
}

type oldFamilyItem struct {
	Imports any       `json:"imports"`         // number of committed imports, or oldMoving or oldMoved
	Since   time.Time `json:"since,omitzero"`  // time of the first commit after the last one of an earlier version
	After   string    `json:"after,omitempty"` // the id of the last source that was moved
}

const (
	oldMoving = "moving"
	oldMoved  = "moved"
)

const (
	// moveAfter is how long only this version must have committed imports of an old family before its sources move. It
	// is longer than a function runs, and leaves time for a rollback.
	moveAfter = 24 * time.Hour
	// moveTogether is the number of items that are copied in one transaction. DynamoDB allows 100.
	moveTogether = 90
	// fenceKept is how long earlier versions are kept from a first line whose family has no sources.
	fenceKept = 90 * 24 * time.Hour
)

func (o oldFamily) isOpen() bool {
	_, ended := o.item.Imports.(string)
	return o.guard.Revision > 0 && !ended
}

// readGuard returns an old family without its records.
func readGuard(ctx context.Context, table lakestate.Table, family string) (oldFamily, error) {
	item, guard, err := lakestate.Get[oldFamilyItem](ctx, table, familyKey(family))
	return oldFamily{id: family, guard: guard, item: item}, err
}

// readOld reads the old family of the log, unless its sources have moved.
func (l *Ledger) readOld(ctx context.Context) (err error) {
	if l.old, err = readGuard(ctx, l.table, ledger.Family(l.text)); err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	if l.old.isOpen() || l.old.item.Imports == oldMoving {
		l.old.records, err = readFamily(ctx, l.table, l.old.id, "")
	}
	return err
}

// fence returns the change of the item that belongs to a commit.
func (o oldFamily) fence(e ingest.Entry, now time.Time) ([]lakestate.Change, error) {
	item := o.item
	switch {
	case o.isOpen():
		imports, _ := item.Imports.(float64)
		item.Imports = imports + 1
		if item.Since.IsZero() {
			item.Since = now.UTC()
		}
	case o.guard.Revision == 0:
		item.Imports = oldMoved
	default:
		return nil, nil
	}
	change, err := lakestate.ChangeOf(o.guard, item)
	if o.guard.Revision == 0 {
		change.Expires = now.Add(fenceKept)
	}
	return []lakestate.Change{change}, err
}

// move copies the records of a source to its family, which it returns, and then records that family. It may be
// repeated, and several processes may do it at the same time: the records do not change.
func (o oldFamily) move(
	ctx context.Context, table lakestate.Table, s sourceItem, imports []importItem,
) (family string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("move source %s: %w", s.ID, err)
		}
	}()
	lead, item, err := lakestate.Get[sourceFamilyItem](ctx, table, sourceFamilyKey(s.ID))
	if err != nil || lead.Family != "" && lead.Family != o.id {
		return lead.Family, err
	}
	head, err := table.Get(ctx, itemKey(o.id, "head#"+s.ID))
	if err != nil {
		return "", err
	}
	text, err := headOf(head)
	if err != nil {
		return "", err
	}
	family = ledger.LogFamily(s.Log, text)
	if err := remember(ctx, table, s.Log, family); err != nil {
		return "", err
	}
	changes := []lakestate.Change{{Key: itemKey(family, "head#"+s.ID), Body: head.Body}}
	add := func(item lakestate.Item, body any) {
		var change lakestate.Change
		if err == nil {
			change, err = lakestate.ChangeOf(item, body)
			changes = append(changes, change)
		}
	}
	add(lakestate.Item{Key: itemKey(family, "source#"+s.ID)}, s)
	for _, i := range imports {
		add(lakestate.Item{Key: itemKey(family, importSort(s.ID, i.Generation))}, i)
	}
	add(item, sourceFamilyItem{Family: family})
	for together := range slices.Chunk(changes, moveTogether) {
		if err == nil {
			err = create(ctx, table, together)
		}
	}
	return family, err
}

// remember adds a family to the guard of a name.
func remember(ctx context.Context, table lakestate.Table, log, family string) error {
	for conflicts := 0; ; conflicts++ {
		guard, item, err := lakestate.Get[guardItem](ctx, table, guardKey(log))
		if err != nil {
			return err
		}
		isNew := family != ledger.LogFamily(log, nil) && len(guard.Newest) < maxNewest && guard.add(family)
		if !isNew && item.Revision > 0 {
			return nil
		}
		err = lakestate.Replace(ctx, table, item, guard)
		if !errors.Is(err, lakestate.ErrConflict) || conflicts == lakestate.MaxConflicts {
			return err
		}
	}
}

// create makes changes that others may have made already, all of them or those that are missing in their order.
func create(ctx context.Context, table lakestate.Table, changes []lakestate.Change) error {
	err := table.Write(ctx, changes...)
	if !errors.Is(err, lakestate.ErrConflict) {
		return err
	}
	for _, change := range changes {
		if err := table.Write(ctx, change); err != nil && !errors.Is(err, lakestate.ErrConflict) {
			return err
		}
	}
	return nil
}

// Moved describes the move of sources from the family of their first line to families of their own.
type Moved struct {
	Family  string
	Sources int // that were moved now
	Left    int // that are not moved yet
}

// MoveOld begins the move of the old family of a log that was imported, or moves the next sources, at most so many,
// some of them at the same time.
func (l *Ledger) MoveOld(ctx context.Context, most, together int) (Moved, error) {
	moved := Moved{Family: l.old.id}
	switch {
	case l.old.isOpen():
		return moved, l.beginMove(ctx, l.old.id)
	case l.old.item.Imports != oldMoving:
		return moved, nil
	}
	left := slices.DeleteFunc(slices.Clone(l.old.records.sources), func(s sourceItem) bool {
		return s.ID <= l.old.item.After
	})
	slices.SortFunc(left, func(a, b sourceItem) int { return strings.Compare(a.ID, b.ID) })
	page := left[:min(len(left), most)]
	imports := map[string][]importItem{}
	for _, i := range l.old.records.imports {
		imports[i.Source] = append(imports[i.Source], i)
	}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for _, s := range page {
		group.Go(func() error {
			_, err := l.old.move(working, l.table, s, imports[s.ID])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return moved, err
	}
	item := oldFamilyItem{Imports: oldMoved}
	if moved.Sources, moved.Left = len(page), len(left)-len(page); moved.Left > 0 {
		item = oldFamilyItem{Imports: oldMoving, After: page[len(page)-1].ID}
	}
	return moved, l.advanceMove(ctx, l.old.guard, item)
}

// beginMove begins the move of an open family if it is time.
func (l *Ledger) beginMove(ctx context.Context, family string) error {
	old, err := readGuard(ctx, l.table, family)
	since := old.item.Since
	if err != nil || !old.isOpen() || since.IsZero() || l.now().Sub(since) < moveAfter {
		return err
	}
	return l.advanceMove(ctx, old.guard, oldFamilyItem{Imports: oldMoving})
}

// advanceMove writes the state of a move, unless another process was first.
func (l *Ledger) advanceMove(ctx context.Context, guard lakestate.Item, item oldFamilyItem) error {
	err := lakestate.Replace(ctx, l.table, guard, item)
	if errors.Is(err, lakestate.ErrConflict) {
		return nil
	}
	return err
}
