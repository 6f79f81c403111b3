package scan_test

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// crew counts parts in this process.
type crew struct {
	t       *testing.T
	folder  string
	options scan.Options
	asked   *atomic.Int64
}

// count counts the parts of a query about some windows. It returns none if their times are too long to be counted.
func (c crew) count(q query.Query, windows []query.Period, objects []lake.Object) (all []scan.Part) {
	c.t.Helper()
	for _, window := range windows {
		for _, part := range scan.PartsOf(q, window) {
			for _, o := range objects {
				if part.Query.TimeBounds().Touches(o.MinTsMs, o.MaxTsMs) {
					part.Objects = append(part.Objects, o)
				}
			}
			day, lists, err := scan.CountPart(c.t.Context(), part.Query, part.Objects, c.options)
			if errors.Is(err, scan.ErrUnsupported) {
				return nil
			}
			if err != nil {
				c.t.Fatalf("%T %s: %v", part.Query.Shape, part.Query, err)
			}
			part.Path = filepath.Join(c.folder, cryptorand.Text()) // rollups are known by their paths
			if err := os.WriteFile(part.Path, day.EncodeWith(lists), 0o600); err != nil {
				c.t.Fatal(err)
			}
			all = append(all, part)
		}
	}
	return all
}

func (c crew) Keys(ctx context.Context, of scan.Part, wanted map[string][]uint64) (map[string][]rollup.Key, error) {
	c.asked.Add(1)
	return scan.KeysOfPart(ctx, of.Query, of.Objects, wanted, c.options)
}

func (c crew) Durations(
	ctx context.Context, of scan.Part, winners map[string][]string,
) (map[string][]byte, error) {
	return scan.DurationsOfPart(ctx, of.Query, of.Objects, winners, c.options)
}

func (c crew) Texts(
	ctx context.Context, of scan.Part, dimension int, hashes []rollup.Hash,
) (map[rollup.Hash]string, error) {
	c.asked.Add(1)
	return scan.TextsOfPart(ctx, of.Query, of.Objects, dimension, hashes, c.options)
}

// TestParts: answers that are joined from parts are the reference's, also if their lists are so small that the crew is
// asked for keys and texts, and if days are rolled up besides.
func TestParts(t *testing.T) {
	rows, _ := fiveDays(t)
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
		for _, time := range []**int64{&rows[i].OriginUs, &rows[i].SvcUs, &rows[i].TotalUs} {
			if *time != nil && (**time < 0 || **time > 1<<40) { // the sums of others are not counted
				*time = nil
			}
		}
	}
	objects := stored(t, rows)
	mixed := querytest.Dimensions("ip,tags,monitor,upstream_status,reason,headers[\"accept\"],ip/24")
	var shapes []query.Shape
	for _, limit := range []int{1, 3, 6} {
		shapes = append(shapes,
			query.TopX{Limit: limit}, query.TopX{Limit: limit, Labels: []string{"ip", "svc_time"}},
			query.Facets{Limit: limit, ByBlocked: limit == 3, By: mixed},
			query.Facets{Limit: limit, By: querytest.Dimensions(query.DefaultFacets)},
			query.Diff{Least: 1, Limit: limit, By: mixed, Select: querytest.Selection("status>=400")},
			query.Diff{Least: 1, Limit: limit, By: mixed, Against: query.Against{Kind: query.AgainstPrevious}},
		)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	shapes = append(shapes,
		query.Stats{SegmentSeconds: 900, Percentiles: true},
		query.Stats{SegmentSeconds: 3600, Percentiles: true, GroupByHostname: true},
		query.Histogram{SegmentSeconds: 900, Measure: query.MeasureBytesSent},
		query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureBlocked, By: &querytest.Dimensions("tags")[0], Limit: 2},
		query.Histogram{SegmentSeconds: 86400, Zone: berlin, Measure: query.MeasureRequests, By: &mixed[0], Limit: 3},
		query.Counts{SegmentSeconds: 3600, By: querytest.Dimensions("host")[0]},
		query.Counts{SegmentSeconds: 60, By: querytest.Dimensions("country")[0], Of: countedHosts.Of},
		query.Counts{SegmentSeconds: 3600, By: querytest.Dimensions("host")[0], Of: countedHosts.Of},
		query.TopX{Limit: 4, Percentiles: true}, query.Stats{SegmentSeconds: 900}, query.Stats{SegmentSeconds: 86400, Zone: berlin, GroupByHostname: true},
		query.Timeline{SegmentSeconds: 900}, query.Timeline{SegmentSeconds: 3600, Zone: berlin},
	)
	for _, of := range []struct {
		name                                      string
		texts, undivided, known, slowest, blocked int
	}{
		{"as usual", 100, 2048, 800, 256, 80},
		{"few keys", 1, 8, 12, 16, 6},
		{"hardly any keys", 1, 0, 2, 16, 6},
	} {
		t.Run(of.name, func(t *testing.T) {
			defer scan.SetPartSizes(of.texts, of.undivided, of.known, of.slowest, of.blocked, 8)()
			folder := rolledUp(t, objects, func(start int64) bool { return start/86400%2 == 0 })
			o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true}
			c := crew{t, t.TempDir(), o, &atomic.Int64{}}
			o.Crew, o.OnlyRollups = c, true
			r := rand.New(rand.NewPCG(17, 20))
			uncounted := 0
			for n := range 3 * len(shapes) {
				first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				at := func(hours, minutes int) string {
					later := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
					return first.Add(later).Format("2006-01-02T15:04:05.000Z")
				}
				conditions := []string{"", ", status>=400", `, host="shop.example", not method="POST"`, `, url~"a.*e"`}[r.IntN(4)]
				period := fmt.Sprintf("timestamp between %s and %s", at(r.IntN(40), r.IntN(60)), at(60+r.IntN(60), r.IntN(60)))
				q := bind(t, period+conditions, shapes[n%len(shapes)])
				var windows []query.Period
				for _, span := range scan.SpansOf(q) {
					for begin := span.FromMs; begin <= span.ToMs; {
						end := (begin/3_600_000+1+r.Int64N(20))*3_600_000 - 1
						windows = append(windows, query.Period{FromMs: begin, ToMs: min(end, span.ToMs)})
						begin = end + 1
					}
				}
				if o.Parts = c.count(q, windows, objects); o.Parts == nil {
					uncounted++
					continue
				}
				got, _, err := scan.Answer(t.Context(), q, nil, o)
				if errors.Is(err, scan.ErrUnsupported) {
					t.Log(err)
					uncounted++
					continue
				}
				if err != nil {
					t.Fatalf("%T %s: %v", q.Shape, q, err)
				}
				want := reference.Evaluate(&q, all)
				onlyFindings(q.Shape, &want)
				onlyFindings(q.Shape, &got)
				if diff := enginetest.Diff(want, got); diff != "" {
					t.Errorf("%T %s (-reference +scan):\n%s", q.Shape, q, diff)
				}
			}
			if uncounted > 0 || c.asked.Load() == 0 && of.known < 800 {
				t.Errorf("%d questions were not answered; the crew was asked %d times", uncounted, c.asked.Load())
			}
		})
	}
}

// onlyFindings removes the values of a diff that are no findings.
func onlyFindings(shape query.Shape, of *query.Answer) {
	diff, isDiff := shape.(query.Diff)
	if !isDiff {
		return
	}
	found := map[string]bool{}
	for _, f := range query.Findings(diff, of.Diff) {
		found[f.By.String()+" "+f.Value] = true
	}
	for i := range of.Diff.Terms {
		values := &of.Diff.Terms[i].Values
		*values = slices.DeleteFunc(*values, func(v query.DiffValue) bool { return !found[diff.By[i].String()+" "+v.Value] })
		if len(*values) == 0 {
			*values = nil
		}
	}
}

// TestPartsThatDoNotApply: a part that is missing, damaged or of other objects is refused.
func TestPartsThatDoNotApply(t *testing.T) {
	rows, objects := fiveDays(t)
	folder := rolledUp(t, objects, func(int64) bool { return false })
	o := scan.Options{Rollups: scan.NewRollups(folder), NoFallback: true, OnlyRollups: true}
	c := crew{t, t.TempDir(), o, &atomic.Int64{}}
	q := bind(t, "timestamp between 2026-01-01 and 2026-01-06", query.Facets{Limit: 3, By: querytest.Dimensions("host,ip")})
	counted := c.count(q, []query.Period{q.Span()}, objects)
	content, err := os.ReadFile(counted[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *scan.Part) error{
		"missing":       func(p *scan.Part) error { return os.Remove(p.Path) },
		"cut":           func(p *scan.Part) error { return os.WriteFile(p.Path, content[:len(content)-1], 0o600) },
		"other objects": func(p *scan.Part) error { p.Objects = p.Objects[1:]; return os.WriteFile(p.Path, content, 0o600) },
	} {
		part := counted[0]
		if err := change(&part); err != nil {
			t.Fatal(err)
		}
		o.Parts = []scan.Part{part}
		if err := answer(t, q, rows, nil, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
