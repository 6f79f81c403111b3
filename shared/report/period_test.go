package report

import (
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

// between returns the period from an instant to right before another.
func between(from, to time.Time) Period {
	return Period{FromMs: from.UnixMilli(), ToMs: to.UnixMilli() - 1}
}

func TestBars(t *testing.T) {
	for _, test := range []struct {
		rule, zone string
		unit       Unit
		now        string
		bars       int
		segment    int64
		first      string
	}{
		{"a week has a bar for each day", "Europe/Berlin", Week, "2026-04-01 07:00", 7, 3600, "Mon 23 Mar"},
		{"a day of 23 hours has 23 bars", "Europe/Berlin", Day, "2026-03-30 07:00", 23, 3600, "Sun 00:00"},
		{"a day of 25 hours has 25 bars", "Europe/Berlin", Day, "2026-10-26 07:00", 25, 3600, "Sun 00:00"},
		{"an hour has a bar for five minutes", "Europe/Berlin", Hour, "2026-10-26 07:00", 12, 300, "Mon 07:00"},
		{"a month has a bar for each day", "Europe/Berlin", Month, "2026-11-03 07:00", 31, 3600, "Thu 1 Oct"},
		{"half hours need short segments", "Asia/Kolkata", Week, "2026-04-01 07:00", 7, 900, "Mon 23 Mar"},
		{"quarters of an hour need short segments", "Pacific/Chatham", Month, "2026-11-03 07:00", 31, 900, "Thu 1 Oct"},
		{"a change within an hour makes two bars", "Pacific/Chatham", Day, "2026-09-27 12:00", 24, 900, "Sun 00:00"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			zone := zoneNamed(t, test.zone)
			now, err := time.Parse("2006-01-02 15:04", test.now)
			if err != nil {
				t.Fatal(err)
			}
			p := test.unit.Last(now.In(zone))
			s := stepOf(p)
			starts := s.starts(p, zone)
			seconds, exact := s.segmentSeconds(p, zone)
			first := s.label(starts[0], zone)
			if len(starts) != test.bars || seconds != test.segment || !exact || first != test.first {
				t.Errorf("%d bars from %q, segments of %d s, %v", len(starts), first, seconds, exact)
			}
			for _, ms := range starts {
				if ms%(seconds*1000) != 0 {
					t.Errorf("the bar %s begins within a segment", s.label(ms, zone))
				}
			}
		})
	}
}

func TestPeriodText(t *testing.T) {
	berlin := zoneNamed(t, "Europe/Berlin")
	at := func(month time.Month, day, hour, minute int) int64 {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin).UnixMilli()
	}
	for want, p := range map[string]Period{
		"Wednesday, 18 November 2026":                                   {FromMs: at(11, 18, 0, 0), ToMs: at(11, 19, 0, 0) - 1},
		"Mon 16 November – Sun 22 November 2026":                        {FromMs: at(11, 16, 0, 0), ToMs: at(11, 23, 0, 0)},
		"November 2026":                                                 {FromMs: at(11, 1, 0, 0), ToMs: at(12, 1, 0, 0) - 1},
		"Wed 18 November 2026 07:30 – Thu 19 November 2026 00:00":       {FromMs: at(11, 18, 7, 30), ToMs: at(11, 19, 0, 0)},
		"Wed 18 November 2026 07:30:01 – Thu 19 November 2026 00:00:00": {FromMs: at(11, 18, 7, 30) + 1000, ToMs: at(11, 19, 0, 0)},
	} {
		if got := periodText(p, berlin); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
