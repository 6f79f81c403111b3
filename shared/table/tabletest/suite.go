// Package tabletest has the test suite that every table.Table passes, a table in memory, and a network with faults
// between a store and such a table.
package tabletest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/table"
)

// Run runs the suite. open returns an empty table.
func Run(t *testing.T, open func(t *testing.T) table.Table) {
	for name, test := range map[string]func(*testing.T, table.Table){
		"an item that does not exist has no attributes": absent,
		"attributes are read back":                      readBack,
		"a change replaces all attributes":              replaced,
		"a write needs its condition":                   conditions,
		"a condition of two parts needs one of them":    eitherCondition,
		"write makes all changes or none":               together,
		"a removed item does not exist":                 removed,
		"a range is in the order of sort keys":          ranges,
		"a range has more than one page":                longRange,
		"one of many writers is first":                  func(t *testing.T, in table.Table) { Race(t, in) },
		"a cancelled call returns context.Canceled":     cancelled,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const revision = "revision"

func key(partition, sort string) table.Key { return table.Key{Partition: partition, Sort: sort} }

// next returns the change of an item at a revision, 0 if there is none, to the next one.
func next(k table.Key, seen int64, body string) table.Change {
	c := table.Change{Key: k, Attributes: table.Attributes{revision: seen + 1, "body": body}, When: table.Absent}
	if seen > 0 {
		c.When = table.Where(revision, seen)
	}
	return c
}

func mustWrite(t *testing.T, in table.Table, changes ...table.Change) {
	t.Helper()
	if err := in.Write(t.Context(), changes...); err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, in table.Table, changes ...table.Change) {
	t.Helper()
	if err := in.Write(t.Context(), changes...); !errors.Is(err, table.ErrConflict) {
		t.Errorf("write: %v, want ErrConflict", err)
	}
}

func expect(t *testing.T, in table.Table, k table.Key, want table.Attributes) {
	t.Helper()
	item, err := in.Get(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.Item{Key: k, Attributes: want}, item); diff != "" {
		t.Error(diff)
	}
}

func absent(t *testing.T, in table.Table) {
	expect(t, in, key("p", "s"), nil)
	if items, err := table.List(t.Context(), in, table.Range{Partition: "p"}); err != nil || len(items) > 0 {
		t.Error(items, err)
	}
}

func readBack(t *testing.T, in table.Table) {
	for name, attributes := range map[string]table.Attributes{
		"all types": {
			"text": "it's \"\x00\" \\ 🛰", "number": int64(-1) << 62, "bytes": []byte{0, 255}, "list": []string{"b", "a", ""},
			table.Expires: int64(4920872400),
		},
		"empty values":  {"text": "", "number": int64(0), "list": []string{}},
		"no attributes": {},
	} {
		mustWrite(t, in, table.Change{Key: key("p", name), Attributes: attributes})
		expect(t, in, key("p", name), attributes)
	}
}

func replaced(t *testing.T, in table.Table) {
	mustWrite(t, in, table.Change{Key: key("p", "s"), Attributes: table.Attributes{"a": "1", "b": "2"}})
	mustWrite(t, in, table.Change{Key: key("p", "s"), Attributes: table.Attributes{"b": "3"}})
	expect(t, in, key("p", "s"), table.Attributes{"b": "3"})
	expect(t, in, key("p", "t"), nil)
	expect(t, in, key("q", "s"), nil)
}

func conditions(t *testing.T, in table.Table) {
	there, other := key("p", "there"), key("p", "other")
	mustWrite(t, in, next(there, 0, "1"))
	mustWrite(t, in, next(there, 1, "2"))
	for what, c := range map[string]table.Condition{
		"absent": table.Absent, "an old revision": table.Where(revision, int64(1)),
		"a later revision": table.Where(revision, int64(3)), "another type": table.Where(revision, "2"),
		"an attribute less": table.Where("body", nil), "another text": table.Where("body", "1"),
	} {
		t.Run(what, func(t *testing.T) {
			refused(t, in, table.Change{Key: there, Attributes: table.Attributes{"body": "no"}, When: c})
			refused(t, in, table.Change{Key: there, When: c})
		})
	}
	expect(t, in, there, table.Attributes{revision: int64(2), "body": "2"})
	for what, c := range map[string]table.Condition{
		"a revision": table.Where(revision, int64(1)), "a missing attribute": table.Where("body", nil),
	} {
		t.Run(what+" of no item", func(t *testing.T) {
			refused(t, in, table.Change{Key: other, Attributes: table.Attributes{}, When: c})
		})
	}
	expect(t, in, other, nil)
	mustWrite(t, in, table.Change{
		Key: there, Attributes: table.Attributes{"body": "3"}, When: table.Where("more", nil),
	})
	expect(t, in, there, table.Attributes{"body": "3"})
}

func eitherCondition(t *testing.T, in table.Table) {
	own := table.Condition{Absent: true, Attribute: "id", Is: "a"}
	k := key("p", "s")
	mustWrite(t, in, table.Change{Key: k, When: own}, table.Change{Key: key("p", "t"), When: own})
	mustWrite(t, in, table.Change{Key: k, Attributes: table.Attributes{"id": "a"}, When: own})
	mustWrite(t, in, table.Change{Key: k, Attributes: table.Attributes{"id": "b"}, When: own})
	refused(t, in, table.Change{Key: k, When: own})
	expect(t, in, k, table.Attributes{"id": "b"})
}

func together(t *testing.T, in table.Table) {
	a, b, c := key("p", "a"), key("q", "b"), key("q", "c")
	mustWrite(t, in, next(a, 0, "1"))
	refused(t, in, next(a, 1, "2"), next(b, 0, "2"), next(c, 7, "2"))
	refused(t, in, table.Change{Key: a}, next(b, 0, "2"), next(c, 7, "2"))
	expect(t, in, a, table.Attributes{revision: int64(1), "body": "1"})
	expect(t, in, b, nil)
	mustWrite(t, in, next(a, 1, "2"), next(b, 0, "2"))
	expect(t, in, a, table.Attributes{revision: int64(2), "body": "2"})
	expect(t, in, b, table.Attributes{revision: int64(1), "body": "2"})
}

func removed(t *testing.T, in table.Table) {
	k := key("p", "s")
	mustWrite(t, in, next(k, 0, "1"))
	refused(t, in, table.Change{Key: k, When: table.Where(revision, int64(2))})
	mustWrite(t, in, table.Change{Key: k, When: table.Where(revision, int64(1))})
	expect(t, in, k, nil)
	mustWrite(t, in, table.Change{Key: k})
	mustWrite(t, in, next(k, 0, "2"))
}

func sortKeys(t *testing.T, in table.Table, r table.Range) string {
	t.Helper()
	items, err := table.List(t.Context(), in, r)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.Key.Sort
		if item.Key.Partition != r.Partition || item.Attributes["body"] != item.Key.Sort {
			t.Errorf("%v has %v", item.Key, item.Attributes)
		}
	}
	return strings.Join(list, " ")
}

func ranges(t *testing.T, in table.Table) {
	// The order is that of the bytes in UTF-8, in which U+FFFD comes before U+1F600.
	for _, sort := range []string{"a", "b", "b/ü", "b!", "b#2", "b#10", "b\uFFFD", "b\U0001F600", "c", "d"} {
		mustWrite(t, in, next(key("p", sort), 0, sort), next(key("q", sort), 0, sort))
	}
	for want, r := range map[string]table.Range{
		"a b b! b#10 b#2 b/ü b\uFFFD b\U0001F600 c d": {},
		"b#10 b#2": {Prefix: "b#"},
		"b#2 b#10": {Prefix: "b#", Backwards: true},
		"b#2":      {Prefix: "b#", Backwards: true, Limit: 1},
		"b b! b#10 b#2 b/ü b\uFFFD b\U0001F600 c": {From: "b", To: "c"},
		"b b!":            {From: "b", To: "c", Limit: 2},
		"d c b\U0001F600": {Backwards: true, Limit: 3},
		"":                {From: "c!", To: "c~"},
	} {
		r.Partition = "p"
		if got := sortKeys(t, in, r); got != want {
			t.Errorf("%+v: %s, want %s", r, got, want)
		}
	}
	if got := sortKeys(t, in, table.Range{Partition: "r", Prefix: "b"}); got != "" {
		t.Errorf("another partition has %s", got)
	}
	for _, err := range in.Range(t.Context(), table.Range{Partition: "p"}) {
		if err != nil {
			t.Fatal(err)
		}
		break // a caller may stop
	}
}

// longRange writes more than a page of DynamoDB, which is a megabyte.
func longRange(t *testing.T, in table.Table) {
	const n = 40
	body := strings.Repeat("7", 64<<10)
	for i := range n {
		mustWrite(t, in, next(key("p", fmt.Sprintf("item#%03d", i)), 0, body))
	}
	for want, r := range map[int]table.Range{
		n: {Prefix: "item#"}, n - 2: {From: "item#001", To: "item#038"}, n - 4: {Backwards: true, Limit: n - 4},
	} {
		r.Partition = "p"
		items, err := table.List(t.Context(), in, r)
		if err != nil || len(items) != want || items[want-1].Attributes["body"] != body {
			t.Errorf("%+v: %d items, %v, want %d", r, len(items), err, want)
		}
	}
}

// Race lets concurrent writers, each with one of the handles of a table, increment one item. No increment may be lost.
func Race(t *testing.T, handles ...table.Table) {
	const writers, each = 4, 5
	k := key("p", "count")
	var all sync.WaitGroup
	for i := range writers {
		in := handles[i%len(handles)]
		all.Go(func() {
			for done := 0; done < each; {
				item, err := in.Get(context.Background(), k)
				if err != nil {
					t.Error(err)
					return
				}
				seen, _ := item.Attributes[revision].(int64)
				switch err := in.Write(context.Background(), next(k, seen, fmt.Sprint(seen+1))); {
				case err == nil:
					done++
				case !errors.Is(err, table.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	expect(t, handles[0], k, table.Attributes{revision: int64(writers * each), "body": fmt.Sprint(writers * each)})
}

func cancelled(t *testing.T, in table.Table) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getting := in.Get(ctx, key("p", "s"))
	_, listing := table.List(ctx, in, table.Range{Partition: "p"})
	for name, err := range map[string]error{
		"Get": getting, "Range": listing, "Write": in.Write(ctx, next(key("p", "s"), 0, "1")),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	expect(t, in, key("p", "s"), nil)
}
