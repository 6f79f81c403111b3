package lake

import (
	"maps"
	"slices"
	"time"
)

// Day is a day of UTC: days since the Unix epoch.
type Day int64

// hoursOfDay is the number of partitions of a day.
const hoursOfDay = 24

// Day returns the day of the partition.
func (p Partition) Day() Day { return Day(floorDiv(int64(p), hoursOfDay)) }

// First returns the first partition of the day.
func (d Day) First() Partition { return Partition(d * hoursOfDay) }

// String returns the day as yyyy-MM-dd.
func (d Day) String() string { return time.UnixMilli(d.First().Start()).UTC().Format(time.DateOnly) }

// ParseDay parses what String returns.
func ParseDay(text string) (Day, error) {
	start, err := time.Parse(time.DateOnly, text)
	return PartitionOf(start.UnixMilli()).Day(), err
}

// DaysOf returns the days on which the hours from first to last are.
func DaysOf(first, last Partition) []Day {
	var days []Day
	for d := first.Day(); d <= last.Day(); d++ {
		days = append(days, d)
	}
	return days
}

// DayVersions tells at which version of a lake the records of each day changed last. Only the days that changed last have
// a version of their own.
type DayVersions struct {
	Latest map[Day]int64 `json:"latest,omitempty"`
	Others int64         `json:"others"` // the version of every other day is at most this
}

// maxDayVersions is the maximum number of days with a version of their own. A month of them takes half a kilobyte.
const maxDayVersions = 32

// Set sets the version of days, which is greater than every earlier one. If more than
// maxDayVersions days then have a version of their own, the days that changed first lose theirs.
func (v *DayVersions) Set(version int64, days ...Day) {
	if v.Latest == nil {
		v.Latest = map[Day]int64{}
	}
	for _, d := range days {
		v.Latest[d] = version
	}
	if n := len(v.Latest); n > maxDayVersions {
		v.Others = slices.Sorted(maps.Values(v.Latest))[n-maxDayVersions-1]
		maps.DeleteFunc(v.Latest, func(_ Day, version int64) bool { return version <= v.Others })
	}
}

// SetAll sets the version of all days.
func (v *DayVersions) SetAll(version int64) { *v = DayVersions{Others: version} }

// IsZero reports whether no version has been set.
func (v DayVersions) IsZero() bool { return v.Others == 0 && len(v.Latest) == 0 }

// Of returns the greatest version of the days of the hours from first to last, or Others if it is greater. As long as it
// is the same, the records of the days are the same.
func (v DayVersions) Of(first, last Partition) int64 {
	greatest := v.Others
	for d, version := range v.Latest {
		if first.Day() <= d && d <= last.Day() {
			greatest = max(greatest, version)
		}
	}
	return greatest
}
