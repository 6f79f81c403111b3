// Package table is the port to a table of small items, in which a deployment keeps its settings, keys, runs, queries and
// the state of its lake, and a data folder its settings and keys. The packages that store items there define the keys and
// attributes of their items.
package table

import (
	"context"
	"errors"
	"iter"
)

// Table stores small items. Package tabletest has the test suite for implementations, and one in memory.
//
// Errors of a table that cannot be reached are of kind fault.Unavailable. If ctx has ended, they are of kind
// fault.Timeout or fault.Canceled. They do not say what was read or written.
type Table interface {
	// Get reads the latest version of an item. An item that does not exist has no attributes.
	Get(ctx context.Context, key Key) (Item, error)
	// Range yields the latest versions of the items in a range. It does not hold all of them in memory.
	Range(ctx context.Context, r Range) iter.Seq2[Item, error]
	// Write makes all changes or none. Each must be of another item. It returns ErrConflict if a condition does not hold.
	// Then nothing has been written. After any other error the changes may or may not have been made.
	Write(ctx context.Context, changes ...Change) error
}

// Key names an item.
type Key struct{ Partition, Sort string }

// Attributes are the attributes of an item by name. A value is a string, an int64, a []byte or a []string.
type Attributes map[string]any

// Expires is the attribute that says when an item expires: the Unix time in seconds. The table removes the item later,
// often by hours.
const Expires = "expires"

// Item is the entry of a table under a key.
type Item struct {
	Key        Key
	Attributes Attributes // nil: there is no such item
}

// Exists reports whether there is such an item.
func (i Item) Exists() bool { return i.Attributes != nil }

// Range selects items of a partition, in the order of the bytes of their sort keys.
type Range struct {
	Partition string
	Prefix    string // of the sort keys; "": any
	From, To  string // the sort keys from one to the other, both included, instead of a prefix; both or none
	Backwards bool   // from the last item to the first
	Limit     int    // the maximum number of items; 0: none
}

// Change is an item to write or to remove.
type Change struct {
	Key        Key
	Attributes Attributes // nil: remove the item; it need not exist
	When       Condition
}

// Condition is a condition on an item before its change. If Absent and Attribute are both given, one of the two must hold.
// The zero value always holds.
type Condition struct {
	Absent    bool   // the item does not exist
	Attribute string // the item exists and its attribute of this name is Is
	Is        any    // a string or an int64; nil: the attribute is missing
}

// Holds reports whether the condition holds for an item.
func (c Condition) Holds(before Item) bool {
	switch {
	case !c.Absent && c.Attribute == "":
		return true
	case !before.Exists():
		return c.Absent
	}
	return c.Attribute != "" && before.Attributes[c.Attribute] == c.Is
}

// Absent is the condition that the item does not exist.
var Absent = Condition{Absent: true}

// Where returns the condition that the item exists and an attribute has a value. If the value is nil, the item must lack
// the attribute.
func Where(attribute string, value any) Condition {
	return Condition{Attribute: attribute, Is: value}
}

// ErrConflict means that a condition does not hold, usually because another writer was first.
var ErrConflict = errors.New("another writer was first")

// List returns the items of a range.
func List(ctx context.Context, t Table, r Range) ([]Item, error) {
	return Collect(ctx, t, r, func(item Item) (Item, error) { return item, nil })
}

// Collect returns what decode returns for the items of a range.
func Collect[T any](ctx context.Context, t Table, r Range, decode func(Item) (T, error)) ([]T, error) {
	var list []T
	for item, err := range t.Range(ctx, r) {
		if err != nil {
			return nil, err
		}
		one, err := decode(item)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}
