package lakestate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Table keeps small items, each with a revision that every write raises. It is all that the ledger and the state of the
// lake need of a database: two parties that read the same revision cannot both write.
type Table interface {
	// Get reads an item as it is now, not as it was some time ago. One that is not there has revision 0.
	Get(ctx context.Context, key Key) (Item, error)
	// List reads the items of a partition whose sort keys begin with a prefix, which is not empty, by sort key, as they
	// are now.
	List(ctx context.Context, partition, prefix string) ([]Item, error)
	// Write makes all changes or none. ErrConflict: some item was not at the revision that its change names, and nothing
	// was written; or this very call has written before, when an answer was lost. Any other error leaves open whether
	// the changes were made.
	Write(ctx context.Context, changes ...Change) error
}

// Key names an item.
type Key struct{ Partition, Sort string }

// Item is what a table holds under a key.
type Item struct {
	Key      Key
	Revision int64
	Body     []byte // JSON
}

// Change is an item to write.
type Change struct {
	Key  Key
	Seen int64  // the revision that the item has; 0: it is not there
	Body []byte // JSON
}

// ErrConflict says that somebody else wrote first.
var ErrConflict = errors.New("another writer was first")

// ChangeOf makes a change of an item that was read, or of one that is not there.
func ChangeOf(from Item, body any) (Change, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return Change{}, fmt.Errorf("write item %s %s: %w", from.Key.Partition, from.Key.Sort, err)
	}
	return Change{Key: from.Key, Seen: from.Revision, Body: text}, nil
}

// Read takes an item apart; one that is not there leaves what it is read into as it is.
func (i Item) Read(body any) error {
	if i.Revision == 0 {
		return nil
	}
	if err := json.Unmarshal(i.Body, body); err != nil {
		return fmt.Errorf("read item %s %s: %w", i.Key.Partition, i.Key.Sort, err)
	}
	return nil
}
