package asking_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/search"
)

// asked counts the questions to a source.
type asked struct {
	source
	n *atomic.Int64
}

func (a asked) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	a.n.Add(1)
	return a.source.Ask(ctx, route, params)
}

func named(name string) search.Data {
	complete := "complete " + name
	return search.Data{Name: name, Complete: &complete}
}

// TestKept: the same request about the same data asks no questions, unless time may change its answer.
func TestKept(t *testing.T) {
	var l log
	l.ordinary(10, line{host: "bank.example", blocked: &no, human: &yes})
	l.attack(noon, 20*time.Minute, 2000, guess("bank.example"))
	from := l.source(t)
	last := time.UnixMilli(l.rows[len(l.rows)-1].TsMs)
	long := last.Add(24 * time.Hour) // after the newest record
	const firstDay = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"
	var kept asking.Kept
	before := map[string]asking.Incidents{}
	for _, test := range []struct {
		name string
		of   asking.Request
		asks bool
	}{
		{"the first time", asking.Request{Filters: secondDay, Now: long, Data: named("1")}, true},
		{"again", asking.Request{Filters: secondDay, Now: long.Add(time.Hour), Data: named("1")}, false},
		{"in other words", asking.Request{Filters: "  " + secondDay, Now: long, Data: named("1")}, false},
		{"in another zone", asking.Request{Filters: secondDay, Zone: "Asia/Tokyo", Now: long, Data: named("1")}, true},
		{"with a condition", asking.Request{Filters: secondDay + ", blocked is true", Now: long, Data: named("1")}, true},
		{"another period", asking.Request{Filters: firstDay, Now: long, Data: named("1")}, true},
		{"other data", asking.Request{Filters: secondDay, Now: long, Data: named("2")}, true},
		{"data without a name", asking.Request{Filters: secondDay, Now: long}, true},
		{"an incident may go on", asking.Request{Filters: secondDay, Now: last, Data: named("3")}, true},
		{"it may go on", asking.Request{Filters: secondDay, Now: last, Data: named("3")}, true},
		{"a period that has ended", asking.Request{Filters: firstDay, Now: last, Data: named("3")}, true},
		{"a period that has ended, again", asking.Request{Filters: firstDay, Now: last, Data: named("3")}, false},
	} {
		var n atomic.Int64
		test.of.Kept = &kept
		found, err := asking.Run(t.Context(), asked{from, &n}, test.of)
		if err != nil {
			t.Fatal(err)
		}
		if asks := n.Load() > 0; asks != test.asks {
			t.Errorf("%s: %d questions", test.name, n.Load())
		}
		of := test.of.Zone + test.of.Data.Name + found.Meta.Filter
		if want, again := before[of]; again && test.name != "it may go on" {
			if diff := cmp.Diff(want.Results, found.Results); diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
			if found.Meta.Complete == nil || *found.Meta.Complete != "complete "+test.of.Data.Name {
				t.Errorf("%s: complete through %v", test.name, found.Meta.Complete)
			}
			if found.Meta.BytesScanned != 0 || found.Meta.Newest == nil || *found.Meta.Newest != *want.Meta.Newest {
				t.Errorf("%s: meta %+v", test.name, found.Meta)
			}
		}
		before[of] = found
	}
}

// TestMostKept: Kept forgets what was asked longest ago.
func TestMostKept(t *testing.T) {
	var l log
	l.ordinary(600, line{host: "bank.example"})
	from := l.source(t)
	var kept asking.Kept
	questions := func(data string) int64 {
		var n atomic.Int64
		r := asking.Request{Filters: secondDay, Now: noon.Add(48 * time.Hour), Kept: &kept, Data: named(data)}
		if _, err := asking.Run(t.Context(), asked{from, &n}, r); err != nil {
			t.Fatal(err)
		}
		return n.Load()
	}
	for i := range 33 {
		questions(string(rune('A' + i)))
		if questions("A") > 0 && i < 32 {
			t.Fatalf("the answer that was used last is forgotten after %d others", i)
		}
	}
	if questions("B") == 0 {
		t.Error("the answer that was not used for the longest is still there")
	}
}
