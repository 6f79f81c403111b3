package lakestate_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lakestate"
)

// noon is a time of the tests.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func minutes(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }

func TestBacklog(t *testing.T) {
	for name, test := range map[string]struct {
		resent  float64   // minutes after noon; 0: never
		empty   []float64 // the times at which the queues were empty, in minutes after noon
		through float64   // in minutes after noon; 0: not known
	}{
		"one empty queue proves nothing":               {empty: []float64{60}},
		"two prove that earlier logs have left":        {empty: []float64{60, 75}, through: 58},
		"two at nearly the same time count as one":     {empty: []float64{60, 62}},
		"the first of several at nearly the same time": {empty: []float64{60, 62, 63}, through: 58},
		"the time moves on":                            {empty: []float64{60, 75, 90}, through: 73},
		"a long time between them does not matter":     {empty: []float64{60, 600}, through: 58},
		"a message that was just replaced may be hidden": {
			resent: 74, empty: []float64{60, 75},
		},
		"a message that was replaced long ago is counted": {
			resent: 74, empty: []float64{60, 75, 90}, through: 58,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b lakestate.Backlog
			for _, at := range test.empty {
				if test.resent > 0 && test.resent <= at {
					b.Resent = noon.Add(minutes(test.resent))
				}
				before := b
				if changed := b.SawEmpty(noon.Add(minutes(at))); changed != (b != before) {
					t.Errorf("at %v: changed %t, from %+v to %+v", at, changed, before, b)
				}
			}
			var want time.Time
			if test.through > 0 {
				want = noon.Add(minutes(test.through))
			}
			if !b.Through.Equal(want) {
				t.Errorf("complete through %v, want %v", b.Through, want)
			}
		})
	}
}

func TestBacklogCompared(t *testing.T) {
	at := func(n float64) time.Time { return noon.Add(minutes(n)) }
	b := lakestate.Backlog{Through: at(10)}
	for _, step := range []struct {
		name          string
		through, lost time.Time
		changed       bool
		handled       time.Time
	}{
		{"an earlier time changes nothing", at(5), time.Time{}, false, at(10)},
		{"a later time moves it on", at(20), time.Time{}, true, at(20)},
		{"a lost log holds it back", at(20), at(3), true, at(3)},
		{"until the next comparison finds that it has arrived", at(30), time.Time{}, true, at(30)},
	} {
		if changed := b.Compared(step.through, step.lost, at(15)); changed != step.changed || !b.Handled().Equal(step.handled) {
			t.Errorf("%s: changed %t, handled %v", step.name, changed, b.Handled())
		}
	}
	if !b.FoundLost(at(12)) || !b.Handled().Equal(at(12)) {
		t.Errorf("a comparison that is not complete has found a lost log: handled %v", b.Handled())
	}
	if b.FoundLost(at(13)) || !b.Compared(at(30), at(14), at(12)) || !b.Handled().Equal(at(14)) {
		t.Errorf("the oldest lost log has arrived, and a later one is lost: handled %v", b.Handled())
	}
	if b.Compared(at(30), time.Time{}, at(13)) || !b.Handled().Equal(at(14)) {
		t.Errorf("a comparison for which the log was too young: handled %v", b.Handled())
	}
	b.Compared(at(30), time.Time{}, at(20))
	b.SawEmpty(at(25))
	b.SawEmpty(at(29))
	if !b.Through.Equal(at(30)) {
		t.Errorf("empty queues of before have changed the time to %v", b.Through)
	}
}

func TestCompleteThrough(t *testing.T) {
	known := lakestate.Backlog{Through: noon}
	open := func(arrived ...time.Time) map[string]lakestate.OpenImport {
		imports := map[string]lakestate.OpenImport{}
		for _, at := range arrived {
			imports[at.String()] = lakestate.OpenImport{Arrived: at}
		}
		return imports
	}
	hour := time.Hour
	for name, test := range map[string]struct {
		state lakestate.State
		want  time.Time
	}{
		"is unknown before the queues were empty": {lakestate.State{}, time.Time{}},
		"is that of the queues":                   {lakestate.State{Backlog: known}, noon},
		"is before the oldest lost log": {
			lakestate.State{Backlog: lakestate.Backlog{Through: noon, Lost: noon.Add(-hour)}}, noon.Add(-hour),
		},
		"is before every open import": {
			lakestate.State{Backlog: known, Open: open(noon.Add(-hour), noon.Add(-2*hour))}, noon.Add(-2 * hour),
		},
		"does not depend on imports of later logs": {
			lakestate.State{Backlog: known, Open: open(noon.Add(hour))}, noon,
		},
		"is unknown while an import of an earlier version is open": {
			lakestate.State{Backlog: known, Open: open(time.Time{})}, time.Time{},
		},
		"does not depend on a damaged object in quarantine": {
			lakestate.State{Backlog: known, Lost: []lakestate.LostObject{{Name: "compact/a", At: noon.Add(-hour)}}}, noon,
		},
		"does not depend on rebuilt rows of a damaged object": {
			lakestate.State{Backlog: known, Open: map[string]lakestate.OpenImport{"a": {Rebuilds: "compact/a"}}}, noon,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.state.CompleteThrough(); !got.Equal(test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
