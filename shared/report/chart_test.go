package report

import (
	"strings"
	"testing"
	"time"
)

// TestChartsSayWhatTheyLack: bars that are not exact, and bars that are not shown, are mentioned in every form.
func TestChartsSayWhatTheyLack(t *testing.T) {
	at := func(year int, month time.Month, day int, zone *time.Location) time.Time {
		return time.Date(year, month, day, 0, 0, 0, 0, zone)
	}
	kolkata, utc := zoneNamed(t, "Asia/Kolkata"), time.UTC
	for _, test := range []struct {
		rule      string
		p         Period
		zone      *time.Location
		page      []string // parts of notes of every form
		mail      string   // part of a further note of the mail
		leftOut   int
		beforeAll string
	}{
		{"a month after a longer one", between(at(2026, 2, 1, utc), at(2026, 3, 1, utc)), utc,
			[]string{"its last 3 days, with 72 requests, are not in the chart"}, "", 3, "In the previous period: 744."},
		{"a month after a shorter one", between(at(2026, 3, 1, utc), at(2026, 4, 1, utc)), utc, nil, "", 0, ""},
		{"two years of a zone with half hours", between(at(2024, 1, 1, kolkata), at(2026, 1, 1, kolkata)), kolkata,
			[]string{"bars are made of longer segments of UTC"}, "The table has the first 31 of 105 bars", 0, ""},
		{"a quarter", between(at(2026, 1, 1, utc), at(2026, 4, 1, utc)), utc, nil, "The table has the first 31 of 90 bars", 0, ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			previous := test.p.Previous(test.zone)
			s := Setting{Template: Traffic, Period: test.p, Previous: &previous, Zone: test.zone}
			one := func(int) int64 { return 1 }
			none := func(int) int64 { return 0 }
			a := quietAnswers(t, s)
			a[Timeline] = answerOf(t, timelineOf(test.p, one, none), nil)
			a[TimelineBefore] = answerOf(t, timelineOf(previous, one, none), nil)
			r := New(s, a)
			if len(r.Chart.LeftOut) != test.leftOut {
				t.Errorf("%d bars are left out, want %d", len(r.Chart.LeftOut), test.leftOut)
			}
			for name, print := range forms {
				text := strings.Join(strings.Fields(string(print(r))), " ")
				for _, note := range test.page {
					if !strings.Contains(text, note) && name != "csv" && name != "json" {
						t.Errorf("%s does not have the note %q", name, note)
					}
				}
				if len(test.page) == 0 && (strings.Contains(text, "not in the chart") || strings.Contains(text, "longer segments")) {
					t.Errorf("%s has a note that does not apply", name)
				}
				if name == "mail.html" && !strings.Contains(text, test.mail) {
					t.Errorf("the mail does not have the note %q", test.mail)
				}
				if name == "html" && !strings.Contains(text, test.beforeAll) {
					t.Errorf("the description does not have %q", test.beforeAll)
				}
			}
		})
	}
}

// TestFileNames: names of files have the date of the zone.
func TestFileNames(t *testing.T) {
	berlin, kolkata := zoneNamed(t, "Europe/Berlin"), zoneNamed(t, "Asia/Kolkata")
	for _, test := range []struct {
		rule string
		p    Period
		zone *time.Location
		want string
	}{
		{"a week", Week.Last(time.Date(2026, 11, 23, 7, 0, 0, 0, berlin)), berlin, "orrery-report-2026-11-16"},
		{"a day", Day.Last(time.Date(2026, 1, 1, 7, 0, 0, 0, kolkata)), kolkata, "orrery-report-2025-12-31"},
		{"an hour", Hour.Last(time.Date(2026, 1, 1, 7, 10, 0, 0, kolkata)), kolkata, "orrery-report-2026-01-01-0600"},
		{"midnight is an hour", Hour.Last(time.Date(2026, 1, 1, 1, 10, 0, 0, kolkata)), kolkata, "orrery-report-2026-01-01-0000"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := Setting{Template: Traffic, Period: test.p, Zone: test.zone}
			if got := New(s, nil).FileName(); got != test.want {
				t.Errorf("the name is %s, want %s", got, test.want)
			}
		})
	}
}

// TestNoDataBefore: bars of the previous period that end before the data begins are not known.
func TestNoDataBefore(t *testing.T) {
	setting := settingOf(t)
	answers := ordinary.answers(t, setting)
	hourly := func(int) int64 { return 1 }
	for days, unknown := range map[float64]int{0: 0, 2.5: 2, 3: 3, 6.9: 6, 7: 7, 9: 7} {
		begins := time.UnixMilli(setting.Previous.FromMs).Add(time.Duration(days * 24 * float64(time.Hour)))
		timeline := timelineOf(*setting.Previous, hourly, hourly)
		answers[TimelineBefore] = answerOf(t, timeline, object{"oldest": begins.Format(time.RFC3339)})
		r := New(setting, answers)
		for i, bar := range r.Chart.Bars {
			if known := bar.RequestsBefore != nil && bar.BlockedBefore != nil; known != (i >= unknown) {
				t.Errorf("with data from %v days after the beginning, bar %d is known: %v", days, i, known)
			}
		}
		_, figures, _ := strings.Cut(string(r.Text()), "VERDICT")
		if before := strings.Contains(figures, "before"); before != (days < 7) {
			t.Errorf("with data from %v days after the beginning, the period before is printed: %v\n%s", days, before, figures)
		}
	}
}
