package planet_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

func TestItemsAreAStore(t *testing.T) {
	planettest.Run(t, func(*testing.T) planet.Store { return planet.Over(&tabletest.Memory{}, at) })
}

// TestItems: the planets of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	const items = "testdata/items.json"
	memory := &tabletest.Memory{}
	s, read := planet.Over(memory, at), planet.Over(tabletest.Load(t, items), at)
	for config, number := range map[string]int{planet.FirstConfig: 3, "shop": 2} {
		for _, name := range []string{"one", "two"} {
			change := planet.Change{Settings: planettest.Settings(t, name), By: "terraform", At: planettest.At}
			if _, err := planet.Put(t.Context(), s, config, change); err != nil {
				t.Fatal(err)
			}
		}
		want := planet.NewVersion(number, planettest.Settings(t, "two"), "terraform", planettest.At)
		if v, err := read.Newest(t.Context(), config); err != nil || v != want {
			t.Errorf("%s: %+v, %v", config, v, err)
		}
	}
	tabletest.Equal(t, memory, items, "mark")
}

// TestNewDeploymentHasDefaultPlanet: every read returns the default planet, although nothing is written.
func TestNewDeploymentHasDefaultPlanet(t *testing.T) {
	memory := &tabletest.Memory{}
	s, want := planet.Over(memory, at), planet.NewVersion(1, planet.Default(), "orrery", planettest.At)
	for name, read := range map[string]func() (planet.Version, error){
		"Newest":  func() (planet.Version, error) { return s.Newest(t.Context(), planet.FirstConfig) },
		"Version": func() (planet.Version, error) { return s.Version(t.Context(), planet.FirstConfig, 1) },
	} {
		if v, err := read(); err != nil || v != want {
			t.Errorf("%s: %+v, %v, want %+v", name, v, err, want)
		}
	}
	if list, err := s.Versions(t.Context(), planet.FirstConfig); err != nil || len(list) != 1 || list[0] != want.Info {
		t.Errorf("Versions: %+v, %v", list, err)
	}
	if _, err := s.Version(t.Context(), planet.FirstConfig, 2); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Version 2: %v, want kind NotFound", err)
	}
	if items := memory.Items(); len(items) > 0 {
		t.Errorf("%d items were written", len(items))
	}
}

// TestFirstWriteStoresDefaultPlanet: the first write stores the default planet as version 1, whatever its precondition.
func TestFirstWriteStoresDefaultPlanet(t *testing.T) {
	first := planet.NewVersion(1, planet.Default(), "orrery", planettest.At)
	change := func(p planet.Precondition) planet.Change {
		return planet.Change{Settings: planettest.Settings(t, "mine"), By: "key", At: planettest.At, Precondition: p}
	}
	for name, write := range map[string]func(s planet.Store) (planet.Info, error){
		"put": func(s planet.Store) (planet.Info, error) {
			return planet.Put(t.Context(), s, planet.FirstConfig, change(planet.Precondition{}))
		},
		"put with the ETag that was read": func(s planet.Store) (planet.Info, error) {
			unchanged := planet.Precondition{Match: []string{first.ETag}}
			return planet.Put(t.Context(), s, planet.FirstConfig, change(unchanged))
		},
		"restore": func(s planet.Store) (planet.Info, error) {
			return planet.Restore(t.Context(), s, planet.FirstConfig, 1, change(planet.Precondition{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := planet.Over(&tabletest.Memory{}, at)
			_, err := planet.Put(t.Context(), s, planet.FirstConfig, change(planet.Precondition{Absent: true}))
			if fault.KindOf(err) != fault.Conflict {
				t.Errorf("create only: %v, want kind Conflict", err)
			}
			if info, err := write(s); err != nil || info.Number != 2 {
				t.Fatalf("version %d, %v, want 2", info.Number, err)
			}
			if v, err := s.Version(t.Context(), planet.FirstConfig, 1); err != nil || v != first {
				t.Errorf("version 1 is %+v, %v", v, err)
			}
			list, err := s.Versions(t.Context(), planet.FirstConfig)
			if err != nil || len(list) != 2 || list[1] != first.Info {
				t.Errorf("the history is %+v, %v", list, err)
			}
		})
	}
}

// TestConcurrentFirstWrites: all first writes to a new deployment are kept, and the default planet is stored once.
func TestConcurrentFirstWrites(t *testing.T) {
	const writers = 8
	s := planet.Over(&tabletest.Memory{}, at)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			settings := planettest.Settings(t, fmt.Sprint("writer ", w))
			change := planet.Change{Settings: settings, By: "key", At: planettest.At}
			if _, err := planet.Put(t.Context(), s, planet.FirstConfig, change); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.Versions(t.Context(), planet.FirstConfig)
	if err != nil || len(list) != writers+1 || list[writers].By != "orrery" || list[writers-1].By != "key" {
		t.Errorf("the history is %+v, %v", list, err)
	}
}

// TestFirstWriteOfDeploymentUnderFaults: it needs several writes, and each of their requests may fail.
func TestFirstWriteOfDeploymentUnderFaults(t *testing.T) {
	for n := range 8 {
		for _, f := range tabletest.Survivable {
			memory := &tabletest.Memory{}
			s := planet.Over(tabletest.Behind(memory, faulttest.At(n, f)), at)
			change := planet.Change{Settings: planettest.Settings(t, "mine"), By: "key", At: planettest.At}
			if info, err := planet.Put(t.Context(), s, planet.FirstConfig, change); err != nil || info.Number != 2 {
				t.Errorf("request %d with fault %d: version %d, %v", n, f, info.Number, err)
			}
			list, err := planet.Over(memory, at).Versions(t.Context(), planet.FirstConfig)
			if err != nil || len(list) != 2 || list[0].By != "key" || list[1].By != "orrery" {
				t.Errorf("request %d with fault %d: the history is %+v, %v", n, f, list, err)
			}
		}
	}
}
