package query_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

const (
	anHour = 3600
	aDay   = 86_400
	aWeek  = 7 * aDay
)

// localStarts returns the starts of the segments of a period by the clock of a zone.
func localStarts(p query.Period, seconds int64, zone *time.Location) []string {
	q := query.Query{Period: p, Scope: query.Scope{Period: p}, Shape: query.Timeline{SegmentSeconds: seconds, Zone: zone}}
	s := q.Segmentation(p)
	var starts []string
	for start := s.Start(p.FromMs); start*1000 <= p.ToMs; start = s.EndMs(start) / 1000 {
		starts = append(starts, time.Unix(start, 0).In(zone).Format("01-02 15:04-07:00"))
	}
	return starts
}

func TestSegmentsByALocalClock(t *testing.T) {
	for _, c := range []struct {
		name     string
		zone     string
		seconds  int64
		from, to string
		want     []string
	}{
		{
			"a day of 25 hours is one segment", "Europe/Berlin", aDay,
			"2024-10-26T12:00:00Z", "2024-10-28T12:00:00Z",
			[]string{"10-26 00:00+02:00", "10-27 00:00+02:00", "10-28 00:00+01:00"},
		},
		{
			"a day of 23 hours is one segment", "Europe/Berlin", aDay,
			"2024-03-30T12:00:00Z", "2024-04-01T12:00:00Z",
			[]string{"03-30 00:00+01:00", "03-31 00:00+01:00", "04-01 00:00+02:00"},
		},
		{
			"a quarter of a day has an hour more", "Europe/Berlin", 6 * anHour,
			"2024-10-27T00:00:00Z", "2024-10-27T13:00:00Z",
			[]string{"10-27 00:00+02:00", "10-27 06:00+01:00", "10-27 12:00+01:00"},
		},
		{
			"an hour that the clock reads twice is two segments", "Europe/Berlin", anHour,
			"2024-10-26T23:30:00Z", "2024-10-27T02:30:00Z",
			[]string{"10-27 01:00+02:00", "10-27 02:00+02:00", "10-27 02:00+01:00", "10-27 03:00+01:00"},
		},
		{
			"an hour that the clock skips is no segment", "Europe/Berlin", anHour,
			"2024-03-31T00:30:00Z", "2024-03-31T02:30:00Z",
			[]string{"03-31 01:00+01:00", "03-31 03:00+02:00", "03-31 04:00+02:00"},
		},
		{
			"a day without midnight begins at one", "America/Sao_Paulo", aDay,
			"2018-11-03T12:00:00Z", "2018-11-05T12:00:00Z",
			[]string{"11-03 00:00-03:00", "11-04 01:00-02:00", "11-05 00:00-02:00"},
		},
		{
			"an hour before a midnight that the clock turns back from belongs to the day before", "America/Sao_Paulo", aDay,
			"2018-02-17T12:00:00Z", "2018-02-19T12:00:00Z",
			[]string{"02-17 00:00-02:00", "02-18 00:00-03:00", "02-19 00:00-03:00"},
		},
		{
			"an offset of half an hour moves the hours", "Asia/Kolkata", anHour,
			"2024-05-01T00:00:00Z", "2024-05-01T01:00:00Z",
			[]string{"05-01 05:00+05:30", "05-01 06:00+05:30"},
		},
		{
			"an offset of three quarters moves the hours, also on the day with 25", "Pacific/Chatham", anHour,
			"2024-04-06T13:00:00Z", "2024-04-06T15:30:00Z",
			[]string{"04-07 02:00+13:45", "04-07 03:00+13:45", "04-07 03:00+12:45", "04-07 04:00+12:45"},
		},
		{
			"a month of another clock shortens a day and lengthens another", "Africa/Casablanca", 16 * aDay,
			"2024-03-09T12:00:00Z", "2024-04-20T12:00:00Z",
			[]string{"03-09 00:00+01:00", "03-25 00:00+00:00", "04-10 00:00+00:00"},
		},
		{
			"several days begin with the first day of the period", "Europe/Berlin", 2 * aDay,
			"2024-10-25T22:30:00Z", "2024-10-30T00:00:00Z",
			[]string{"10-26 00:00+02:00", "10-28 00:00+01:00", "10-30 00:00+01:00"},
		},
		{
			"a week begins on Monday", "Europe/Berlin", aWeek,
			"2024-10-23T00:00:00Z", "2024-11-05T00:00:00Z",
			[]string{"10-21 00:00+02:00", "10-28 00:00+01:00", "11-04 00:00+01:00"},
		},
		{
			"a midnight that is read twice begins one day", "America/St_Johns", aDay,
			"2006-10-28T12:00:00Z", "2006-10-30T12:00:00Z",
			[]string{"10-28 00:00-02:30", "10-29 00:00-02:30", "10-30 00:00-03:30"},
		},
		{
			"a day that a country skipped is no segment", "Pacific/Apia", aDay,
			"2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z",
			[]string{"12-29 00:00-10:00", "12-31 00:00+14:00", "01-01 00:00+14:00"},
		},
		{
			"the last day of a leap year far in the future is a day", "Europe/Berlin", aDay,
			"2040-12-30T12:00:00Z", "2041-01-01T12:00:00Z",
			[]string{"12-30 00:00+01:00", "12-31 00:00+01:00", "01-01 00:00+01:00"},
		},
		{
			"a clock that moves by half an hour makes an hour longer", "Australia/Lord_Howe", anHour,
			"2024-04-06T13:30:00Z", "2024-04-06T16:00:00Z",
			[]string{"04-07 00:00+11:00", "04-07 01:00+11:00", "04-07 02:00+10:30"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := localStarts(period(t, c.from, c.to), c.seconds, querytest.Zone(c.zone))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSegmentsOfEveryClockChange goes through the clock minute by minute and compares where it reads a multiple.
func TestSegmentsOfEveryClockChange(t *testing.T) {
	for _, name := range querytest.Zones {
		zone := querytest.Zone(name)
		for _, change := range querytest.ClockChanges(name) {
			p := query.Period{FromMs: change.Add(-50 * time.Hour).UnixMilli(), ToMs: change.Add(50 * time.Hour).UnixMilli()}
			for _, seconds := range []int64{anHour, 6 * anHour, aDay} {
				t.Run(fmt.Sprintf("%s %s %ds", name, change.Format(time.DateOnly), seconds), func(t *testing.T) {
					q := query.Query{Period: p, Shape: query.Stats{SegmentSeconds: seconds, Zone: zone}}
					segments := q.Segmentation(p)
					bounds := boundsByMinute(p, seconds, zone)
					for i, ms := 0, p.FromMs; ms <= p.ToMs; ms += 60_000 {
						for bounds[i+1]*1000 <= ms {
							i++
						}
						start := segments.Start(ms)
						if start != bounds[i] || segments.EndMs(start) != bounds[i+1]*1000 {
							t.Fatalf("the segment of %s is from %s to %s, want %s to %s",
								time.UnixMilli(ms).In(zone), time.Unix(start, 0).In(zone),
								time.UnixMilli(segments.EndMs(start)).In(zone),
								time.Unix(bounds[i], 0).In(zone), time.Unix(bounds[i+1], 0).In(zone))
						}
					}
				})
			}
		}
	}
}

// boundsByMinute looks at the clock every minute, from three days before the period until three days after it. A
// segment begins where the clock is past a multiple of the length for the first time, and an hour wherever it reads
// one.
func boundsByMinute(p query.Period, seconds int64, zone *time.Location) []int64 {
	var bounds []int64
	latest := int64(0)
	for at := p.FromMs/60_000*60 - 3*aDay; at < p.ToMs/1000+3*aDay; at += 60 {
		_, offset := time.Unix(at, 0).In(zone).Zone()
		reading := at + int64(offset)
		if reading/seconds > latest || seconds == anHour && reading%anHour == 0 {
			bounds, latest = append(bounds, at), max(latest, reading/seconds)
		}
	}
	return bounds
}

// TestRuns checks that runs describe the segments: the runs of any part of the time give the same starts.
func TestRuns(t *testing.T) {
	for _, name := range querytest.Zones {
		zone := querytest.Zone(name)
		for _, change := range querytest.ClockChanges(name) {
			whole := query.Period{FromMs: change.Add(-40 * 24 * time.Hour).UnixMilli(), ToMs: change.Add(40 * 24 * time.Hour).UnixMilli()}
			for _, seconds := range []int64{anHour, 6 * anHour, aDay, 4 * aDay, aWeek} {
				q := query.Query{Period: whole, Shape: query.Histogram{SegmentSeconds: seconds, Zone: zone}}
				all := q.Segmentation(whole)
				for hours := range int64(60) {
					part := query.Period{FromMs: whole.FromMs + hours*31*anHour*1000 + 1, ToMs: whole.ToMs - hours*7*anHour*1000}
					runs := q.Segmentation(part).Runs()
					if len(runs) > 4 {
						t.Fatalf("%s: %d runs for one change of the clock: %v", name, len(runs), runs)
					}
					for ms := part.FromMs; ms <= part.ToMs; ms += 13 * 60_000 {
						run := runs[slices.IndexFunc(runs, func(r query.SegmentRun) bool { return ms < r.UntilMs })]
						got := (ms-run.Start*1000)/(run.Seconds*1000)*run.Seconds + run.Start
						if want := all.Start(ms); got != want || ms < run.Start*1000 {
							t.Fatalf("%s, %d s, from %d: at %d the runs %v give %d, want %d",
								name, seconds, part.FromMs, ms, runs, got, want)
						}
					}
				}
			}
		}
	}
}

func TestCountOfSegments(t *testing.T) {
	berlin := querytest.Zone("Europe/Berlin")
	p := period(t, "2024-10-26T12:00:00Z", "2024-10-28T12:00:00Z")
	for _, c := range []struct {
		zone *time.Location
		want int64
	}{{nil, 3}, {berlin, 3}} {
		q := query.Query{Period: p, Shape: query.Stats{SegmentSeconds: aDay, Zone: c.zone}}
		if got := q.Segmentation(p).Count(p.FromMs, p.ToMs); got != c.want {
			t.Errorf("in zone %v there are %d segments, want %d", c.zone, got, c.want)
		}
	}
}

func TestLengthsByALocalClock(t *testing.T) {
	berlin := querytest.Zone("Europe/Berlin")
	ask := func(text string, seconds int64) (int64, error) {
		q, err := query.Bind(filter.Parse(text), query.Timeline{SegmentSeconds: seconds, Zone: berlin})
		if err != nil {
			return 0, err
		}
		return q.Shape.(query.Timeline).SegmentSeconds, nil
	}
	for _, c := range []struct {
		name, filter string
		asked, want  int64
	}{
		{"an hour by default", "timestamp between 2024-10-27 and 2024-10-27 12:00", 0, anHour},
		{"a quarter of a day where hours are too many", "timestamp between 2024-01-01 and 2025-01-01", 0, 6 * anHour},
		{"a week if asked for", "timestamp between 2024-01-01 and 2025-01-01", aWeek, aWeek},
		{"all time by default", "timestamp between 0001-01-01 and 9999-12-31", 0, 4096 * aDay},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := ask(c.filter, c.asked); err != nil || got != c.want {
				t.Errorf("%d s, %v; want %d s", got, err, c.want)
			}
		})
	}
	for _, c := range []struct {
		name, filter string
		asked        int64
		want         string
	}{
		{
			"less than an hour is refused", "timestamp between 2024-10-27 and 2024-10-28", 900,
			"in a time zone, a segment is one of 1h, 6h, 1d, 2d, 4d, 7d, 8d, 16d … 4096d, not 15m",
		},
		{
			"too many hours are refused", "timestamp between 2020-01-01 and 2022-01-01", anHour,
			"segments of 1h cut the period into as many as 17545 results, more than 10000; " +
				"the shortest that fits is 6h",
		},
		{
			"far too many hours are refused without listing them", "timestamp between 0001-01-01 and 9999-12-31", anHour,
			"segments of 1h cut the period into as many as 87649393 results, more than 10000; " +
				"the shortest that fits is 512d",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ask(c.filter, c.asked); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
	t.Run("a week without a zone is refused", func(t *testing.T) {
		_, err := query.Bind(filter.Parse("timestamp between 2024-01-01 and 2025-01-01"), query.Stats{SegmentSeconds: aWeek})
		if err == nil {
			t.Error("it is accepted")
		}
	})
}
