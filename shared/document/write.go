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

// Append writes the next version by calling write, and returns it. newest returns the newest version, or an error of
// kind fault.NotFound. write stores a version with a number and a time, or returns an error of kind fault.Conflict if
// the number is not the next one. The time is at, but not before that of the newest version, so that the times of
// versions are in order even if the clocks of two writers differ.
//
// The error is of kind fault.Conflict if the precondition does not hold. Concurrent writers without a precondition all
// succeed, each with a version of its own.
func Append(
	ctx context.Context, id ID, p Precondition, at time.Time,
	newest func() (Info, error), write func(number int, at time.Time) (Info, error),
) (Info, error) {
	for {
		before, err := newest()
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return Info{}, err
		}
		if err != nil {
			before = Info{}
		}
		if err := p.check(id, before); err != nil {
			return Info{}, err
		}
		if at.Before(before.At) {
			at = before.At
		}
		written, err := write(before.Number+1, at)
		if err == nil {
			return written, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Info{}, err
		}
		if ctx.Err() != nil {
			return Info{}, ctx.Err()
		}
	}
}

// Put writes a new version and returns it, as Append describes.
func Put(ctx context.Context, store Store, id ID, c Change) (Version, error) {
	var v Version
	_, err := Append(ctx, id, c.Precondition, c.At,
		func() (Info, error) {
			newest, err := store.Newest(ctx, id)
			return newest.Info, err
		},
		func(number int, at time.Time) (Info, error) {
			v = NewVersion(number, c.Text, c.By, at)
			return v.Info, store.Append(ctx, id, v)
		})
	return v, err
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
