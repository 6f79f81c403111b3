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

// CountDurations returns how often each of some rounded durations occurs, in ascending order. It may change the order of the
// durations.
func CountDurations(rounded []int64) []DurationCount {
	if len(rounded) >= manyDurations && slices.Min(rounded) >= 0 {
		return countByPlace(rounded)
	}
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

// manyDurations is how many durations are counted faster in a table of all rounded durations than by sorting them.
const manyDurations = 4096

// The rounded durations of at least 0: those below 1000, then 900 for each number of digits from 4 to 19.
const (
	shortDurations    = 1000
	durationsOfDigits = 900
	allDurations      = shortDurations + 16*durationsOfDigits
)

// countByPlace counts rounded durations of at least 0 in a table of all of them.
func countByPlace(rounded []int64) []DurationCount {
	table := make([]int64, allDurations)
	for _, us := range rounded {
		table[placeOf(us)]++
	}
	var counts []DurationCount
	for place, n := range table {
		if n > 0 {
			counts = append(counts, DurationCount{Us: durationAt(place), N: n})
		}
	}
	return counts
}

// placeOf returns the place of a duration among all rounded ones, in ascending order.
func placeOf(us int64) int {
	place := 0
	for us >= shortDurations {
		us /= 10
		place += durationsOfDigits
	}
	return place + int(us)
}

// durationAt is the inverse of placeOf.
func durationAt(place int) int64 {
	us := int64(place)
	for unit := int64(1); ; unit *= 10 {
		if us < shortDurations {
			return us * unit
		}
		us -= durationsOfDigits
	}
}

// RanksAt returns percentiles in the order of Percents.
func RanksAt(us []int64) Ranks { return Ranks{Known: true, P50: us[0], P90: us[1], P99: us[2]} }
