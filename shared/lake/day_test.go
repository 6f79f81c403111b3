package lake_test

import (
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

func TestDaysOfUTC(t *testing.T) {
	newYear := lake.Partition(20454 * 24)
	for hour, want := range map[lake.Partition]string{
		newYear - 1: "2025-12-31", newYear: "2026-01-01", newYear + 23: "2026-01-01", newYear + 24: "2026-01-02",
		-1: "1969-12-31", -24: "1969-12-31", -25: "1969-12-30",
	} {
		day := hour.Day()
		if day.String() != want || hour < day.First() || hour >= (day+1).First() {
			t.Errorf("hour %s is of the day %s from %s", hour, day, day.First())
		}
	}
	if days := lake.DaysOf(newYear-1, newYear+24); !slices.Equal(days, []lake.Day{20453, 20454, 20455}) {
		t.Errorf("days %v", days)
	}
}

// TestDayVersions has the greatest version of two days after several changes of days.
func TestDayVersions(t *testing.T) {
	var month []lake.Day
	for d := range lake.Day(32) {
		month = append(month, 100+d)
	}
	for name, test := range map[string]struct {
		set  func(*lake.DayVersions)
		want map[lake.Day]int64
	}{
		"a day that changed": {
			func(v *lake.DayVersions) { v.Set(7, 5); v.Set(8, 6) },
			map[lake.Day]int64{3: 0, 4: 7, 5: 8, 6: 8, 7: 0},
		},
		"all days": {
			func(v *lake.DayVersions) { v.Set(7, 5); v.SetAll(8); v.Set(9, 6) },
			map[lake.Day]int64{3: 8, 4: 8, 5: 9, 6: 9, 7: 8},
		},
		"the first change is dropped": {
			func(v *lake.DayVersions) { v.Set(7, 5); v.Set(8, 10); v.Set(9, month[1:]...) },
			map[lake.Day]int64{3: 7, 5: 7, 9: 8, 101: 9, 131: 9, 132: 7},
		},
		"a day that changes again is not the first": {
			func(v *lake.DayVersions) { v.Set(7, 5); v.Set(8, 10); v.Set(9, 5); v.Set(10, month[1:]...) },
			map[lake.Day]int64{3: 8, 5: 9, 9: 8, 131: 10},
		},
		"too many days at once": {
			func(v *lake.DayVersions) { v.Set(7, 5); v.Set(8, append(month, 1)...) },
			map[lake.Day]int64{3: 8, 5: 8, 131: 8},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var v lake.DayVersions
			test.set(&v)
			for day, want := range test.want {
				if got := v.Of(day.First(), (day+2).First()-1); got != want {
					t.Errorf("days %d and %d have the version %d, want %d", day, day+1, got, want)
				}
			}
			if len(v.Latest) > 32 || v.IsZero() {
				t.Errorf("%+v", v)
			}
		})
	}
}
