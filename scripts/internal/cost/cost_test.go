package cost

import (
	"math"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/report"
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
	if len(b.Report) != 23 || b.Report[0].Part != report.Timeline || b.Report[0].Columns != b.Route["timeline"] {
		t.Errorf("a daily report has the questions %v", b.Report)
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
		ExportsPerDay: 2, ExportRecords: 7000, ReportsPerDay: 1, Filtered: 1,
	}
	size := Bytes{
		JSON: 2600, Raw: 300, Parquet: 200, Route: map[string]float64{"stats": 10, "topx": 50, "logs": 20},
		Percentiles: map[string]float64{"stats": 3, "topx": 40},
		Report:      []ReportBytes{{Columns: 10}, {Columns: 0.01}, {Columns: 20, Records: true}},
	}
	got := map[string]Item{}
	items := Estimate(load, size, Regions["us-east-1"])
	for _, item := range items {
		got[item.Service+" "+item.What] = item
	}
	for line, want := range map[string]float64{
		"S3 raw logs kept, GB":          100e6 * 30 * 300 / 1e9 * 0.023,
		"S3 Parquet kept, GB":           100e6 * 365 * 200 / 1e9 * 0.023,
		"S3 old versions kept, GB":      100e6 * (14 + 2*1.5) * 200 / 1e9 * 0.023,
		"Athena scanned by stats, TB":   1000 * 30.4 * 100e6 * 10 / 1e12 * 5,
		"Athena scanned by topx, TB":    1000 * 30.4 * 100e6 * 50 / 1e12 * 5,
		"Athena scanned by logs, TB":    1000 * 30.4 * (100e6*20 + 200*parquet.RowsPerGroup) / 1e12 * 5,
		"API Gateway requests, million": (3*1000 + 2*3 + 3*1000) * 30.4 / 1e6 * 3.50,
		// An export of 7,000 records has three pages. Each reads half of the day.
		"Athena scanned by exports of logs, TB": 2 * 3 * 30.4 * (50e6*20 + 200*parquet.RowsPerGroup) / 1e12 * 5,
		"Athena scanned for percentiles, TB":    1000 * 30.4 / 10 * 100e6 * (3 + 40) / 1e12 * 5,
		// A day has 24 objects, and a year 8,760, which are listed once a day.
		"S3 listings for estimates and the status, 1,000": (3*1000*1 + 2*3*1 + 1000*1 + 3 + 480 + 9) * 30.4 / 1e3 * 0.005,
		// A thousand logs a day, each with eight requests. Of the newest three hours, they are two bundles, 12 objects that
		// are too few for one, and those since the last listing of a compaction, two minutes ago.
		"S3 reads, 1,000": 30.4 * (1000*8 + (3*1000+2*3)*(21*12+(1000.0/24/15/2+8+2*2+125.0/64)*3) + 3*24*12) / 1e3 * 0.0004,
		// A query about a day reads the sizes of two days, which are written each hour. The status and each compaction read
		// the counts of 363 days.
		"DynamoDB reads, million":  30.4 * (1000*14 + (3*1000+2*3)*(4+2*3) + 3*1000*2 + (1000+480)*363*0.1) / 1e6 * 0.125,
		"DynamoDB writes, million": 30.4 * (1000*14*2 + 24*24 + 480 + (3*1000+2*3+3)*2 + 10) / 1e6 * 0.625,
		// Of a daily report, the smallest question is answered without Athena.
		"Athena scanned by scheduled reports, TB":       30.4 * (100e6*(10+20) + 200*parquet.RowsPerGroup) / 1e12 * 5,
		"Lambda scheduled reports, GB-s":                30.4 * (3.0/8*3 + 288*0.2/4) * 0.0000133334,
		"SES mails of reports and their MB, 1,000":      30.4 / 1e3 * (0.10 + 100*0.00012),
		"Lambda values, saved filters and status, GB-s": 1000 * 30.4 * (0.05 + 2*0.05/4 + 0.1/4) * 0.0000133334,
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

// TestOfReport compares the cost of a daily report with a value computed by hand.
func TestOfReport(t *testing.T) {
	size := Bytes{
		Parquet: 200, Route: map[string]float64{"stats": 10},
		Report: []ReportBytes{{Columns: 10}, {Columns: 0.01}, {Columns: 20, Records: true}},
	}
	p := Regions["us-east-1"]
	for requests, scanned := range map[float64]struct{ athena, parts float64 }{ // bytes
		1e6:   {athena: 20e6 + 200*parquet.RowsPerGroup},
		100e6: {athena: 2000e6 + 200*parquet.RowsPerGroup, parts: 1000e6},
	} {
		// Three questions read the 24 objects of the day, which one listing has, and are written twice; the run is
		// written ten times.
		want := scanned.athena/1e12*5 + scanned.parts/90e6*1769/1024*p.LambdaGBs + 3.0/8*3*p.LambdaGBs + p.InvokeMillion/1e6 + (0.10+100*0.00012)/1e3 +
			3*24*12/1e3*p.Gets1000 + 3/1e3*p.Puts1000 + (3*2+10)/1e6*p.WriteMillion
		if got := OfReport(requests, size, p); math.Abs(got-want) > want/1e6 {
			t.Errorf("at %g requests a day: %v USD, not %v", requests, got, want)
		}
	}
}

// TestSmallQueries: small queries need no Athena.
func TestSmallQueries(t *testing.T) {
	load := Load{RequestsPerDay: 1000, QueriesPerDay: 1, PeriodHours: 1, Filtered: 1}
	size := Bytes{Route: map[string]float64{"stats": 10, "logs": 10}}
	for _, item := range Estimate(load, size, Regions["eu-central-1"]) {
		if item.Service == "Athena" && item.Units != 0 {
			t.Errorf("%s: %v TB", item.What, item.Units)
		}
		if item.What == "queries, GB-s" && math.Abs(item.Units-30.4*(1+1)) > 1e-9 {
			t.Errorf("%v GB-s of queries", item.Units)
		}
	}
	load.PeriodHours = 1000
	for _, item := range Estimate(load, size, Regions["eu-central-1"]) {
		large := item.What == "scanned by stats, TB" || item.What == "scanned by logs, TB"
		if large && item.Units == 0 {
			t.Errorf("%s: a thousand objects are scanned without Athena", item.What)
		}
	}
}

// TestRepeatedQueries: only the newest three hours are read again, and only by functions.
func TestRepeatedQueries(t *testing.T) {
	size := Bytes{Route: map[string]float64{"stats": 10}}
	gets := func(load Load) (n float64) {
		for _, item := range Estimate(load, size, Regions["eu-central-1"]) {
			if item.What == "reads, 1,000" {
				n = item.Units * 1e3 / 30.4
			}
		}
		return n
	}
	// Each of the 48 logs of a day needs eight requests. Six of them belong to the newest three hours.
	load := Load{RequestsPerDay: 1e6, QueriesPerDay: 100, PeriodHours: 24, LogsPerDay: 48, Repeated: 0.25}
	if n, want := gets(load), 48*8+100.0*(0.75*21*12+6*3); math.Abs(n-want) > 1e-6 {
		t.Errorf("%v GET requests a day, not %v", n, want)
	}
	load.AthenaAlone = true
	if n, want := gets(load), 48*8+100.0*(21*12+6*3); math.Abs(n-want) > 1e-6 {
		t.Errorf("%v GET requests a day of Athena, not %v", n, want)
	}
}

// TestRolledUpDays: queries without conditions about many days, or about large objects, cost next to nothing, unless there
// is too much data.
func TestRolledUpDays(t *testing.T) {
	size := Bytes{
		Parquet: 150, Route: map[string]float64{"topx": 33, "histogram": 9}, Percentiles: map[string]float64{"topx": 20},
	}
	scanned := func(what string, load Load) (tb float64) {
		for _, item := range Estimate(load, size, Regions["eu-central-1"]) {
			if item.What == "scanned by "+what+", TB" {
				tb = item.Units
			}
		}
		return tb
	}
	load := Load{RequestsPerDay: 1e6, QueriesPerDay: 100, PeriodHours: 30 * 24, Filtered: 0.5}
	all := 30.4 * 100 * 30 * 33e6 / 1e12
	if got, want := scanned("topx", load), all*(1-0.5*0.9); math.Abs(got-want) > 1e-9 {
		t.Errorf("Athena scans %v TB for topx, not %v", got, want)
	}
	if got, want := scanned("histogram", load), all*9/33; math.Abs(got-want) > 1e-9 {
		t.Errorf("Athena scans %v TB for histograms, which have no rollups, not %v", got, want)
	}
	load.RequestsPerDay, load.PeriodHours = 10e6, 24 // whose merged objects are large
	if got, want := scanned("topx", load), all/3*(1-0.5*0.9); math.Abs(got-want) > 1e-9 {
		t.Errorf("Athena scans %v TB for topx about 24 hours, not %v", got, want)
	}
	load.RequestsPerDay, load.PeriodHours = 100e6, 30*24
	if got, want := scanned("topx", load), 100*all; math.Abs(got-want) > 1e-6 {
		t.Errorf("Athena scans %v TB for topx of large days, not %v", got, want)
	}
}

// TestParts: functions count the parts of queries that are too large for a scan. Queries that are repeated count only the hours
// that change, and queries with too many parts are left to Athena.
func TestParts(t *testing.T) {
	size := Bytes{
		Parquet: 150, Route: map[string]float64{"topx": 32, "logs": 9}, Percentiles: map[string]float64{"topx": 20},
		Report: []ReportBytes{{Columns: 30}},
	}
	units := func(load Load) map[string]float64 {
		found := map[string]float64{}
		for _, item := range Estimate(load, size, Regions["eu-central-1"]) {
			found[item.Service+" "+item.What] = item.Units
		}
		return found
	}
	load := Load{RequestsPerDay: 240e6, QueriesPerDay: 100, PeriodHours: 24, Filtered: 1, Parts: true, ReportsPerDay: 1}
	all := units(load)
	// An hour has 320 MB of columns, so three parts. One query in ten reads all again for percentiles.
	counted := 30.4 * 100 * 24 * 3 * 1.1
	seconds := 30.4*100*24*1.1*max(10e6*0.6e-6, 320e6/90e6) + counted*0.3 + 30.4*240e6*30/90e6
	if got, want := all["Lambda parts of queries, GB-s"], seconds*1769/1024; math.Abs(got-want) > want/1e9 {
		t.Errorf("%v GB-s of parts, not %v", got, want)
	}
	for what, want := range map[string]bool{"topx": false, "logs": true, "scheduled reports": false} {
		if got := all["Athena scanned by "+what+", TB"]; (got > 0) != want {
			t.Errorf("Athena scans %v TB for %s", got, what)
		}
	}
	load.Repeated = 1
	if got, want := units(load)["S3 counted parts kept, GB"], 100*(1.5+0.1*24)*10e6*2*1.5/1e9; math.Abs(got-want) > want/1e9 {
		t.Errorf("%v GB of parts are kept, not %v", got, want)
	}
	load.PeriodHours = 24 * 30
	if units(load)["Athena scanned by topx, TB"] == 0 {
		t.Error("Athena scans nothing for queries with 2,160 parts")
	}
}

// TestAthenaAlone: every query is charged by Athena.
func TestAthenaAlone(t *testing.T) {
	load := Load{RequestsPerDay: 1000, QueriesPerDay: 1, PeriodHours: 1, AthenaAlone: true}
	for _, item := range Estimate(load, Bytes{Route: map[string]float64{"stats": 10}}, Regions["eu-central-1"]) {
		if item.What == "scanned by stats, TB" && math.Abs(item.Units-30.4*10e6/1e12) > 1e-12 {
			t.Errorf("%v TB", item.Units)
		}
	}
}

// TestEveryDataRouteHasALine: a data route that runs queries has a measured size, and the other data routes are in the
// lines of Lambda.
func TestEveryDataRouteHasALine(t *testing.T) {
	shapes, err := routes()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range api.Routes() {
		route, isData := strings.CutPrefix(r.Path, "/data/")
		if !isData || strings.Contains(route, "/") || route == "fields" || route == "values" ||
			route == "report" || route == "why" || route == "incidents" || route == "effect" || route == "whatif" { // they ask the questions of other routes
			continue
		}
		if shapes[route] == nil {
			t.Errorf("the cost of %s is not estimated", route)
		}
	}
}
