package lakestate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// TestItems: the items of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	memory := &tabletest.Memory{}
	state := lakestate.Key{Partition: "lake", Sort: "state"}
	day := lakestate.Change{
		Key: lakestate.Key{Partition: "sizes", Sort: "2026-01-02"}, Body: []byte("{}"), Expires: time.Unix(4920868800, 0),
	}
	first := lakestate.Change{Key: state, Body: []byte(`{"version":1}`)}
	second := lakestate.Change{Key: state, Seen: 1, Body: []byte(`{"version":2}`)}
	for _, changes := range [][]lakestate.Change{{first, day}, {second}} {
		if err := lakestate.Over(memory).Write(t.Context(), changes...); err != nil {
			t.Fatal(err)
		}
	}
	tabletest.Equal(t, memory, "testdata/items.json")
	got, item, err := lakestate.Load(t.Context(), lakestate.Over(tabletest.Load(t, "testdata/items.json")))
	if err != nil || got.Version != 2 || item.Revision != 2 || item.Key != state {
		t.Errorf("%+v %+v %v", got, item, err)
	}
}

// TestErrorsOfTheTable: they keep their kind and name the items. No call takes them for missing items.
func TestErrorsOfTheTable(t *testing.T) {
	table := lakestate.Over(tabletest.Behind(&tabletest.Memory{}, faulttest.From(0, faulttest.Break)))
	key := lakestate.Key{Partition: "lake", Sort: "state"}
	_, getting := table.Get(t.Context(), key)
	_, listing := table.List(t.Context(), "lake", "sta")
	_, counting := lakestate.ReadDayCounts(t.Context(), table, 20_000, 20_001)
	for item, err := range map[string]error{
		"lake state: ": getting, "lake sta: ": listing, "counts 2024-10-04: ": counting,
		"item lake state: ": table.Write(t.Context(), lakestate.Change{Key: key}),
	} {
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), item) {
			t.Errorf("%v, want kind Unavailable and %q", err, item)
		}
	}
}
