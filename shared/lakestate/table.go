package lakestate

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/orrery/orrery/shared/table"
)

// Table stores small items in JSON. Each item has a revision that every write increases, and of two writers that have
// read the same revision only one succeeds. The ledger and the state of the lake need nothing else of a database.
type Table interface {
	// Get reads the latest revision of an item. An item that does not exist has revision 0.
	Get(ctx context.Context, key Key) (Item, error)
	// List reads the latest revisions of the items of a partition whose sort keys begin with a prefix, in the order of
	// their sort keys. The prefix must not be empty.
	List(ctx context.Context, partition, prefix string) ([]Item, error)
	// Between yields the latest revisions of the items of a partition from one sort key to another, both included, in
	// the order of their sort keys. It does not hold all of them in memory.
	Between(ctx context.Context, partition, from, to string) iter.Seq2[Item, error]
	// Write makes all changes or none. It returns ErrConflict if an item is not at the revision that its change names.
	// Then nothing has been written, unless this very call has written before: it may repeat a request after a lost
	// response. After any other error the changes may or may not have been made.
	Write(ctx context.Context, changes ...Change) error
}

// Key names an item.
type Key = table.Key

// Item is the entry of a table under a key.
type Item struct {
	Key      Key
	Revision int64
	Body     []byte // JSON
}

// Change is an item to write.
type Change struct {
	Key  Key
	Seen int64  // the expected revision of the item; 0 if the item must not exist
	Body []byte // JSON
	// Expires, unless it is zero, is when the table may remove the item, which then never existed.
	Expires time.Time
}

// ErrConflict means that another writer has changed an item first.
var ErrConflict = table.ErrConflict

// ChangeOf returns the change that replaces the body of an item as read, which may not exist yet.
func ChangeOf(from Item, body any) (Change, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return Change{}, fmt.Errorf("write item %s %s: %w", from.Key.Partition, from.Key.Sort, err)
	}
	return Change{Key: from.Key, Seen: from.Revision, Body: text}, nil
}

// Read decodes the body of an item. It leaves body unchanged if the item does not exist.
func (i Item) Read(body any) error {
	if i.Revision == 0 {
		return nil
	}
	if err := json.Unmarshal(i.Body, body); err != nil {
		return fmt.Errorf("read item %s %s: %w", i.Key.Partition, i.Key.Sort, err)
	}
	return nil
}

// Get reads an item and its body, which is the zero T if the item does not exist.
func Get[T any](ctx context.Context, table Table, key Key) (body T, item Item, err error) {
	if item, err = table.Get(ctx, key); err == nil {
		err = item.Read(&body)
	}
	return body, item, err
}

// Replace replaces the body of an item as read, which may not exist yet.
func Replace(ctx context.Context, table Table, from Item, body any) error {
	change, err := ChangeOf(from, body)
	if err != nil {
		return err
	}
	return table.Write(ctx, change)
}

// Over returns a Table over a table of items. The attributes of its items are
//
//	revision  increased by every write
//	body      JSON
//	expires   only of marks, of days (sizes and counts), of hours (bundles), and of the first lines that earlier versions must not import
//
// and their keys are
//
//	ingest#<family>           and a sort key of package cloud
//	ingest#source#<source>    family
//	ingest#marks#<slot>       source#<source>#<generation>
//	lake                      state, columns, fresh, compacting
//	sizes                     a day
//	counts                    a day, listed
//	bundles                   an hour
//	suspects                  object#<name>, hours#<first>#<last>
//	arrived                   the key of a raw log
//	reconcile                 state
func Over(t table.Table) Table { return items{t} }

type items struct{ table table.Table }

const (
	revisionAttribute = "revision"
	bodyAttribute     = "body"
)

func (s items) Get(ctx context.Context, key Key) (Item, error) {
	found, err := s.table.Get(ctx, key)
	switch {
	case err != nil:
		return Item{}, fmt.Errorf("read item %s %s: %w", key.Partition, key.Sort, err)
	case !found.Exists():
		return Item{Key: key}, nil
	}
	return itemOf(found)
}

func (s items) List(ctx context.Context, partition, prefix string) ([]Item, error) {
	list, err := table.Collect(ctx, s.table, table.Range{Partition: partition, Prefix: prefix}, itemOf)
	if err != nil {
		return nil, fmt.Errorf("list items %s %s: %w", partition, prefix, err)
	}
	return list, nil
}

func (s items) Between(ctx context.Context, partition, from, to string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for found, err := range s.table.Range(ctx, table.Range{Partition: partition, From: from, To: to}) {
			var item Item
			if err != nil {
				err = fmt.Errorf("list items %s %s: %w", partition, from, err)
			} else {
				item, err = itemOf(found)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func (s items) Write(ctx context.Context, changes ...Change) error {
	list := make([]table.Change, len(changes))
	for i, c := range changes {
		list[i] = table.Change{Key: c.Key, When: table.Absent, Attributes: table.Attributes{
			revisionAttribute: c.Seen + 1, bodyAttribute: string(c.Body),
		}}
		if c.Seen > 0 {
			list[i].When = table.Where(revisionAttribute, c.Seen)
		}
		if !c.Expires.IsZero() {
			list[i].Attributes[table.Expires] = c.Expires.Unix()
		}
	}
	if err := s.table.Write(ctx, list...); err != nil {
		return fmt.Errorf("write item %s %s: %w", changes[0].Key.Partition, changes[0].Key.Sort, err)
	}
	return nil
}

func itemOf(found table.Item) (Item, error) {
	r := table.Read(found)
	item := Item{Key: found.Key, Revision: r.Int64(revisionAttribute), Body: []byte(r.String(bodyAttribute))}
	return item, r.Err()
}
