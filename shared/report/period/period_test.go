package period

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/zone"
	_ "time/tzdata"
)

func zoneNamed(t *testing.T, name string) *time.Location {
	t.Helper()
	location, err := zone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// shownPeriod returns a period as its first instant, the one after its last, and its length.
func shownPeriod(p Period, zone *time.Location) string {
	const layout = "2006-01-02 15:04 -0700"
	from, to := time.UnixMilli(p.FromMs).In(zone), time.UnixMilli(p.ToMs+1).In(zone)
	return fmt.Sprintf("%s … %s, %s", from.Format(layout), to.Format(layout), to.Sub(from))
}

// TestLast has, for zones of all kinds, the periods around both changes of their clocks.
func TestLast(t *testing.T) {
	for _, test := range []struct {
		rule, zone string
		unit       Unit
		now, want  string // now is UTC
	}{
		{"a day", "UTC", Day, "2026-11-18 07:00", "2026-11-17 00:00 +0000 … 2026-11-18 00:00 +0000, 24h0m0s"},
		{"a week begins on monday", "UTC", Week, "2026-11-22 07:00",
			"2026-11-09 00:00 +0000 … 2026-11-16 00:00 +0000, 168h0m0s"},
		{"a week that ends now is over", "UTC", Week, "2026-11-16 00:00",
			"2026-11-09 00:00 +0000 … 2026-11-16 00:00 +0000, 168h0m0s"},
		{"a month", "UTC", Month, "2026-03-01 00:00", "2026-02-01 00:00 +0000 … 2026-03-01 00:00 +0000, 672h0m0s"},
		{"an hour", "UTC", Hour, "2026-03-01 00:59", "2026-02-28 23:00 +0000 … 2026-03-01 00:00 +0000, 1h0m0s"},

		{"berlin: a day of 23 hours", "Europe/Berlin", Day, "2026-03-29 22:00",
			"2026-03-29 00:00 +0100 … 2026-03-30 00:00 +0200, 23h0m0s"},
		{"berlin: a day of 25 hours", "Europe/Berlin", Day, "2026-10-26 07:00",
			"2026-10-25 00:00 +0200 … 2026-10-26 00:00 +0100, 25h0m0s"},
		{"berlin: a week with 167 hours", "Europe/Berlin", Week, "2026-04-01 07:00",
			"2026-03-23 00:00 +0100 … 2026-03-30 00:00 +0200, 167h0m0s"},
		{"berlin: a month with 745 hours", "Europe/Berlin", Month, "2026-11-10 00:00",
			"2026-10-01 00:00 +0200 … 2026-11-01 00:00 +0100, 745h0m0s"},
		{"berlin: the hour that is left out", "Europe/Berlin", Hour, "2026-03-29 01:10",
			"2026-03-29 01:00 +0100 … 2026-03-29 03:00 +0200, 1h0m0s"},
		{"berlin: the hour that occurs twice", "Europe/Berlin", Hour, "2026-10-25 01:10",
			"2026-10-25 02:00 +0200 … 2026-10-25 02:00 +0100, 1h0m0s"},

		{"sao paulo: midnight is left out", "America/Sao_Paulo", Day, "2018-11-05 12:00",
			"2018-11-04 01:00 -0200 … 2018-11-05 00:00 -0200, 23h0m0s"},
		{"sao paulo: the hour before midnight occurs twice", "America/Sao_Paulo", Day, "2018-02-18 12:00",
			"2018-02-17 00:00 -0200 … 2018-02-18 00:00 -0300, 25h0m0s"},
		{"sao paulo: no change of clocks today", "America/Sao_Paulo", Day, "2026-11-02 12:00",
			"2026-11-01 00:00 -0300 … 2026-11-02 00:00 -0300, 24h0m0s"},

		{"kolkata: half an hour from full hours", "Asia/Kolkata", Day, "2026-11-18 07:00",
			"2026-11-17 00:00 +0530 … 2026-11-18 00:00 +0530, 24h0m0s"},
		{"kolkata: an hour of its clocks", "Asia/Kolkata", Hour, "2026-11-18 07:00",
			"2026-11-18 11:00 +0530 … 2026-11-18 12:00 +0530, 1h0m0s"},

		{"chatham: a day of 23 hours", "Pacific/Chatham", Day, "2026-09-27 12:00",
			"2026-09-27 00:00 +1245 … 2026-09-28 00:00 +1345, 23h0m0s"},
		{"chatham: a day of 25 hours", "Pacific/Chatham", Day, "2026-04-05 12:00",
			"2026-04-05 00:00 +1345 … 2026-04-06 00:00 +1245, 25h0m0s"},
		{"chatham: clocks change within an hour", "Pacific/Chatham", Hour, "2026-09-26 14:30",
			"2026-09-27 03:45 +1345 … 2026-09-27 04:00 +1345, 15m0s"},
		{"chatham: a year of utc ends within an hour", "Pacific/Chatham", Hour, "2027-01-01 01:00",
			"2027-01-01 13:00 +1345 … 2027-01-01 14:00 +1345, 1h0m0s"},

		{"casablanca: ramadan begins", "Africa/Casablanca", Day, "2026-02-16 12:00",
			"2026-02-15 00:00 +0100 … 2026-02-16 00:00 +0000, 25h0m0s"},
		{"casablanca: ramadan ends", "Africa/Casablanca", Day, "2026-03-23 12:00",
			"2026-03-22 00:00 +0000 … 2026-03-23 00:00 +0100, 23h0m0s"},

		{"tongatapu: clocks are put back soon after midnight", "Pacific/Tongatapu", Day, "2001-01-28 23:00",
			"2001-01-28 00:00 +1400 … 2001-01-29 00:00 +1300, 25h0m0s"},

		{"apia: a day that was left out", "Pacific/Apia", Day, "2011-12-30 12:00",
			"2011-12-29 00:00 -1000 … 2011-12-31 00:00 +1400, 24h0m0s"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			zone := zoneNamed(t, test.zone)
			now, err := time.Parse("2006-01-02 15:04", test.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := shownPeriod(test.unit.Last(now.In(zone)), zone); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestPeriodsMeet follows the units of a zone over several years: each period ends where the next begins.
func TestPeriodsMeet(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Chatham", "Africa/Casablanca",
		"Asia/Beirut", "Australia/Lord_Howe",
	} {
		zone := zoneNamed(t, name)
		for _, unit := range Units {
			t.Run(name+" by "+string(unit), func(t *testing.T) {
				from := time.Date(2017, 6, 1, 0, 0, 0, 0, zone)
				end, n := from.AddDate(3, 0, 0), 0
				if unit == Hour {
					end = from.AddDate(0, 10, 0)
				}
				for at := unit.Start(from); at.Before(end); n++ {
					next := unit.Next(at)
					p := between(at, next)
					if got := unit.Last(next); got != p {
						t.Fatalf("the %s before %s is %v, want %v", unit, next, got, p)
					}
					if u, ok := p.Unit(zone); !ok || u != unit && unit != Hour && u != Hour {
						t.Fatalf("%s is a %q, want %s", shownPeriod(p, zone), u, unit)
					}
					at = next
				}
				if n < 36 {
					t.Errorf("only %d periods", n)
				}
			})
		}
	}
}

func TestPrevious(t *testing.T) {
	berlin := zoneNamed(t, "Europe/Berlin")
	day := func(month time.Month, day int) int64 {
		return time.Date(2026, month, day, 0, 0, 0, 0, berlin).UnixMilli()
	}
	for _, test := range []struct {
		rule string
		p    Period
		want string
	}{
		{"the week before has an hour more", Period{day(3, 23), day(3, 30) - 1},
			"2026-03-16 00:00 +0100 … 2026-03-23 00:00 +0100, 168h0m0s"},
		{"an end that is included makes no difference", Period{day(3, 23), day(3, 30)},
			"2026-03-16 00:00 +0100 … 2026-03-23 00:00 +0100, 168h0m0s"},
		{"the month before is shorter", Period{day(3, 1), day(4, 1) - 1},
			"2026-02-01 00:00 +0100 … 2026-03-01 00:00 +0100, 672h0m0s"},
		{"another period has the same length", Period{day(6, 3), day(6, 5)},
			"2026-06-01 00:00 +0200 … 2026-06-03 00:00 +0200, 48h0m0s"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if got := shownPeriod(test.p.Previous(berlin), berlin); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestLastHourOfLeapYears: in years for which a zone has only a rule, package time returns a change of the clock on the
// last day of a leap year that is in the past.
func TestLastHourOfLeapYears(t *testing.T) {
	noon := time.Date(2040, 12, 31, 12, 10, 0, 0, zoneNamed(t, "Europe/Berlin"))
	if got, want := hourEnd(noon), noon.Add(50*time.Minute); !got.Equal(want) {
		t.Errorf("the hour of %s ends at %s", noon, got)
	}
}
