// Package documenttest is the test suite for implementations of document.Store. Package planettest has further tests of
// the same stores.
package documenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
)

// At is the time of the suite's writes.
var At = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// note is a kind of documents with names.
const note document.Kind = "note"

func id(config, name string) document.ID { return document.ID{Kind: note, Config: config, Name: name} }

// Run runs the suite. open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) document.Store) {
	t.Run("a new store is empty", func(t *testing.T) { newStoreIsEmpty(t, open(t)) })
	t.Run("a written version is read back", func(t *testing.T) { writtenVersionIsRead(t, open(t)) })
	t.Run("versions are listed newest first", func(t *testing.T) { versionsNewestFirst(t, open(t)) })
	t.Run("only the next number is accepted", func(t *testing.T) { onlyNext(t, open(t)) })
	t.Run("documents are independent", func(t *testing.T) { independent(t, open(t)) })
	t.Run("the list has the newest versions of one configuration", func(t *testing.T) { listed(t, open(t)) })
	t.Run("a deleted document keeps its versions", func(t *testing.T) { deleted(t, open(t)) })
	t.Run("a deleted document can be restored", func(t *testing.T) { restored(t, open(t)) })
	t.Run("preconditions treat a deleted document as absent", func(t *testing.T) { preconditions(t, open(t)) })
	t.Run("concurrent writes are kept", func(t *testing.T) { Race(t, open(t)) })
	t.Run("one of several writers with one ETag succeeds", func(t *testing.T) { oneWins(t, open(t)) })
	t.Run("the times of versions are in order", func(t *testing.T) { timesInOrder(t, open(t)) })
	t.Run("a cancelled write returns context.Canceled", func(t *testing.T) { cancelled(t, open(t)) })
}

func newStoreIsEmpty(t *testing.T, s document.Store) {
	if _, err := s.Newest(t.Context(), id("c", "n")); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Newest: %v, want kind NotFound", err)
	}
	if _, err := s.Version(t.Context(), id("c", "n"), 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Version: %v, want kind NotFound", err)
	}
	if list, err := s.Versions(t.Context(), id("c", "n")); err != nil || len(list) != 0 {
		t.Errorf("Versions: %v, %v, want none", list, err)
	}
	if list, err := s.List(t.Context(), note, "c"); err != nil || len(list) != 0 {
		t.Errorf("List: %v, %v, want none", list, err)
	}
}

func timesInOrder(t *testing.T, s document.Store) {
	for _, at := range []time.Time{At, At.Add(-time.Hour), At.Add(time.Hour)} { // the second writer's clock is slow
		if _, err := document.Put(t.Context(), s, id("c", "n"), document.Change{Text: "x", By: "b", At: at}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Versions(t.Context(), id("c", "n"))
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Time
	for _, info := range list {
		times = append(times, info.At)
	}
	if want := []time.Time{At.Add(time.Hour), At, At}; !slices.EqualFunc(times, want, time.Time.Equal) {
		t.Errorf("got %v, want %v", times, want)
	}
}

func writtenVersionIsRead(t *testing.T, s document.Store) {
	want := document.NewVersion(1, "it's \"\x00\" \\ 🛰", "console", At)
	mustAppend(t, s, id("c", "n"), want)
	for name, read := range map[string]func() (document.Version, error){
		"Newest":  func() (document.Version, error) { return s.Newest(t.Context(), id("c", "n")) },
		"Version": func() (document.Version, error) { return s.Version(t.Context(), id("c", "n"), 1) },
		"List": func() (document.Version, error) {
			list, err := s.List(t.Context(), note, "c")
			return append(list, document.Named{})[0].Version, err
		},
	} {
		if got, err := read(); err != nil || got != want {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, want)
		}
	}
}

func versionsNewestFirst(t *testing.T, s document.Store) {
	var want []document.Info
	for n := 1; n <= 12; n++ {
		v := document.NewVersion(n, fmt.Sprint("text ", n), "key", At.Add(time.Duration(n)*time.Second))
		mustAppend(t, s, id("c", "n"), v)
		want = append([]document.Info{v.Info}, want...)
	}
	got, err := s.Versions(t.Context(), id("c", "n"))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Versions: %+v, %v\nwant %+v", got, err, want)
	}
}

func onlyNext(t *testing.T, s document.Store) {
	mustAppend(t, s, id("c", "n"), document.NewVersion(1, "first", "key", At))
	for _, number := range []int{0, 1, 3} {
		err := s.Append(t.Context(), id("c", "n"), document.NewVersion(number, "other", "key", At))
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("version %d after version 1: %v, want kind Conflict", number, err)
		}
	}
	if v, err := s.Newest(t.Context(), id("c", "n")); err != nil || v.Text != "first" {
		t.Errorf("a refused write changed the document: %+v, %v", v, err)
	}
}

// independent uses names and configurations of which one is the beginning of another.
func independent(t *testing.T, s document.Store) {
	ids := []document.ID{
		id("a", "n"), id("A", "n"), id("a.b", "n"), id("a", "n-1"), id("a", "n1"), id("a", "info"),
		{Kind: "notes", Config: "a", Name: "n"}, {Kind: "single", Config: "a"},
	}
	for _, one := range ids {
		mustAppend(t, s, one, document.NewVersion(1, one.String(), "key", At))
		mustAppend(t, s, one, document.NewVersion(2, one.String()+"!", "key", At))
	}
	for _, one := range ids {
		if v, err := s.Newest(t.Context(), one); err != nil || v.Text != one.String()+"!" {
			t.Errorf("%s holds %+v, %v", one, v, err)
		}
		if list, err := s.Versions(t.Context(), one); err != nil || len(list) != 2 {
			t.Errorf("%s has versions %+v, %v", one, list, err)
		}
	}
}

func listed(t *testing.T, s document.Store) {
	for _, one := range []document.ID{
		id("c", "b"), id("c", "a"), id("c", "a-b"), id("c.d", "x"), id("b", "y"), {Kind: "notes", Config: "c", Name: "z"},
	} {
		mustAppend(t, s, one, document.NewVersion(1, "old", "key", At))
		mustAppend(t, s, one, document.NewVersion(2, one.String(), "key", At))
	}
	var want []document.Named
	for _, name := range []string{"a", "a-b", "b"} {
		v := document.NewVersion(2, id("c", name).String(), "key", At)
		want = append(want, document.Named{Name: name, Version: v})
	}
	if got, err := s.List(t.Context(), note, "c"); err != nil || !slices.Equal(got, want) {
		t.Errorf("List: %+v, %v\nwant %+v", got, err, want)
	}
}

func deleted(t *testing.T, s document.Store) {
	one := id("c", "n")
	change := document.Change{Text: "text", By: "key", At: At}
	if err := document.Delete(t.Context(), s, one, change); fault.KindOf(err) != fault.NotFound {
		t.Errorf("deletion of nothing: %v, want kind NotFound", err)
	}
	mustPut(t, s, one, 1, change)
	if err := document.Delete(t.Context(), s, one, document.Change{By: "cleaner", At: At}); err != nil {
		t.Fatal(err)
	}
	if _, err := document.Current(t.Context(), s, one); fault.KindOf(err) != fault.NotFound {
		t.Errorf("after the deletion: %v, want kind NotFound", err)
	}
	if err := document.Delete(t.Context(), s, one, change); fault.KindOf(err) != fault.NotFound {
		t.Errorf("second deletion: %v, want kind NotFound", err)
	}
	if list, err := s.List(t.Context(), note, "c"); err != nil || len(list) != 0 {
		t.Errorf("List: %+v, %v, want none", list, err)
	}
	if v, err := document.Read(t.Context(), s, one, 1); err != nil || v.Text != "text" {
		t.Errorf("version 1: %+v, %v", v, err)
	}
	if _, err := document.Read(t.Context(), s, one, 2); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the deletion: %v, want kind NotFound", err)
	}
	list, err := s.Versions(t.Context(), one)
	if err != nil || len(list) != 2 || !list[0].Deleted() || list[0].By != "cleaner" || list[1].Deleted() {
		t.Errorf("Versions: %+v, %v", list, err)
	}
	mustPut(t, s, one, 3, document.Change{Text: "again", By: "key", At: At})
	if list, err := s.List(t.Context(), note, "c"); err != nil || len(list) != 1 || list[0].Text != "again" {
		t.Errorf("List: %+v, %v", list, err)
	}
}

func restored(t *testing.T, s document.Store) {
	one := id("c", "n")
	change := document.Change{Text: "first", By: "key", At: At}
	mustPut(t, s, one, 1, change)
	if err := document.Delete(t.Context(), s, one, change); err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{2, 9} {
		_, err := document.Restore(t.Context(), s, one, number, document.Change{By: "undo", At: At})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("restore of version %d: %v, want kind NotFound", number, err)
		}
	}
	v, err := document.Restore(t.Context(), s, one, 1, document.Change{By: "undo", At: At})
	if want := document.NewVersion(3, "first", "undo", At); err != nil || v != want {
		t.Errorf("restore: %+v, %v, want %+v", v, err, want)
	}
	if got, err := document.Current(t.Context(), s, one); err != nil || got != v {
		t.Errorf("after the restore: %+v, %v", got, err)
	}
}

func preconditions(t *testing.T, s document.Store) {
	one := id("c", "n")
	put := func(p document.Precondition) (document.Version, error) {
		return document.Put(t.Context(), s, one, document.Change{Text: "text", By: "key", At: At, Precondition: p})
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
	outdated := document.Change{By: "key", At: At, Precondition: document.Precondition{Match: []string{first.ETag}}}
	refused("an outdated ETag", outdated.Precondition)
	if err := document.Delete(t.Context(), s, one, outdated); fault.KindOf(err) != fault.Conflict {
		t.Errorf("deletion with an outdated ETag: %v, want kind Conflict", err)
	}
	current := document.Change{By: "key", At: At, Precondition: document.Precondition{Match: []string{second.ETag}}}
	if err := document.Delete(t.Context(), s, one, current); err != nil {
		t.Fatal(err)
	}
	deletion, err := s.Newest(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	refused("If-Match: * after the deletion", document.Precondition{Exists: true})
	refused("the ETag of the deletion", document.Precondition{Match: []string{deletion.ETag}})
	if v, err := put(document.Precondition{Absent: true}); err != nil || v.Number != 4 {
		t.Errorf("If-None-Match: * after the deletion: %+v, %v", v, err)
	}
}

// Race runs concurrent writers on one or several handles of the same documents. Every accepted write must be in the
// history, whose numbers must have no gaps.
func Race(t *testing.T, handles ...document.Store) {
	const writers, writes = 6, 10
	one := id("c", "race")
	accepted := make([]map[int]string, writers) // version number → text written
	var wg sync.WaitGroup
	for w := range writers {
		accepted[w] = map[int]string{}
		wg.Go(func() {
			for i := range writes {
				text := fmt.Sprintf("writer %d, write %d", w, i)
				v, err := document.Put(context.Background(), handles[w%len(handles)], one,
					document.Change{Text: text, By: fmt.Sprint(w), At: At})
				if err != nil {
					t.Errorf("%s: %v", text, err)
					return
				}
				accepted[w][v.Number] = text
			}
		})
	}
	wg.Wait()
	checkHistory(t, handles[0], one, writers*writes)
	for _, own := range accepted {
		for number, text := range own {
			if v, err := handles[0].Version(context.Background(), one, number); err != nil || v.Text != text {
				t.Errorf("version %d was acknowledged as %q and is %+v, %v", number, text, v, err)
			}
		}
	}
	list, err := handles[0].List(context.Background(), note, "c")
	if err != nil || len(list) != 1 || list[0].Number != writers*writes {
		t.Errorf("List: %+v, %v", list, err)
	}
}

func oneWins(t *testing.T, s document.Store) {
	one := id("c", "n")
	first := document.NewVersion(1, "first", "key", At)
	mustAppend(t, s, one, first)
	results := make([]error, 8)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			change := document.Change{
				Text: fmt.Sprint(i), By: "key", At: At, Precondition: document.Precondition{Match: []string{first.ETag}},
			}
			if i%2 == 0 {
				results[i] = document.Delete(context.Background(), s, one, change)
				return
			}
			_, results[i] = document.Put(context.Background(), s, one, change)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		switch kind := fault.KindOf(err); {
		case err == nil:
			won++
		case kind != fault.Conflict && kind != fault.NotFound:
			t.Errorf("a refused write returned %v, want kind Conflict, or NotFound after a deletion", err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers succeeded with the same ETag", won)
	}
	checkHistory(t, s, one, 2)
}

func cancelled(t *testing.T, s document.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := document.Put(ctx, s, id("c", "n"), document.Change{Text: "late", By: "key", At: At})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	checkHistory(t, s, id("c", "n"), 0)
}

// checkHistory checks that the versions are exactly count…1.
func checkHistory(t *testing.T, s document.Store, one document.ID, count int) {
	t.Helper()
	list, err := s.Versions(context.Background(), one)
	if err != nil || len(list) != count {
		t.Fatalf("%d versions, %v, want %d", len(list), err, count)
	}
	for i, info := range list {
		if info.Number != count-i {
			t.Fatalf("version %d is in the place of %d", info.Number, count-i)
		}
	}
}

func mustAppend(t *testing.T, s document.Store, one document.ID, v document.Version) {
	t.Helper()
	if err := s.Append(t.Context(), one, v); err != nil {
		t.Fatal(err)
	}
}

func mustPut(t *testing.T, s document.Store, one document.ID, number int, c document.Change) {
	t.Helper()
	if v, err := document.Put(t.Context(), s, one, c); err != nil || v.Number != number {
		t.Fatalf("version %d, %v, want %d", v.Number, err, number)
	}
}
