package lists_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/lists"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// world is a lake in a bucket, with the rows from which its objects were made.
type world struct {
	t      *testing.T
	bucket *blobtest.Memory
	state  engine.State
	time   time.Time
	rows   []*lake.Row

	mu       sync.Mutex
	requests map[string]int // by method and folder
	fails    error          // of every request
}

// hour is the first hour of the tests.
var hour = lake.PartitionOf(enginetest.Start.UnixMilli())

func newWorld(t *testing.T) *world {
	return &world{t: t, bucket: &blobtest.Memory{}, time: enginetest.Start, requests: map[string]int{}}
}

func (w *world) State(context.Context) (engine.State, error) { return w.state, nil }

func (w *world) engine() *lists.Engine {
	return lists.New(countingStore{w.bucket, w}, w, func() time.Time { return w.time })
}

// fill adds the rows of the hours, those before the watermark as compacted objects.
func (w *world) fill(rows []lake.Row, watermark lake.Partition) {
	w.t.Helper()
	store := &enginetest.Store{Dir: w.t.TempDir()}
	store.Fill(w.t, rows, watermark)
	objects, err := store.Objects(w.t.Context(), -1<<40, 1<<40)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range objects {
		w.put("lake/"+lake.NameOf(filepath.ToSlash(o.Path)), w.content(o.Path))
		encoded, err := scan.ValueLists(w.t.Context(), o.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(w.listsOf("lake/"+lake.NameOf(filepath.ToSlash(o.Path))), string(encoded))
		w.state.Extent = w.state.Extent.Union(o.Extent())
	}
	w.state.Watermark = watermark
	for i := range rows {
		w.rows = append(w.rows, &rows[i])
	}
}

func (w *world) content(file string) string {
	w.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

func (w *world) put(name, content string) {
	w.t.Helper()
	if err := w.bucket.Put(w.t.Context(), name, strings.NewReader(content), blob.Always); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := w.bucket.Delete(w.t.Context(), name); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) listsOf(object string) string {
	return "lake/" + completionindex.Name(strings.TrimPrefix(object, "lake/"))
}

// object adds an object with lists that have one host.
func (w *world) object(name, host string) {
	w.t.Helper()
	w.put(name, "x")
	var tally completionindex.Tally
	tally.NoBranch().Add(dimension(w.t, "host"), []byte(host), 1)
	encoded, err := tally.Encode(1)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(w.listsOf(name), string(encoded))
	h, err := time.Parse("2006/01/02/15", strings.Join(strings.Split(name, "/")[2:6], "/"))
	if err != nil {
		w.t.Fatal(err)
	}
	extent := lake.Extent{MinTsMs: h.UnixMilli(), MaxTsMs: h.UnixMilli() + 3_599_999, Rows: 1}
	w.state.Extent = w.state.Extent.Union(extent)
}

func dimension(t *testing.T, name string) int {
	t.Helper()
	return slices.IndexFunc(completionindex.Dimensions(), func(d query.Dimension) bool { return d.String() == name })
}

func fresh(h lake.Partition, n int) string { return "lake/" + lake.ObjectName(h, "s", n) }

func compacted(h lake.Partition) string { return "lake/" + lake.CompactName(h, "c") }

// countingStore counts requests.
type countingStore struct {
	blob.Store
	world *world
}

func (s countingStore) count(what string) error {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.world.requests[what]++
	return s.world.fails
}

func (s countingStore) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	if !strings.HasPrefix(name, "lake/_values/") {
		s.world.t.Errorf("%s is read", name)
	}
	if err := s.count("get"); err != nil {
		return nil, blob.Info{}, err
	}
	return s.Store.Get(ctx, name, version, offset)
}

func (s countingStore) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	if prefix != "lake/fresh/" && prefix != "lake/compact/" {
		s.world.t.Errorf("%s is listed", prefix)
	}
	if err := s.count("list"); err != nil {
		return func(yield func(blob.Info, error) bool) { yield(blob.Info{}, err) }
	}
	return s.Store.List(ctx, prefix, after)
}

func never() bool { return false }

func always() bool { return true }

// period returns a filter for whole hours.
func period(from, to lake.Partition) string {
	text := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000") }
	return fmt.Sprintf("timestamp between %s and %s", text(from.Start()), text((to+1).Start()-1))
}

func bound(t *testing.T, text string, shape query.Values, branches []string) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape, query.WithBranches(branches))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func valuesOf(field string, limit int) query.Values {
	return query.Values{By: querytest.Dimensions(field)[0], Find: query.Beginning(""), Limit: limit}
}

// find asks an engine for the values of a field.
func (w *world) find(
	e *lists.Engine, field string, limit int, from, to lake.Partition,
) (engine.FoundValues, engine.Cost) {
	w.t.Helper()
	q := bound(w.t, period(from, to), valuesOf(field, limit), nil)
	found, cost, err := e.FindValues(w.t.Context(), q, never)
	if err != nil {
		w.t.Fatal(err)
	}
	return found, cost
}

func texts(found engine.FoundValues) (values []string) {
	for _, v := range found.Values {
		values = append(values, v.Value)
	}
	return values
}

// branchedRows returns records of two hours, of three branches and without a branch.
func branchedRows(t *testing.T, n int) []lake.Row {
	rows := enginetest.Records(t, n, 11)
	for i := range rows {
		rows[i].TsMs = enginetest.Start.UnixMilli() + int64(i)*7_200_000/int64(len(rows))
		rows[i].Source, rows[i].Line = "s", int64(i)
		if rows[i].Branch = nil; i%4 > 0 {
			rows[i].Branch = &[]string{"prod", "staging", "Prod"}[i%4-1]
		}
	}
	return rows
}

// prefixes returns beginnings of the values, in another case, and the values themselves.
func prefixes(values []string) []string {
	known := map[string]bool{"": true}
	list := []string{""}
	for _, value := range values {
		for _, n := range []int{1, 2, len([]rune(value))} {
			text := strings.ToUpper(string([]rune(value)[:min(n, len([]rune(value)))]))
			if folded := query.Fold(text); !known[folded] {
				known[folded] = true
				list = append(list, text)
			}
		}
	}
	return list
}

// TestValuesOfBranches compares the values that a caller may see with the reference: for every caller, every field that
// has lists and every prefix that occurs. A caller limited to branches gets every value of these branches and no other
// one. The callers are one without a limit, one for each branch, one for two branches and one for a branch without
// records.
func TestValuesOfBranches(t *testing.T) {
	w := newWorld(t)
	w.fill(branchedRows(t, 120), hour+1) // one hour is compacted, the other is not
	e := w.engine()
	callers := [][]string{nil, {"prod"}, {"staging"}, {"Prod"}, {"prod", "staging"}, {"no such branch"}, {""}}
	asked, hidden := 0, 0
	for _, by := range completionindex.Dimensions() {
		all := query.Values{By: by, Find: query.Beginning(""), Limit: 1 << 20}
		q := bound(t, period(hour, hour+1), all, nil)
		var known []string
		long := false
		for _, v := range reference.Evaluate(&q, w.rows).Values.Values {
			known = append(known, v.Value)
			long = long || len(v.Value) > completionindex.MaxLength
		}
		for i, text := range prefixes(known) {
			if testing.Short() && i > 20 {
				break
			}
			for _, caller := range callers {
				for _, find := range []query.Find{query.Beginning(text), query.Containing(text)} {
					shape := all
					shape.Find = find
					q := bound(t, period(hour, hour+1), shape, caller)
					want := reference.Evaluate(&q, w.rows).Values
					want.Values = slices.DeleteFunc(want.Values, func(v query.FacetValue) bool {
						return len(v.Value) > completionindex.MaxLength
					})
					got, _, err := e.FindValues(t.Context(), q, never)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got.ValuesAnswer, cmpopts.EquateEmpty()); diff != "" ||
						got.Looked != 2 || got.Of != 2 || got.Unavailable != "" || !long && !got.Exact {
						t.Fatalf("%s, %s, caller %q: looked at %d of %d, exact %t, %q (-reference +lists):\n%s",
							by, find, caller, got.Looked, got.Of, got.Exact, got.Unavailable, diff)
					}
					asked++
					if len(caller) > 0 && len(want.Values) < len(known) {
						hidden++
					}
				}
			}
		}
	}
	t.Logf("%d questions, %d of callers who must not see every value", asked, hidden)
	if hidden < 1000 {
		t.Errorf("only %d questions test what is hidden", hidden)
	}
}

// TestLongListsHideOtherBranches: a caller sees no value of another branch if lists are cut, either.
func TestLongListsHideOtherBranches(t *testing.T) {
	rows := make([]lake.Row, 3000)
	for i := range rows {
		branch, host := fmt.Sprintf("b%d", i%5), fmt.Sprintf("%d.b%d.example", i, i%5)
		rows[i] = lake.Row{TsMs: hour.Start(), Source: "s", Line: int64(i), Branch: &branch, Host: &host}
	}
	w := newWorld(t)
	w.fill(rows, hour)
	for _, caller := range [][]string{{"b0"}, {"b3"}, {"b1", "b4"}} {
		q := bound(t, period(hour, hour), valuesOf("host", 1<<20), caller)
		found, _, err := w.engine().FindValues(t.Context(), q, never)
		if err != nil {
			t.Fatal(err)
		}
		if found.Exact || len(found.Values) != completionindex.MaxValues*len(caller) {
			t.Errorf("%q: %d values, exact %t", caller, len(found.Values), found.Exact)
		}
		for _, value := range texts(found) {
			if !slices.Contains(caller, strings.Split(value, ".")[1]) {
				t.Errorf("%q sees %s", caller, value)
			}
		}
	}
}

func TestFindValues(t *testing.T) {
	t.Run("the newest objects come first, until there are enough values", func(t *testing.T) {
		w := newWorld(t)
		w.state.Watermark = hour + 2
		for i := range 2 {
			w.object(compacted(hour+lake.Partition(i)), fmt.Sprint("compacted ", i))
			w.object(fresh(hour+2+lake.Partition(i), 0), fmt.Sprint("fresh ", i))
		}
		for limit, want := range map[int][]string{
			1: {"fresh 1"},
			2: {"fresh 0", "fresh 1"},
			3: {"compacted 1", "fresh 0", "fresh 1"},
			9: {"compacted 0", "compacted 1", "fresh 0", "fresh 1"},
		} {
			found, cost := w.find(w.engine(), "host", limit, hour-9, hour+9)
			if diff := cmp.Diff(want, texts(found)); diff != "" || found.Looked != len(want) || found.Of != 4 ||
				found.Exact != (limit == 9) || cost.BytesScanned == 0 {
				t.Errorf("limit %d: %+v %+v", limit, found, cost)
			}
		}
	})
	t.Run("objects that readers do not read are not looked at", func(t *testing.T) {
		w := newWorld(t)
		w.state.Watermark = hour + 1
		w.object(compacted(hour), "compacted")
		w.object(fresh(hour, 0), "superseded")
		w.object(fresh(hour+1, 0), "fresh")
		w.object(compacted(hour+1), "not visible yet")
		found, _ := w.find(w.engine(), "host", 9, hour, hour+1)
		if diff := cmp.Diff([]string{"compacted", "fresh"}, texts(found)); diff != "" || found.Of != 2 {
			t.Errorf("%+v", found)
		}
	})
	t.Run("a period without objects has no values, and that is exact", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "h")
		found, _ := w.find(w.engine(), "host", 9, hour+1, hour+2)
		if len(found.Values) > 0 || !found.Exact || found.Unavailable != "" || found.Of != 0 {
			t.Errorf("%+v", found)
		}
	})
	t.Run("a period without lists is unavailable", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "h")
		w.remove(w.listsOf(fresh(hour, 0)))
		found, _ := w.find(w.engine(), "host", 9, hour, hour)
		if len(found.Values) > 0 || found.Exact || found.Unavailable == "" {
			t.Errorf("%+v", found)
		}
	})
	t.Run("an object without lists is not looked at", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "a")
		w.object(fresh(hour, 1), "b")
		w.remove(w.listsOf(fresh(hour, 1)))
		found, _ := w.find(w.engine(), "host", 9, hour, hour)
		if !slices.Equal(texts(found), []string{"a"}) || found.Exact || found.Looked != 1 || found.Of != 2 {
			t.Errorf("%+v", found)
		}
	})
	t.Run("lists of an object of another size are not its lists", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "a")
		w.put(fresh(hour, 0), "rebuilt")
		if found, _ := w.find(w.engine(), "host", 9, hour, hour); found.Unavailable == "" || len(found.Values) > 0 {
			t.Errorf("%+v", found)
		}
	})
	t.Run("damaged lists are as good as none: their objects can be read", func(t *testing.T) {
		for name, content := range map[string]string{"short": "x", "long": strings.Repeat("x", 1<<20), "empty": ""} {
			w := newWorld(t)
			w.object(fresh(hour, 0), "a")
			w.object(fresh(hour, 1), "b")
			w.put(w.listsOf(fresh(hour, 1)), content)
			found, cost := w.find(w.engine(), "host", 9, hour, hour)
			if !slices.Equal(texts(found), []string{"a"}) || found.Exact || len(cost.Skipped) > 0 || found.Looked != 1 {
				t.Errorf("%s: %+v, %+v", name, found, cost)
			}
		}
	})
	t.Run("lost objects are named", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "a")
		w.state.Lost = []engine.LostObject{
			{Name: "in", Partition: hour}, {Name: "before", Partition: hour - 1},
		}
		found, cost := w.find(w.engine(), "host", 9, hour, hour)
		if found.Exact || !slices.Equal(cost.Skipped, []string{"in"}) || len(found.Values) != 1 {
			t.Errorf("%+v, %+v", found, cost)
		}
	})
	t.Run("counts and fields without lists are unavailable", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "a")
		w.fails = errors.New("no request is expected")
		counted := valuesOf("host", 9)
		counted.Counts = true
		for _, shape := range []query.Values{
			counted, valuesOf("ip", 9), valuesOf(`headers["accept"]`, 9), valuesOf(`profiling["x"]`, 9),
		} {
			found, _, err := w.engine().FindValues(t.Context(), bound(t, period(hour, hour), shape, nil), never)
			if err != nil || found.Unavailable == "" || found.Exact || len(found.Values) > 0 {
				t.Errorf("%s: %+v, %v", shape.By, found, err)
			}
		}
	})
	t.Run("a query with a condition is an error", func(t *testing.T) {
		q := bound(t, period(hour, hour)+", status=200", valuesOf("host", 9), nil)
		if _, _, err := newWorld(t).engine().FindValues(t.Context(), q, never); err == nil {
			t.Error("it is answered")
		}
	})
	t.Run("no other query is answered", func(t *testing.T) {
		e := newWorld(t).engine()
		q := bound(t, period(hour, hour), valuesOf("host", 9), nil)
		_, _, err1 := e.Run(t.Context(), q)
		if _, err2 := e.Explain(t.Context(), q); err1 == nil || err2 == nil {
			t.Error(err1, err2)
		}
	})
}

func TestFindValuesIsBounded(t *testing.T) {
	many := newWorld(t)
	for i := range 100 {
		many.object(fresh(hour, i), fmt.Sprintf("%d.example", i))
	}
	for _, c := range []struct {
		name   string
		enough func() bool
		limit  int
		want   int
	}{
		{"64 lists are read at most", never, 1000, 64},
		{"16 lists are read however long it takes", always, 1000, 16},
		{"no list is looked at once there are enough values", never, 5, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := bound(t, period(hour, hour), valuesOf("host", c.limit), nil)
			found, _, err := many.engine().FindValues(t.Context(), q, c.enough)
			if err != nil || found.Looked != c.want || len(found.Values) != c.want || found.Of != 100 || found.Exact {
				t.Errorf("looked at %d of %d, %d values, exact %t, %v",
					found.Looked, found.Of, len(found.Values), found.Exact, err)
			}
		})
	}
	t.Run("lists that are kept take no time", func(t *testing.T) {
		e := many.engine()
		q := bound(t, period(hour, hour), valuesOf("host", 1000), nil)
		for i, enough := range []func() bool{always, never, always} {
			found, _, err := e.FindValues(t.Context(), q, enough)
			if want := []int{16, 64, 64}[i]; err != nil || found.Looked != want {
				t.Errorf("question %d: looked at %d, want %d, %v", i, found.Looked, want, err)
			}
		}
	})
	t.Run("of a long period the newest month is looked at", func(t *testing.T) {
		w := newWorld(t)
		w.object(fresh(hour, 0), "old")
		w.object(fresh(hour+31*24-1, 0), "in the month")
		found, _ := w.find(w.engine(), "host", 9, hour, hour+31*24-1)
		if found.Of != 2 || !found.Exact {
			t.Errorf("a month: %+v", found)
		}
		found, _ = w.find(w.engine(), "host", 9, hour, hour+31*24)
		if found.Of != 1 || found.Exact || !slices.Equal(texts(found), []string{"in the month"}) {
			t.Errorf("an hour more: %+v", found)
		}
	})
	t.Run("of very many objects the newer half of the hours is looked at", func(t *testing.T) {
		w := newWorld(t)
		for h := range lake.Partition(4) {
			for i := range 1300 {
				w.put(fresh(hour+h, i), "x")
			}
		}
		w.object(fresh(hour+3, 99_999), "new") // the last by name
		found, _ := w.find(w.engine(), "host", 9, hour, hour+3)
		if found.Of != 2601 || found.Exact || found.Looked != 1 {
			t.Errorf("%+v", found)
		}
	})
}

func TestListsAreKeptForAMinute(t *testing.T) {
	w := newWorld(t)
	w.object(fresh(hour, 0), "a")
	w.put(fresh(hour, 1), "x") // without lists
	e := w.engine()
	ask := func(want ...string) {
		t.Helper()
		found, _ := w.find(e, "host", 9, hour, hour)
		if !slices.Equal(texts(found), want) {
			t.Errorf("%v, want %v", texts(found), want)
		}
	}
	ask("a")
	before := w.requests["get"] + w.requests["list"]
	w.object(fresh(hour, 1), "b")
	w.object(fresh(hour, 2), "c")
	w.time = w.time.Add(59 * time.Second)
	ask("a")
	if after := w.requests["get"] + w.requests["list"]; after != before {
		t.Errorf("%d requests instead of none", after-before)
	}
	w.time = w.time.Add(time.Second)
	ask("a", "b", "c")
	w.object(compacted(hour), "d")
	ask("a", "b", "c")
	w.state.Watermark = hour + 1
	ask("d")
}

func TestFailuresAreUnavailable(t *testing.T) {
	w := newWorld(t)
	w.object(fresh(hour, 0), "a")
	w.fails = errors.New("throttled")
	q := bound(t, period(hour, hour), valuesOf("host", 9), nil)
	if _, _, err := w.engine().FindValues(t.Context(), q, never); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a listing: %v", err)
	}
	w.fails = nil
	e := w.engine()
	if _, _, err := e.FindValues(t.Context(), q, never); err != nil {
		t.Fatal(err)
	}
	w.time = w.time.Add(2 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := e.FindValues(ctx, q, never); fault.KindOf(err) != fault.Canceled {
		t.Errorf("a context that has ended: %v", err)
	}
	if found, _ := w.find(e, "host", 9, hour, hour); len(found.Values) != 1 {
		t.Errorf("afterwards: %+v", found)
	}
}

func TestCoverage(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.object(fresh(hour, i), "a")
	}
	w.remove(w.listsOf(fresh(hour, 9))) // the last by name
	w.remove(w.listsOf(fresh(hour, 8)))
	listed, of, err := w.engine().Coverage(t.Context())
	if err != nil || listed != 14 || of != 16 {
		t.Errorf("%d of %d, %v", listed, of, err)
	}
	if listed, of, err := newWorld(t).engine().Coverage(t.Context()); err != nil || listed != 0 || of != 0 {
		t.Errorf("an empty lake: %d of %d, %v", listed, of, err)
	}
}

func TestConcurrentSearches(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		w.object(fresh(hour, i), fmt.Sprintf("%d.example", i))
	}
	e := w.engine()
	q := bound(t, period(hour, hour), valuesOf("host", 1000), nil)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			found, _, err := e.FindValues(context.WithoutCancel(t.Context()), q, never)
			if err != nil || len(found.Values) != 40 || !found.Exact {
				t.Errorf("%d values, exact %t, %v", len(found.Values), found.Exact, err)
			}
		})
	}
	group.Wait()
}
