package rollup_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup"
)

const start = 1_767_225_600 // 2026-01-01

func example() *rollup.Day {
	return &rollup.Day{
		Start:    start,
		HashID:   1 << 63,
		Sections: []rollup.Section{{Name: "values", Offset: 7, Length: 1 << 40, Checksum: 1 << 31}},
		Objects:  []rollup.Object{{Name: "compact/2026/01/01/00/a.parquet", Bytes: 4096, Rows: 9, MinTsMs: start * 1000, MaxTsMs: start*1000 + 5}},
		Hosts: []rollup.Host{
			{Hour: start, Requests: 1},
			{Hour: start, Name: "", Named: true, Requests: 2, Bandwidth: rollup.Sum{High: -1, Low: math.MaxUint64}},
			{Hour: start + 3600, Name: "a.example", Named: true, Requests: 6, Timed: 5, TimeUs: rollup.Sum{High: 1, Low: 7}},
		},
		Segments: []rollup.Segment{
			{
				Start: start, Seconds: 3600, Requests: 3, Blocked: 1, Challenges: 2, Human: 3, OriginBlocked: 1, IPs: 2, Sessions: 1,
				BytesSent: rollup.Sum{Low: 12}, Statuses: []query.StatusCount{{Status: 200, Count: 2}, {Status: -7, Count: 1}},
				Origins: []query.StatusCount{},
			},
			{Start: start, Seconds: 86400, Requests: 9, Statuses: []query.StatusCount{}, Origins: []query.StatusCount{{Status: 502, Count: 9}}},
		},
	}
}

func TestDecode(t *testing.T) {
	undivided, divided, subset := example(), example(), example()
	divided.Divisions = []rollup.Division{
		{Subsets: []rollup.Subset{{Field: "branch"}, {Field: "branch", Value: "é"}}, Complete: true}, {Subsets: []rollup.Subset{}},
	}
	earlier := example()
	earlier.Divisions = divided.Divisions[:1]
	subset.Subset = rollup.Subset{Field: "host", Value: "a.example"}
	for _, want := range []*rollup.Day{undivided, divided, earlier, subset} {
		want.Bytes = len(want.Encode())
		got, err := rollup.Decode(want.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-encoded +decoded:\n%s", diff)
		}
	}
}

// TestSubsetsOf: conditions select subsets if they are all comparisons with values of the field of subsets.
func TestSubsetsOf(t *testing.T) {
	branches := func(values ...string) (all []rollup.Subset) {
		for _, value := range values {
			all = append(all, rollup.Subset{Field: "branch", Value: value})
		}
		return all
	}
	host := rollup.Subset{Field: "host", Value: "a.example"}
	for text, want := range map[string][]rollup.Subset{
		`host="a.example"`: {host}, `host in ("a.example", "b.example"), host="a.example"`: {host},
		``: nil, `branch="main"`: branches("main"), `branch in ("main")`: branches("main"), `branch=""`: branches(""),
		`branch="main", branch in ("main")`: branches("main"), `branch in ("main", "b", "main")`: branches("b", "main"),
		`branch in ("main", "b"), branch in ("b", "main")`: branches("b", "main"),
		`branch in ("main", "b"), branch="main"`:           branches("main"), `branch in ("a", "b", "c"), branch in ("c", "d", "b")`: branches("b", "c"),
	} {
		var conditions []query.Condition
		if text != "" {
			conditions = querytest.Selection(text).Conditions
		}
		got, rest, ok := rollup.SubsetsOf(conditions)
		if diff := cmp.Diff(want, got); !ok || rest != nil || diff != "" {
			t.Errorf("%s: %t, (-want +got):\n%s", text, ok, diff)
		}
		for _, subset := range got {
			bound, err := subset.Conditions()
			if again, _, ok := rollup.SubsetsOf(bound); err != nil || !ok || !slices.Equal(again, []rollup.Subset{subset}) {
				t.Errorf("%s: bound again: %+v, %t, %v", text, again, ok, err)
			}
		}
	}
	for _, text := range []string{
		`not branch="main"`, `branch!="main"`, `branch~"main"`, `hostname="main"`, `branch="main", status=200`,
		`branch="main", branch="b"`, `host="a", branch="b", host="c"`, `host in ("a", "b"), host~"a"`, `cookies["branch"]="main"`,
	} {
		if got, _, ok := rollup.SubsetsOf(querytest.Selection(text).Conditions); ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
	both := querytest.Selection(`host="a.example", branch in ("b", "main"), branch="main"`).Conditions
	if got, rest, ok := rollup.SubsetsOf(both); !ok || !slices.Equal(got, []rollup.Subset{host}) || len(rest) != 1 ||
		!slices.Equal(rest[0], branches("main")) {
		t.Errorf("a host of a branch: %+v and %+v, %t", got, rest, ok)
	}
	divided := func(subsets []rollup.Subset, complete bool) rollup.Day {
		return rollup.Day{Divisions: []rollup.Division{{Subsets: subsets, Complete: complete}}}
	}
	for _, of := range []struct {
		day  rollup.Day
		has  [][]rollup.Subset
		not  [][]rollup.Subset
		many int // parts
	}{
		{rollup.Day{}, [][]rollup.Subset{nil}, [][]rollup.Subset{branches("a")}, 0},
		{divided(branches("a"), false), [][]rollup.Subset{nil}, [][]rollup.Subset{branches("a")}, 1},
		{
			divided(branches("a"), true), [][]rollup.Subset{nil, branches("a"), branches("a", "b")},
			[][]rollup.Subset{branches("b")}, 0,
		},
		{
			divided(branches("b", "a"), true), [][]rollup.Subset{nil, branches("a", "b", "c")},
			[][]rollup.Subset{branches("a"), branches("b", "c")}, 2,
		},
		{
			rollup.Day{Subset: branches("a")[0]}, [][]rollup.Subset{branches("a")},
			[][]rollup.Subset{nil, branches("b"), branches("a", "b")}, 0,
		},
	} {
		for _, subsets := range of.has {
			if !of.day.Has(subsets) {
				t.Errorf("%+v does not have %v", of.day, subsets)
			}
		}
		for _, subsets := range of.not {
			if of.day.Has(subsets) {
				t.Errorf("%+v has %v", of.day, subsets)
			}
		}
		if lacks := of.day.Lacks(branches("c")); lacks != (len(of.day.Divisions) > 0 && of.day.Divisions[0].Complete) {
			t.Errorf("%+v lacks c: %t", of.day, lacks)
		}
		if of.day.Lacks(nil) || of.day.Lacks(branches("a", "c")) {
			t.Errorf("%+v lacks a", of.day)
		}
		if parts := of.day.Parts(); len(parts) != of.many {
			t.Errorf("%+v has the parts %v", of.day, parts)
		}
	}
}

// TestDecodeDamaged: a rollup with any byte changed, missing or added is refused.
func TestDecodeDamaged(t *testing.T) {
	whole := example().Encode()
	refused := func(content []byte, what string, at int) {
		if _, err := rollup.Decode(content); !errors.Is(err, rollup.ErrInvalid) {
			t.Errorf("%s %d: %v, want ErrInvalid", what, at, err)
		}
	}
	for i := range whole {
		changed := append([]byte{}, whole...)
		changed[i] ^= 1
		refused(changed, "changed at", i)
		refused(whole[:i], "cut at", i)
	}
	refused(append(append([]byte{}, whole...), 0), "longer by", 1)
}

func FuzzDecode(f *testing.F) {
	whole := example().Encode()
	f.Add(whole[:len(whole)-32])
	divided := example()
	divided.Divisions = []rollup.Division{{Subsets: []rollup.Subset{{Field: "branch", Value: "main"}}}, {Complete: true}}
	whole = divided.Encode()
	f.Add(whole[:len(whole)-32])
	f.Add([]byte("orrery rollup\n\x02\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		day, err := rollup.Decode(rollup.Sealed(content))
		if err != nil {
			return
		}
		day.Bytes = len(day.Encode())
		again, err := rollup.Decode(day.Encode())
		if diff := cmp.Diff(day, again); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

// hostCounts are counts of two selections.
var hostCounts = query.Counts{By: querytest.Dimensions("host")[0], Of: []query.Selection{{}, querytest.Selection("status=404")}}

// countRows are counts of the first and the last minute of a day.
var countRows = []query.CountsRow{
	{Segment: start, Value: "", HasValue: true, N: []int64{1, 0, 0}},
	{Segment: start + 86340, Value: "", HasValue: true, N: []int64{1 << 40, 1 << 40, 1}},
	{Segment: start + 60, Value: "a.example", HasValue: true, N: []int64{300, 0, 300}},
	{Segment: start + 60, N: []int64{2, 2, 0}},
}

// counts reads the section with counts of three numbers.
func counts(content []byte) (rows []query.CountsRow, _ error) {
	row := query.CountsRow{}
	return rows, rollup.EachCount(content, start, 3, func(text []byte, hasValue bool) {
		row.Value, row.HasValue = string(text), hasValue
	}, func(minute int64, n []int64) {
		row.Segment, row.N = minute, slices.Clone(n)
		rows = append(rows, row)
	})
}

func TestCounts(t *testing.T) {
	var lists rollup.Lists
	lists.AddCounts(hostCounts, start, countRows)
	got, err := counts(lists.Bytes)
	if diff := cmp.Diff(countRows, got); err != nil || diff != "" {
		t.Errorf("-written +read: %v\n%s", err, diff)
	}
	none := rollup.Lists{}
	none.AddNoCounts(hostCounts)
	other := hostCounts
	other.Of = other.Of[1:]
	for _, c := range []struct {
		sections   []rollup.Section
		of         query.Counts
		has, known bool
	}{{lists.Sections, hostCounts, true, true}, {none.Sections, hostCounts, false, true}, {lists.Sections, other, false, false}} {
		if has, known := (&rollup.Day{Sections: c.sections}).HasCounts(c.of); has != c.has || known != c.known {
			t.Errorf("HasCounts returns %t and %t, want %t and %t", has, known, c.has, c.known)
		}
	}
}

// FuzzCounts: a section that is damaged is invalid or has other counts. It is never read beyond its end.
func FuzzCounts(f *testing.F) {
	var lists rollup.Lists
	lists.AddCounts(hostCounts, start, countRows)
	for i := range lists.Bytes {
		f.Add(lists.Bytes[:i])
		changed := slices.Clone(lists.Bytes)
		changed[i] ^= 0xff
		f.Add(changed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if _, err := counts(content); err != nil && !errors.Is(err, rollup.ErrInvalid) {
			t.Error(err)
		}
	})
}
