package lakestatetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/lakestate"
)

// Test runs the suite. open returns an empty table.
func Test(t *testing.T, open func(t *testing.T) lakestate.Table) {
	for name, test := range map[string]func(*testing.T, lakestate.Table){
		"an item that does not exist has revision 0":    testAbsent,
		"every write increases the revision":            testRevisions,
		"a write based on another revision is refused":  testConflict,
		"write makes all changes or none":               testTogether,
		"list filters by prefix and sorts by sort key":  testList,
		"list returns more than one page":               testLongList,
		"between includes both ends":                    testBetween,
		"between yields more than one page":             testLongBetween,
		"one of many writers succeeds at each revision": testRace,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func key(partition, sort string) lakestate.Key {
	return lakestate.Key{Partition: partition, Sort: sort}
}

func write(t *testing.T, table lakestate.Table, k lakestate.Key, seen int64, body string) {
	t.Helper()
	if err := table.Write(t.Context(), lakestate.Change{Key: k, Seen: seen, Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, table lakestate.Table, k lakestate.Key, revision int64, body string) {
	t.Helper()
	item, err := table.Get(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if item.Key != k || item.Revision != revision || string(item.Body) != body {
		t.Errorf("%v has revision %d, %q, want %d, %q", item.Key, item.Revision, item.Body, revision, body)
	}
}

func testAbsent(t *testing.T, table lakestate.Table) {
	expect(t, table, key("p", "s"), 0, "")
	if items, err := table.List(t.Context(), "p", "s"); err != nil || len(items) > 0 {
		t.Error(items, err)
	}
}

func testRevisions(t *testing.T, table lakestate.Table) {
	for i := range int64(3) {
		write(t, table, key("p", "s"), i, fmt.Sprintf(`{"n":%d}`, i))
		expect(t, table, key("p", "s"), i+1, fmt.Sprintf(`{"n":%d}`, i))
	}
	expect(t, table, key("p", "t"), 0, "")
	expect(t, table, key("q", "s"), 0, "")
}

func testConflict(t *testing.T, table lakestate.Table) {
	write(t, table, key("p", "s"), 0, `1`)
	write(t, table, key("p", "s"), 1, `2`)
	for _, seen := range []int64{0, 1, 3} {
		err := table.Write(t.Context(), lakestate.Change{Key: key("p", "s"), Seen: seen, Body: []byte(`3`)})
		if !errors.Is(err, lakestate.ErrConflict) {
			t.Errorf("seen %d: %v", seen, err)
		}
	}
	expect(t, table, key("p", "s"), 2, `2`)
	err := table.Write(t.Context(), lakestate.Change{Key: key("p", "other"), Seen: 1, Body: []byte(`3`)})
	if !errors.Is(err, lakestate.ErrConflict) {
		t.Errorf("change of an item that does not exist: %v, want ErrConflict", err)
	}
}

func testTogether(t *testing.T, table lakestate.Table) {
	write(t, table, key("p", "a"), 0, `1`)
	err := table.Write(t.Context(),
		lakestate.Change{Key: key("p", "a"), Seen: 1, Body: []byte(`2`)},
		lakestate.Change{Key: key("q", "b"), Seen: 0, Body: []byte(`2`)},
		lakestate.Change{Key: key("q", "c"), Seen: 7, Body: []byte(`2`)},
	)
	if !errors.Is(err, lakestate.ErrConflict) {
		t.Error(err)
	}
	expect(t, table, key("p", "a"), 1, `1`)
	expect(t, table, key("q", "b"), 0, "")
	err = table.Write(t.Context(),
		lakestate.Change{Key: key("p", "a"), Seen: 1, Body: []byte(`2`)},
		lakestate.Change{Key: key("q", "b"), Seen: 0, Body: []byte(`2`)},
	)
	if err != nil {
		t.Error(err)
	}
	expect(t, table, key("p", "a"), 2, `2`)
	expect(t, table, key("q", "b"), 1, `2`)
}

func sortKeys(t *testing.T, table lakestate.Table, partition, prefix string) []string {
	t.Helper()
	items, err := table.List(t.Context(), partition, prefix)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.Key.Sort + string(item.Body)
	}
	return list
}

func testList(t *testing.T, table lakestate.Table) {
	for i, sort := range []string{"b#2", "a", "b#10", "b", "c"} {
		write(t, table, key("p", sort), 0, fmt.Sprint(i))
		write(t, table, key("q", sort), 0, fmt.Sprint(i))
	}
	if diff := cmp.Diff([]string{"b#102", "b#20"}, sortKeys(t, table, "p", "b#")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{}, sortKeys(t, table, "r", "b#")); diff != "" {
		t.Error(diff)
	}
}

// writeLong writes n items, which together are longer than a page of DynamoDB, and returns the body of each.
func writeLong(t *testing.T, table lakestate.Table, n int) (body string) {
	t.Helper()
	body = strings.Repeat("7", 64<<10)
	for i := range n {
		write(t, table, key("p", fmt.Sprintf("item#%03d", i)), 0, body)
	}
	return body
}

func testLongList(t *testing.T, table lakestate.Table) {
	const n = 40
	body := writeLong(t, table, n)
	items, err := table.List(t.Context(), "p", "item#")
	if err != nil {
		t.Fatal(err)
	}
	if len(items) != n || items[n-1].Key.Sort != "item#039" || len(items[n-1].Body) != len(body) {
		t.Errorf("list returned %d items, want %d", len(items), n)
	}
}

func sortKeysBetween(t *testing.T, table lakestate.Table, from, to string) []string {
	t.Helper()
	keys := []string{}
	for item, err := range table.Between(t.Context(), "p", from, to) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Key.Partition != "p" || item.Revision != 1 {
			t.Errorf("got %v at revision %d", item.Key, item.Revision)
		}
		keys = append(keys, item.Key.Sort+string(item.Body))
	}
	return keys
}

func testBetween(t *testing.T, table lakestate.Table) {
	// The order is that of the bytes in UTF-8, in which U+FFFD comes before U+1F600.
	for i, sort := range []string{"a", "b", "b/ü", "b!", "b\uFFFD", "b\U0001F600", "c", "d"} {
		write(t, table, key("p", sort), 0, fmt.Sprint(i))
		write(t, table, key("q", sort), 0, fmt.Sprint(i))
	}
	want := []string{"b1", "b!3", "b/ü2", "b\uFFFD4", "b\U0001F6005", "c6"}
	if diff := cmp.Diff(want, sortKeysBetween(t, table, "b", "c")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{}, sortKeysBetween(t, table, "c!", "c~")); diff != "" {
		t.Error(diff)
	}
	for _, err := range table.Between(t.Context(), "p", "a", "d") {
		if err != nil {
			t.Fatal(err)
		}
		break // a caller may stop
	}
}

func testLongBetween(t *testing.T, table lakestate.Table) {
	const n = 40
	writeLong(t, table, n)
	keys := sortKeysBetween(t, table, "item#001", "item#038")
	if len(keys) != n-2 || !strings.HasPrefix(keys[len(keys)-1], "item#038") {
		t.Errorf("between yielded %d items, want %d", len(keys), n-2)
	}
}

// testRace lets concurrent writers increment one item. No increment may be lost.
func testRace(t *testing.T, table lakestate.Table) {
	const writers, each = 4, 5
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for done := 0; done < each; {
				item, err := table.Get(t.Context(), key("p", "count"))
				if err != nil {
					t.Error(err)
					return
				}
				err = table.Write(t.Context(), lakestate.Change{
					Key:  item.Key,
					Seen: item.Revision,
					Body: fmt.Append(nil, item.Revision+1),
				})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, lakestate.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	expect(t, table, key("p", "count"), writers*each, fmt.Sprint(writers*each))
}
