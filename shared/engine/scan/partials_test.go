package scan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestPartials asks a few questions about many periods, while objects arrive. Answers from kept figures are the
// reference's, whether the figures of all questions fit or are replaced all the time.
func TestPartials(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	shapes := []query.Shape{
		query.Stats{SegmentSeconds: 60},
		query.Stats{SegmentSeconds: 3600, GroupByHostname: true, Percentiles: true},
		query.Stats{SegmentSeconds: 900, Percentiles: true},
		query.Stats{SegmentSeconds: 3600, By: &querytest.Dimensions("country")[0]},
		query.Stats{SegmentSeconds: 3600, By: &querytest.Dimensions("tags")[0], Percentiles: true},
		query.Timeline{SegmentSeconds: 60},
		query.Timeline{SegmentSeconds: 3600},
		query.Timeline{SegmentSeconds: 86400, Zone: berlin},
		query.Timeline{SegmentSeconds: 2 * 86400, Zone: berlin},
		query.Histogram{SegmentSeconds: 900, Measure: query.MeasureRequests},
		query.Histogram{SegmentSeconds: 900, Measure: query.MeasureHuman},
		query.Histogram{
			SegmentSeconds: 3600, Measure: query.MeasureBytesSent, Limit: 3, By: &querytest.Dimensions("country")[0],
		},
		query.Histogram{
			SegmentSeconds: 86400, Zone: berlin, Measure: query.MeasureBlocked, Limit: 3, By: &querytest.Dimensions("tags")[0],
		},
		query.Facets{Limit: 9, By: querytest.Dimensions(querytest.MixedDimensions)},
		query.Facets{Limit: 3, ByBlocked: true, By: querytest.Dimensions("status,tags,url")},
		query.Facets{Limit: 3, By: querytest.Dimensions("ip,ip/16")},
		query.Facets{Limit: 3, By: querytest.Dimensions("ip,ip/24")},
		query.Diff{
			Least: 1, By: querytest.Dimensions("country,tags,status"), Select: querytest.Selection("status>=400"),
		},
		query.Counts{
			SegmentSeconds: 900, By: querytest.Dimensions("host")[0],
			Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection("status>=400")},
		},
		query.Counts{SegmentSeconds: 60, By: querytest.Dimensions("host")[0], Of: []query.Selection{querytest.Selection("status>=400")}},
		query.Counts{
			SegmentSeconds: 3600, By: querytest.Dimensions("tags")[0],
			Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection(`user_agent~"(?i)a"`)},
		},
		query.TopX{Limit: 1},
		query.TopX{Limit: 7},
		query.TopX{Limit: 80},
		query.TopX{Limit: 7, Percentiles: true},
		query.TopX{Limit: 7, Labels: []string{"country", "url_origin_time"}},
	}
	conditions := []string{
		"", `, status>=400`, `, url~"(?i)a.*b"`, `, blocked is true, method!="GET", not tags="bot"`, `, host~"a"`,
	}
	for _, most := range []int64{64 << 20, 40_000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			rows := enginetest.Records(t, 500, 7)
			objects := stored(t, rows)
			o := scan.Options{Partials: scan.NewPartials(most), Workers: 2, NoFallback: true}
			r := rand.New(rand.NewPCG(7, 7))
			spared := 0
			for n := range 240 {
				arrived := objects[:min(len(objects), len(objects)/2+n/18)]
				from, to := 10*r.IntN(12), 6*60-10*r.IntN(12) // so that some ends occur again
				at := func(minute int) string {
					return enginetest.Start.Add(time.Duration(minute) * time.Minute).Format("2006-01-02T15:04:05Z")
				}
				text := fmt.Sprintf("timestamp between %s and %s", at(from), at(to)) + conditions[r.IntN(len(conditions))]
				q := bind(t, text, shapes[r.IntN(len(shapes))])
				if err := scan.CheckPatterns(t.Context(), q, arrived, o); err != nil {
					t.Fatal(err)
				}
				read, err := answerFrom(t, q, rowsOf(rows, arrived), arrived, o)
				if err != nil {
					t.Fatalf("%T%s: %v", q.Shape, q, err)
				}
				spared += len(arrived) - len(read)
			}
			counts := o.Partials.Counts()
			t.Logf("%+v; %d objects not read", counts, spared)
			if counts.Bytes > most {
				t.Errorf("%d bytes are kept, more than %d", counts.Bytes, most)
			}
			if spared == 0 || counts.Reused == 0 || counts.Counted == 0 {
				t.Errorf("%+v: %d objects were not read", counts, spared)
			}
		})
	}
}

// rowsOf returns the rows of some objects.
func rowsOf(rows []lake.Row, some []lake.Object) (of []lake.Row) {
	for _, row := range rows {
		name := lake.ObjectName(lake.PartitionOf(row.TsMs), row.Source, 0)
		for _, o := range some {
			if lake.NameOf(o.Path) == name {
				of = append(of, row)
			}
		}
	}
	return of
}

// TestPartialsOfOtherQuestions: figures are used only for the conditions and the shape that they were counted for.
func TestPartialsOfOtherQuestions(t *testing.T) {
	rows := enginetest.Records(t, 300, 9)
	objects := stored(t, rows)
	o := scan.Options{Partials: scan.NewPartials(64 << 20), NoFallback: true}
	for _, shape := range shapes {
		for _, condition := range []string{
			``, `, status=200`, `, not status=200`, `, status in (200, 404)`, `, status>200`, `, status<200`,
			`, status between 200 and 404`, `, host="a"`, `, host="b"`, `, not host="b"`, `, hostname="b"`, `, host~"b"`,
			`, url~"(?i)b"`, `, url~"b"`, `, blocked is true`, `, blocked is false`, `, headers["host"]~"b"`,
			`, headers["hos"]~"b"`, `, headers[~"hos"]~"b"`, `, arguments["b"]>1`, `, arguments["b"]>=1`, `, tags="bot", tags="b"`,
		} {
			if err := answer(t, bind(t, hours+condition, shape), rows, objects, o); err != nil {
				t.Fatalf("%T%s: %v", shape, condition, err)
			}
		}
	}
}

// TestSegmentsSharedLater: an address that two objects have in a segment counts once, although the segment was only in
// one of them when its figures were kept.
func TestSegmentsSharedLater(t *testing.T) {
	rows := enginetest.Records(t, 300, 13)
	objects := stored(t, rows)
	o := scan.Options{Partials: scan.NewPartials(64 << 20)}
	for _, seconds := range []int64{60, 3600} {
		q := bind(t, hours, query.Timeline{SegmentSeconds: seconds})
		for n := 1; n <= len(objects); n++ {
			if err := answer(t, q, rowsOf(rows, objects[:n]), objects[:n], o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestKeptKeysWithEqualHashes: keys with the same hash are noticed in kept figures, too.
func TestKeptKeysWithEqualHashes(t *testing.T) {
	rows := enginetest.Records(t, 300, 15)
	objects := stored(t, rows)
	few := func(text []byte) uint64 { return uint64(len(text)) % 8 }
	o := scan.Options{Partials: scan.NewPartials(64 << 20)}.WithHash(few)
	for range 2 {
		if err := answer(t, bind(t, hours, query.TopX{Limit: 5}), rows, objects, o); !errors.Is(err, scan.ErrUnsupported) {
			t.Errorf("%v, want ErrUnsupported", err)
		}
		for _, shape := range []query.Shape{
			query.Timeline{SegmentSeconds: 3600}, query.Facets{Limit: 9, By: querytest.Dimensions("url,ip")},
		} {
			if err := answer(t, bind(t, hours, shape), rows, objects, o); err != nil { // the other hash tells them apart
				t.Error(err)
			}
		}
	}
}

// TestReadObjects: an object counts as read unless the figures of all its row groups were kept.
func TestReadObjects(t *testing.T) {
	rows := enginetest.Records(t, 300, 11)
	objects := stored(t, rows)
	o := scan.Options{Partials: scan.NewPartials(64 << 20)}
	for _, shape := range []query.Shape{
		query.Stats{SegmentSeconds: 60}, query.Timeline{SegmentSeconds: 60}, query.TopX{Limit: 5},
		query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureRequests},
		query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureRequests, Limit: 2, By: &querytest.Dimensions("country")[0]},
		query.Facets{Limit: 2, By: querytest.Dimensions("country,url")},
	} {
		whole, most := bind(t, hours, shape), bind(t, "timestamp between 2026-01-01 21:00 and 2026-01-02 02:30", shape)
		for i, want := range []int{len(objects), 0} {
			read, err := answerFrom(t, whole, rows, objects, o)
			if err != nil || len(read) != want {
				t.Errorf("%T: time %d reads %d of %d objects, want %d: %v", shape, i, len(read), len(objects), want, err)
			}
		}
		if _, changes := shape.(query.TopX); changes {
			continue // of so few records, others come first
		}
		read, err := answerFrom(t, most, rows, objects, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range read {
			if object.MaxTsMs <= most.Period.ToMs {
				t.Errorf("%T: %s is wholly in the period, and was read again", shape, object.Path)
			}
		}
		if again, err := answerFrom(t, most, rows, objects, o); err != nil || len(again) > 0 {
			t.Errorf("%T: the same question reads %d objects again: %v", shape, len(again), err)
		}
		if len(read) == 0 {
			t.Errorf("%T: no object was read, although the period cuts the last hour", shape)
		}
	}
}

// TestSpareKeys: no object is read for a key that comes near the winners for the first time. If a key wins for the first
// time, the objects with it are read.
func TestSpareKeys(t *testing.T) {
	template := enginetest.Records(t, 1, 19)[0]
	var rows []lake.Row
	blocked := true
	add := func(at time.Duration, key, n int) {
		url := fmt.Sprintf("/%02d", key)
		for range n {
			row := template
			row.TsMs, row.TsNanos = enginetest.Start.Truncate(time.Hour).Add(at).UnixMilli(), 0
			row.URL, row.Blocked = &url, &blocked
			rows = append(rows, row)
		}
	}
	const keys = 20
	for hour := range 3 {
		for key := range keys {
			add(time.Duration(hour)*time.Hour, key, keys-key)
		}
	}
	add(2*time.Hour+30*time.Minute, keys-1, 50) // it is the second then
	add(2*time.Hour+40*time.Minute, keys-2, 99) // it is the first
	objects := stored(t, rows)
	o := scan.Options{Partials: scan.NewPartials(1 << 20)}
	for _, c := range []struct{ minutes, read int }{{20, 3}, {35, 1}, {45, 3}} {
		from := enginetest.Start.Truncate(time.Hour)
		to := from.Add(2*time.Hour + time.Duration(c.minutes)*time.Minute)
		const layout = "2006-01-02 15:04:05"
		q := bind(t, fmt.Sprintf("timestamp between %s and %s", from.Format(layout), to.Format(layout)),
			query.TopX{Limit: 1, Labels: []string{"url"}})
		read, err := answerFrom(t, q, rows, objects, o)
		if err != nil || len(read) != c.read {
			t.Errorf("until minute %d, %d objects are read, want %d: %v", c.minutes, len(read), c.read, err)
		}
	}
}
