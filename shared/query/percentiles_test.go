package query_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

func TestRoundDuration(t *testing.T) {
	for _, test := range []struct{ us, want int64 }{
		{0, 0},
		{1, 1},
		{999, 999},
		{1000, 1000},
		{1009, 1000},
		{1010, 1010},
		{9999, 9990},
		{10_000, 10_000},
		{123_456, 123_000},
		{999_999, 999_000},
		{-999, -999},
		{-1009, -1000},
		{-123_456, -123_000},
		{math.MaxInt64, 9_220_000_000_000_000_000},
		{math.MinInt64, -9_220_000_000_000_000_000},
	} {
		if got := query.RoundDuration(test.us); got != test.want {
			t.Errorf("%d is rounded to %d, not to %d", test.us, got, test.want)
		}
	}
	values := map[int64]bool{}
	for us := range int64(100_000) {
		values[query.RoundDuration(us)] = true
	}
	if len(values) != 1000+2*900 {
		t.Errorf("durations below 100,000 have %d rounded values, not 2,800", len(values))
	}
	for _, us := range querytest.BoundaryDurations() {
		got := query.RoundDuration(us)
		if change := math.Abs(float64(us)-float64(got)) / math.Max(1, math.Abs(float64(us))); change >= 0.01 {
			t.Errorf("%d is rounded to %d, which differs by %g", us, got, change)
		}
		if query.RoundDuration(got) != got {
			t.Errorf("%d, a rounded duration, is rounded again", got)
		}
	}
}

func TestRanks(t *testing.T) {
	counts := func(list ...int64) []query.DurationCount { return query.CountDurations(list) }
	var hundred []query.DurationCount
	for us := range int64(100) {
		hundred = append(hundred, query.DurationCount{Us: us + 1, N: 1})
	}
	for _, test := range []struct {
		name   string
		counts []query.DurationCount
		want   query.Ranks
	}{
		{"no durations have no percentiles", nil, query.Ranks{}},
		{"one duration is every percentile", counts(7), query.RanksAt([]int64{7, 7, 7})},
		{"the lower of two durations is the median", counts(8, 7), query.RanksAt([]int64{7, 8, 8})},
		{"the middle one of three durations is the median", counts(9, 7, 8), query.RanksAt([]int64{8, 9, 9})},
		{"the ranks of a hundred durations are their numbers", hundred, query.RanksAt([]int64{50, 90, 99})},
		{"equal durations have a rank each", counts(5, 5, 5, 5, 5, 5, 5, 5, 5, 6), query.RanksAt([]int64{5, 5, 6})},
		{"zero is a duration", counts(0, 0, 3), query.RanksAt([]int64{0, 3, 3})},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := query.RanksOf(test.counts); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestCountDurations counts lists of every length in which each power of ten occurs, also negative ones and the
// longest.
func TestCountDurations(t *testing.T) {
	var all []int64
	for unit := int64(1); ; unit *= 10 {
		for _, us := range []int64{unit - 1, unit, unit + unit/100, 9*unit + unit/10*9} {
			all = append(all, query.RoundDuration(us))
		}
		if unit == 1e18 {
			break
		}
	}
	all = append(all, query.RoundDuration(math.MaxInt64))
	for _, least := range []int64{0, -1, query.RoundDuration(math.MinInt64)} {
		for _, n := range []int{0, 1, 100, 4_095, 4_096, 20_000} {
			rounded, want := make([]int64, n), map[int64]int64{}
			for i := range rounded {
				rounded[i] = max(least, all[i*7%len(all)])
				if i%1000 == 999 {
					rounded[i] = least
				}
				want[rounded[i]]++
			}
			got := query.CountDurations(rounded)
			for i, c := range got {
				if want[c.Us] != c.N || i > 0 && got[i-1].Us >= c.Us {
					t.Errorf("%d durations from %d: number %d of the counts is %+v, want %d after %+v",
						n, least, i, c, want[c.Us], got[max(0, i-1)])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d durations from %d: %d different ones, want %d", n, least, len(got), len(want))
			}
		}
	}
}

// TestRanksOfManyDurations compares percentiles with the exact durations, sorted.
func TestRanksOfManyDurations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 600; n++ {
		exact := make([]int64, n)
		rounded, parts := make([]int64, n), [2][]int64{}
		for i := range exact {
			exact[i] = int64(math.Exp(random.Float64() * 20))
			rounded[i] = query.RoundDuration(exact[i])
			parts[i%2] = append(parts[i%2], rounded[i])
		}
		slices.Sort(exact)
		got := query.RanksOf(query.CountDurations(rounded))
		if got.P50 > got.P90 || got.P90 > got.P99 {
			t.Fatalf("the percentiles of %d durations are not in order: %+v", n, got)
		}
		for i, us := range []int64{got.P50, got.P90, got.P99} {
			at := exact[(int64(n)*query.Percents[i]+99)/100-1]
			if us != query.RoundDuration(at) {
				t.Fatalf("percentile %d of %d durations is %d; the nearest rank is %d", query.Percents[i], n, us, at)
			}
			if below := float64(at-us) / float64(at); below < 0 || below >= 0.01 {
				t.Fatalf("percentile %d of %d durations is %g below the nearest rank", query.Percents[i], n, below)
			}
		}
		merged := query.MergeCounts(query.CountDurations(parts[0]), query.CountDurations(parts[1]))
		if ranks := query.RanksOf(merged); ranks != got {
			t.Fatalf("the percentiles of merged counts are %+v, not %+v", ranks, got)
		}
	}
}
