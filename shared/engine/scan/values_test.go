package scan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// valueTerms are dimensions of every type and layout, among them the commonest ones for completion.
const valueTerms = "ip/24,ip/48,country,path,host,branch,request_id,reason,method,result,session"

func never() bool { return false }

// prefixes returns all beginnings of up to three characters of the values, and the values themselves. Letters are in
// another case than in the values.
func prefixes(values []string) []string {
	known := map[string]bool{"": true}
	list := []string{""}
	add := func(text string) {
		if folded := query.Fold(text); !known[folded] && utf8.ValidString(text) {
			known[folded] = true
			list = append(list, strings.ToUpper(text))
		}
	}
	for _, value := range values {
		runes := []rune(value)
		for n := range min(len(runes), 3) {
			add(string(runes[:n+1]))
		}
		add(value)
	}
	return list
}

func bindBranches(t *testing.T, text string, shape query.Shape, branches []string) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape, query.WithBranches(branches))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func valuesIn(
	t *testing.T, q query.Query, objects []lake.Object, enough func() bool, o scan.Options,
) scan.FoundValues {
	t.Helper()
	found, err := scan.Values(t.Context(), q, objects, enough, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// branchesOf returns the branches of rows.
func branchesOf(rows []lake.Row) (names []string) {
	known := map[string]bool{}
	for _, r := range rows {
		if r.Branch != nil && !known[*r.Branch] {
			known[*r.Branch] = true
			names = append(names, *r.Branch)
		}
	}
	return names
}

// TestValuesOfBranches compares the values that a caller may see with the reference: for every caller, every term and
// every prefix that occurs. A caller limited to branches gets every value of these branches and no other one. The
// callers are one without a limit, one for each branch, one for two branches and one for a branch without records.
func TestValuesOfBranches(t *testing.T) {
	rows := enginetest.Records(t, 80, 11)
	for i := range rows { // in two objects
		rows[i].TsMs = enginetest.Start.UnixMilli() + int64(i)*7_200_000/int64(len(rows))
		rows[i].Source, rows[i].Line = "s", int64(i)
		if rows[i].Branch = nil; i%4 > 0 {
			rows[i].Branch = &[]string{"prod", "staging", "Prod"}[i%4-1]
		}
	}
	objects, pointers := stored(t, rows), pointersTo(rows)
	names := branchesOf(rows)
	if len(objects) != 2 || len(names) < 2 {
		t.Fatalf("the records are in %d objects and of the branches %q", len(objects), names)
	}
	callers := [][]string{nil, {"no such branch"}, names[:2]}
	for _, name := range names {
		callers = append(callers, []string{name})
	}
	asked, hidden := 0, 0
	ask := func(shape query.Values, caller []string, known int) {
		t.Helper()
		q := bindBranches(t, hours, shape, caller)
		want := reference.Evaluate(&q, pointers).Values
		got := valuesIn(t, q, objects, never, scan.Options{Workers: 1})
		diff := cmp.Diff(want, got.ValuesAnswer, cmpopts.EquateEmpty())
		if diff != "" || len(got.Looked) != len(objects) {
			t.Fatalf("%s, %s, counts %t, caller %q: looked at %d of %d objects (-reference +scan):\n%s",
				shape.By, shape.Find, shape.Counts, caller, len(got.Looked), len(objects), diff)
		}
		asked++
		if len(caller) > 0 && len(want.Values) < known {
			hidden++
		}
	}
	terms := append(querytest.Dimensions(valueTerms), querytest.Dimensions(querytest.MixedDimensions)...)
	for _, by := range terms {
		all := query.Values{By: by, Find: query.Beginning(""), Limit: 1 << 20}
		q := bind(t, hours, all)
		var known []string // values of all branches, so that each caller also asks for values of others
		for _, v := range reference.Evaluate(&q, pointers).Values.Values {
			known = append(known, v.Value)
		}
		for i, text := range prefixes(known) {
			if testing.Short() && i > 0 {
				break
			}
			for _, caller := range callers {
				shape := all
				shape.Find = query.Beginning(text)
				ask(shape, caller, len(known))
				if i%8 == 0 {
					shape.Find = query.Containing(text)
					ask(shape, caller, len(known))
					shape.Counts = true
					ask(shape, caller, len(known))
				}
			}
		}
	}
	t.Logf("%d questions, %d of callers who must not see every value", asked, hidden)
	if hidden < 100 {
		t.Errorf("only %d questions test what is hidden", hidden)
	}
}

func pointersTo(rows []lake.Row) []*lake.Row {
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return all
}

// overwriteDataPages overwrites the data pages of every column with a dictionary. It returns the size of the
// dictionary pages by column.
func overwriteDataPages(t *testing.T, path string) map[string]int64 {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	object, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, group := range object.Metadata().RowGroups {
		for _, column := range group.Columns {
			m := column.MetaData
			if m.DictionaryPageOffset == 0 {
				continue
			}
			sizes[m.PathInSchema[0]] += m.DataPageOffset - m.DictionaryPageOffset
			end := m.DictionaryPageOffset + m.TotalCompressedSize
			if _, err := file.WriteAt(make([]byte, end-m.DataPageOffset), m.DataPageOffset); err != nil {
				t.Fatal(err)
			}
		}
	}
	return sizes
}

// TestValuesReadDictionariesOnly: for fields of one value, unreadable data pages make no difference, and only the
// dictionary pages are read.
func TestValuesReadDictionariesOnly(t *testing.T) {
	rows := enginetest.Records(t, 600, 12)
	objects, pointers := stored(t, rows), pointersTo(rows)
	sizes := map[string]int64{}
	for _, o := range objects {
		for column, size := range overwriteDataPages(t, o.Path) {
			sizes[column] += size
		}
	}
	all := query.Values{Find: query.Beginning(""), Limit: 1 << 20}
	for _, by := range querytest.Dimensions(`country,path,host,branch,status,user_agent,trigger_counters["rl"]`) {
		t.Run(by.String(), func(t *testing.T) {
			shape := all
			shape.By = by
			q := bind(t, hours, shape)
			got := valuesIn(t, q, objects, never, scan.Options{})
			want := reference.Evaluate(&q, pointers).Values
			if diff := cmp.Diff(want, got.ValuesAnswer); diff != "" || len(want.Values) == 0 {
				t.Errorf("(-reference +scan):\n%s", diff)
			}
			if column := by.Sources[0]; column.Member == "" && got.Dictionary != sizes[column.Column] {
				t.Errorf("%d bytes are read, the dictionaries have %d", got.Dictionary, sizes[column.Column])
			}
			if len(got.Columns) > 0 {
				t.Errorf("columns of %d objects are read", len(got.Columns))
			}
		})
	}
	of := func(by string) query.Values { return query.Values{By: querytest.Dimensions(by)[0], Limit: 9} }
	for name, q := range map[string]query.Query{
		"a list":                    bind(t, hours, of("tags")),
		"a caller with branches":    bindBranches(t, hours, of("host"), []string{"x"}),
		"a field without one":       bind(t, hours, of("request_id")),
		"a member with other names": bind(t, hours, of(`headers["a"]`)),
	} {
		t.Run(name+" needs the data pages", func(t *testing.T) {
			var wrong *engine.ObjectError
			if name == "a field without one" {
				found := valuesIn(t, q, objects, never, scan.Options{})
				if len(found.Columns) == 0 || found.Dictionary > 0 {
					t.Errorf("%d objects, %d bytes of dictionaries", len(found.Columns), found.Dictionary)
				}
				return
			}
			if _, err := scan.Values(t.Context(), q, objects, never, scan.Options{}); !errors.As(err, &wrong) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestValuesStopEarly: the newest objects are looked at first, and the answer has the objects that were looked at.
func TestValuesStopEarly(t *testing.T) {
	const many = 30
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := enginetest.NewStore(t, nil)
	for i := range many {
		at := begin.Add(time.Duration(i) * time.Hour).UnixMilli()
		host := fmt.Sprintf("host-%02d.example", i)
		rows := []lake.Row{{TsMs: at, Source: "s", Line: 1, Host: &host}, {TsMs: at, Source: "s", Line: 2}}
		store.Add(t, lake.ObjectName(lake.PartitionOf(at), "s", 0), rows)
	}
	objects, err := store.Objects(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	const period = "timestamp between 2026-01-01 and 2026-01-03"
	hosts := querytest.Dimensions("host")[0]
	ask := func(t *testing.T, find query.Find, limit int, enough func() bool) scan.FoundValues {
		t.Helper()
		q := bind(t, period, query.Values{By: hosts, Find: find, Limit: limit})
		return valuesIn(t, q, objects, enough, scan.Options{})
	}
	check := func(t *testing.T, found scan.FoundValues, looked int, first string, more bool) {
		t.Helper()
		wrong := len(found.Looked) != looked || found.More != more
		if wrong || len(found.Values) == 0 || found.Values[0].Value != first {
			t.Errorf("looked at %d objects, found %v, more: %t", len(found.Looked), found.Values, found.More)
		}
	}
	t.Run("when there are enough values", func(t *testing.T) {
		check(t, ask(t, query.Beginning("HOST"), 3, never), 3, "host-27.example", false)
	})
	t.Run("after 20 objects", func(t *testing.T) {
		check(t, ask(t, query.Beginning("host"), 25, never), 20, "host-10.example", false)
	})
	t.Run("when the caller has waited long enough", func(t *testing.T) {
		asked := 0
		enough := func() bool { asked++; return asked == 4 }
		check(t, ask(t, query.Beginning("host"), 25, enough), 4, "host-26.example", false)
	})
	t.Run("but not before the first object", func(t *testing.T) {
		check(t, ask(t, query.Beginning("host"), 25, func() bool { return true }), 1, "host-29.example", false)
	})
	t.Run("but not when they are counted", func(t *testing.T) {
		q := bind(t, period, query.Values{By: hosts, Find: query.Beginning(""), Limit: 3, Counts: true})
		check(t, valuesIn(t, q, objects, func() bool { return true }, scan.Options{}), many, "host-00.example", true)
	})
	t.Run("a value that is not in the newest 20 objects is not found", func(t *testing.T) {
		found := ask(t, query.Beginning("host-05"), 25, never)
		if len(found.Values) > 0 || len(found.Looked) != 20 {
			t.Errorf("found %v in %d objects", found.Values, len(found.Looked))
		}
	})
}

// TestValuesOfAnHourThatTouchesThePeriod: a dictionary covers a whole row group, so values of records outside the
// period may be found; counted values are of the period only.
func TestValuesOfAnHourThatTouchesThePeriod(t *testing.T) {
	at := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC).UnixMilli()
	early, late := "early.example", "late.example"
	objects := stored(t, []lake.Row{
		{TsMs: at, Source: "s", Line: 1, Host: &early}, {TsMs: at + 60_000, Source: "s", Line: 2, Host: &late},
	})
	const period = "timestamp between 2026-01-01 22:01 and 2026-01-01 22:02"
	for _, c := range []struct {
		counts bool
		want   int
	}{{false, 2}, {true, 1}} {
		host := querytest.Dimensions("host")[0]
		shape := query.Values{By: host, Find: query.Beginning(""), Limit: 9, Counts: c.counts}
		if got := valuesIn(t, bind(t, period, shape), objects, never, scan.Options{}); len(got.Values) != c.want {
			t.Errorf("counts %t: %v", c.counts, got.Values)
		}
	}
}

// TestManyValuesInLittleMemory: values that do not fit into the memory all at once are counted one part after the other.
func TestManyValuesInLittleMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]lake.Row, 8_000)
	for i := range rows {
		url, agent, blocked := fmt.Sprint("/", random.IntN(5_000)), fmt.Sprint("agent ", random.IntN(50)), random.IntN(3) == 0
		rows[i] = lake.Row{
			TsMs:   enginetest.Start.UnixMilli() + int64(i)*10_800_000/int64(len(rows)),
			Source: "s", Line: int64(i), URL: &url, IP: &url, UserAgent: &agent, Blocked: &blocked,
		}
	}
	objects := stored(t, rows)
	by := querytest.Dimensions("ip,url,user_agent,country")
	for _, shape := range []query.Shape{
		query.Facets{By: by, Limit: 9},
		query.Facets{By: by[:1], Limit: 80, ByBlocked: true},
		query.Diff{By: by, Limit: 20, Least: 2, Select: querytest.Selection("blocked is true")},
	} {
		for _, memory := range []int64{60_000, 200_000, 1 << 24} { // all values take 700,000 bytes
			shared := engine.NewMemory(1<<24, 1<<24)
			o := scan.Options{Memory: memory, Workers: 2, Shared: shared}
			if err := answer(t, bind(t, hours, shape), rows, objects, o); err != nil {
				t.Errorf("%T in %d bytes: %v", shape, memory, err)
			}
			if !shared.Take("", 1<<24) {
				t.Errorf("%T in %d bytes has not given back all memory", shape, memory)
			}
		}
	}
	counted := query.Values{By: by[0], Find: query.Beginning("/1"), Limit: 9, Counts: true}
	much := valuesIn(t, bind(t, hours, counted), objects, never, scan.Options{})
	little := valuesIn(t, bind(t, hours, counted), objects, never, scan.Options{Memory: 40_000})
	if len(much.Values) != 9 || !reflect.DeepEqual(much.Values, little.Values) || !much.More || !little.More {
		t.Errorf("%v, in little memory %v", much, little)
	}
}

// TestTooManyValues: a scan ends as soon as it has met more values than an answer may be about.
func TestTooManyValues(t *testing.T) {
	rows := enginetest.Records(t, 600, 13)
	objects := stored(t, rows)
	by := querytest.Dimensions("request_id")
	for _, shape := range []query.Shape{query.Facets{By: by, Limit: 9}, query.Diff{By: by, Least: 1}} {
		for most, want := range map[int64]bool{600: false, 100: true} {
			undo := scan.SetMaxDistinct(most)
			_, _, err := scan.Answer(t.Context(), bind(t, hours, shape), objects, scan.Options{Workers: 1, Memory: 1 << 20})
			undo()
			var known *fault.Error
			if refused := errors.As(err, &known) && known.Kind == fault.EngineLimit; refused != want || !want && err != nil {
				t.Errorf("%T with at most %d values: %v", shape, most, err)
			}
		}
	}
}
