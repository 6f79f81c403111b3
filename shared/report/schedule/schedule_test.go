package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/period"
	"github.com/orrery/orrery/shared/zone"
)

const layout = "2006-01-02 15:04"

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// printed returns ticks as lines: when they are due and their period, in a zone.
func printed(t *testing.T, ticks []Tick, name string) string {
	t.Helper()
	location, err := zone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, tick := range ticks {
		line := fmt.Sprintf("%s: %s", tick.Due.In(location).Format(layout+" -0700"), periodText(tick.Period, location))
		if tick.Missed {
			line += ", missed"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func periodText(p period.Period, zone *time.Location) string {
	from, end := time.UnixMilli(p.FromMs).In(zone), endOf(p).In(zone)
	return fmt.Sprintf("%s … %s, %s", from.Format(layout), end.Format(layout), end.Sub(from))
}

func item(zone, unit, clock, weekday string, since time.Time) Item {
	return Item{Config: "prod", Name: "r", Versions: []Version{version(1, zone, unit, clock, weekday, since)}}
}

func version(number int, zone, unit, clock, weekday string, since time.Time) Version {
	return Version{Number: number, Since: since, Stored: definition.Stored{
		Definition: definition.Definition{Period: unit, At: clock, Weekday: weekday, TZ: zone},
	}}
}

// TestDue has, for zones of all kinds, the reports around both changes of their clocks. Times of the table are UTC.
func TestDue(t *testing.T) {
	for _, test := range []struct {
		rule, zone, unit, at, weekday string
		since, now, want              string
	}{
		{"a daily report", "UTC", "day", "07:00", "", "2026-11-17 07:00", "2026-11-18 07:00",
			"2026-11-18 07:00 +0000: 2026-11-17 00:00 … 2026-11-18 00:00, 24h0m0s"},
		{"a minute too early", "UTC", "day", "07:00", "", "2026-11-17 07:00", "2026-11-18 06:59", ""},
		{"nothing is due before the definition was written", "UTC", "day", "07:00", "", "2026-11-18 07:00",
			"2026-11-18 23:00", ""},
		{"the latest is made up and the others are missed", "UTC", "day", "07:00", "", "2026-11-15 07:00", "2026-11-18 09:00",
			"2026-11-16 07:00 +0000: 2026-11-15 00:00 … 2026-11-16 00:00, 24h0m0s, missed\n" +
				"2026-11-17 07:00 +0000: 2026-11-16 00:00 … 2026-11-17 00:00, 24h0m0s, missed\n" +
				"2026-11-18 07:00 +0000: 2026-11-17 00:00 … 2026-11-18 00:00, 24h0m0s"},
		{"an hourly report is due when the hour ends", "Asia/Kolkata", "hour", "", "", "2026-11-18 06:00", "2026-11-18 06:31",
			"2026-11-18 12:00 +0530: 2026-11-18 11:00 … 2026-11-18 12:00, 1h0m0s"},
		{"a week begins on monday", "UTC", "week", "07:00", "monday", "2026-11-16 06:00", "2026-11-16 07:00",
			"2026-11-16 07:00 +0000: 2026-11-09 00:00 … 2026-11-16 00:00, 168h0m0s"},
		{"a weekly report on another day", "UTC", "week", "07:00", "friday", "2026-11-16 06:00", "2026-11-20 07:00",
			"2026-11-20 07:00 +0000: 2026-11-09 00:00 … 2026-11-16 00:00, 168h0m0s"},
		{"a month", "UTC", "month", "00:00", "", "2026-02-20 00:00", "2026-03-01 00:00",
			"2026-03-01 00:00 +0000: 2026-02-01 00:00 … 2026-03-01 00:00, 672h0m0s"},

		{"berlin: a day of 23 hours", "Europe/Berlin", "day", "07:00", "", "2026-03-29 06:00", "2026-03-30 05:00",
			"2026-03-30 07:00 +0200: 2026-03-29 00:00 … 2026-03-30 00:00, 23h0m0s"},
		{"berlin: a day of 25 hours", "Europe/Berlin", "day", "07:00", "", "2026-10-25 07:00", "2026-10-26 06:00",
			"2026-10-26 07:00 +0100: 2026-10-25 00:00 … 2026-10-26 00:00, 25h0m0s"},
		{"berlin: the time is left out", "Europe/Berlin", "day", "02:30", "", "2026-03-28 12:00", "2026-03-29 01:00",
			"2026-03-29 03:00 +0200: 2026-03-28 00:00 … 2026-03-29 00:00, 24h0m0s"},
		{"berlin: not before the time that is left out", "Europe/Berlin", "day", "02:30", "", "2026-03-28 12:00",
			"2026-03-29 00:59", ""},
		{"berlin: the time that occurs twice is the first one", "Europe/Berlin", "day", "02:30", "", "2026-10-24 12:00",
			"2026-10-25 00:30", "2026-10-25 02:30 +0200: 2026-10-24 00:00 … 2026-10-25 00:00, 24h0m0s"},
		{"berlin: a week of 167 hours", "Europe/Berlin", "week", "07:00", "monday", "2026-03-28 00:00", "2026-03-30 05:00",
			"2026-03-30 07:00 +0200: 2026-03-23 00:00 … 2026-03-30 00:00, 167h0m0s"},
		{"berlin: a month of 745 hours", "Europe/Berlin", "month", "07:00", "", "2026-10-28 00:00", "2026-11-01 06:00",
			"2026-11-01 07:00 +0100: 2026-10-01 00:00 … 2026-11-01 00:00, 745h0m0s"},

		{"sao paulo: midnight is left out", "America/Sao_Paulo", "day", "00:00", "", "2018-11-03 12:00", "2018-11-04 03:00",
			"2018-11-04 01:00 -0200: 2018-11-03 00:00 … 2018-11-04 01:00, 24h0m0s"},
		{"sao paulo: a day of 23 hours", "America/Sao_Paulo", "day", "00:00", "", "2018-11-04 12:00", "2018-11-05 02:00",
			"2018-11-05 00:00 -0200: 2018-11-04 01:00 … 2018-11-05 00:00, 23h0m0s"},
		{"sao paulo: a day of 25 hours", "America/Sao_Paulo", "day", "07:00", "", "2018-02-17 12:00", "2018-02-18 10:00",
			"2018-02-18 07:00 -0300: 2018-02-17 00:00 … 2018-02-18 00:00, 25h0m0s"},
		{"kolkata: half an hour from full hours", "Asia/Kolkata", "day", "07:00", "", "2026-11-17 12:00", "2026-11-18 01:30",
			"2026-11-18 07:00 +0530: 2026-11-17 00:00 … 2026-11-18 00:00, 24h0m0s"},
		{"chatham: a day of 23 hours", "Pacific/Chatham", "day", "03:00", "", "2026-09-27 00:00", "2026-09-27 13:15",
			"2026-09-28 03:00 +1345: 2026-09-27 00:00 … 2026-09-28 00:00, 23h0m0s"},
		{"chatham: the time is left out", "Pacific/Chatham", "day", "03:00", "", "2026-09-26 00:00", "2026-09-26 14:15",
			"2026-09-27 03:45 +1345: 2026-09-26 00:00 … 2026-09-27 00:00, 24h0m0s"},
		{"chatham: a day of 25 hours", "Pacific/Chatham", "day", "07:00", "", "2026-04-05 00:00", "2026-04-05 18:15",
			"2026-04-06 07:00 +1245: 2026-04-05 00:00 … 2026-04-06 00:00, 25h0m0s"},
		{"casablanca: ramadan begins", "Africa/Casablanca", "day", "07:00", "", "2026-02-15 12:00", "2026-02-16 07:00",
			"2026-02-16 07:00 +0000: 2026-02-15 00:00 … 2026-02-16 00:00, 25h0m0s"},
		{"casablanca: ramadan ends", "Africa/Casablanca", "day", "07:00", "", "2026-03-22 12:00", "2026-03-23 06:00",
			"2026-03-23 07:00 +0100: 2026-03-22 00:00 … 2026-03-23 00:00, 23h0m0s"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			one := item(test.zone, test.unit, test.at, test.weekday, at(t, test.since))
			ticks, err := Due(one, time.Time{}, at(t, test.now))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, printed(t, ticks, test.zone)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDueKnowsWhatIsDone(t *testing.T) {
	now := at(t, "2026-11-18 08:00")
	one := item("UTC", "day", "07:00", "", at(t, "2026-11-01 00:00"))
	for done, want := range map[string]string{
		"2026-11-18 07:00": "",
		"2026-11-17 07:00": "2026-11-18 07:00 +0000: 2026-11-17 00:00 … 2026-11-18 00:00, 24h0m0s",
	} {
		ticks, err := Due(one, at(t, done), now)
		if got := printed(t, ticks, "UTC"); err != nil || got != want {
			t.Errorf("done %s: %s, %v", done, got, err)
		}
	}
	one.Versions[0].Paused = true
	if ticks, err := Due(one, time.Time{}, now); len(ticks) > 0 || err != nil {
		t.Errorf("a paused report is due: %v, %v", ticks, err)
	}
}

func TestMissedReportsAreLimited(t *testing.T) {
	ticks, err := Due(item("UTC", "hour", "", "", at(t, "2020-01-01 00:00")), time.Time{}, at(t, "2026-01-01 00:00"))
	if err != nil || len(ticks) != MaxMissed+1 || !ticks[0].Missed || ticks[MaxMissed].Missed {
		t.Errorf("%d reports, %v", len(ticks), err)
	}
}

// TestEachPeriodIsDueOnce follows clocks over their changes: each period is due once, in order.
func TestEachPeriodIsDueOnce(t *testing.T) {
	for zone, change := range map[string]string{
		"Europe/Berlin": "2018-03-25 01:00", "America/Sao_Paulo": "2018-11-04 03:00", "Asia/Kolkata": "2018-01-01 00:00",
		"Pacific/Chatham": "2018-03-31 14:00", "Africa/Casablanca": "2018-05-13 02:00",
	} {
		for _, clock := range []string{"00:00", "02:30", "23:59"} {
			t.Run(zone+" at "+clock, func(t *testing.T) {
				from := at(t, change).AddDate(0, 0, -2)
				one := item(zone, "day", clock, "", from)
				last, count := from, 0
				var before period.Period
				for now := from; now.Before(from.AddDate(0, 0, 5)); now = now.Add(30 * time.Minute) {
					ticks, err := Due(one, last, now)
					if err != nil || len(ticks) > 1 {
						t.Fatalf("%d reports at %s, %v", len(ticks), now, err)
					}
					for _, tick := range ticks {
						if count > 0 && tick.Period.FromMs != before.ToMs+1 {
							t.Fatalf("%v follows %v", tick.Period, before)
						}
						next, p, err := Next(one.Versions[0].Definition, tick.Due.Add(-time.Millisecond))
						if err != nil || !next.Equal(tick.Due) || p != tick.Period {
							t.Fatalf("the next report is %s, %v, %v; want %s", next, p, err, tick.Due)
						}
						last, before, count = tick.Due, tick.Period, count+1
					}
				}
				if count < 4 || count > 6 {
					t.Errorf("%d reports in five days", count)
				}
			})
		}
	}
}

// TestEdits has definitions that are edited near the time at which a report is due. Times are in UTC on 2026-11-18, a
// Wednesday, unless they have a day.
func TestEdits(t *testing.T) {
	day := func(number int, since, clock string) Version {
		return version(number, "UTC", "day", clock, "", edit(t, since))
	}
	week := func(number int, since, weekday string) Version {
		return version(number, "UTC", "week", "07:00", weekday, edit(t, since))
	}
	in := func(zone string, v Version) Version { v.TZ = zone; return v }
	paused := func(v Version) Version { v.Paused = true; return v }
	const old = "01 12:00" // long before
	for _, test := range []struct {
		rule      string
		versions  []Version
		done, now string
		want      string // version, time, day of the beginning of the period
	}{
		{"an edit between the due time and the next tick", []Version{day(1, old, "07:00"), day(2, "07:00", "07:00")},
			"17 07:00", "07:01", "2 07:00 17"},
		{"a minute after it was due, the version before is in force", []Version{day(1, old, "07:00"), day(2, "07:01", "07:00")},
			"17 07:00", "07:02", "1 07:00 17"},
		{"an edit before the due time", []Version{day(1, old, "07:00"), day(2, "06:59", "07:00")}, "17 07:00", "07:01", "2 07:00 17"},
		{"a later time before it was due", []Version{day(1, old, "07:00"), day(2, "06:00", "09:00")}, "17 07:00", "08:00", ""},
		{"it is due at the later time", []Version{day(1, old, "07:00"), day(2, "06:00", "09:00")}, "17 07:00", "09:00", "2 09:00 17"},
		{"a later time after it was made", []Version{day(1, old, "07:00"), day(2, "08:00", "09:00")}, "07:00", "09:00", ""},
		{"a later time before the tick", []Version{day(1, old, "07:00"), day(2, "07:01", "09:00")}, "17 07:00", "09:00", "1 07:00 17"},
		{"the day after a later time", []Version{day(1, old, "07:00"), day(2, "08:00", "09:00")}, "07:00", "19 09:00", "2 19 09:00 18"},
		{"an earlier time that has passed", []Version{day(1, old, "09:00"), day(2, "08:00", "07:00")}, "17 09:00", "08:01", "2 08:00 17"},
		{"after it is done", []Version{day(1, old, "09:00"), day(2, "08:00", "07:00")}, "08:00", "10:00", ""},
		{"there and back", []Version{day(1, old, "09:00"), day(2, "08:00", "07:00"), day(3, "08:01", "09:00")},
			"17 09:00", "10:00", "2 08:00 17"},
		{"there and back after it was made", []Version{day(2, "06:00", "07:00"), day(3, "08:00", "09:00"), day(4, "08:30", "07:00")},
			"07:00", "10:00", ""},
		{"the time of a new definition is corrected", []Version{day(1, "08:00", "07:00"), day(2, "08:05", "09:00")}, "", "09:00", "2 09:00 17"},
		{"another edit of a new definition", []Version{day(1, "08:00", "07:00"), day(2, "08:05", "07:00")}, "", "09:00", ""},
		{"a server that was off over an edit", []Version{day(1, old, "07:00"), day(2, "17 12:00", "08:00")}, "15 07:00", "12:00",
			"1 16 07:00 15, missed; 1 17 07:00 16, missed; 2 08:00 17"},

		{"an earlier weekday that has passed", []Version{week(1, old, "friday"), week(2, "12:00", "tuesday")}, "13 07:00", "12:01", "2 12:00 9"},
		{"a later weekday after it was made", []Version{week(1, old, "monday"), week(2, "12:00", "friday")}, "16 07:00", "20 08:00", ""},
		{"a weekly report becomes a daily one", []Version{week(1, old, "monday"), day(2, "06:00", "07:00")}, "16 07:00", "07:00", "2 07:00 17"},
		{"a daily report becomes a weekly one after it was made", []Version{day(1, old, "07:00"), week(2, "08:00", "friday")},
			"07:00", "20 07:00", "2 20 07:00 9"},
		{"a daily report becomes a weekly one before the tick", []Version{day(1, old, "07:00"), week(2, "07:01", "friday")},
			"17 07:00", "07:02", "1 07:00 17"},
		{"weeks before the edit are not made up", []Version{day(1, old, "07:00"), week(2, "08:00", "monday")}, "07:00", "09:00", ""},
		{"to a weekly report and back", []Version{day(1, old, "07:00"), week(2, "08:00", "monday"), day(3, "08:01", "09:00")},
			"07:00", "09:00", ""},

		{"another zone after it was made", []Version{in("Europe/Berlin", day(1, old, "07:00")), day(2, "06:30", "07:00")}, "06:00", "07:00", ""},
		{"another zone before the tick", []Version{in("Europe/Berlin", day(1, old, "07:00")), day(2, "06:01", "07:00")},
			"17 06:00", "07:00", "1 06:00 16"},
		{"another zone before it was due", []Version{in("Europe/Berlin", day(1, old, "07:00")), day(2, "05:00", "07:00")},
			"17 06:00", "07:00", "2 07:00 17"},

		{"paused over the due time", []Version{day(1, old, "07:00"), paused(day(2, "06:00", "07:00")), day(3, "08:00", "07:00")},
			"17 07:00", "09:00", ""},
		{"paused before the tick and resumed", []Version{day(1, old, "07:00"), paused(day(2, "07:01", "07:00")), day(3, "08:00", "07:00")},
			"17 07:00", "09:00", "1 07:00 17"},
		{"resumed after a later report was due", []Version{day(1, "16 12:00", "07:00"), paused(day(2, "17 07:01", "07:00")), day(3, "08:00", "07:00")},
			"16 07:00", "09:00", "1 17 07:00 16, missed"},
		{"paused and resumed after it was made", []Version{day(1, old, "07:00"), paused(day(2, "07:30", "07:00")), day(3, "08:00", "09:00")},
			"07:00", "10:00", ""},
		{"paused with another time", []Version{day(1, old, "09:00"), paused(day(2, "08:00", "07:00")), day(3, "08:10", "07:00")},
			"17 09:00", "10:00", ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			ticks, err := Due(Item{Config: "prod", Name: "r", Versions: test.versions}, edit(t, test.done), edit(t, test.now))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tick := range ticks {
				due := tick.Due.UTC().Format("15:04")
				if tick.Due.UTC().Day() != 18 {
					due = tick.Due.UTC().Format("02 15:04")
				}
				line := fmt.Sprintf("%d %s %d", tick.Number, due, time.UnixMilli(tick.Period.FromMs).UTC().Day())
				if tick.Missed {
					line += ", missed"
				}
				got = append(got, line)
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

// edit reads the times of TestEdits.
func edit(t *testing.T, text string) time.Time {
	t.Helper()
	switch len(text) {
	case 0:
		return time.Time{}
	case len("07:00"):
		return at(t, "2026-11-18 "+text)
	}
	return at(t, "2026-11-"+text)
}

// TestEditsAtAnyTime edits a report at random times to random other ones: of each day there is one report, whenever the
// server looks, and two servers that look at different times find the same versions.
func TestEditsAtAnyTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	clocks := []string{"00:00", "06:00", "07:00", "12:30", "23:59"}
	for round := range 300 {
		begin := at(t, "2026-11-10 00:00").Add(-time.Second)
		one := item("UTC", "day", clocks[random.IntN(len(clocks))], "", begin)
		end := begin.AddDate(0, 0, 6)
		days := map[int64]int{}
		var done time.Time
		for now := begin; now.Before(end); now = now.Add(time.Duration(1+random.IntN(200)) * time.Minute) {
			ticks, err := Due(one, done, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, tick := range ticks {
				days[tick.Period.FromMs]++
				done = tick.Due
				if later, err := Due(one, time.Time{}, now.Add(time.Hour)); err != nil || !contains(later, tick) {
					t.Fatalf("round %d: at %s another server finds %v, not %v", round, now, later, tick)
				}
			}
			if random.IntN(4) == 0 {
				v := one.Versions[len(one.Versions)-1]
				v.Number++
				v.Since, v.At = now.Add(time.Duration(random.IntN(60))*time.Second), clocks[random.IntN(len(clocks))]
				one.Versions = append(one.Versions, v)
			}
		}
		for day := begin.AddDate(0, 0, 1).Add(time.Second); day.Before(end.AddDate(0, 0, -2)); day = day.AddDate(0, 0, 1) {
			if n := days[day.UnixMilli()]; n != 1 {
				t.Fatalf("round %d: %d reports about %s", round, n, day)
			}
		}
	}
}

// contains reports whether a list has the report, missed or not.
func contains(list []Tick, want Tick) bool {
	return slices.ContainsFunc(list, func(tick Tick) bool {
		return tick.Number == want.Number && tick.Due.Equal(want.Due) && tick.Period == want.Period
	})
}

func TestCompared(t *testing.T) {
	berlin, err := zone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ rule, unit, compare, now, want string }{
		{"the day before", "day", "previous", "2026-03-30 05:00", "2026-03-28 00:00 … 2026-03-29 00:00, 24h0m0s"},
		{"the same weekday", "day", "same-weekday", "2026-04-06 05:00", "2026-03-29 00:00 … 2026-03-30 00:00, 23h0m0s"},
		{"the same hour", "hour", "same-weekday", "2026-04-06 05:10", "2026-03-30 06:00 … 2026-03-30 07:00, 1h0m0s"},
		{"nothing", "day", "none", "2026-04-06 05:00", ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			d := definition.Definition{Period: test.unit, Compare: test.compare, TZ: "Europe/Berlin", At: "07:00"}
			got, err := Compared(d, period.Unit(test.unit).Last(at(t, test.now).In(berlin)))
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if got != nil {
				text = periodText(*got, berlin)
			}
			if text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

// TestComparedWithRequestedPeriods: a requested period of any length is compared with the same time of an earlier week.
// Times are in Berlin.
func TestComparedWithRequestedPeriods(t *testing.T) {
	berlin, err := zone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ rule, unit, from, to, want string }{
		{"a part of a day", "day", "2026-11-18 10:00", "2026-11-18 15:00", "2026-11-11 10:00 … 2026-11-11 15:00, 5h0m0s"},
		{"a day", "day", "2026-11-18 00:00", "2026-11-19 00:00", "2026-11-11 00:00 … 2026-11-12 00:00, 24h0m0s"},
		{"a day of an hourly report", "hour", "2026-11-18 00:00", "2026-11-19 00:00", "2026-11-11 00:00 … 2026-11-12 00:00, 24h0m0s"},
		{"a part of an hour", "hour", "2026-11-18 10:15", "2026-11-18 10:20", "2026-11-11 10:15 … 2026-11-11 10:20, 5m0s"},
		{"three days", "day", "2026-11-16 00:00", "2026-11-19 00:00", "2026-11-09 00:00 … 2026-11-12 00:00, 72h0m0s"},
		{"a week", "day", "2026-11-09 00:00", "2026-11-16 00:00", "2026-11-02 00:00 … 2026-11-09 00:00, 168h0m0s"},
		{"eight days do not overlap", "day", "2026-11-09 00:00", "2026-11-17 00:00", "2026-10-26 00:00 … 2026-11-03 00:00, 192h0m0s"},
		{"a change of the clock", "day", "2026-03-30 10:00", "2026-04-01 10:00", "2026-03-23 10:00 … 2026-03-25 10:00, 48h0m0s"},
		{"a time over a change", "day", "2026-04-05 00:00", "2026-04-05 06:00", "2026-03-29 00:00 … 2026-03-29 06:00, 5h0m0s"},
		{"a time that the clocks left out", "day", "2026-04-05 02:10", "2026-04-05 02:50", "2026-03-29 01:20 … 2026-03-29 03:00, 40m0s"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			local := func(text string) int64 {
				parsed, err := time.ParseInLocation(layout, text, berlin)
				if err != nil {
					t.Fatal(err)
				}
				return parsed.UnixMilli()
			}
			d := definition.Definition{Period: test.unit, Compare: "same-weekday", TZ: "Europe/Berlin", At: "07:00"}
			got, err := Compared(d, period.Period{FromMs: local(test.from), ToMs: local(test.to) - 1})
			if err != nil || periodText(*got, berlin) != test.want {
				t.Errorf("%s, want %s, %v", periodText(*got, berlin), test.want, err)
			}
		})
	}
}
