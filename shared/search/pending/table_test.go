package pending_test

import (
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// began is the time at which the queries of testdata began.
var began = time.UnixMilli(4920868800123).UTC()

func at() time.Time { return began }

func over(t table.Table) *pending.Items { return pending.Over(t, time.Hour, at) }

// overFaultyNetwork returns the store of a table that every fourth request reaches after a fault only. A repeated request
// whose response was lost has no second effect.
func overFaultyNetwork(memory *tabletest.Memory) *pending.Items {
	return over(tabletest.Behind(memory, func(n int, _ *http.Request) faulttest.Fault {
		if n%4 != 0 {
			return faulttest.None
		}
		return tabletest.Survivable[n/4%len(tabletest.Survivable)]
	}))
}

// queryOf returns a query with an ID and a key.
func queryOf(id pending.ID, key string) pending.Query {
	return pending.Query{
		ID: id, Key: key, Execution: engine.Execution("of " + id), Began: began, Request: []byte(`{"Route":"logs"}`),
	}
}

// incompressible returns a request of a megabyte, which needs several items.
func incompressible() []byte {
	request := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(request) // never fails
	return request
}

func keep(t *testing.T, s pending.Store, p pending.Query) pending.Query {
	t.Helper()
	kept, err := s.Keep(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// expect checks that a query is found by its ID, and by its key unless that is "".
func expect(t *testing.T, s pending.Store, want pending.Query, key string) {
	t.Helper()
	if got, err := s.Get(t.Context(), want.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("by ID: %+v, %v, want %+v", got, err, want)
	}
	if got, err := s.Find(t.Context(), want.Key); key != "" && (err != nil || !reflect.DeepEqual(got, want)) {
		t.Errorf("by key: %+v, %v, want %+v", got, err, want)
	}
}

func TestFirstQueryWithAKeyIsKept(t *testing.T) {
	s := overFaultyNetwork(&tabletest.Memory{})
	first, second := queryOf("1", "k"), queryOf("2", "k")
	for _, p := range []pending.Query{first, second, first} {
		if kept := keep(t, s, p); !reflect.DeepEqual(kept, first) {
			t.Errorf("kept is %+v", kept)
		}
	}
	expect(t, s, first, "k")
	if _, err := s.Get(t.Context(), second.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the second query is kept, too: %v", err)
	}
}

// TestDetachedQueryIsFoundByItsID, and its key belongs to the next query.
func TestDetachedQueryIsFoundByItsID(t *testing.T) {
	s := overFaultyNetwork(&tabletest.Memory{})
	p, next := queryOf("1", "k"), queryOf("2", "k")
	keep(t, s, p)
	detach := func() {
		t.Helper()
		if err := s.Detach(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	detach()
	detach()
	expect(t, s, p, "")
	if _, err := s.Find(t.Context(), p.Key); fault.KindOf(err) != fault.NotFound {
		t.Errorf("by key: %v", err)
	}
	keep(t, s, next)
	detach()
	if err := s.Forget(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), p.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("once it is forgotten: %v", err)
	}
	expect(t, s, next, "k")
}

// TestForgottenQueryIsNotFound, and cannot move. Its key belongs to the next query.
func TestForgottenQueryIsNotFound(t *testing.T) {
	memory := &tabletest.Memory{}
	s, p, next := overFaultyNetwork(memory), queryOf("1", "k"), queryOf("2", "k")
	p.Request = incompressible()
	forget := func() {
		t.Helper()
		if err := s.Forget(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		_, byID := s.Get(t.Context(), p.ID)
		for what, err := range map[string]error{"by ID": byID, "move": s.Move(t.Context(), p.ID, "another")} {
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	keep(t, s, p)
	expect(t, s, p, "k")
	forget()
	forget()
	if _, err := s.Find(t.Context(), p.Key); fault.KindOf(err) != fault.NotFound || len(memory.Items()) > 0 {
		t.Errorf("by key: %v; %d items are left", err, len(memory.Items()))
	}
	keep(t, s, next)
	forget()
	expect(t, s, next, "k")
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
	p := queryOf("1", "k")
	p.Request = incompressible()
	keep(t, over(memory), p)
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
	old := queryOf("1", "k")
	keep(t, s, old)
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
	next := queryOf("2", "k")
	next.Began = now
	if kept := keep(t, s, next); kept.ID != next.ID {
		t.Errorf("the next query with that key is %+v", kept)
	}
}
