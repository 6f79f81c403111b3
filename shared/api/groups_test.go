package api

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/search"
)

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
