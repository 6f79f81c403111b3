package document

import (
	"context"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Change describes a write to a document.
type Change struct {
	Text         string
	By           string
	At           time.Time
	Precondition Precondition
}

// Precondition is a condition on the newest version. The zero value always holds. A deleted document does not exist.
type Precondition struct {
	Match  []string // its ETag must be one of these
	Exists bool     // it must exist
	Absent bool     // it must not exist
}

// check returns an error of kind fault.Conflict if the condition does not hold. newest is zero if there is no version.
func (p Precondition) check(id ID, newest Info) error {
	exists := !newest.Deleted()
	switch {
	case !exists && (p.Exists || len(p.Match) > 0):
		return notYetThere(id)
	case exists && p.Absent:
		return alreadyThere(id, newest)
	case exists && len(p.Match) > 0 && !slices.Contains(p.Match, newest.ETag):
		return changedSince(id, newest)
	}
	return nil
}

// Put writes a new version and returns it. The version has the time of the change, or the time of the newest version if
// that is later. So the times of versions are in order even if the clocks of two writers differ.
//
// The error is of kind fault.Conflict if the precondition does not hold. Concurrent writers without a precondition all
// succeed, each with a version of its own.
func Put(ctx context.Context, store Store, id ID, c Change) (Version, error) {
	for {
		newest, err := store.Newest(ctx, id)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return Version{}, err
		}
		if err := c.Precondition.check(id, newest.Info); err != nil {
			return Version{}, err
		}
		if c.At.Before(newest.At) {
			c.At = newest.At
		}
		v := NewVersion(newest.Number+1, c.Text, c.By, c.At)
		err = store.Append(ctx, id, v)
		if err == nil {
			return v, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Version{}, err
		}
		if ctx.Err() != nil {
			return Version{}, ctx.Err()
		}
	}
}

// Current returns the newest version, or an error of kind fault.NotFound if there is none or it is a deletion.
func Current(ctx context.Context, store Store, id ID) (Version, error) {
	v, err := store.Newest(ctx, id)
	if err == nil && v.Deleted() {
		return Version{}, NotFound(id, 0)
	}
	return v, err
}

// Read returns one version. The error is of kind fault.NotFound if there is none or it is a deletion.
func Read(ctx context.Context, store Store, id ID, number int) (Version, error) {
	v, err := store.Version(ctx, id, number)
	if err == nil && v.Deleted() {
		return Version{}, isDeletion(id, number)
	}
	return v, err
}

// Delete writes a deletion, after which the earlier versions can still be read and restored. The error is of kind
// fault.NotFound if there is no document.
func Delete(ctx context.Context, store Store, id ID, c Change) error {
	if _, err := Current(ctx, store, id); err != nil {
		return err
	}
	c.Text, c.Precondition.Exists = "", true
	_, err := Put(ctx, store, id, c)
	return err
}

// Restore writes the text of an earlier version as a new version, also of a document that is deleted.
func Restore(ctx context.Context, store Store, id ID, number int, c Change) (Version, error) {
	old, err := Read(ctx, store, id, number)
	if err != nil {
		return Version{}, err
	}
	c.Text = old.Text
	return Put(ctx, store, id, c)
}
