package cost

import (
	"math"
	"testing"
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
	for _, route := range []string{"topx", "stats", "timeline", "logs"} {
		if b.Route[route] < 1 || b.Route[route] > b.Parquet/2 {
			t.Errorf("%s reads %.1f of %.0f bytes", route, b.Route[route], b.Parquet)
		}
	}
	again, err := Measure(records)
	if err != nil || again.Parquet != b.Parquet || again.Raw != b.Raw {
		t.Errorf("the second measurement: %+v, %v", again, err)
	}
}

// TestEstimate compares the large items of an estimate with values computed by hand.
func TestEstimate(t *testing.T) {
	load := Load{RequestsPerDay: 100e6, QueriesPerDay: 1000, PeriodHours: 24, RawDays: 30, LakeDays: 365}
	size := Bytes{JSON: 2600, Raw: 300, Parquet: 200, Route: map[string]float64{"stats": 10, "topx": 50}}
	got := map[string]Item{}
	items := Estimate(load, size, Regions["us-east-1"])
	for _, item := range items {
		got[item.Service+" "+item.What] = item
	}
	for line, want := range map[string]float64{
		"S3 raw logs kept, GB":          100e6 * 30 * 300 / 1e9 * 0.023,
		"S3 Parquet kept, GB":           100e6 * 365 * 200 / 1e9 * 0.023,
		"Athena scanned, TB":            1000 * 30.4 * 100e6 * (10 + 50) / 1e12 * 5,
		"API Gateway requests, million": 2 * 1000 * 30.4 / 1e6 * 3.50,
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
		if want := 30.4 * 10e6 / 1e12; item.Service == "Athena" && item.Units != want {
			t.Errorf("%v TB, not %v", item.Units, want)
		}
	}
}
