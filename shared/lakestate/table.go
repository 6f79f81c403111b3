package lakestate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Table stores small items. Each item has a revision that every write increases, and of two writers that have read the
// same revision only one succeeds. The ledger and the state of the lake need nothing else of a database.
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
type Key struct{ Partition, Sort string }

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
var ErrConflict = errors.New("another writer was first")

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
