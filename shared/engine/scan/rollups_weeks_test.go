package scan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
)

// threeWeeks returns records from a Thursday, 2026-01-01, to a Wednesday, 2026-01-21, and their objects. Two days have
// no records.
func threeWeeks(t *testing.T) ([]lake.Row, []lake.Object) {
	t.Helper()
	rows := enginetest.Records(t, 900, 21)
	r := rand.New(rand.NewPCG(21, 21))
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	const hourMs, dayMs = 3_600_000, 86_400_000
	for i := range rows {
		day := r.Int64N(21)
		if day == 2 || day == 8 {
			day++
		}
		rows[i].TsMs = first + day*dayMs + r.Int64N(2)*13*hourMs + r.Int64N(hourMs)
		rows[i].TsNanos = rows[i].TsNanos % 1_000_000
		for _, us := range []**int64{&rows[i].OriginUs, &rows[i].SvcUs, &rows[i].TotalUs} {
			if *us != nil && (**us < 0 || **us > 1<<40) { // keys with such times are not listed
				*us = nil
			}
		}
	}
	return rows, stored(t, rows)
}

// addWeeks writes the rollups of the weeks for which write returns true.
func addWeeks(t *testing.T, folder rollupfile.Folder, objects []lake.Object, write func(start int64) bool) {
	t.Helper()
	o := scan.Options{Rollups: scan.NewRollups(folder)}
	for start, of := range scan.ByWeek(objects) {
		if !write(start) {
			continue
		}
		week := scan.ToRollUp{Start: start, Length: rollup.WeekLength, Objects: of}
		if err := scan.RollUpAll(t.Context(), week, o, folder.Weeks().Write); err != nil {
			t.Fatal(err)
		}
	}
}

func always(int64) bool { return true }

// TestWeeks: answers from the rollups of weeks and days are the reference's, also if the lists are so small that days
// or records must be read, too.
func TestWeeks(t *testing.T) {
	rows, objects := threeWeeks(t)
	shapes := []query.Shape{
		query.TopX{Limit: 5}, query.TopX{Limit: 80},
		query.Facets{Limit: 3, By: querytest.Dimensions(query.DefaultFacets)}, query.TopX{Limit: 3, Labels: []string{"ip", "svc_time"}},
		query.Facets{Limit: 10, ByBlocked: true, By: querytest.Dimensions("ip,tags,reason")},
		query.Timeline{SegmentSeconds: 86400}, query.Stats{SegmentSeconds: 86400, GroupByHostname: true},
		query.Counts{SegmentSeconds: 3600, By: countedHosts.By, Of: countedHosts.Of},
	}
	for _, of := range []struct {
		name                                      string
		texts, undivided, known, slowest, blocked int
		days                                      func(start int64) bool
		weeks                                     func(start int64) bool
		early                                     bool
		unread                                    int // the least share of objects that are not read, in percent
	}{
		{"as usual", 100, 2048, 4000, 64, 80, always, always, false, 60},
		{"some weeks", 100, 2048, 4000, 64, 80, always, func(start int64) bool { return start/rollup.WeekLength%2 == 0 }, false, 60},
		{"some days", 100, 2048, 4000, 64, 80, func(start int64) bool { return start/rollup.DayLength%3 == 0 }, always, false, 40},
		{"divided values", 1, 8, 4000, 64, 80, always, always, false, 20},
		{"few keys", 100, 8, 12, 3, 6, always, always, false, 1},
		{"hardly any keys", 1, 0, 4, 1, 1, always, always, false, 1},
		{"before records arrive", 100, 8, 4000, 64, 80, always, always, true, 40},
	} {
		t.Run(of.name, func(t *testing.T) {
			defer scan.SetListSizes(of.texts, of.undivided, of.known, of.slowest, of.blocked, 8)()
			there := objects
			if of.early {
				there = early(objects)
			}
			folder := rolledUp(t, there, of.days)
			addWeeks(t, folder, there, of.weeks)
			o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
			r := rand.New(rand.NewPCG(21, 22))
			var reads reading
			for n := range 10 * len(shapes) {
				from, to := time.Duration(24*r.IntN(8)), time.Duration(24*(12+r.IntN(10)))
				if n%3 == 2 {
					from, to = from+time.Duration(r.IntN(24)), to-time.Duration(r.IntN(24))
				}
				at := func(hours time.Duration) string {
					first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
					return first.Add(hours * time.Hour).Format("2006-01-02T15:04:05.000Z")
				}
				condition := []string{
					"", `, branch="prod"`, "", `, host="shop.example"`, `, branch="staging"`, `, branch in ("prod", "staging")`,
					`, branch="none"`,
				}[n%7]
				q := bind(t, fmt.Sprintf("timestamp between %s and %s%s", at(from), at(to), condition), shapes[n%len(shapes)])
				reads.answer(t, q, rows, objects, o)
			}
			reads.check(t, of.unread)
		})
	}
}

// TestKeysOfManyDays: if another engine can answer, the figures of keys are read from the records of few days only.
func TestKeysOfManyDays(t *testing.T) {
	rows, objects := threeWeeks(t)
	defer scan.SetListSizes(100, 2048, 2, 1000, 80, 1)()
	folder := rolledUp(t, objects, always)
	if err := os.RemoveAll(string(folder.Weeks())); err != nil { // a week lacks figures of keys for several days at once
		t.Fatal(err)
	}
	for period, want := range map[string]error{
		"2026-01-04 and 2026-01-08 23:59:59.999": nil, "2026-01-01 and 2026-01-21 23:59:59.999": scan.ErrUnsupported,
	} {
		o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true} // it has learned no figures in the other period
		q := bind(t, "timestamp between "+period, query.TopX{Limit: 40, Labels: []string{"ip", "url"}})
		touched := touching(q, objects)
		o.OnlyRollups = true
		read, err := answerFrom(t, q, rows, touched, o)
		if !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", period, err, want)
		}
		if o.OnlyRollups = false; err != nil {
			read, err = answerFrom(t, q, rows, touched, o)
		}
		if err != nil || len(read) == 0 {
			t.Errorf("%s: %d objects were read: %v", period, len(read), err)
		}
	}
}

// TestWeeksAlone: the rollup of a week answers without those of its days if the period has the whole week. If it is of
// other objects or damaged, the days answer.
func TestWeeksAlone(t *testing.T) {
	rows, objects := threeWeeks(t)
	const monday = 1_767_571_200 // 2026-01-05
	inWeek := func(start int64) bool { return rollup.WeekOf(start) == monday }
	ofWeek := len(scan.ByWeek(objects)[monday])
	for name, of := range map[string]struct {
		spoil func(t *testing.T, weeks rollupfile.Folder)
		days  bool
		read  int
	}{
		"whole": {func(*testing.T, rollupfile.Folder) {}, false, 0},
		"missing": {func(t *testing.T, weeks rollupfile.Folder) {
			if err := weeks.Remove(monday); err != nil {
				t.Fatal(err)
			}
		}, false, ofWeek},
		"missing, with days": {func(t *testing.T, weeks rollupfile.Folder) {
			if err := weeks.Remove(monday); err != nil {
				t.Fatal(err)
			}
		}, true, 0},
		"damaged": {func(t *testing.T, weeks rollupfile.Folder) {
			content, err := os.ReadFile(weeks.Path(monday, rollup.Subset{}))
			if err != nil {
				t.Fatal(err)
			}
			content[100] ^= 1
			if err := os.WriteFile(weeks.Path(monday, rollup.Subset{}), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}, true, 0},
		"of an object less": {func(t *testing.T, weeks rollupfile.Folder) {
			o := scan.Options{Rollups: scan.NewRollups(rollupfile.Folder(filepath.Dir(string(weeks))))}
			less := scan.ToRollUp{Start: monday, Length: rollup.WeekLength, Objects: scan.ByWeek(objects)[monday][1:]}
			if err := scan.RollUpAll(t.Context(), less, o, weeks.Write); err != nil {
				t.Fatal(err)
			}
		}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			folder := rolledUp(t, objects, func(start int64) bool { return of.days || !inWeek(start) })
			addWeeks(t, folder, objects, always)
			of.spoil(t, folder.Weeks())
			o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
			for _, shape := range []query.Shape{
				query.TopX{Limit: 3}, query.Facets{Limit: 3, By: querytest.Dimensions(query.DefaultFacets)},
			} {
				q := bind(t, "timestamp between 2026-01-01 and 2026-01-31", shape)
				touched := touching(q, objects)
				expected := len(scan.ToRead(t.Context(), q, touched, o))
				read, err := answerFrom(t, q, rows, touched, o)
				if err != nil {
					t.Fatal(err)
				}
				if len(read) != of.read || len(read) != expected {
					t.Errorf("%T: %d objects were read, %d expected, want %d", shape, len(read), expected, of.read)
				}
			}
		})
	}
}

// TestDiffOfWeeks: weeks answer diffs. A week that the two periods share is answered from its days.
func TestDiffOfWeeks(t *testing.T) {
	rows, objects := threeWeeks(t)
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	folder := rolledUp(t, objects, always)
	addWeeks(t, folder, objects, always)
	o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
	for _, from := range []string{"2026-01-12", "2026-01-14", "2026-01-14 13:30:00"} {
		for _, kind := range []query.Against{
			{Kind: query.AgainstPrevious},
			{Kind: query.AgainstPeriod, Period: query.Period{FromMs: 0, ToMs: 1_768_150_800_000}}, // Sunday, 2026-01-11 17:00
		} {
			shape := query.Diff{Limit: 5, Least: 3, Against: kind, By: querytest.Dimensions("country,ip")}
			q := bind(t, "timestamp between "+from+" and 2026-01-20 23:59:59.999", shape)
			got, _, err := scan.Answer(t.Context(), q, touching(q, objects), o)
			if err != nil {
				t.Fatal(err)
			}
			checkDiff(t, q, all, got.Diff)
		}
	}
}

// TestSeveralSubsets: answers about several branches or hosts from the rollups of each of them are the reference's,
// also if the lists are so small that records must be read, too.
func TestSeveralSubsets(t *testing.T) {
	rows, _ := threeWeeks(t)
	r := rand.New(rand.NewPCG(21, 23))
	branches := []string{"a", "b", "c", "d"}
	for i := range rows {
		n := min(r.IntN(4), r.IntN(5))
		if rows[i].Branch = nil; n < len(branches) && (rows[i].TsMs/86_400_000%2 == 0 || n > 0) {
			rows[i].Branch = &branches[n]
		}
		if rows[i].TsMs/86_400_000%3 == 0 && rows[i].Branch == nil {
			rows[i].Branch = &branches[3] // each record of some days has a branch
		}
		host := fmt.Sprintf("h%d", min(r.IntN(26), r.IntN(26), r.IntN(26)))
		rows[i].Host = &host
	}
	objects := stored(t, rows)
	shapes := []query.Shape{
		query.TopX{Limit: 4}, query.Facets{Limit: 3, By: querytest.Dimensions(query.DefaultFacets)},
		query.Stats{SegmentSeconds: 86400, GroupByHostname: true}, query.Timeline{SegmentSeconds: 86400},
		query.Counts{SegmentSeconds: 3600, By: countedHosts.By, Of: countedHosts.Of},
	}
	for name, of := range map[string]struct{ texts, undivided, known, slowest, blocked, unread int }{
		"as usual": {100, 2048, 4000, 64, 80, 80}, "few keys": {1, 8, 12, 3, 6, 20}, "hardly any keys": {1, 0, 4, 1, 1, 15},
	} {
		t.Run(name, func(t *testing.T) {
			defer scan.SetListSizes(of.texts, of.undivided, of.known, of.slowest, of.blocked, 8)()
			folder := rolledUp(t, objects, always)
			addWeeks(t, folder, objects, always)
			o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
			var reads reading
			for n := range 2 * 12 * len(shapes) {
				condition := []string{
					`host="h0"`, `host="h3"`, `host in ("h0", "h4")`, `host in ("h1", "none")`, `host in ("h2", "h20", "h25")`,
					`host="h1", branch in ("a", "b", "c", "d")`,
					`branch in ("a", "b")`, `branch in ("b", "c", "d")`, `branch in ("none", "c")`, `branch in ("a", "b", "c", "d")`,
					`branch in ("a", "b", "c"), branch in ("c", "b", "d")`, `branch in ("a", "b"), branch="a"`,
				}[n/2%12]
				from := []string{"2026-01-01", "2026-01-05", "2026-01-09"}[n%3]
				q := bind(t, "timestamp between "+from+" and 2026-01-21 23:59:59.999, "+condition, shapes[n%len(shapes)])
				reads.answer(t, q, rows, objects, o)
			}
			reads.check(t, of.unread)
		})
	}
}

// TestFilters: answers about all records, and about those that the filters of rollups select, are the reference's, and
// no records of whole days and weeks are read for them.
func TestFilters(t *testing.T) {
	rows, objects := threeWeeks(t)
	folder := rolledUp(t, objects, always)
	addWeeks(t, folder, objects, always)
	o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
	for _, f := range append(rollup.Filters, rollup.Filter{Values: query.DefaultFacets, Durations: true}) {
		shapes := []query.Shape{
			query.Stats{SegmentSeconds: 86400, GroupByHostname: true}, query.Timeline{SegmentSeconds: 3600},
			query.Histogram{SegmentSeconds: 21600, Measure: query.MeasureMonitored},
			query.Histogram{SegmentSeconds: 4 * 86400, Measure: query.MeasureBytesSent},
		}
		if f.Values != "" {
			by := querytest.Dimensions(f.Values)
			shapes = append(shapes, query.Facets{Limit: 3, By: by}, query.Facets{Limit: 20, ByBlocked: true, By: by})
		}
		if f.Durations {
			shapes = append(shapes, query.Stats{SegmentSeconds: 86400, Percentiles: true}, query.Stats{SegmentSeconds: 8 * 86400, Percentiles: true})
		}
		text := "timestamp between 2026-01-01 and 2026-01-21 23:59:59.999"
		if f.Text != "" {
			text += ", " + f.Text
		}
		for _, shape := range shapes {
			if read, err := answerFrom(t, bind(t, text, shape), rows, objects, o); err != nil || len(read) > 0 {
				t.Errorf("%+v of %s: %d objects were read: %v", shape, f.Text, len(read), err)
			}
		}
	}
}
