package document_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table/tabletest"
)

func TestTimesOfVersionsAreInOrder(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	for n, clock := range []time.Time{at, at.Add(-time.Hour), at.Add(time.Hour)} { // the second writer's clock is slow
		mustPut(t, s, n+1, document.Change{Text: "x", By: "b", At: clock})
	}
	list, err := s.Versions(t.Context(), note)
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Time
	for _, info := range list {
		times = append(times, info.At)
	}
	if want := []time.Time{at.Add(time.Hour), at, at}; !slices.EqualFunc(times, want, time.Time.Equal) {
		t.Errorf("got %v, want %v", times, want)
	}
}

func TestDeletedDocumentKeepsItsVersions(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	change := document.Change{Text: "text", By: "key", At: at}
	if err := document.Delete(t.Context(), s, note, change); fault.KindOf(err) != fault.NotFound {
		t.Errorf("deletion of nothing: %v, want kind NotFound", err)
	}
	mustPut(t, s, 1, change)
	if err := document.Delete(t.Context(), s, note, document.Change{By: "cleaner", At: at}); err != nil {
		t.Fatal(err)
	}
	if _, err := document.Current(t.Context(), s, note); fault.KindOf(err) != fault.NotFound {
		t.Errorf("after the deletion: %v, want kind NotFound", err)
	}
	if err := document.Delete(t.Context(), s, note, change); fault.KindOf(err) != fault.NotFound {
		t.Errorf("second deletion: %v, want kind NotFound", err)
	}
	if list, err := s.List(t.Context(), note.Kind, note.Config); err != nil || len(list) != 0 {
		t.Errorf("List: %+v, %v, want none", list, err)
	}
	if v, err := document.Read(t.Context(), s, note, 1); err != nil || v.Text != "text" {
		t.Errorf("version 1: %+v, %v", v, err)
	}
	if _, err := document.Read(t.Context(), s, note, 2); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the deletion: %v, want kind NotFound", err)
	}
	list, err := s.Versions(t.Context(), note)
	if err != nil || len(list) != 2 || !list[0].Deleted() || list[0].By != "cleaner" || list[1].Deleted() {
		t.Errorf("Versions: %+v, %v", list, err)
	}
	mustPut(t, s, 3, document.Change{Text: "again", By: "key", At: at})
	if list, err := s.List(t.Context(), note.Kind, note.Config); err != nil || len(list) != 1 || list[0].Text != "again" {
		t.Errorf("List: %+v, %v", list, err)
	}
}

func TestDeletedDocumentCanBeRestored(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	change := document.Change{Text: "first", By: "key", At: at}
	mustPut(t, s, 1, change)
	if err := document.Delete(t.Context(), s, note, change); err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{2, 9} {
		_, err := document.Restore(t.Context(), s, note, number, document.Change{By: "undo", At: at})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("restore of version %d: %v, want kind NotFound", number, err)
		}
	}
	v, err := document.Restore(t.Context(), s, note, 1, document.Change{By: "undo", At: at})
	if want := document.NewVersion(3, "first", "undo", at); err != nil || v != want {
		t.Errorf("restore: %+v, %v, want %+v", v, err, want)
	}
	if got, err := document.Current(t.Context(), s, note); err != nil || got != v {
		t.Errorf("after the restore: %+v, %v", got, err)
	}
}

func TestPreconditionsTreatADeletedDocumentAsAbsent(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	put := func(p document.Precondition) (document.Version, error) {
		return document.Put(t.Context(), s, note, document.Change{Text: "text", By: "key", At: at, Precondition: p})
	}
	refused := func(what string, p document.Precondition) {
		t.Helper()
		if _, err := put(p); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want kind Conflict", what, err)
		}
	}
	first, err := put(document.Precondition{Absent: true})
	if err != nil {
		t.Fatal(err)
	}
	refused("If-None-Match: * on something", document.Precondition{Absent: true})
	second, err := put(document.Precondition{Match: []string{`"other"`, first.ETag}})
	if err != nil {
		t.Fatal(err)
	}
	outdated := document.Change{By: "key", At: at, Precondition: document.Precondition{Match: []string{first.ETag}}}
	refused("an outdated ETag", outdated.Precondition)
	if err := document.Delete(t.Context(), s, note, outdated); fault.KindOf(err) != fault.Conflict {
		t.Errorf("deletion with an outdated ETag: %v, want kind Conflict", err)
	}
	current := document.Change{By: "key", At: at, Precondition: document.Precondition{Match: []string{second.ETag}}}
	if err := document.Delete(t.Context(), s, note, current); err != nil {
		t.Fatal(err)
	}
	deletion, err := s.Newest(t.Context(), note)
	if err != nil {
		t.Fatal(err)
	}
	refused("If-Match: * after the deletion", document.Precondition{Exists: true})
	refused("the ETag of the deletion", document.Precondition{Match: []string{deletion.ETag}})
	if v, err := put(document.Precondition{Absent: true}); err != nil || v.Number != 4 {
		t.Errorf("If-None-Match: * after the deletion: %+v, %v", v, err)
	}
}

// overtaken is a store in which another writer is first a few times.
type overtaken struct {
	document.Store
	times int
	other func()
}

func (o *overtaken) Append(ctx context.Context, id document.ID, v document.Version) error {
	if o.times > 0 {
		o.times--
		o.other()
	}
	return o.Store.Append(ctx, id, v)
}

// TestOvertakenWriters: another writer is first after the newest version was read.
func TestOvertakenWriters(t *testing.T) {
	change := document.Change{Text: "mine", By: "key", At: at}
	other := document.Change{Text: "other", By: "other", At: at}
	for name, test := range map[string]struct {
		times    int
		other    func(s document.Store) error
		write    func(s document.Store, etag string) error
		conflict bool
		newest   document.Version
	}{
		"without a precondition, a version follows the versions of others": {
			3, func(s document.Store) error { _, err := document.Put(t.Context(), s, note, other); return err },
			func(s document.Store, _ string) error {
				_, err := document.Put(t.Context(), s, note, change)
				return err
			},
			false, version(5, "mine"),
		},
		"with an ETag, it is refused": {
			1, func(s document.Store) error { _, err := document.Put(t.Context(), s, note, other); return err },
			func(s document.Store, etag string) error {
				careful := change
				careful.Precondition.Match = []string{etag}
				_, err := document.Put(t.Context(), s, note, careful)
				return err
			},
			true, document.NewVersion(2, "other", "other", at),
		},
		"a deletion is refused after another one": {
			1, func(s document.Store) error { return document.Delete(t.Context(), s, note, other) },
			func(s document.Store, _ string) error { return document.Delete(t.Context(), s, note, change) },
			true, document.NewVersion(2, "", "other", at),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := document.Over(noted(t))
			err := test.write(&overtaken{s, test.times, func() {
				if err := test.other(s); err != nil {
					t.Fatal(err)
				}
			}}, version(1, "first").ETag)
			if (fault.KindOf(err) == fault.Conflict) != test.conflict || err != nil && !test.conflict {
				t.Errorf("%v, want a conflict: %t", err, test.conflict)
			}
			if v, err := s.Newest(t.Context(), note); err != nil || v != test.newest {
				t.Errorf("the newest is %+v, %v, want %+v", v, err, test.newest)
			}
		})
	}
}

func mustPut(t *testing.T, s document.Store, number int, c document.Change) {
	t.Helper()
	if v, err := document.Put(t.Context(), s, note, c); err != nil || v.Number != number {
		t.Fatalf("version %d, %v, want %d", v.Number, err, number)
	}
}
