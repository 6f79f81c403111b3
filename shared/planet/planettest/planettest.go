// Package planettest is the test suite for implementations of planet.Store.
package planettest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

// At is the time of the suite's writes.
var At = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// Settings returns valid settings with a name, and with contents that must be kept byte for byte.
func Settings(t testing.TB, name string) planet.Settings {
	t.Helper()
	s, err := planet.Parse(fmt.Appendf(nil, `{"name": %q, "trusted_nets": [], "ichallenge": {`+
		`"attrs": {"z":1.0, "a":1e2, "quote":"it's \"\u0000\""}, "lang": {}, "palette": ["#fff"], "position": {}}, `+
		`"newer": [null]}`, name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Run runs the suite. open returns a store that is empty except that planet.FirstConfig may have a planet.
func Run(t *testing.T, open func(t *testing.T) planet.Store) {
	t.Run("a new store is empty", func(t *testing.T) { newStoreIsEmpty(t, open(t)) })
	t.Run("a written version is read back", func(t *testing.T) { writtenVersionIsRead(t, open(t)) })
	t.Run("versions are listed newest first", func(t *testing.T) { listedNewestFirst(t, open(t)) })
	t.Run("only the next number is accepted", func(t *testing.T) { onlyNext(t, open(t)) })
	t.Run("configurations are independent", func(t *testing.T) { independentConfigs(t, open(t)) })
	t.Run("preconditions are checked", func(t *testing.T) { preconditions(t, open(t)) })
	t.Run("restoring writes a new version", func(t *testing.T) { restored(t, open(t)) })
	t.Run("concurrent writes are kept", func(t *testing.T) { Race(t, open(t)) })
	t.Run("one of several writers with one ETag succeeds", func(t *testing.T) { oneWins(t, open(t)) })
	t.Run("a cancelled write returns context.Canceled", func(t *testing.T) { cancelled(t, open(t)) })
}

func newStoreIsEmpty(t *testing.T, s planet.Store) {
	if _, err := s.Newest(t.Context(), "empty"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Newest: %v, want kind NotFound", err)
	}
	if _, err := s.Version(t.Context(), "empty", 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Version: %v, want kind NotFound", err)
	}
	if list, err := s.Versions(t.Context(), "empty"); err != nil || len(list) != 0 {
		t.Errorf("Versions: %v, %v, want none", list, err)
	}
}

func writtenVersionIsRead(t *testing.T, s planet.Store) {
	want := planet.NewVersion(1, Settings(t, "one"), "console", At)
	mustAppend(t, s, "prod-2", want)
	for name, read := range map[string]func() (planet.Version, error){
		"Newest":  func() (planet.Version, error) { return s.Newest(t.Context(), "prod-2") },
		"Version": func() (planet.Version, error) { return s.Version(t.Context(), "prod-2", 1) },
	} {
		if got, err := read(); err != nil || got != want {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, want)
		}
	}
}

func listedNewestFirst(t *testing.T, s planet.Store) {
	var want []planet.Info
	for n := 1; n <= 12; n++ {
		v := planet.NewVersion(n, Settings(t, fmt.Sprint("name ", n)), "key", At.Add(time.Duration(n)*time.Second))
		mustAppend(t, s, "c", v)
		want = append([]planet.Info{v.Info}, want...)
	}
	got, err := s.Versions(t.Context(), "c")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Versions: %+v, %v\nwant %+v", got, err, want)
	}
}

func onlyNext(t *testing.T, s planet.Store) {
	mustAppend(t, s, "c", planet.NewVersion(1, Settings(t, "first"), "key", At))
	for _, number := range []int{0, 1, 3} {
		err := s.Append(t.Context(), "c", planet.NewVersion(number, Settings(t, "other"), "key", At))
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("version %d after version 1: %v, want kind Conflict", number, err)
		}
	}
	if v, err := s.Newest(t.Context(), "c"); err != nil || v.Settings != Settings(t, "first") {
		t.Errorf("a refused write changed the planet: %+v, %v", v, err)
	}
}

func independentConfigs(t *testing.T, s planet.Store) {
	for _, config := range []string{"a", "A", "a.b", "a_b"} {
		mustAppend(t, s, config, planet.NewVersion(1, Settings(t, config), "key", At))
	}
	for _, config := range []string{"a", "A", "a.b", "a_b"} {
		if v, err := s.Newest(t.Context(), config); err != nil || v.Settings != Settings(t, config) {
			t.Errorf("configuration %s holds %+v, %v", config, v, err)
		}
	}
}

func preconditions(t *testing.T, s planet.Store) {
	put := func(name string, e planet.Precondition) (planet.Info, error) {
		change := planet.Change{Settings: Settings(t, name), By: "key", At: At, Precondition: e}
		return planet.Put(t.Context(), s, "c", change)
	}
	refused := func(what string, e planet.Precondition) {
		t.Helper()
		if _, err := put("refused", e); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want kind Conflict", what, err)
		}
	}
	accepted := func(what string, number int, e planet.Precondition) planet.Info {
		t.Helper()
		info, err := put(what, e)
		if err != nil || info.Number != number {
			t.Fatalf("%s: %+v, %v, want version %d", what, info, err, number)
		}
		return info
	}
	refused("If-Match: * on nothing", planet.Precondition{Exists: true})
	refused("If-Match on nothing", planet.Precondition{Match: []string{`"1-aa"`}})
	first := accepted("If-None-Match: * on nothing", 1, planet.Precondition{Absent: true})
	refused("If-None-Match: * on something", planet.Precondition{Absent: true})
	second := accepted("the ETag read", 2, planet.Precondition{Match: []string{`"other"`, first.ETag}})
	refused("an outdated ETag", planet.Precondition{Match: []string{first.ETag}})
	third := accepted("no precondition", 3, planet.Precondition{})
	accepted("If-Match: * on something", 4, planet.Precondition{Exists: true})
	if second.ETag == third.ETag {
		t.Error("two versions have the same ETag")
	}
}

func restored(t *testing.T, s planet.Store) {
	for n, name := range []string{"first", "second"} {
		mustAppend(t, s, "c", planet.NewVersion(n+1, Settings(t, name), "key", At))
	}
	_, err := planet.Restore(t.Context(), s, "c", 9, planet.Change{By: "key", At: At})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("restore of version 9: %v, want kind NotFound", err)
	}
	stale := planet.Precondition{Match: []string{planet.NewVersion(1, Settings(t, "first"), "key", At).ETag}}
	_, err = planet.Restore(t.Context(), s, "c", 1, planet.Change{By: "key", At: At, Precondition: stale})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("restore with an outdated ETag: %v, want kind Conflict", err)
	}
	info, err := planet.Restore(t.Context(), s, "c", 1, planet.Change{By: "undo", At: At})
	if err != nil || info.Number != 3 || info.By != "undo" {
		t.Fatalf("restore: %+v, %v", info, err)
	}
	if v, err := s.Newest(t.Context(), "c"); err != nil || v.Settings != Settings(t, "first") {
		t.Errorf("after the restore: %+v, %v", v, err)
	}
}

// Race runs concurrent writers on one or several handles of the same planets. Every accepted write must be in the
// history, whose numbers must have no gaps.
func Race(t *testing.T, handles ...planet.Store) {
	const writers, writes = 6, 10
	accepted := make([]map[int]string, writers) // version number → name written
	var wg sync.WaitGroup
	for w := range writers {
		accepted[w] = map[int]string{}
		wg.Go(func() {
			for i := range writes {
				name := fmt.Sprintf("writer %d, write %d", w, i)
				info, err := planet.Put(context.Background(), handles[w%len(handles)], "race",
					planet.Change{Settings: Settings(t, name), By: fmt.Sprint(w), At: At})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				accepted[w][info.Number] = name
			}
		})
	}
	wg.Wait()
	checkHistory(t, handles[0], "race", writers*writes)
	for _, one := range accepted {
		for number, name := range one {
			v, err := handles[0].Version(context.Background(), "race", number)
			if err != nil || v.Settings != Settings(t, name) {
				t.Errorf("version %d was acknowledged as %q and is %+v, %v", number, name, v, err)
			}
		}
	}
}

func oneWins(t *testing.T, s planet.Store) {
	first := planet.NewVersion(1, Settings(t, "first"), "key", At)
	mustAppend(t, s, "c", first)
	results := make([]error, 8)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			_, results[i] = planet.Put(context.Background(), s, "c", planet.Change{
				Settings: Settings(t, fmt.Sprint(i)), By: "key", At: At,
				Precondition: planet.Precondition{Match: []string{first.ETag}},
			})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case fault.KindOf(err) != fault.Conflict:
			t.Errorf("a refused write returned %v, want kind Conflict", err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers succeeded with the same ETag", won)
	}
	checkHistory(t, s, "c", 2)
}

func cancelled(t *testing.T, s planet.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := planet.Put(ctx, s, "c", planet.Change{Settings: Settings(t, "late"), By: "key", At: At})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	checkHistory(t, s, "c", 0)
}

// checkHistory checks that the versions are exactly count…1.
func checkHistory(t *testing.T, s planet.Store, config string, count int) {
	t.Helper()
	list, err := s.Versions(context.Background(), config)
	if err != nil || len(list) != count {
		t.Fatalf("%d versions, %v, want %d", len(list), err, count)
	}
	for i, info := range list {
		if info.Number != count-i {
			t.Fatalf("version %d is in the place of %d", info.Number, count-i)
		}
	}
}

func mustAppend(t *testing.T, s planet.Store, config string, v planet.Version) {
	t.Helper()
	if err := s.Append(t.Context(), config, v); err != nil {
		t.Fatal(err)
	}
}
