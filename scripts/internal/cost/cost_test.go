package cost

import (
	"math"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/lake/parquet"
)

func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential, so the race detector finds nothing in it; skipped with -short")
	}
	records := 20_000
	if testing.Short() {
		records = 2_000
	}
	b, err := Measure(records)
	if err != nil {
		t.Fatal(err)
	}
	if !(b.JSON > b.Raw && b.Raw > b.Parquet && b.Parquet > 20) {
		t.Errorf("a record has %.0f bytes as JSON, %.0f compressed, %.0f in Parquet", b.JSON, b.Raw, b.Parquet)
	}
	for _, route := range []string{"topx", "stats", "timeline", "facets", "histogram", "diff", "logs"} {
		if b.Route[route] < 1 || b.Route[route] > b.Parquet/2 {
			t.Errorf("%s reads %.1f of %.0f bytes", route, b.Route[route], b.Parquet)
		}
	}
	// Stats reads only further durations, and topx its keys again.
	s, x := b.Percentiles["stats"], b.Percentiles["topx"]
	if s <= 0 || s > b.Route["topx"]/2 || x < s || x > b.Route["topx"] || len(b.Percentiles) != 2 {
		t.Errorf("percentiles read %.1f bytes of stats, %.1f of topx, which reads %.1f", s, x, b.Route["topx"])
	}
	again, err := Measure(records)
	if err != nil || again.Parquet != b.Parquet || again.Raw != b.Raw {
		t.Errorf("the second measurement: %+v, %v", again, err)
	}
}

// TestEstimate compares the large items of an estimate with values computed by hand.
func TestEstimate(t *testing.T) {
	load := Load{
		RequestsPerDay: 100e6, QueriesPerDay: 1000, PeriodHours: 24, RawDays: 30, LakeDays: 365,
		ExportsPerDay: 2, ExportRecords: 7000,
	}
	size := Bytes{
		JSON: 2600, Raw: 300, Parquet: 200, Route: map[string]float64{"stats": 10, "topx": 50, "logs": 20},
		Percentiles: map[string]float64{"stats": 3, "topx": 40},
	}
	got := map[string]Item{}
	items := Estimate(load, size, Regions["us-east-1"])
	for _, item := range items {
		got[item.Service+" "+item.What] = item
	}
	for line, want := range map[string]float64{
		"S3 raw logs kept, GB":          100e6 * 30 * 300 / 1e9 * 0.023,
		"S3 Parquet kept, GB":           100e6 * 365 * 200 / 1e9 * 0.023,
		"Athena scanned by stats, TB":   1000 * 30.4 * 100e6 * 10 / 1e12 * 5,
		"Athena scanned by topx, TB":    1000 * 30.4 * 100e6 * 50 / 1e12 * 5,
		"Athena scanned by logs, TB":    1000 * 30.4 * (100e6*20 + 200*parquet.RowsPerGroup) / 1e12 * 5,
		"API Gateway requests, million": (3*1000 + 2*3 + 3*1000) * 30.4 / 1e6 * 3.50,
		// An export of 7,000 records has three pages, each of which reads half of the day.
		"Athena scanned by exports of logs, TB": 2 * 3 * 30.4 * (50e6*20 + 200*parquet.RowsPerGroup) / 1e12 * 5,
		"Athena scanned for percentiles, TB":    1000 * 30.4 / 10 * 100e6 * (3 + 40) / 1e12 * 5,
		// A day has 24 objects, and a year 8,760.
		"S3 listings for estimates and the status, 1,000": (3*1000*1 + 2*3*1 + 1000*9) * 30.4 / 1e3 * 0.005,
		"Lambda values, saved filters and status, GB-s":   1000 * 30.4 * (0.05 + 2*0.05/4 + 9*0.1/4) * 0.0000133334,
	} {
		if item, ok := got[line]; !ok || math.Abs(item.USD-want) > want/1e9 {
			t.Errorf("%s: %v USD, not %v", line, item.USD, want)
		}
	}
	var sum float64
	for _, item := range items {
		sum += item.USD
		if item.USD < 0 || math.IsNaN(item.USD) {
			t.Errorf("%+v", item)
		}
	}
	if Total(items) != sum {
		t.Errorf("total %v, not %v", Total(items), sum)
	}
}

func TestSmallQueriesAreBilledAtTheMinimum(t *testing.T) {
	load := Load{RequestsPerDay: 1000, QueriesPerDay: 1, PeriodHours: 1}
	for _, item := range Estimate(load, Bytes{Route: map[string]float64{"stats": 10}}, Regions["eu-central-1"]) {
		want := 30.4 * 10e6 / 1e12
		if item.What != "scanned by stats, TB" {
			want = 0 // no exports, and no percentiles
		}
		if item.Service == "Athena" && item.Units != want {
			t.Errorf("%s: %v TB, not %v", item.What, item.Units, want)
		}
	}
}

// TestEveryDataRouteHasALine: a data route that runs queries has a measured size, and those that do not are in the lines
// of Lambda.
func TestEveryDataRouteHasALine(t *testing.T) {
	shapes, err := routes()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range api.Routes() {
		route, isData := strings.CutPrefix(r.Path, "/data/")
		if !isData || strings.Contains(route, "/") || route == "fields" || route == "values" {
			continue
		}
		if shapes[route] == nil {
			t.Errorf("the cost of %s is not estimated", route)
		}
	}
}
