package scan_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// fiveDays returns records of five days, with a day and some hours without any, and their objects.
func fiveDays(t *testing.T) ([]lake.Row, []lake.Object) {
	t.Helper()
	rows := enginetest.Records(t, 900, 17)
	r := rand.New(rand.NewPCG(17, 17))
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	const hourMs, dayMs = 3_600_000, 86_400_000
	for i := range rows {
		day := []int64{0, 1, 3, 4}[r.IntN(4)]
		rows[i].TsMs = first + day*dayMs + r.Int64N(dayMs)/(2*hourMs)*(2*hourMs) + r.Int64N(hourMs)
		rows[i].TsNanos = rows[i].TsNanos % 1_000_000
		switch i {
		case 0: // the bounds of a day
			rows[i].TsMs = first + dayMs
		case 1:
			rows[i].TsMs = first + 2*dayMs - 1
		}
	}
	return rows, stored(t, rows)
}

// countedHosts are the counts of rollups.
var countedHosts = query.Counts{
	By: querytest.Dimensions("host")[0],
	Of: []query.Selection{querytest.Selection("blocked not is true"), querytest.Selection("status>=400")},
}

func ofDay(start int64, objects []lake.Object) scan.ToRollUp {
	return scan.ToRollUp{Start: start, Length: rollup.DayLength, Objects: objects, Counted: countedHosts}
}

// rolledUp writes the rollups of the days for which write returns true.
func rolledUp(t *testing.T, objects []lake.Object, write func(start int64) bool) rollupfile.Folder {
	t.Helper()
	folder := rollupfile.Folder(t.TempDir())
	if _, err := folder.MakeHashKey(); err != nil {
		t.Fatal(err)
	}
	o := scan.Options{Rollups: scan.NewRollups(folder)}
	for start, of := range scan.ByDay(objects) {
		if !write(start) {
			continue
		}
		if err := scan.RollUpAll(t.Context(), ofDay(start, of), o, folder.Write); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// early returns the objects that are there before the others arrive, of each day and of many hours.
func early(objects []lake.Object) (there []lake.Object) {
	for i, o := range objects {
		if i%5 != 2 {
			there = append(there, o)
		}
	}
	return there
}

// conditionsOfDays are conditions that rollups have, and others.
var conditionsOfDays = []string{
	"", "", `, branch="prod"`, "", `, host="shop.example"`, ", status>=400", `, branch="staging"`, "", `, host="none.example"`,
	`, branch in ("staging", "prod")`, `, host="shop.example", branch="prod"`, `, not branch="prod"`, `, branch="PROD"`,
}

// TestRollups: answers from the rollups of all days, of some and of none are the reference's.
func TestRollups(t *testing.T) {
	rows, objects := fiveDays(t)
	zones := []*time.Location{nil}
	for _, name := range []string{"Europe/Berlin", "Asia/Kolkata"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	var shapes []query.Shape
	for _, zone := range zones {
		for _, seconds := range []int64{3600, 6 * 3600, 86400, 2 * 86400} {
			shapes = append(shapes,
				query.Timeline{SegmentSeconds: seconds, Zone: zone},
				query.Stats{SegmentSeconds: seconds, Zone: zone},
				query.Stats{SegmentSeconds: seconds, Zone: zone, GroupByHostname: true},
			)
		}
	}
	shapes = append(shapes,
		query.Timeline{SegmentSeconds: 900}, query.Stats{SegmentSeconds: 900},
		query.Stats{SegmentSeconds: 86400, Percentiles: true},
		query.Stats{SegmentSeconds: 86400, By: &querytest.Dimensions("country")[0]}, query.TopX{Limit: 5},
	)
	all := func(int64) bool { return true }
	for name, of := range map[string]struct {
		objects []lake.Object
		write   func(start int64) bool
	}{
		"all":                   {objects, all},
		"none":                  {objects, func(int64) bool { return false }},
		"some":                  {objects, func(start int64) bool { return start/86400%2 == 0 }},
		"before records arrive": {early(objects), all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := scan.Options{Rollups: scan.NewRollups(rolledUp(t, of.objects, of.write)), NoFallback: true}
			r := rand.New(rand.NewPCG(17, 18))
			spared := 0
			for n := range 250 {
				from, to := r.IntN(48), 120-r.IntN(48)
				if n%3 == 0 {
					from, to = 24*r.IntN(2), 24*(4+r.IntN(2))
				}
				at := func(hour int, later time.Duration) string {
					return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC).Add(later).Format("2006-01-02T15:04:05.000Z")
				}
				condition := conditionsOfDays[n%len(conditionsOfDays)]
				cut := time.Duration(n%4/3) * time.Minute // into the first hour
				period := fmt.Sprintf("timestamp between %s and %s", at(from, cut), at(to, -time.Millisecond))
				q := bind(t, period+condition, shapes[n%len(shapes)])
				touched := touching(q, objects)
				read, err := answerFrom(t, q, rows, touched, o)
				if err != nil {
					t.Fatalf("%T %s: %v", q.Shape, q, err)
				}
				spared += len(touched) - len(read)
				if len(read) != len(scan.ToRead(t.Context(), q, touched, o)) {
					t.Errorf("%T %s: other objects were read than expected", q.Shape, q)
				}
			}
			if (spared == 0) != (name == "none") {
				t.Errorf("%d objects were not read", spared)
			}
		})
	}
}

func touching(q query.Query, objects []lake.Object) (touched []lake.Object) {
	for _, o := range objects {
		if q.TimeBounds().Touches(o.MinTsMs, o.MaxTsMs) {
			touched = append(touched, o)
		}
	}
	return touched
}

// TestCountsOfRollups: counts of hosts from rollups, from minutes that are kept and from records are the reference's.
func TestCountsOfRollups(t *testing.T) {
	rows, objects := fiveDays(t)
	folder := rolledUp(t, objects, func(start int64) bool { return start/86400%4 != 2 || start < rows[0].TsMs/1000 })
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000") }
	shape := func(seconds int64, by string, of ...query.Selection) query.Counts {
		return query.Counts{SegmentSeconds: seconds, By: querytest.Dimensions(by)[0], Of: of}
	}
	same := countedHosts.Of
	for _, c := range []struct {
		shape      query.Counts
		conditions string
		rolledUp   bool
	}{
		{shape(60, "host", same...), "", true},
		{shape(3600, "host", same...), "", true},
		{shape(4*86400, "host", same...), "", true},
		{shape(3600, "host", same...), `, host in ("b", "a", "é")`, true},
		{shape(3600, "host", same...), `, host not in ("b", "a"), not host=""`, true},
		{shape(60, "host", same...), ", not timestamp between 2026-01-01 03:10:00 and 2026-01-04 20:29:59.999", true},
		{shape(900, "host", same...), ", not timestamp between 2026-01-02 00:00 and 2026-01-02 09:59:59.999, host~\"a|b\"", true},
		{shape(60, "host", same...), ", not timestamp between 2026-01-01 03:10:00 and 2026-01-04 20:29:59.998", false},
		{shape(60, "host", same...), ", not timestamp between 2026-01-01 03:10:00.001 and 2026-01-04 20:29:59.999", false},
		{shape(3600, "host", same...), `, branch="prod"`, true},
		{shape(60, "host", same...), `, branch="staging", host in ("shop.example", "bank.example")`, true},
		{shape(60, "host", same...), `, branch in ("staging", "prod")`, true},
		{shape(3600, "host", same...), `, branch in ("staging", "prod"), host in ("b", "a", "é")`, true},
		{shape(3600, "host", same...), ", status=404", false},
		{shape(3600, "host", same[:1]...), "", false},
		{shape(3600, "branch"), "", true},
		{shape(4*86400, "branch"), `, branch in ("staging", "prod")`, true},
		{shape(900, "branch"), `, branch not in ("staging")`, true},
		{shape(60, "branch"), `, branch=""`, true},
		{shape(60, "branch"), `, host="a"`, false},
		{shape(3600, `security_config["revision"]`), "", true},
		{shape(60, `security_config["revision"]`), `, branch="prod"`, true},
		{shape(900, `security_config["revision"]`), `, security_config["revision"] ~ "1|5"`, true},
		{shape(60, `security_config["revision"]`), `, not security_config["revision"] ~ "1|5"`, true},
		{shape(3600, `security_config["revision"]`), `, security_config["acl_active"] is true`, false},
		{shape(3600, "method"), "", false},
		{shape(3600, "hostname", same...), "", false},
	} {
		spared, kept := 0, 0
		o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
		for n, period := range []string{
			"2026-01-01 and 2026-01-05 23:59:59.999", "2026-01-01 11:07 and 2026-01-05 09:10:59.999",
			"2026-01-02 10:30 and 2026-01-02 10:59:59.999",
			// The first or the last minute has a record that is not in the period.
			at(rows[0].TsMs+1) + " and 2026-01-05 23:59:59.999", "2026-01-01 and " + at(rows[1].TsMs-1),
		} {
			for _, o.Partials = range []*scan.Partials{nil, scan.NewPartials(64 << 20)} {
				q := bind(t, "timestamp between "+period+c.conditions, c.shape)
				for again := range 2 {
					touched := touching(q, objects)
					expected := len(scan.ToRead(t.Context(), q, touched, o))
					read, err := answerFrom(t, q, rows, touched, o)
					if err != nil {
						t.Fatalf("%s: %v", q, err)
					}
					if len(read) != expected {
						t.Errorf("%s: %d objects were read, want %d", q, len(read), expected)
					}
					if again == 0 && n == 2 { // a part of a day
						spared += len(touched) - len(read)
					} else if o.Partials != nil {
						kept += len(touched) - len(read)
					}
				}
			}
		}
		if (spared > 0) != c.rolledUp || kept == 0 {
			t.Errorf("%s%s: %d objects were not read the first time, %d the second time", c.shape, c.conditions, spared, kept)
		}
	}
}

// TestMinutesOfOtherHosts: once all hosts are counted, a question about one of them reads nothing. A question about one
// host does not count the others.
func TestMinutesOfOtherHosts(t *testing.T) {
	rows, objects := fiveDays(t)
	ask := func(o scan.Options, seconds int64, condition string) int {
		t.Helper()
		q := bind(t, "timestamp between 2026-01-01 and 2026-01-06"+condition, query.Counts{
			SegmentSeconds: seconds, By: countedHosts.By, Of: countedHosts.Of,
		})
		read, err := answerFrom(t, q, rows, objects, o)
		if err != nil {
			t.Fatal(err)
		}
		return len(read)
	}
	const inDay = ", not timestamp between 2026-01-01 and 2026-01-01 11:59:59.999"
	for _, steps := range [][]struct {
		seconds   int64
		condition string
		read      bool
	}{
		{
			{3600, `, host="a"`, true}, {3600, `, host="a"`, false}, {3600, `, host="b"`, true}, {3600, "", true},
			{60, `, host="c"`, false}, {900, `, not host="c"`, false}, {86400, inDay, false},
		},
		{{3600, inDay, true}, {3600, "", false}},
	} {
		o := scan.Options{Partials: scan.NewPartials(64 << 20), NoFallback: true}
		for _, step := range steps {
			if read := ask(o, step.seconds, step.condition); (read > 0) != step.read {
				t.Errorf("%d s%s: %d objects were read", step.seconds, step.condition, read)
			}
		}
	}
}

// TestRollupsThatDoNotApply: a rollup of other objects, a damaged one and one of another day are not used.
func TestRollupsThatDoNotApply(t *testing.T) {
	rows, objects := fiveDays(t)
	q := bind(t, "timestamp between 2026-01-01 and 2026-01-06", query.Stats{SegmentSeconds: 86400})
	all := func(int64) bool { return true }
	days := scan.ByDay(objects)
	const start = 1_767_225_600 // 2026-01-01
	for name, spoil := range map[string]func(t *testing.T, folder rollupfile.Folder, start int64){
		"of an object more": func(t *testing.T, folder rollupfile.Folder, start int64) {
			o := scan.Options{Rollups: scan.NewRollups(folder)}
			more := stored(t, slices.DeleteFunc(slices.Clone(rows), func(r lake.Row) bool { return r.TsMs/1000 >= start+2*3600 }))
			day, lists, err := scan.RollUp(t.Context(), ofDay(start, append(more[:1:1], days[start]...)), o)
			if err == nil {
				err = folder.Write(day, lists)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"damaged": func(t *testing.T, folder rollupfile.Folder, start int64) {
			content, err := os.ReadFile(folder.Path(start, rollup.Subset{}))
			if err != nil {
				t.Fatal(err)
			}
			content[100] ^= 1
			if err := os.WriteFile(folder.Path(start, rollup.Subset{}), content, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"missing": func(t *testing.T, folder rollupfile.Folder, start int64) {
			if err := folder.Remove(start); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := rolledUp(t, objects, all)
			spoil(t, folder, start)
			read, err := answerFrom(t, q, rows, objects, scan.Options{Rollups: scan.NewRollups(folder)})
			if err != nil || len(read) != len(days[start]) {
				t.Errorf("%d objects were read, want the %d of the day: %v", len(read), len(days[start]), err)
			}
		})
	}
	if _, _, err := scan.RollUp(t.Context(), ofDay(start+86400, days[start]), scan.Options{}); err == nil {
		t.Error("objects of another day are rolled up")
	}
}

// TestSubsetsOfDays: a question about a branch is answered from the rollup of that subset, and from the one of
// the day if all of its records are of the subset. Days without records of the branch are not read.
func TestSubsetsOfDays(t *testing.T) {
	rows, _ := fiveDays(t)
	const first, day = 1_767_225_600, 86_400 // 2026-01-01
	main, other := "main", "other"
	for i := range rows {
		rows[i].OriginUs, rows[i].SvcUs, rows[i].TotalUs = nil, nil, nil // some are so long that keys are not listed
		switch rows[i].Branch = &main; {
		case rows[i].TsMs/1000 >= first+4*day && i%4 == 0:
			rows[i].Branch = &other
		case rows[i].TsMs/1000 >= first+4*day && i%4 == 1:
			rows[i].Branch = nil
		}
	}
	objects := stored(t, rows)
	days := scan.ByDay(objects)
	last := len(days[first+4*day])
	all := func(int64) bool { return true }
	for name, of := range map[string]struct {
		spoil                         func(folder rollupfile.Folder, path string) error
		mainRead, otherRead, bothRead int
	}{
		"as they are": {func(rollupfile.Folder, string) error { return nil }, 0, 0, 0},
		"damaged": {func(_ rollupfile.Folder, path string) error {
			return os.WriteFile(path, []byte("x"), 0o600)
		}, last, 0, last},
		"removed": {func(_ rollupfile.Folder, path string) error { return os.Remove(path) }, last, 0, last},
		"of an object less": {func(f rollupfile.Folder, _ string) error {
			of := ofDay(first+4*day, days[first+4*day][1:])
			of.Subset = rollup.Subset{Field: "branch", Value: main}
			made, lists, err := scan.RollUp(t.Context(), of, scan.Options{Rollups: scan.NewRollups(f)})
			return errors.Join(err, f.Write(made, lists))
		}, last, 0, last},
		"of another subset": {func(f rollupfile.Folder, path string) error {
			return os.Rename(f.Path(first+4*day, rollup.Subset{Field: "branch", Value: other}), path)
		}, last, last, last},
	} {
		t.Run(name, func(t *testing.T) {
			folder := rolledUp(t, objects, all)
			o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
			err := of.spoil(folder, folder.Path(first+4*day, rollup.Subset{Field: "branch", Value: main}))
			if err != nil {
				t.Fatal(err)
			}
			for branches, want := range map[string]int{
				`="main"`: of.mainRead, `="other"`: of.otherRead, ` in ("main", "other")`: of.bothRead, ` in ("none", "main")`: last,
				`="none"`: last,
			} {
				for _, shape := range []query.Shape{
					query.TopX{Limit: 5}, query.Stats{SegmentSeconds: day}, query.Timeline{SegmentSeconds: day},
					query.Facets{Limit: 5, By: querytest.Dimensions(query.DefaultFacets)},
					query.Counts{SegmentSeconds: 3600, By: countedHosts.By, Of: countedHosts.Of},
				} {
					q := bind(t, "timestamp between 2026-01-01 and 2026-01-06, branch"+branches, shape)
					read, err := answerFrom(t, q, rows, objects, o)
					if err != nil || len(read) != want {
						t.Errorf("%T of branch%s: %d objects were read, want %d: %v", shape, branches, len(read), want, err)
					}
				}
			}
		})
	}
	// Of a host and a branch, if each record of the day is of the branch.
	o := scan.Options{Rollups: scan.NewRollups(rolledUp(t, objects, all)), NoFallback: true}
	q := bind(t, `timestamp between 2026-01-01 and 2026-01-06, branch="main", host="shop.example"`, query.Timeline{SegmentSeconds: day})
	if read, err := answerFrom(t, q, rows, objects, o); err != nil || len(read) != last {
		t.Errorf("of a host and a branch, %d objects were read, want %d: %v", len(read), last, err)
	}
	made, _, err := scan.RollUp(t.Context(), ofDay(first+4*day, days[first+4*day]), scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := rollup.Division{Subsets: []rollup.Subset{{Field: "branch", Value: main}, {Field: "branch", Value: other}}}
	if diff := cmp.Diff(want, made.Divisions[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRollupsAreSmall: the rollup of a day has few bytes for each host and hour.
func TestRollupsAreSmall(t *testing.T) {
	_, objects := fiveDays(t)
	for start, of := range scan.ByDay(objects) {
		day, _, err := scan.RollUp(t.Context(), ofDay(start, of), scan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		content := len(day.Encode())
		for _, o := range day.Objects {
			content -= len(o.Name) + 40
		}
		if most := 60*len(day.Hosts) + 200*len(day.Segments); content > most {
			t.Errorf("%d bytes for %d hosts and %d segments, want at most %d", content, len(day.Hosts), len(day.Segments), most)
		}
	}
}

// TestLists: answers about topx and facets from the lists of rollups are the reference's, also if the lists are so
// small that records must be read, too.
func TestLists(t *testing.T) {
	rows, objects := fiveDays(t)
	var shapes []query.Shape
	for _, limit := range []int{1, 3, 6, 80} {
		shapes = append(shapes, query.TopX{Limit: limit},
			query.TopX{Limit: limit, Labels: []string{"ip", "svc_time"}}, query.TopX{Limit: limit, Labels: []string{"reason"}},
			query.TopX{Limit: limit, Labels: []string{"ip", "url"}})
		for _, byBlocked := range []bool{false, true} {
			shapes = append(shapes,
				query.Facets{Limit: limit, ByBlocked: byBlocked, By: querytest.Dimensions(query.DefaultFacets)},
				query.Facets{Limit: limit, ByBlocked: byBlocked, By: querytest.Dimensions("ip,tags,monitor,upstream_status,reason")})
		}
	}
	shapes = append(shapes,
		query.Facets{Limit: 5, By: querytest.Dimensions("ip/24,ip/64")},
		query.TopX{Limit: 5, Percentiles: true}, query.Facets{Limit: 5, By: querytest.Dimensions("country,protocol")})
	for _, of := range []struct {
		name                                      string
		texts, undivided, known, slowest, blocked int
		objects                                   []lake.Object // that are rolled up
		unread                                    int           // the least share of objects that are not read, in percent
	}{
		{"as usual", 100, 2048, 4000, 64, 80, objects, 60},
		{"divided values", 100, 8, 4000, 64, 80, objects, 60},
		{"few texts", 1, 8, 4000, 64, 80, objects, 30},
		{"few keys", 100, 8, 12, 3, 6, objects, 1},
		{"hardly any keys", 1, 0, 2, 1, 1, objects, 1},
		{"before records arrive", 100, 8, 4000, 64, 80, early(objects), 40},
		{"few keys before records arrive", 100, 8, 12, 3, 6, early(objects), 1},
	} {
		t.Run(of.name, func(t *testing.T) {
			defer scan.SetListSizes(of.texts, of.undivided, of.known, of.slowest, of.blocked, 8)()
			o := scan.Options{Rollups: scan.NewRollups(rolledUp(t, of.objects, func(int64) bool { return true })), NoFallback: true}
			if len(of.name)%2 == 0 {
				o.Partials = scan.NewPartials(1 << 20)
			}
			r := rand.New(rand.NewPCG(17, 19))
			var reads reading
			rounds := 3
			if testing.Short() {
				rounds = 1
			}
			for n := range rounds * len(shapes) {
				from, to := time.Duration(24*r.IntN(3)), time.Duration(24*(3+r.IntN(3)))
				if n%3 == 2 {
					from, to = from+time.Duration(r.IntN(24)), to-time.Duration(r.IntN(24))
				}
				at := func(hours time.Duration) string {
					first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
					return first.Add(hours * time.Hour).Format("2006-01-02T15:04:05.000Z")
				}
				condition := []string{
					"", `, branch="prod"`, "", `, host="shop.example"`, `, branch="staging"`, "",
					`, host in ("shop.example", "bank.example")`,
				}[n%7]
				q := bind(t, fmt.Sprintf("timestamp between %s and %s%s", at(from), at(to), condition), shapes[n%len(shapes)])
				reads.answer(t, q, rows, objects, o)
			}
			reads.check(t, of.unread)
		})
	}
}

// reading counts the objects that answers read, of all that queries touch.
type reading struct{ read, all int }

// answer compares an answer with the reference, as answerFrom does.
func (r *reading) answer(t *testing.T, q query.Query, rows []lake.Row, objects []lake.Object, o scan.Options) {
	t.Helper()
	touched := touching(q, objects)
	found, err := answerFrom(t, q, rows, touched, o)
	if err != nil {
		t.Fatalf("%T %s: %v", q.Shape, q, err)
	}
	r.all, r.read = r.all+len(touched), r.read+len(found)
}

// check checks that a percentage of the objects was not read.
func (r *reading) check(t *testing.T, unread int) {
	t.Helper()
	t.Logf("%d of %d objects were read", r.read, r.all)
	if 100*(r.all-r.read) < unread*r.all {
		t.Errorf("%d of %d objects were read, want at most %d %%", r.read, r.all, 100-unread)
	}
}

// TestSlowKeysOfDays: keys are ranked by their average times of all days, although each rollup lists only few of the
// slowest.
func TestSlowKeysOfDays(t *testing.T) {
	defer scan.SetListSizes(1, 100, 2, 20, 80, 2)()
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	labels := []string{query.TimeLabels[0].Name, query.TimeLabels[1].Name, query.TimeLabels[2].Name}
	read, all := 0, 0
	for seed := range testlevel.Of[uint64](4, 8, 20) {
		r := rand.New(rand.NewPCG(17, seed))
		rows := enginetest.Records(t, 400, 17)
		urls := 60 + r.IntN(100)
		for i := range rows {
			rows[i].TsMs = first.UnixMilli() + int64(r.IntN(4))*86_400_000 + int64(r.IntN(3))*3_600_000 + int64(r.IntN(1000))
			rows[i].TsNanos = 0
			url := fmt.Sprintf("/%d", r.IntN(1+r.IntN(urls)))
			rows[i].URL = &url
			for _, to := range []**int64{&rows[i].OriginUs, &rows[i].SvcUs, &rows[i].TotalUs} {
				*to = nil
				if r.IntN(8) > 0 {
					n := int64(1000 + r.IntN(10)*100)
					if r.IntN(4) == 0 { // it is slow once
						n *= int64(2 + r.IntN(12))
					}
					*to = &n
				}
			}
		}
		objects := stored(t, rows)
		o := scan.Options{Rollups: scan.NewRollups(rolledUp(t, objects, func(start int64) bool {
			return seed%2 == 0 || start/86400%4 != 0
		})), NoFallback: true}
		for limit := 1; limit < 8; limit++ {
			q := bind(t, "timestamp between 2026-01-01 and 2026-01-05", query.TopX{Limit: limit, Labels: labels})
			found, err := answerFrom(t, q, rows, objects, o)
			if err != nil {
				t.Fatal(err)
			}
			read, all = read+len(found), all+len(objects)
		}
	}
	if t.Logf("%d of %d objects were read", read, all); read > all*9/10 {
		t.Errorf("%d of %d objects were read", read, all)
	}
}

// TestKeysOfHosts: rollups of hosts list the figures of all URLs, unless there are too many. So they rank URLs by times
// although their lists of the slowest are short, and records are read only for texts.
func TestKeysOfHosts(t *testing.T) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	labels := []string{"url", query.TimeLabels[0].Name, query.TimeLabels[1].Name, query.TimeLabels[2].Name}
	hosts := []string{"shop.example", "bank.example"}
	for _, of := range []struct{ known, slowest, rest, unread int }{
		{2, 2, 1000, 55}, {2, 1000, 1000, 100}, {1000, 2, 1000, 100}, {2, 2, 10, 0},
	} {
		t.Run(fmt.Sprintf("%d known, %d slowest, %d at most", of.known, of.slowest, of.rest), func(t *testing.T) {
			defer scan.SetListSizes(1, 100, of.known, of.slowest, 80, 2)()
			defer scan.SetMostRest(of.rest)()
			var reads reading
			for seed := range testlevel.Of[uint64](4, 8, 20) {
				r := rand.New(rand.NewPCG(23, seed))
				rows := enginetest.Records(t, 600, 23)
				for i := range rows {
					at := first.Add(time.Duration(r.IntN(4)*24+r.IntN(3)) * time.Hour)
					rows[i].TsMs, rows[i].TsNanos = at.UnixMilli()+int64(r.IntN(1000)), 0
					url := fmt.Sprintf("/%d", r.IntN(150))
					rows[i].URL, rows[i].Host = &url, &hosts[r.IntN(2)]
					for _, to := range []**int64{&rows[i].OriginUs, &rows[i].SvcUs, &rows[i].TotalUs} {
						*to = nil
						if n := int64(r.IntN(8) * r.IntN(10_000)); n > 0 {
							*to = &n
						}
					}
				}
				objects := stored(t, rows)
				folder := rolledUp(t, objects, func(int64) bool { return true })
				rollups := scan.NewRollups(folder)
				host := rollup.Subset{Field: "host", Value: hosts[0]}
				day := rollups.Day(first.Unix(), host, scan.ByDay(objects)[first.Unix()])
				if has, known := day.HasRest("url"); has != (of.rest == 1000) || !known || !day.HasAllRests() {
					t.Fatalf("the figures of all URLs are listed: %t; known: %t", has, known)
				}
				o := scan.Options{Rollups: rollups, NoFallback: true}
				for limit := 1; limit < 8; limit++ {
					shape := query.TopX{Limit: limit, Labels: labels}
					q := bind(t, `timestamp between 2026-01-01 and 2026-01-05, host="shop.example"`, shape)
					reads.answer(t, q, rows, objects, o)
				}
			}
			reads.check(t, of.unread)
		})
	}
}

// TestDiffOfDays: a diff of two periods has the findings of the reference, whether all days are rolled up or only some.
func TestDiffOfDays(t *testing.T) {
	defer scan.SetListSizes(2, 8, 4000, 64, 80, 8)()
	rows, _ := fiveDays(t)
	at := func(day, hour int) int64 { return time.Date(2026, 1, day, hour, 0, 0, 0, time.UTC).UnixMilli() }
	// A period that begins at three o'clock has all records of the first day.
	rows = slices.DeleteFunc(rows, func(r lake.Row) bool { return r.TsMs < at(1, 6) })
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
		if later := rows[i].TsMs >= time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC).UnixMilli(); i%3 == 0 == later {
			ip, country, agent := fmt.Sprintf("192.0.2.%d", i%7), fmt.Sprintf("X%d", i%2), fmt.Sprintf("agent %d", i%6)
			rows[i].IP, rows[i].Country, rows[i].UserAgent = &ip, &country, &agent
			rows[i].Tags = append(rows[i].Tags, "tag "+agent, "tie c", "tie a", "tie b")
		}
	}
	objects := stored(t, rows)
	period := func(from, to int64) query.Against {
		return query.Against{Kind: query.AgainstPeriod, Period: query.Period{FromMs: from, ToMs: to - 1}}
	}
	findings := 0
	always := func(int64) bool { return true }
	for name, rolled := range map[string]rollupfile.Folder{
		"all":                   rolledUp(t, objects, always),
		"some":                  rolledUp(t, objects, func(start int64) bool { return start/86400%2 == 0 }),
		"before records arrive": rolledUp(t, early(objects), always),
	} {
		o := scan.Options{Rollups: scan.NewRollups(rolled), NoFallback: true}
		for _, of := range []struct {
			filter  string
			against query.Against
		}{
			{"timestamp between 2026-01-04 and 2026-01-05 23:59:59.999", period(at(1, 0), at(3, 0))},
			{"timestamp between 2026-01-04 and 2026-01-05 23:59:59.999", period(at(1, 3), at(3, 0))},
			{"timestamp between 2026-01-04 and 2026-01-05 23:59:59.999", query.Against{Kind: query.AgainstPrevious}},
			{"timestamp between 2026-01-04 09:30:00 and 2026-01-05 23:59:59.999", query.Against{Kind: query.AgainstPrevious}},
			{"timestamp between 2026-01-02 10:00:00 and 2026-01-04 23:59:59.999", period(at(1, 0), at(2, 9))},
			{
				`timestamp between 2026-01-04 and 2026-01-05 23:59:59.999, host="shop.example"`,
				query.Against{Kind: query.AgainstPrevious},
			},
			{"timestamp between 2026-01-01 05:00:00 and 2026-01-02 23:59:59.999", period(at(4, 7), at(6, 0))},
		} {
			for _, limit := range []int{1, 5, 80} {
				for _, by := range []string{query.DefaultDiff, "ip,tags,status", "url,status"} {
					shape := query.Diff{Limit: limit, Least: 3, Against: of.against, By: querytest.Dimensions(by)}
					q := bind(t, of.filter, shape)
					touched := touching(q, objects)
					got, read, err := scan.Answer(t.Context(), q, touched, o)
					if err != nil {
						t.Fatal(err)
					}
					if name != "some" && by != "url,status" && len(read) == len(touched) {
						t.Errorf("%s %s: all objects were read", q, by)
					}
					findings += checkDiff(t, q, all, got.Diff)
				}
			}
		}
	}
	if findings == 0 {
		t.Error("there are no findings")
	}
}

// checkDiff checks that a diff has the findings of the reference, and returns their number.
func checkDiff(t *testing.T, q query.Query, rows []*lake.Row, got query.DiffAnswer) (findings int) {
	t.Helper()
	want := reference.Evaluate(&q, rows).Diff
	texts := func(a query.DiffAnswer) (list []string) {
		for _, f := range query.Findings(q.Shape.(query.Diff), a) {
			list = append(list, fmt.Sprint(f.By, " ", f.Value, " ", f.Sides, " ", f.Score))
		}
		return list
	}
	expected := texts(want)
	if diff := cmp.Diff(expected, texts(got)); diff != "" {
		t.Errorf("%s (-reference +scan):\n%s", q, diff)
	}
	for _, a := range []*query.DiffAnswer{&want, &got} {
		for i := range a.Terms {
			a.Terms[i].Values = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-reference +scan):\n%s", q, diff)
	}
	return len(expected)
}

// TestRollUpWithLittleMemory: the segments are the same if the different addresses and sessions do not fit into the
// memory. Then there are no lists of values and keys.
func TestRollUpWithLittleMemory(t *testing.T) {
	rows := variedRecords(8_000)
	for i := range rows {
		rows[i].Branch = new("b")
	}
	for start, objects := range scan.ByDay(stored(t, rows)) {
		of := ofDay(start, objects)
		of.Subset = rollup.Subset{Field: "branch", Value: "b"}
		want, _, err := scan.RollUp(t.Context(), of, scan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []int64{200_000, 300_000, 500_000} {
			got, lists, err := scan.RollUp(t.Context(), of, scan.Options{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Segments, got.Segments); diff != "" {
				t.Error(diff)
			}
			if got, want := len(lists.Sections), len(query.Measures)+len(rollup.Counted(countedHosts)); got != want {
				t.Errorf("%d sections, want %d: the memory is not short", got, want)
			}
		}
	}
}

// TestListsWithoutKeys: if keys cannot be listed, values are.
func TestListsWithoutKeys(t *testing.T) {
	rows := variedRecords(500)
	for i := range rows {
		rows[i].URL, rows[i].TotalUs = new("/"), new(int64(math.MaxInt64))
	}
	for start, objects := range scan.ByDay(stored(t, rows)) {
		_, lists, err := scan.RollUp(t.Context(), ofDay(start, objects), scan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		day := rollup.Day{Sections: lists.Sections}
		if !day.HasSection(rollup.ValuesName(countedHosts.By)) || day.HasSection(rollup.MembersName("ip")) {
			t.Errorf("the sections are %+v", lists.Sections)
		}
	}
}
