package planet_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

var first = planet.DocumentOf(planet.FirstConfig)

// over returns the planets of a deployment.
func over(t table.Table) document.Store { return planet.Over(document.Over(t), at) }

// TestItems: the planets of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	const items = "testdata/items.json"
	memory := &tabletest.Memory{}
	s, read := over(memory), over(tabletest.Load(t, items))
	for config, number := range map[string]int{planet.FirstConfig: 3, "shop": 2} {
		id := planet.DocumentOf(config)
		for _, name := range []string{"one", "two"} {
			if _, err := document.Put(t.Context(), s, id, planettest.Change(t, name, "terraform")); err != nil {
				t.Fatal(err)
			}
		}
		want := planettest.Version(t, number, "two", "terraform")
		if v, err := read.Newest(t.Context(), id); err != nil || v != want {
			t.Errorf("%s: %+v, %v", config, v, err)
		}
	}
	tabletest.Equal(t, memory, items, "mark")
}

// TestNewDeploymentHasDefaultPlanet: every read returns the default planet, although nothing is written. Other
// configurations and other kinds of documents have none.
func TestNewDeploymentHasDefaultPlanet(t *testing.T) {
	memory := &tabletest.Memory{}
	s, want := over(memory), planet.First(planettest.At)
	for name, read := range map[string]func() (document.Version, error){
		"Newest":  func() (document.Version, error) { return s.Newest(t.Context(), first) },
		"Version": func() (document.Version, error) { return s.Version(t.Context(), first, 1) },
	} {
		if v, err := read(); err != nil || v != want {
			t.Errorf("%s: %+v, %v, want %+v", name, v, err, want)
		}
	}
	if list, err := s.Versions(t.Context(), first); err != nil || len(list) != 1 || list[0] != want.Info {
		t.Errorf("Versions: %+v, %v", list, err)
	}
	if _, err := s.Version(t.Context(), first, 2); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Version 2: %v, want kind NotFound", err)
	}
	for _, id := range []document.ID{planet.DocumentOf("shop"), {Kind: "note", Config: planet.FirstConfig}} {
		_, newest := s.Newest(t.Context(), id)
		_, numbered := s.Version(t.Context(), id, 1)
		for _, err := range []error{newest, numbered} {
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v, want kind NotFound", id, err)
			}
		}
		if list, err := s.Versions(t.Context(), id); err != nil || len(list) > 0 {
			t.Errorf("%s has versions %+v, %v", id, list, err)
		}
		if err := s.Append(t.Context(), id, document.NewVersion(2, "{}", "key", at())); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want kind Conflict", id, err)
		}
	}
	if items := memory.Items(); len(items) > 0 {
		t.Errorf("%d items were written", len(items))
	}
}

// TestFirstWriteStoresDefaultPlanet: the first write stores the default planet as version 1, whatever its precondition.
func TestFirstWriteStoresDefaultPlanet(t *testing.T) {
	change := func(p document.Precondition) document.Change {
		c := planettest.Change(t, "mine", "key")
		c.Precondition = p
		return c
	}
	stored := planet.First(planettest.At)
	for name, write := range map[string]func(s document.Store) (document.Version, error){
		"put": func(s document.Store) (document.Version, error) {
			return document.Put(t.Context(), s, first, change(document.Precondition{}))
		},
		"put with the ETag that was read": func(s document.Store) (document.Version, error) {
			return document.Put(t.Context(), s, first, change(document.Precondition{Match: []string{stored.ETag}}))
		},
		"restore": func(s document.Store) (document.Version, error) {
			return document.Restore(t.Context(), s, first, 1, change(document.Precondition{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := over(&tabletest.Memory{})
			_, err := document.Put(t.Context(), s, first, change(document.Precondition{Absent: true}))
			if fault.KindOf(err) != fault.Conflict {
				t.Errorf("create only: %v, want kind Conflict", err)
			}
			if v, err := write(s); err != nil || v.Number != 2 {
				t.Fatalf("version %d, %v, want 2", v.Number, err)
			}
			if v, err := s.Version(t.Context(), first, 1); err != nil || v != stored {
				t.Errorf("version 1 is %+v, %v", v, err)
			}
			list, err := s.Versions(t.Context(), first)
			if err != nil || len(list) != 2 || list[1] != stored.Info {
				t.Errorf("the history is %+v, %v", list, err)
			}
		})
	}
}

// TestConcurrentFirstWrites: all first writes to a new deployment are kept, and the default planet is stored once.
func TestConcurrentFirstWrites(t *testing.T) {
	const writers = 8
	s := over(&tabletest.Memory{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			if _, err := document.Put(t.Context(), s, first, planettest.Change(t, fmt.Sprint("writer ", w), "key")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.Versions(t.Context(), first)
	if err != nil || len(list) != writers+1 || list[writers].By != "orrery" || list[writers-1].By != "key" {
		t.Errorf("the history is %+v, %v", list, err)
	}
}

// TestFirstWriteOfDeploymentUnderFaults: it needs several writes, and each of their requests may fail.
func TestFirstWriteOfDeploymentUnderFaults(t *testing.T) {
	for n := range 8 {
		for _, f := range tabletest.Survivable {
			memory := &tabletest.Memory{}
			s := over(tabletest.Behind(memory, faulttest.At(n, f)))
			v, err := document.Put(t.Context(), s, first, planettest.Change(t, "mine", "key"))
			if err != nil || v.Number != 2 {
				t.Errorf("request %d with fault %d: version %d, %v", n, f, v.Number, err)
			}
			list, err := over(memory).Versions(t.Context(), first)
			if err != nil || len(list) != 2 || list[0].By != "key" || list[1].By != "orrery" {
				t.Errorf("request %d with fault %d: the history is %+v, %v", n, f, list, err)
			}
		}
	}
}

// TestAddFirst: several processes add the first planet to a new folder, and none changes one that is there.
func TestAddFirst(t *testing.T) {
	s := document.Over(&tabletest.Memory{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := planet.AddFirst(t.Context(), s, planettest.At); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := s.Versions(t.Context(), first); err != nil || len(list) != 1 || list[0] != planet.First(planettest.At).Info {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := document.Put(t.Context(), s, first, planettest.Change(t, "mine", "key")); err != nil {
		t.Fatal(err)
	}
	if err := planet.AddFirst(t.Context(), s, planettest.At); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Newest(t.Context(), first); err != nil || v.Number != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}
