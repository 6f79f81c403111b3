package search_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/orrery/orrery/shared/search"
)

// TestEachCounts: the results are what encoding/json reads, also where a shorter one follows a longer one.
func TestEachCounts(t *testing.T) {
	shop := `a"b\u00e9` + "\n"
	want := []search.CountsResult{
		{Value: &shop, TimePeriods: []int64{1795132800, 1795136400, -60}, N: [][]int64{{1, 1 << 62, 3}, {0, 0, 0}}},
		{TimePeriods: []int64{0}, N: [][]int64{{7}}},
		{Value: new(string), TimePeriods: []int64{5}, N: [][]int64{{8}, {9}, {10}}},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []search.CountsResult
	err = search.EachCounts(text, func(r search.CountsResult) {
		copied, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var one search.CountsResult
		if err := json.Unmarshal(copied, &one); err != nil {
			t.Fatal(err)
		}
		got = append(got, one)
	})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, damaged := range []string{"", "{}", `[{"n":[["x"]]}]`, string(text[:len(text)-1])} {
		if err := search.EachCounts([]byte(damaged), func(search.CountsResult) {}); err == nil {
			t.Errorf("%.40s: no error", damaged)
		}
	}
}
