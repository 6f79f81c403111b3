package asking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
)

// TestDaysOfOddZones: the bars of days and hours in zones that are not whole hours from UTC have exactly the requests of
// these days and hours, in both periods.
func TestDaysOfOddZones(t *testing.T) {
	for _, test := range []struct {
		rule, zone string
		unit       report.Unit
		now        string // by the clock of the zone
		bars       int
		segment    string
	}{
		{"a week in India", "Asia/Kolkata", report.Week, "2026-01-12 09:00", 7, "900"},
		{"a day in India", "Asia/Kolkata", report.Day, "2026-01-12 09:00", 24, "900"},
		{"an hour in India", "Asia/Kolkata", report.Hour, "2026-01-12 09:00", 12, "300"},
		{"a week in Chatham in which clocks are put back", "Pacific/Chatham", report.Week, "2026-04-06 09:00", 7, "900"},
		{"a day of 25 hours in Chatham, with a change at a quarter to four", "Pacific/Chatham", report.Day,
			"2026-04-06 09:00", 26, "900"},
		{"a month in Chatham", "Pacific/Chatham", report.Month, "2026-05-01 09:00", 30, "900"},
		{"whole hours after a week with half ones", "Australia/Lord_Howe", report.Week, "2026-10-12 09:00", 7, "3600"},
		{"half hours after a week with whole ones", "Australia/Lord_Howe", report.Week, "2026-04-13 09:00", 7, "900"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			zone, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.ParseInLocation("2006-01-02 15:04", test.now, zone)
			if err != nil {
				t.Fatal(err)
			}
			period := test.unit.Last(at)
			before := period.Previous(zone)
			// A request every 7 minutes, so that no two bars with the same requests follow each other by chance alone.
			var records []string
			var times []time.Time
			step := 7 * time.Minute
			if test.unit == report.Month {
				step = 97 * time.Minute
			}
			for at := time.UnixMilli(before.FromMs); at.UnixMilli() <= period.ToMs; at = at.Add(step) {
				records = append(records, fmt.Sprintf(`{"timestamp":%q}`, at.UTC().Format(time.RFC3339)))
				times = append(times, at)
			}
			r := run(t, sourceOf(t, records...), asking.Request{Last: test.unit, Now: at, Zone: test.zone})
			if len(r.Chart.Bars) != test.bars || r.Chart.Coarse {
				t.Errorf("%d bars, coarse %v", len(r.Chart.Bars), r.Chart.Coarse)
			}
			within := func(from, to time.Time) (n int64) {
				for _, at := range times {
					if !at.Before(from) && at.Before(to) {
						n++
					}
				}
				return n
			}
			var starts []time.Time
			for _, bar := range r.Chart.Bars {
				start, err := time.Parse(time.RFC3339, bar.From)
				if err != nil {
					t.Fatal(err)
				}
				starts = append(starts, start)
			}
			starts = append(starts, time.UnixMilli(period.ToMs+1))
			for i, bar := range r.Chart.Bars {
				if want := within(starts[i], starts[i+1]); bar.Requests != want {
					t.Errorf("%s has %d requests, want %d", bar.Label, bar.Requests, want)
				}
				if local := starts[i].In(zone); test.bars <= 31 && test.unit != report.Day && test.unit != report.Hour && local.Hour() != 0 {
					t.Errorf("%s begins at %s", bar.Label, local)
				}
			}
			if test.unit != report.Week {
				return
			}
			for i, bar := range r.Chart.Bars {
				from := time.UnixMilli(before.FromMs).In(zone)
				day := time.Date(from.Year(), from.Month(), from.Day()+i, 0, 0, 0, 0, zone)
				if want := within(day, day.AddDate(0, 0, 1)); *bar.RequestsBefore != want {
					t.Errorf("a week before %s there are %d requests, want %d", bar.Label, *bar.RequestsBefore, want)
				}
			}
			setting, err := asking.SettingOf(asking.Request{Last: test.unit, Now: at, Zone: test.zone})
			if err != nil {
				t.Fatal(err)
			}
			if q := setting.Questions()[0]; q.Params["segment"] != test.segment {
				t.Errorf("the first question is %v", q)
			}
		})
	}
}
