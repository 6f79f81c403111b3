package document_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

const items = "testdata/items.json"

// at is the time of writes.
var at = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// id identifies a document of a kind of documents with names.
func id(config, name string) document.ID {
	return document.ID{Kind: "note", Config: config, Name: name}
}

var note = id("c", "n")

func version(number int, text string) document.Version {
	return document.NewVersion(number, text, "key", at)
}

func TestNewStoreIsEmpty(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	if _, err := s.Newest(t.Context(), note); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Newest: %v, want kind NotFound", err)
	}
	if _, err := s.Version(t.Context(), note, 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Version: %v, want kind NotFound", err)
	}
	if list, err := s.Versions(t.Context(), note); err != nil || len(list) != 0 {
		t.Errorf("Versions: %v, %v, want none", list, err)
	}
	if list, err := s.List(t.Context(), note.Kind, note.Config); err != nil || len(list) != 0 {
		t.Errorf("List: %v, %v, want none", list, err)
	}
}

func TestOnlyTheNextNumberIsAccepted(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	mustAppend(t, s, note, version(1, "first"))
	for _, number := range []int{0, 1, 3} {
		err := s.Append(t.Context(), note, version(number, "other"))
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("version %d after version 1: %v, want kind Conflict", number, err)
		}
	}
	if v, err := s.Newest(t.Context(), note); err != nil || v.Text != "first" {
		t.Errorf("a refused write changed the document: %+v, %v", v, err)
	}
}

// TestDocumentsAreIndependent uses names and configurations that begin with one another.
func TestDocumentsAreIndependent(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	ids := []document.ID{
		id("a", "n"), id("A", "n"), id("a.b", "n"), id("a", "n-1"), id("a", "n1"), id("a", "info"),
		{Kind: "notes", Config: "a", Name: "n"}, {Kind: "single", Config: "a"},
	}
	for _, one := range ids {
		mustAppend(t, s, one, version(1, one.String()))
		mustAppend(t, s, one, version(2, one.String()+"!"))
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

func TestListHasTheNewestVersionsOfOneConfiguration(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	for _, one := range []document.ID{
		id("c", "b"), id("c", "a"), id("c", "a-b"), id("c.d", "x"), id("b", "y"), {Kind: "notes", Config: "c", Name: "z"},
	} {
		mustAppend(t, s, one, version(1, "old"))
		mustAppend(t, s, one, version(2, one.String()))
	}
	var want []document.Named
	for _, name := range []string{"a", "a-b", "b"} {
		v := version(2, id("c", name).String())
		want = append(want, document.Named{Name: name, Version: v})
	}
	if got, err := s.List(t.Context(), note.Kind, note.Config); err != nil || !slices.Equal(got, want) {
		t.Errorf("List: %+v, %v\nwant %+v", got, err, want)
	}
}

func mustAppend(t *testing.T, s document.Store, id document.ID, v document.Version) {
	t.Helper()
	if err := s.Append(t.Context(), id, v); err != nil {
		t.Fatal(err)
	}
}

// TestItems: the documents of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	memory := &tabletest.Memory{}
	s := document.Over(memory)
	bots := document.ID{Kind: "filter", Config: "prod", Name: "bots"}
	gone := document.ID{Kind: "filter", Config: "prod", Name: "gone"}
	weekly := document.ID{Kind: "report", Config: "staging", Name: "weekly"}
	newest := `{"filters":"human=false and \"ä\""}`
	for _, put := range []struct {
		id   document.ID
		text string
	}{{bots, `{"filters":"human=false"}`}, {bots, newest}, {gone, `{"filters":"x"}`}, {weekly, `{"schedule":"weekly"}`}} {
		change := document.Change{Text: put.text, By: "console", At: at}
		if _, err := document.Put(t.Context(), s, put.id, change); err != nil {
			t.Fatal(err)
		}
	}
	if err := document.Delete(t.Context(), s, gone, document.Change{By: "cleaner", At: at}); err != nil {
		t.Fatal(err)
	}
	tabletest.Equal(t, memory, items, "mark")

	s = document.Over(tabletest.Load(t, items))
	list, err := s.List(t.Context(), "filter", "prod")
	want := []document.Named{{Name: "bots", Version: document.NewVersion(2, newest, "console", at)}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if v, err := s.Newest(t.Context(), bots); err != nil || v != want[0].Version {
		t.Errorf("%+v, %v", v, err)
	}
	if list, err := s.Versions(t.Context(), gone); err != nil || len(list) != 2 || !list[0].Deleted() {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := s.Configurations(t.Context(), "report"); err != nil || !slices.Equal(list, []string{"staging"}) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestConfigurations: the configurations of a kind are those with a document of it that has a name, or had one.
func TestConfigurations(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	change := document.Change{Text: "{}", By: "key", At: at}
	for _, id := range []document.ID{
		{Kind: "note", Config: "staging", Name: "a"}, {Kind: "note", Config: "prod", Name: "a"},
		{Kind: "note", Config: "prod", Name: "b"}, {Kind: "other", Config: "test", Name: "a"},
		{Kind: "note", Config: "nameless"},
	} {
		for range 2 {
			if _, err := document.Put(t.Context(), s, id, change); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := document.Delete(t.Context(), s, document.ID{Kind: "note", Config: "staging", Name: "a"}, change); err != nil {
		t.Fatal(err)
	}
	list, err := s.Configurations(t.Context(), "note")
	if got := strings.Join(list, " "); err != nil || got != "prod staging" {
		t.Errorf("%s, %v", got, err)
	}
	if list, err := s.Configurations(t.Context(), "none"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// withoutTexts is a table from which no text may be read.
type withoutTexts struct {
	*tabletest.Memory
	t *testing.T
}

func (w withoutTexts) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		for item, err := range w.Memory.Range(ctx, r) {
			if item.Attributes["settings"] != nil {
				w.t.Errorf("%v was read with its text", item.Key)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// TestVersionsDoesNotReadTexts: a document may have thousands of versions, each with a long text.
func TestVersionsDoesNotReadTexts(t *testing.T) {
	s := document.Over(withoutTexts{tabletest.Load(t, items), t})
	list, err := s.Versions(t.Context(), document.ID{Kind: "filter", Config: "prod", Name: "bots"})
	if err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestMalformedItemIsAnError: a malformed item is neither left out nor read as an empty document.
func TestMalformedItemIsAnError(t *testing.T) {
	memory := &tabletest.Memory{}
	for _, sort := range []string{"head#n", "info#n#0000000001", "settings#n#0000000001"} {
		change := table.Change{Key: table.Key{Partition: "note#c", Sort: sort}, Attributes: table.Attributes{"number": "one"}}
		if err := memory.Write(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	s := document.Over(memory)
	for name, read := range map[string]func() error{
		"Newest":   func() error { _, err := s.Newest(t.Context(), note); return err },
		"Version":  func() error { _, err := s.Version(t.Context(), note, 1); return err },
		"Versions": func() error { _, err := s.Versions(t.Context(), note); return err },
		"List":     func() error { _, err := s.List(t.Context(), "note", "c"); return err },
	} {
		err := read()
		if err == nil || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "note#c") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noted returns a table with the first version of the document note.
func noted(t *testing.T) *tabletest.Memory {
	t.Helper()
	memory := &tabletest.Memory{}
	if err := document.Over(memory).Append(t.Context(), note, version(1, "first")); err != nil {
		t.Fatal(err)
	}
	return memory
}

// TestAppendUnderFaults: an accepted version is stored exactly once, and one that was not stored is an error. It is
// accepted if only the answers to its write are lost.
func TestAppendUnderFaults(t *testing.T) {
	type test struct {
		script         faulttest.Script
		fails, written bool
	}
	tests := map[string]test{
		"every answer is lost":            {tabletest.On("Write", faulttest.From(0, faulttest.Lose)), false, true},
		"every request fails late":        {tabletest.On("Write", faulttest.From(0, faulttest.FailLate)), false, true},
		"always throttled":                {tabletest.On("Write", faulttest.From(0, faulttest.Throttle)), true, false},
		"no connection":                   {faulttest.From(0, faulttest.Break), true, false},
		"lost and then no connection":     {tabletest.First(faulttest.Lose, faulttest.Break), true, true},
		"failed late, then no connection": {tabletest.First(faulttest.FailLate, faulttest.Break), true, true},
	}
	for _, f := range tabletest.Survivable {
		tests[fmt.Sprintf("fault %d", f)] = test{faulttest.At(0, f), false, true}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			memory, second := noted(t), version(2, "second")
			err := document.Over(tabletest.Behind(memory, test.script)).Append(t.Context(), note, second)
			if (err != nil) != test.fails || err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Errorf("error %v of kind %d", err, fault.KindOf(err))
			}
			v, err := document.Over(memory).Newest(t.Context(), note)
			if err != nil || test.written != (v == second) {
				t.Errorf("the newest is %+v, %v", v, err)
			}
		})
	}
}

// TestEqualVersionOfAnotherWriterIsAConflict: it is a conflict even if the text, the key and the time are the same.
func TestEqualVersionOfAnotherWriterIsAConflict(t *testing.T) {
	for _, f := range []faulttest.Fault{faulttest.None, faulttest.Lose} {
		s := document.Over(tabletest.Behind(noted(t), faulttest.At(0, f)))
		if err := s.Append(t.Context(), note, version(1, "first")); fault.KindOf(err) != fault.Conflict {
			t.Errorf("fault %d: %v, want kind Conflict", f, err)
		}
	}
}

// TestConcurrentWritersUnderFaults: every third request fails. Accepted writes are in the history exactly once, under
// their numbers, which have no gaps. Half of the writers write with the ETag of the version that they have read, and
// each of their versions follows that one. Other writes return errors of kind Unavailable or Conflict.
func TestConcurrentWritersUnderFaults(t *testing.T) {
	for seed := range uint64(4) {
		const writers, writes = 4, 8
		memory := noted(t)
		accepted := make([]map[int]string, writers) // version number → text
		var wg sync.WaitGroup
		for w := range writers {
			script := faulttest.Sometimes(seed*100+uint64(w), 1.0/3, tabletest.Survivable...)
			s := document.Over(tabletest.Behind(memory, script))
			accepted[w] = map[int]string{}
			wg.Go(func() {
				for i := range writes {
					change := document.Change{Text: fmt.Sprintf("writer %d, write %d", w, i), By: "k", At: at}
					var read document.Version
					var err error
					if w%2 == 0 {
						read, err = s.Newest(context.Background(), note)
						change.Precondition.Match = []string{read.ETag}
					}
					var v document.Version
					if err == nil {
						v, err = document.Put(context.Background(), s, note, change)
					}
					switch kind := fault.KindOf(err); {
					case err == nil && w%2 == 0 && v.Number != read.Number+1:
						t.Errorf("version %d was written with the ETag of version %d", v.Number, read.Number)
					case err == nil:
						accepted[w][v.Number] = change.Text
					case kind != fault.Unavailable && (kind != fault.Conflict || w%2 != 0):
						t.Errorf("%s: %v", change.Text, err)
					}
				}
			})
		}
		wg.Wait()
		checkHistory(t, document.Over(memory), accepted)
	}
}

// checkHistory checks that accepted versions are stored under their numbers, that no text is stored twice, and that
// numbers have no gaps.
func checkHistory(t *testing.T, s document.Store, accepted []map[int]string) {
	t.Helper()
	list, err := s.Versions(t.Context(), note)
	if err != nil {
		t.Fatal(err)
	}
	texts, total := map[int]string{}, 0
	for i, info := range list {
		v, err := s.Version(t.Context(), note, len(list)-i)
		if err != nil || v.Info != info {
			t.Fatalf("version %d is %+v, %v", len(list)-i, info, err)
		}
		for number, text := range texts {
			if text == v.Text {
				t.Errorf("versions %d and %d are one write", number, v.Number)
			}
		}
		texts[v.Number] = v.Text
	}
	for _, own := range accepted {
		total += len(own)
		for number, text := range own {
			if texts[number] != text {
				t.Errorf("%s was accepted as version %d, which is %q", text, number, texts[number])
			}
		}
	}
	if total == 0 {
		t.Error("no write was accepted")
	}
}
