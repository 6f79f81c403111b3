package pending_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// began is the time at which the queries of testdata began.
var began = time.UnixMilli(4920868800123).UTC()

func at() time.Time { return began }

func over(t table.Table) *pending.Items { return pending.Over(t, time.Hour, at) }

// TestQueriesOverFaultyNetwork checks, for example, that a repeated request whose response was lost does not store a
// second query.
func TestQueriesOverFaultyNetwork(t *testing.T) {
	pendingtest.Run(t, func(*testing.T) pending.Store {
		script := func(n int, _ *http.Request) faulttest.Fault {
			if n%4 != 0 {
				return faulttest.None
			}
			return tabletest.Survivable[n/4%len(tabletest.Survivable)]
		}
		const century = 100 * 365 * 24 * time.Hour
		return pending.Over(tabletest.Behind(&tabletest.Memory{}, script), 2*century, at)
	})
}

// TestItems: the queries of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	const items = "testdata/items.json"
	memory := &tabletest.Memory{}
	s, read := over(memory), over(tabletest.Load(t, items))
	for n, execution := range map[string]engine.Execution{"1": `{"id":"x"}`, "2": "moved"} {
		p := pending.Query{
			ID: pending.ID(strings.Repeat(n, 32)), Key: "key-" + n, Execution: `{"id":"x"}`, Began: began,
			Request: []byte(`{"Route":"logs"}` + "\n\x00\xff"),
		}
		if _, err := s.Keep(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		p.Execution = execution
		if err := s.Move(t.Context(), p.ID, execution); err != nil {
			t.Fatal(err)
		}
		if got, err := read.Find(t.Context(), p.Key); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	tabletest.Equal(t, memory, items, "request") // whose compression depends on the version of Go
}

// TestPartsOfALongRequest: their items are named as they were.
func TestPartsOfALongRequest(t *testing.T) {
	memory := &tabletest.Memory{}
	p := pending.Query{ID: "1", Key: "k", Began: began, Request: []byte(pendingtest.Incompressible(1 << 20))}
	if _, err := over(memory).Keep(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range memory.Items() {
		got = append(got, item.Key.Partition+" "+item.Key.Sort)
	}
	if got := strings.Join(got, ", "); got != "join#k join, query#1 head, query#1 more#01, query#1 more#02" {
		t.Errorf("items %s", got)
	}
}

// TestExpiredQueryIsNotFound checks that an expired query is not found, although the table removes it hours later.
func TestExpiredQueryIsNotFound(t *testing.T) {
	now := began
	s := pending.Over(&tabletest.Memory{}, time.Minute, func() time.Time { return now })
	old := pending.Query{ID: "1", Key: "k", Request: []byte("a"), Began: now}
	if _, err := s.Keep(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if _, err := s.Get(t.Context(), old.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Find(t.Context(), old.Key); fault.KindOf(err) != fault.NotFound {
		t.Errorf("find: %v", err)
	}
	if err := s.Move(t.Context(), old.ID, "x"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("move: %v", err)
	}
	next := pending.Query{ID: "2", Key: old.Key, Request: old.Request, Began: now}
	if kept, err := s.Keep(t.Context(), next); err != nil || kept.ID != next.ID {
		t.Errorf("the next query with that key is %+v, %v", kept, err)
	}
}
