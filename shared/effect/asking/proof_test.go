package asking_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/effect/asking"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/testkit/testlevel"
	"github.com/orrery/orrery/shared/why"
)

// sceneDay is a Friday.
var sceneDay = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// generated returns the rows of a generator, and for each of its changes, how many requests were blocked because of it in
// a length of time.
func generated(t *testing.T, g *gen.Generator, length time.Duration) (rows []*lake.Row, added []int) {
	t.Helper()
	decoder := record.NewDecoder()
	changes := g.Truth().Changes
	added = make([]int, len(changes))
	var line []byte
	for {
		next, more := g.Next(line[:0])
		if !more {
			return rows, added
		}
		line = next
		row := new(lake.Row)
		if _, err := decoder.Decode(line, row); err != nil {
			t.Fatal(err)
		}
		row.Source, row.Line = "generated", int64(len(rows)+1)
		rows = append(rows, row)
		for i, now := range g.Truth().Changes {
			if row.TsMs < now.At+length.Milliseconds() {
				added[i] = now.Added
			}
		}
	}
}

// TestPlantedChanges: of what planted changes of the settings have added, the right rules explain at least 95 %. Of
// what rules explain, at least 95 % is of the right rules. The rules were set with seeds 100 to 104.
func TestPlantedChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("long: left out with -short, for the race detector")
	}
	scene, _ := gen.SceneByName("quiet-changes")
	seeds := testlevel.Of(0, 1, 5)
	changes, planted, right, wrong := 0, 0, 0, 0
	for seed := range uint64(seeds) {
		g := gen.New(gen.Options{Records: 60_000, Seed: 300 + seed, From: sceneDay, Scene: scene})
		rows, added := generated(t, g, time.Hour)
		from := sourceOf(t, rows)
		for i, change := range g.Truth().Changes {
			got := run(t, from, asking.Request{At: filter.TimeText(change.At)})
			changes, planted = changes+1, planted+added[i]
			for _, r := range got.Results {
				switch {
				case r.By != "rule" || r.FromRules == 0:
				case *r.Value == why.RuleOf(change.Reason):
					right += min(int(r.FromRules), added[i])
				default:
					wrong += int(max(r.FromRules, -r.FromRules))
				}
			}
		}
	}
	t.Logf("%d changes added %d requests; the right rules explain %d of them, other rules %d", changes, planted, right, wrong)
	if changes != 10*seeds || right*100 < planted*95 || right*100 < (right+wrong)*95 {
		t.Errorf("%d changes added %d requests; the right rules explain %d of them, other rules %d", changes, planted, right, wrong)
	}
}
