package local_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/record"
)

// The benchmarks run on generated records. Figures to publish need a million of them:
//
//	go test -run XXX -bench . ./shared/engine/local -bench.records 1000000
var benchRecords = flag.Int("bench.records", 50_000, "number of generated records, which stay in the temporary folder")

// benchStart is the time from which records are generated.
var benchStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// period returns the condition for a stretch of time, its end excluded.
func period(from time.Time, length time.Duration) string {
	const format = "2006-01-02 15:04:05.000"
	return "timestamp between " + from.Format(format) + " and " + from.Add(length-time.Millisecond).Format(format)
}

// BenchmarkRun asks queries about one day.
func BenchmarkRun(b *testing.B) {
	store, needle := benchStore(b, *benchRecords, 1)
	e := open(b, store, store.Dir)
	day := period(benchStart, 24*time.Hour)
	hour := period(time.UnixMilli(needle.TsMs).UTC().Truncate(time.Hour), time.Hour)
	byID := fmt.Sprintf(", request_id=%q", *needle.RequestID)
	for _, c := range []struct {
		name, filter string
		shape        query.Shape
	}{
		{"topx", day, query.TopX{Limit: 10}},
		{"topx/50", day, query.TopX{Limit: 50}},
		{"facets", day, query.Facets{}},
		{"diff", day, query.Diff{Select: querytest.Selection("blocked is true")}},
		{"histogram/status", day, query.Histogram{SegmentSeconds: 300, By: dimension("status")}},
		{"histogram/country", day, query.Histogram{SegmentSeconds: 300, By: dimension("country")}},
		{"timeline", day, query.Timeline{SegmentSeconds: 60}},
		{"timeline/5m", day, query.Timeline{SegmentSeconds: 300}},
		{"stats", day, query.Stats{SegmentSeconds: 60}},
		{"topx/percentiles", day, query.TopX{Limit: 10, Percentiles: true}},
		{"stats/percentiles", day, query.Stats{SegmentSeconds: 60, Percentiles: true}},
		{"stats/country", day, query.Stats{SegmentSeconds: 60, By: dimension("country"), Percentiles: true}},
		{"stats/5m", day, query.Stats{SegmentSeconds: 300}},
		{"logs", day + ", status>=500", query.Logs{Limit: 1000}},
		{"logs/unfiltered", day, query.Logs{Limit: 1000}},
		{"needle/day", day + byID, query.Logs{Limit: 200}},
		{"needle/hour", hour + byID, query.Logs{Limit: 200}},
		{"headers", day + `, headers["user-agent"]~"(?i)bot"`, query.Stats{SegmentSeconds: 3600}},
		{"tags", day + `, tags="bot", result!="Passed"`, query.Stats{SegmentSeconds: 3600}},
	} {
		b.Run(c.name, func(b *testing.B) { benchQuery(b, e, bind(b, c.filter, c.shape)) })
	}
}

// BenchmarkNewest asks for the newest 200 records of ten days in 240 objects. The scan finds them, or DuckDB.
func BenchmarkNewest(b *testing.B) {
	const days = 10
	store, needle := benchStore(b, *benchRecords, days)
	scans, sql := open(b, store, store.Dir), open(b, store, store.Dir)
	sql.OnlySQL()
	without := openWithout(b, store)
	for _, c := range []struct{ name, condition string }{
		{"no condition", ""},
		{"result not Passed", `, result!="Passed"`},
		{"status of errors", ", status>=500"},
		{"pattern on user agents", `, user_agent~"(?i)sqlmap"`},
		{"one user agent", fmt.Sprintf(", user_agent=%q", *needle.UserAgent)},
		{"no match", ", status=99999"},
		{"one address", fmt.Sprintf(", ip=%q", *needle.IP)},
		{"one request", fmt.Sprintf(", request_id=%q", *needle.RequestID)},
	} {
		q := bind(b, period(benchStart, days*24*time.Hour)+c.condition, query.Logs{Limit: 200})
		for _, by := range []struct {
			name string
			e    *local.Engine
		}{{"DuckDB alone", sql}, {"scan and DuckDB", scans}, {"scan alone", without}} {
			b.Run(c.name+"/"+by.name, func(b *testing.B) { benchQuery(b, by.e, q) })
		}
	}
}

// BenchmarkInParts asks for many values, with DuckDB alone, and with scans whose memory does or does not hold all values.
func BenchmarkInParts(b *testing.B) {
	store, _ := benchStore(b, *benchRecords, 1)
	sql := open(b, store, store.Dir)
	sql.OnlySQL()
	day := period(benchStart, 24*time.Hour)
	for _, c := range []struct {
		name, filter string
		shape        query.Shape
	}{
		{"histogram/request_id", day, query.Histogram{SegmentSeconds: 3600, By: dimension("request_id"), Limit: 10}},
		{"histogram/session", day, query.Histogram{SegmentSeconds: 300, By: dimension("session"), Limit: 10}},
		{"histogram/url", day, query.Histogram{SegmentSeconds: 300, By: dimension("url"), Limit: 10}},
		{"stats", day, query.Stats{SegmentSeconds: 60}},
		{"stats/percentiles", day, query.Stats{SegmentSeconds: 60, Percentiles: true}},
		{"stats/hosts", day, query.Stats{SegmentSeconds: 300, GroupByHostname: true, Percentiles: true}},
		{"stats/session", day + ", status>=400", query.Stats{SegmentSeconds: 86_400, By: dimension("session"), Percentiles: true}},
	} {
		q := bind(b, c.filter, c.shape)
		b.Run(c.name+"/DuckDB", func(b *testing.B) { benchQuery(b, sql, q) })
		for _, mb := range []int64{256, 64, 16} {
			e := newEngine(b, store, nil, scan.Options{Memory: mb << 20})
			b.Run(fmt.Sprintf("%s/%dMB", c.name, mb), func(b *testing.B) { benchQuery(b, e, q) })
		}
	}
}

// BenchmarkExport reads all records of a day: in one pass, and in pages of as many records as an answer has.
func BenchmarkExport(b *testing.B) {
	store, _ := benchStore(b, *benchRecords, 1)
	e := openWithout(b, store)
	q := bind(b, period(benchStart, 24*time.Hour), query.Logs{Limit: 1_500})
	b.Run("one pass", func(b *testing.B) {
		b.ReportAllocs()
		records := 0
		for b.Loop() {
			err := e.Export(b.Context(), q, func(part engine.ExportPart) error {
				records += len(part.Rows)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("pages", func(b *testing.B) {
		b.ReportAllocs()
		records := 0
		for b.Loop() {
			page, shape := q, query.Logs{Limit: 1_500}
			for {
				page.Shape = shape
				answer, _, err := e.Run(b.Context(), page)
				if err != nil {
					b.Fatal(err)
				}
				if records += len(answer.Logs); len(answer.Logs) < shape.Limit {
					break
				}
				last := query.PlaceOf(answer.Logs[len(answer.Logs)-1])
				shape.OlderThan = &last
			}
		}
		b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
	})
}

// benchQuery measures a query. A first run, which is not counted, warms up.
func benchQuery(b *testing.B, e *local.Engine, q query.Query) {
	_, cost, err := e.Run(b.Context(), q)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := e.Run(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cost.BytesScanned)/1e6, "MB")
	b.ReportMetric(float64(*cost.Objects), "objects")
}

// benchStore returns records of some days as one object an hour, and one record to look for. It writes the objects once
// and leaves them in the temporary folder.
func benchStore(b *testing.B, records, days int) (*enginetest.Store, *lake.Row) {
	b.Helper()
	name := fmt.Sprintf("orrery-bench-%d", records)
	if days > 1 {
		name += fmt.Sprintf("-%dd", days)
	}
	dir := filepath.Join(os.TempDir(), name)
	listing := filepath.Join(dir, "listing.json")
	var kept struct {
		Objects []lake.Object
		Needle  lake.Row
	}
	raw, err := os.ReadFile(listing)
	if err == nil {
		if err := json.Unmarshal(raw, &kept); err != nil {
			b.Fatal(err)
		}
		return enginetest.StoreOf(dir, kept.Objects), &kept.Needle
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.Fatal(err)
	}
	store := enginetest.StoreOf(dir, nil)
	g := gen.New(gen.Options{Records: records, Seed: 1, From: benchStart, To: benchStart.AddDate(0, 0, days)})
	d := record.NewDecoder()
	var hour []lake.Row
	flush := func() {
		if len(hour) > 0 {
			parquettest.Sort(hour)
			name := lake.ObjectName(lake.PartitionOf(hour[0].TsMs), "bench", 0)
			kept.Objects = append(kept.Objects, store.Add(b, name, hour))
			hour = hour[:0]
		}
	}
	for line := 1; ; line++ {
		text, more := g.Next(nil)
		if !more {
			break
		}
		var row lake.Row
		if _, err := d.Decode(text, &row); err != nil {
			b.Fatal(err)
		}
		row.Source, row.Line = "bench", int64(line)
		if len(hour) > 0 && lake.PartitionOf(row.TsMs) != lake.PartitionOf(hour[0].TsMs) {
			flush()
		}
		hour = append(hour, row)
		if line == records*7/10 {
			kept.Needle = row
		}
	}
	flush()
	raw, err = json.Marshal(kept)
	if err == nil {
		err = os.WriteFile(listing, raw, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	return store, &kept.Needle
}
