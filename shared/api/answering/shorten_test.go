package answering

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/search"
)

func TestLongKeysAreCut(t *testing.T) {
	long := strings.Repeat("é", 1025)
	results := []search.TopXResult{{Key: long}, {Key: long + "x"}, {Key: long[:2*1024]}, {Key: "short"}}
	shortenKeys(results)
	for i, cut := range []bool{true, true, false, false} {
		if n := len([]rune(results[i].Key)); results[i].KeyTruncated != cut || n > maxKey {
			t.Errorf("key %d: %d characters, truncated %v", i, n, results[i].KeyTruncated)
		}
	}
	if results[0].Key == results[1].Key {
		t.Error("two keys became one")
	}
	if results[2].Key != long[:2*1024] || results[3].Key != "short" {
		t.Error("a key that fits was changed")
	}
}

func TestLongFindingsAreCut(t *testing.T) {
	results := []search.DiffResult{
		{Value: strings.Repeat("ä", maxKey), Condition: "c", Excluded: "e"},
		{Value: strings.Repeat("ä", maxKey+1), Condition: "c", Excluded: "e"},
		{Value: int64(7), Condition: "c", Excluded: "e"},
	}
	shortenFindings(results)
	for i, cut := range []bool{false, true, false} {
		r := results[i]
		text, _ := r.Value.(string)
		if r.ValueTruncated != cut || (r.Condition == "") != cut || (r.Excluded == "") != cut ||
			utf8.RuneCountInString(text) > maxKey {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

func TestLongValuesOfStatsAreCut(t *testing.T) {
	long := strings.Repeat("é", maxKey+1)
	results := []search.StatsResult{{Value: long}, {Value: "short"}, {Value: int64(7)}, {}}
	shortenGroups(results)
	cut, isText := results[0].Value.(string)
	if !isText || len([]rune(cut)) != maxKey || !results[0].ValueTruncated {
		t.Errorf("the long value has %d characters, truncated %v", len([]rune(cut)), results[0].ValueTruncated)
	}
	for i, want := range []any{"short", int64(7), nil} {
		if r := results[i+1]; r.Value != want || r.ValueTruncated {
			t.Errorf("value %v became %v, truncated %v", want, r.Value, r.ValueTruncated)
		}
	}
}
