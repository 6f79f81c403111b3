package search

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
)

// TestEachCounts: the results are those that were packed, each value once, also where one with fewer segments follows.
func TestEachCounts(t *testing.T) {
	shop := `a"b\u00e9` + "\n"
	rows := []query.CountsRow{
		{Segment: 1795132800, Value: shop, HasValue: true, N: []int64{1, 0, 0}},
		{Segment: 1795136400, Value: shop, HasValue: true, N: []int64{2, 2, 0}},
		{Segment: -60, Value: shop, HasValue: true, N: []int64{5, 0, 0}},
		{Segment: 1795132800, HasValue: true, N: []int64{1 << 62, 7, 9}},
		{Segment: 1795132800, N: []int64{3, 0, 3}},
	}
	want := []CountsResult{
		{Value: &shop, TimePeriods: []int64{1795132800, 1795136400, -60}, N: [][]int64{{1, 2, 5}, {0, 2, 0}, {0, 0, 0}}},
		{Value: new(string), TimePeriods: []int64{1795132800}, N: [][]int64{{1 << 62}, {7}, {9}}},
		{TimePeriods: []int64{1795132800}, N: [][]int64{{3}, {0}, {3}}},
	}
	text, err := json.Marshal(packCounts(rows))
	if err != nil {
		t.Fatal(err)
	}
	var got []CountsResult
	err = EachCounts(text, func(r CountsResult) {
		one := CountsResult{Value: r.Value, TimePeriods: slices.Clone(r.TimePeriods)}
		for _, list := range r.N {
			one.N = append(one.N, slices.Clone(list))
		}
		got = append(got, one)
	})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, none := range []any{PackedCounts(nil), packCounts(nil)} {
		text, err := json.Marshal(none)
		if err != nil {
			t.Fatal(err)
		}
		if err := EachCounts(text, func(CountsResult) { t.Error("a result") }); err != nil {
			t.Error(err)
		}
	}
	for _, damaged := range []string{"", "{}", `"AA=="`, `"Qg=="`, `"AQEC"`, string(text[:len(text)-9]) + `"`} {
		if err := EachCounts([]byte(damaged), func(CountsResult) {}); err == nil {
			t.Errorf("%.40s: no error", damaged)
		}
	}
}

// TestBindCounts: a question has no more lists of conditions than a mask of its numbers has room for.
func TestBindCounts(t *testing.T) {
	conditions := slices.Repeat([]string{"status>=500"}, query.MostCounted)
	if _, err := BindCounts("host", conditions); err != nil {
		t.Error(err)
	}
	_, err := BindCounts("host", append(conditions, ""))
	if wrong := new(*ParamError); !errors.As(err, wrong) || (*wrong).Param != "of" {
		t.Errorf("error %v", err)
	}
}
