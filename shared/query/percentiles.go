package query

import "slices"

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

// DurationCount counts the records with a rounded duration.
type DurationCount struct{ Us, N int64 }

// RanksOf returns the percentiles of durations, given the counts of each of them in ascending order.
func RanksOf(counts []DurationCount) Ranks {
	n := int64(0)
	for _, c := range counts {
		n += c.N
	}
	if n == 0 {
		return Ranks{}
	}
	var ranks []int64
	upTo := int64(0)
	for _, c := range counts {
		upTo += c.N
		for len(ranks) < len(Percents) && 100*upTo >= Percents[len(ranks)]*n {
			ranks = append(ranks, c.Us)
		}
	}
	return RanksAt(ranks)
}

// MergeCounts adds up counts of the same durations. Both lists and the result are in ascending order.
func MergeCounts(a, b []DurationCount) []DurationCount {
	merged := make([]DurationCount, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Us < b[0].Us:
			merged, a = append(merged, a[0]), a[1:]
		case a[0].Us > b[0].Us:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, DurationCount{a[0].Us, a[0].N + b[0].N})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// CountDurations sorts rounded durations, and returns how often each occurs, in ascending order.
func CountDurations(rounded []int64) []DurationCount {
	slices.Sort(rounded)
	var counts []DurationCount
	for i, us := range rounded {
		if i == 0 || us != rounded[i-1] {
			counts = append(counts, DurationCount{Us: us})
		}
		counts[len(counts)-1].N++
	}
	return counts
}

// RanksAt returns percentiles in the order of Percents.
func RanksAt(us []int64) Ranks { return Ranks{Known: true, P50: us[0], P90: us[1], P99: us[2]} }
