package hybrid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/ingest/cloud/rollingup"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// firstHour is the hour in which the records of fiveDays begin.
var firstHour = lake.PartitionOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())

// fiveDays returns records of five days: one day and some hours have none.
func fiveDays(t *testing.T, n int) []lake.Row {
	t.Helper()
	rows := enginetest.Records(t, n, 41)
	r := rand.New(rand.NewPCG(41, 41))
	for i := range rows {
		hour := firstHour + lake.Partition([]int{0, 1, 3, 4}[r.IntN(4)]*24+r.IntN(12)*2)
		rows[i].TsMs = hour.Start() + r.Int64N(3_600_000)
		rows[i].TsNanos %= 1_000_000
	}
	return rows
}

// counted are the counts of hosts in rollups.
var counted = query.Counts{
	By: querytest.Dimensions("host")[0], Of: []query.Selection{querytest.Selection("status>=400")},
}

// rolledUp is a world with a table, and with what rolls up its days.
type rolledUp struct {
	*world
	table lakestate.Table
	maker *rollingup.Maker
}

// newRolledUp returns a world whose days are rolled up, and how many.
func newRolledUp(t *testing.T, rows []lake.Row, b bucket) (w rolledUp, days int) {
	t.Helper()
	w = newMerged(t, rows, b)
	report, err := w.maker.Make(t.Context())
	if err != nil || len(report.Refused) > 0 || report.Unfinished {
		t.Fatalf("rolled up: %+v, %v", report, err)
	}
	return w, len(report.Days)
}

// newMerged returns a world in which the hours of all days but the newest are merged.
func newMerged(t *testing.T, rows []lake.Row, b bucket) (w rolledUp) {
	t.Helper()
	last := int64(0)
	for _, r := range rows {
		last = max(last, r.TsMs)
	}
	w = rolledUp{newCompacted(t, rows, b, lake.PartitionOf(last).Day().First()), lakestate.Over(&tabletest.Memory{}), nil}
	w.maker = &rollingup.Maker{
		Lake: b, Table: w.table, Scratch: t.TempDir(), Counted: counted, Now: func() time.Time { return enginetest.Start },
	}
	w.change(func(s *lakestate.State) { s.ChangedAll() })
	w.count()
	return w
}

// count counts the objects of all days, as compactions do.
func (w rolledUp) count() {
	w.t.Helper()
	ctx, s := w.t.Context(), w.state
	first, last := lake.PartitionOf(s.Extent.MinTsMs).Day(), s.Watermark.Day()-1
	known, err := lakestate.ReadDayCounts(ctx, w.table, first, last)
	if err != nil {
		w.t.Fatal(err)
	}
	for count, err := range lakestate.NewListing(w.bucket).Days(ctx, first, last, nil) {
		if err == nil {
			err = lakestate.SaveDayCount(ctx, w.table, enginetest.Start, known[count.Day], count)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// change changes the state of the lake.
func (w rolledUp) change(change func(s *lakestate.State)) {
	w.t.Helper()
	s, item, err := lakestate.Load(w.t.Context(), w.table)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Extent, s.Watermark = w.state.Extent, w.state.Watermark
	change(&s)
	if err := lakestate.Replace(w.t.Context(), w.table, item, s); err != nil {
		w.t.Fatal(err)
	}
}

func (w rolledUp) engine(change func(*hybrid.Config)) *hybrid.Engine {
	return w.world.engine(func(c *hybrid.Config) {
		c.Rollups = w.bucket
		if change != nil {
			change(c)
		}
	})
}

// rollups lists the names of the rollups of days, and how many there are of subsets.
func (w rolledUp) rollups() (names []string, subsets int) {
	w.t.Helper()
	for info, err := range w.bucket.List(w.t.Context(), "lake/_rollups/days/", "") {
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.Count(info.Name, "/") > 4 {
			subsets++
			continue
		}
		names = append(names, info.Name)
	}
	return names, subsets
}

// deleteSubsets deletes the rollups of subsets.
func (w rolledUp) deleteSubsets() {
	w.t.Helper()
	for info, err := range w.bucket.List(w.t.Context(), "lake/_rollups/days/", "") {
		if err == nil && strings.Count(info.Name, "/") > 4 {
			err = w.bucket.Delete(w.t.Context(), info.Name)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// check asks questions of all shapes that rollups answer, and of some that they do not, about whole days and others. It
// returns how many objects were not read.
func (w rolledUp) check(e *hybrid.Engine) (reused int) {
	w.t.Helper()
	facets := querytest.Dimensions(query.DefaultFacets)
	periods := []string{
		"2026-01-01 07:13 and 2026-01-05 13:00", "2026-01-02 10:30 and 2026-01-02 10:59:59.999",
		"2026-01-01 and 2026-01-05 23:59:59.999, status>=400", `2026-01-01 and 2026-01-05 23:59:59.999, branch="prod"`,
		`2026-01-01 and 2026-01-05 13:00, host="shop.example"`, "2026-01-01 and 2026-01-05 23:59:59.999",
		"2026-01-02 and 2026-01-02 23:59:59.999", `2026-01-01 and 2026-01-05 13:00, branch in ("prod", "staging")`,
	}
	if testing.Short() {
		periods = periods[:2]
	}
	for _, period := range periods {
		counts := counted
		counts.SegmentSeconds = 3600
		for _, shape := range []query.Shape{
			query.Stats{SegmentSeconds: 86400}, query.Stats{SegmentSeconds: 3600, GroupByHostname: true},
			query.Timeline{SegmentSeconds: 3600}, query.Timeline{SegmentSeconds: 900}, query.TopX{Limit: 5},
			query.Facets{Limit: 7, By: facets}, counts,
		} {
			q := bind(w.t, "timestamp between "+period, shape)
			estimate, err := e.Estimate(w.t.Context(), q)
			if err != nil {
				w.t.Fatal(err)
			}
			answer, cost, ok := e.TryDirect(w.t.Context(), q)
			if !ok {
				w.t.Fatalf("%T about %s: not answered: %v", shape, period, w.failed)
			}
			if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
				w.t.Errorf("%T about %s: %s", shape, period, diff)
			}
			_, readsTexts := shape.(query.Facets) // from records, if the rollups of several branches lack them
			readsTexts = readsTexts && strings.Contains(period, "branch in")
			if cost.Reused > estimate.Reused || cost.Reused < estimate.Reused && !readsTexts {
				w.t.Errorf("%T about %s: %d objects were not read, expected %d", shape, period, cost.Reused, estimate.Reused)
			}
			reused += cost.Reused
		}
	}
	return reused
}

// TestRollups: answers from the rollups of days are the reference's, whatever happens to the days and their rollups. A
// day that has changed is rolled up again.
func TestRollups(t *testing.T) {
	w, days := newRolledUp(t, fiveDays(t, 900), &blobtest.Memory{})
	names, subsets := w.rollups()
	if days != 3 || len(names) != 3 || subsets == 0 {
		t.Fatalf("%d days are rolled up: %q", days, names)
	}
	reused := w.check(w.engine(nil))
	if reused == 0 {
		t.Fatal("all objects were read")
	}
	w.rollUp(0)

	// A late record: it is read besides the rollup of its day, which is then replaced.
	late := *w.rows[0]
	late.TsMs = (firstHour + 24 + 3).Start() // an hour without an object
	w.rows = append(w.rows, &late)
	store := enginetest.StoreOf(t.TempDir(), nil)
	store.Fill(t, []lake.Row{late}, w.state.Watermark)
	w.putAll(store)
	if n := w.check(w.engine(nil)); n != reused {
		t.Errorf("%d objects were not read, with a late one; before, %d", n, reused)
	}
	w.rollUp(0) // the state does not tell yet
	w.change(func(s *lakestate.State) { s.Changed(lake.PartitionOf(late.TsMs).Day()) })
	w.rollUp(1)
	if n := w.check(w.engine(nil)); n <= reused {
		t.Errorf("%d objects were not read after the day was rolled up again; before, %d", n, reused)
	}
	w.rollUp(0) // it removes the older rollup
	names, left := w.rollups()
	if len(names) != 3 || left < subsets-2 || left > subsets+2 {
		t.Errorf("the rollups are %q, and %d of subsets; before, %d", names, left, subsets)
	}

	// Damaged, deleted and empty rollups are not used.
	w.deleteSubsets()
	for i, name := range names {
		switch i {
		case 0:
			w.put(name, []byte(strings.Repeat("x", 50_000)))
		case 1:
			w.put(name, nil)
		default:
			if err := w.bucket.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := w.check(w.engine(nil)); n > 0 {
		t.Errorf("%d objects were not read without rollups", n)
	}
	w.rollUp(1) // the one that is missing
}

// rollUp rolls up the days that lack a rollup, which are so many.
func (w rolledUp) rollUp(want int) {
	w.t.Helper()
	report, err := w.maker.Make(w.t.Context())
	if err != nil || len(report.Days) != want || report.Unfinished {
		w.t.Errorf("rolled up: %+v, %v; want %d days", report, err, want)
	}
}

// TestRollupsOfTheNewestDay: the merged hours of the newest day are rolled up every six hours, if more are merged then.
// Only the others are read for questions until now.
func TestRollupsOfTheNewestDay(t *testing.T) {
	now := enginetest.Start
	w := newMerged(t, fiveDays(t, 900), &blobtest.Memory{Now: func() time.Time { return now }})
	w.maker.Now = func() time.Time { return now }
	w.rollUp(3)
	before := w.check(w.engine(nil))

	merge := func(hours lake.Partition) {
		t.Helper()
		day := w.state.Watermark.Day()
		w.state.Watermark = day.First() + hours
		store, rows := enginetest.StoreOf(t.TempDir(), nil), []lake.Row{}
		for _, r := range w.rows {
			if hour := lake.PartitionOf(r.TsMs); hour >= day.First() {
				rows = append(rows, *r)
			}
		}
		store.Fill(t, rows, w.state.Watermark)
		w.world.putAll(store, day.First(), w.state.Watermark-1)
		w.change(func(s *lakestate.State) { s.Changed(day) })
	}
	merge(8)
	w.rollUp(1)
	eight := w.check(w.engine(nil))
	if eight <= before {
		t.Errorf("%d objects were not read after eight hours were rolled up; before, %d", eight, before)
	}
	now = now.Add(5 * time.Hour)
	merge(13)
	w.rollUp(0)
	if n := w.check(w.engine(nil)); n != eight {
		t.Errorf("%d objects were not read after thirteen hours were merged; before, %d", n, eight)
	}
	now = now.Add(2 * time.Hour)
	w.rollUp(1)
	now = now.Add(24 * time.Hour)
	w.rollUp(0)
	if n := w.check(w.engine(nil)); n <= eight {
		t.Errorf("%d objects were not read after thirteen hours were rolled up; before, %d", n, eight)
	}
}

// TestRollupsOfHosts: questions about the busiest hosts of whole days read no objects, but for timelines about several.
func TestRollupsOfHosts(t *testing.T) {
	w, _ := newRolledUp(t, fiveDays(t, 900), &blobtest.Memory{})
	e := w.engine(nil)
	for _, hosts := range []string{`host="shop.example"`, `host in ("shop.example", "bank.example")`} {
		for _, shape := range []query.Shape{
			query.Stats{SegmentSeconds: 86400}, query.Facets{Limit: 7, By: querytest.Dimensions(query.DefaultFacets)},
			query.Timeline{SegmentSeconds: 3600}, query.TopX{Limit: 5},
		} {
			q := bind(t, "timestamp between 2026-01-01 and 2026-01-03 23:59:59.999, "+hosts, shape)
			answer, cost, ok := e.TryDirect(t.Context(), q)
			if !ok {
				t.Fatalf("%T about %s: not answered: %v", shape, hosts, w.failed)
			}
			if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
				t.Errorf("%T about %s: %s", shape, hosts, diff)
			}
			_, isTimeline := shape.(query.Timeline)
			reads := isTimeline && strings.Contains(hosts, "in") // addresses of two hosts do not add up
			if (cost.Reused == 0) != reads {
				t.Errorf("%T about %s: %d objects were not read", shape, hosts, cost.Reused)
			}
		}
	}
}

// TestRollupsOfObjects: answers from the rollups of objects are the reference's, with and without those of days.
// Objects of the newest two days are rolled up, and those of days that are too large.
func TestRollupsOfObjects(t *testing.T) {
	w, _ := newRolledUp(t, fiveDays(t, 900), &blobtest.Memory{})
	many := func(c *hybrid.Config) { c.ManyBytes = 1 }
	days := w.check(w.engine(many))
	roll := func() int {
		t.Helper()
		report, err := w.maker.Make(t.Context())
		if err != nil || report.Unfinished {
			t.Fatalf("%+v, %v", report, err)
		}
		return report.Objects
	}
	if n := roll(); n > 0 {
		t.Errorf("%d small objects are rolled up", n)
	}
	w.maker.Large = 1
	if n := roll(); n != 12 { // the fourth day; the fifth is not merged
		t.Errorf("%d objects are rolled up", n)
	}
	if n := roll(); n > 0 {
		t.Errorf("%d objects are rolled up again", n)
	}
	reused := w.check(w.engine(many))
	if reused <= days {
		t.Errorf("%d objects were not read, with rollups of objects; without, %d", reused, days)
	}
	if n := w.check(w.engine(nil)); n != days {
		t.Errorf("%d objects were not read of little data, want %d", n, days)
	}
	w.maker.Most = 1
	w.change(func(s *lakestate.State) { s.Changed(firstHour.Day(), firstHour.Day()+1, firstHour.Day()+3) })
	_ = roll() // refuses the days
	if n := roll(); n != 24 {
		t.Errorf("%d objects of large days are rolled up", n)
	}
	if n := w.check(w.engine(many)); n == 0 {
		t.Error("all objects were read")
	}
	for info, err := range w.bucket.List(t.Context(), "lake/_rollups/objects/", "") {
		if err != nil {
			t.Fatal(err)
		}
		w.put(info.Name, []byte(strings.Repeat("x", int(info.Size))))
	}
	if n := w.check(w.engine(many)); n > 0 {
		t.Errorf("%d objects were not read, although their rollups are damaged", n)
	}
}

// putAll puts the objects of a store into the bucket.
func (w rolledUp) putAll(store *enginetest.Store) {
	w.t.Helper()
	w.world.putAll(store, lake.PartitionOf(0), lake.PartitionOf(1<<42))
}

// TestRollupsOfOldDays: the rollups of days without records are removed. Days with too many bytes, and those with an
// object that cannot be read, get no rollup, and are tried again only when they have changed.
func TestRollupsOfOldDays(t *testing.T) {
	w, _ := newRolledUp(t, fiveDays(t, 300), &blobtest.Memory{})
	w.state.Extent.MinTsMs = (firstHour + 30).Start()
	w.change(func(*lakestate.State) {})
	if _, err := w.maker.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, _ := w.rollups(); len(names) != 2 || strings.Contains(names[0], "2026-01-01") {
		t.Errorf("the rollups are %q", names)
	}
	second := (firstHour + 24).Day()
	for name, spoil := range map[string]func(){
		"too large": func() { w.maker.Most = 1 },
		"damaged": func() {
			w.maker.Most = 0
			for info, err := range w.bucket.List(t.Context(), "lake/compact/2026/01/02/", "") {
				if err != nil {
					t.Fatal(err)
				}
				w.put(info.Name, []byte(strings.Repeat("x", int(info.Size))))
				return
			}
		},
	} {
		spoil()
		w.change(func(s *lakestate.State) { s.Changed(second) })
		for n := range 2 {
			report, err := w.maker.Make(t.Context())
			if want := 1 - n; err != nil || len(report.Days) > 0 || len(report.Refused) != want {
				t.Errorf("%s: %+v, %v; want %d days refused", name, report, err, want)
			}
		}
	}
}

// TestRollupsOfWrongClocks: what was rolled up is not listed again and again because days without objects lie between,
// however far a record with a wrong clock is away from the others.
func TestRollupsOfWrongClocks(t *testing.T) {
	rows := fiveDays(t, 300)
	past, future := rows[0], rows[0]
	past.TsMs, future.TsMs = 0, firstHour.Start()+20*365*86_400_000
	rows = append(rows, past)
	w := newMerged(t, rows, &blobtest.Memory{})
	w.state.Extent.MaxTsMs = future.TsMs // its hour is not merged
	w.change(func(*lakestate.State) {})
	listed := &countedObjects{Store: w.bucket}
	w.maker.Lake, w.maker.Large = listed, 1
	report, err := w.maker.Make(t.Context())
	if err != nil || len(report.Days) != 4 || report.Objects != 12 {
		t.Fatalf("rolled up: %+v, %v", report, err)
	}
	listed.n = 0
	if report, err = w.maker.Make(t.Context()); err != nil || len(report.Days)+report.Objects > 0 {
		t.Errorf("rolled up again: %+v, %v", report, err)
	}
	if listed.n != 12 { // those of the newest day that is merged
		t.Errorf("%d objects are listed, although nothing is to be done", listed.n)
	}
}

// countedObjects counts the objects in listings of a store.
type countedObjects struct {
	blob.Store
	n int
}

func (c *countedObjects) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		for info, err := range c.Store.List(ctx, prefix, after) {
			if strings.HasSuffix(info.Name, ".parquet") {
				c.n++
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

// TestRollupsStopInTime: near the deadline of the context no day is begun.
func TestRollupsStopInTime(t *testing.T) {
	w, _ := newRolledUp(t, fiveDays(t, 300), &blobtest.Memory{})
	w.change(func(s *lakestate.State) { s.Changed(firstHour.Day(), (firstHour + 24).Day()) })
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	deadline, _ := ctx.Deadline()
	w.maker.Now = func() time.Time { return deadline }
	report, err := w.maker.Make(ctx)
	if err != nil || !report.Unfinished || len(report.Days) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestRollupsChangeMeanwhile: a rollup that is deleted or refused after the listing is not used. The answer is the
// reference's.
func TestRollupsChangeMeanwhile(t *testing.T) {
	for name, fails := range map[string]func(n int64) bool{
		"all":          func(int64) bool { return true },
		"the sections": func(n int64) bool { return n > 3 },
	} {
		t.Run(name, func(t *testing.T) {
			network := &faulttest.Transport{Script: faulttest.Never}
			w, _ := newRolledUp(t, fiveDays(t, 300), s3.New(s3test.New(t, network, "lake"), "lake"))
			var n atomic.Int64
			network.Script = func(_ int, r *http.Request) faulttest.Fault {
				if isRange(r) && strings.Contains(r.URL.Path, "_rollups/days") && fails(n.Add(1)) {
					return faulttest.Cut
				}
				return faulttest.None
			}
			q := bind(t, "timestamp between 2026-01-01 and 2026-01-05 23:59:59.999", query.TopX{Limit: 5})
			answer, cost, ok := w.engine(nil).TryDirect(t.Context(), q)
			if !ok || cost.Reused > 0 {
				t.Fatalf("answered: %t, %d objects were not read: %v", ok, cost.Reused, w.failed)
			}
			if diff := cmp.Diff("", enginetest.Diff(reference.Evaluate(&q, w.rows), answer)); diff != "" {
				t.Error(diff)
			}
			if n.Load() == 0 {
				t.Error("no rollup was read")
			}
		})
	}
}

// TestRollupsOfLaterDays: the rollup of a day has the figures of a URL that was blocked often on the day before. A day is
// also rolled up if the rollup of the day before cannot be read.
func TestRollupsOfLaterDays(t *testing.T) {
	often, blocked := "/often", true
	var rows []lake.Row
	add := func(day lake.Partition, url string, n int) {
		for range n {
			row := enginetest.Records(t, 1, 43)[0]
			row.TsMs, row.URL, row.Blocked = (firstHour+day*24).Start()+int64(len(rows)), &url, &blocked
			rows = append(rows, row)
		}
	}
	add(0, often, 50)
	for i := range 1600 {
		add(0, fmt.Sprintf("/%d", i), 1)
		add(1, fmt.Sprintf("/%d", i), 2)
	}
	add(1, often, 1)
	add(2, often, 1) // the newest day
	memory := &blobtest.Memory{}
	w, days := newRolledUp(t, rows, memory)
	if days != 2 {
		t.Fatalf("%d days are rolled up", days)
	}
	if w.knows(1, often) {
		t.Error("the first rollup of the second day knows the URL, although there were no rollups")
	}
	w.change(func(s *lakestate.State) { s.Changed((firstHour + 24).Day()) })
	w.rollUp(1)
	if !w.knows(1, often) {
		t.Error("the second rollup of the second day does not know the URL that was blocked on the first")
	}
	w.change(func(s *lakestate.State) { s.Changed((firstHour + 24).Day()) })
	w.maker.Lake = struct{ blob.Store }{memory} // it reads no parts of objects
	w.rollUp(1)
	if w.knows(1, often) {
		t.Error("the rollup of the second day knows the URL, although no rollup of an earlier day could be read")
	}
}

// knows reports whether the rollup of the nth day has the figures of a URL.
func (w rolledUp) knows(n lake.Day, url string) bool {
	w.t.Helper()
	key, err := rollupblob.HashKey(w.t.Context(), w.bucket)
	if err != nil {
		w.t.Fatal(err)
	}
	days, err := rollupblob.Days(w.t.Context(), w.bucket)
	if err != nil {
		w.t.Fatal(err)
	}
	day := firstHour.Day() + n
	in, err := blob.Open(w.t.Context(), w.bucket, days[day].Info.Name, "")
	if err != nil {
		w.t.Fatal(err)
	}
	content, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		w.t.Fatal(err)
	}
	found, err := rollup.Read(bytes.NewReader(content), day.First().Start()/1000)
	if err != nil {
		w.t.Fatal(err)
	}
	section, _ := found.Section(rollup.KnownName("url"))
	if content, err = found.ReadSection(bytes.NewReader(content), section, nil); err != nil {
		w.t.Fatal(err)
	}
	known, err := rollup.DecodeKnown(content)
	if err != nil {
		w.t.Fatal(err)
	}
	_, knows, err := known.Find(key.Hash([]byte(url)).First)
	if err != nil {
		w.t.Fatal(err)
	}
	return knows
}

// TestRollupsOfManyObjects: rollups answer about more objects than a scan reads. If they fail, the service answers, and
// the scan does not read all of them.
func TestRollupsOfManyObjects(t *testing.T) {
	w, _ := newRolledUp(t, fiveDays(t, 900), &blobtest.Memory{})
	few := func(c *hybrid.Config) { c.MostObjects = 50 }
	q := bind(t, "timestamp between 2026-01-01 and 2026-01-05 23:59:59.999", query.TopX{Limit: 5})
	answer, cost, ok := w.engine(few).TryDirect(t.Context(), q)
	if !ok || cost.Reused == 0 {
		t.Fatalf("answered: %t, %d objects were not read: %v", ok, cost.Reused, w.failed)
	}
	if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
		t.Error(diff)
	}
	names, _ := w.rollups()
	for _, name := range names {
		w.put(name, []byte("x"))
	}
	if _, _, ok := w.engine(few).TryDirect(t.Context(), q); ok {
		t.Error("a scan has read too many objects")
	}
}

// TestEngineWithRollups runs the suite over a lake whose first day is rolled up, and over one with rollups of objects.
func TestEngineWithRollups(t *testing.T) {
	if testing.Short() {
		t.Skip("TestRollups and TestRollupsOfObjects are the short ones")
	}
	for name, change := range map[string]func(m *rollingup.Maker){
		"days": func(*rollingup.Maker) {}, "objects": func(m *rollingup.Maker) { m.Most, m.Large = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			var reused atomic.Int64
			enginetest.Run(t, func(rows []lake.Row) engine.Engine {
				w := newMerged(t, rows, &blobtest.Memory{})
				change(w.maker)
				if _, err := w.maker.Make(t.Context()); err != nil {
					t.Fatal(err)
				}
				return reusing{w.engine(func(c *hybrid.Config) { keeping(c); c.ManyBytes = 1 }), &reused}
			})
			if reused.Load() == 0 {
				t.Error("no rollup was used")
			}
		})
	}
}

// reusing counts the answers of engines that are made without reading all objects.
type reusing struct {
	*hybrid.Engine
	reused *atomic.Int64
}

func (r reusing) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := r.Engine.Run(ctx, q)
	if _, rollsUp := scan.RollsUp(ctx, q); rollsUp && cost.Reused > 0 {
		r.reused.Add(1)
	}
	return answer, cost, err
}
