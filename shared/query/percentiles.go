package query

import (
	"maps"
	"slices"
)

// Percentiles holds the percentiles of the three durations of some records.
type Percentiles struct{ Origin, Svc, Total Ranks }

// Ranks holds percentiles of a duration in microseconds, by nearest rank: the p-th percentile is the smallest duration
// such that at least p percent of the durations are not longer. All are rounded by RoundDuration. The zero value means
// that no record has the duration.
type Ranks struct {
	Known         bool
	P50, P90, P99 int64
}

// Percents are the percents of the percentiles, in the order of Ranks.
var Percents = []int64{50, 90, 99}

// RoundingDigits is the number of significant digits that RoundDuration keeps, so it changes a duration by less than
// one percent.
const RoundingDigits = 3

// RoundDuration rounds a duration toward zero to three significant digits. So there are at most 900 different durations
// for each power of ten, and engines count the records of each instead of sorting them.
func RoundDuration(us int64) int64 {
	unit := int64(1)
	for rest := us / 1000; rest != 0; rest /= 10 {
		unit *= 10
	}
	return us - us%unit
}

// RanksOf returns the percentiles of durations, given the number of records that have each of them.
func RanksOf(counts map[int64]int64) Ranks {
	n := int64(0)
	for _, count := range counts {
		n += count
	}
	if n == 0 {
		return Ranks{}
	}
	var ranks []int64
	upTo := int64(0)
	for _, us := range slices.Sorted(maps.Keys(counts)) {
		upTo += counts[us]
		for len(ranks) < len(Percents) && 100*upTo >= Percents[len(ranks)]*n {
			ranks = append(ranks, us)
		}
	}
	return RanksAt(ranks)
}

// RanksAt returns percentiles in the order of Percents.
func RanksAt(us []int64) Ranks { return Ranks{Known: true, P50: us[0], P90: us[1], P99: us[2]} }
