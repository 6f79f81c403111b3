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

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
)

// The benchmarks run on generated records of one day. Figures worth quoting need a million of them:
//
//	go test -run XXX -bench . ./shared/engine/local -bench.records 1000000
var benchRecords = flag.Int("bench.records", 50_000, "how many records the benchmarks run on; kept in the temporary folder")

func BenchmarkRun(b *testing.B) {
	store, needle := benchStore(b, *benchRecords)
	e := open(b, store, store.Dir)
	const day = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"
	hour := time.UnixMilli(needle.TsMs).UTC().Truncate(time.Hour)
	known := fmt.Sprintf("timestamp between %s and %s", hour.Format("2006-01-02 15:04"), hour.Add(time.Hour-time.Second).Format("2006-01-02 15:04:05"))
	for _, c := range []struct {
		name, filter string
		shape        query.Shape
	}{
		{"topx", day, query.TopX{Limit: 10}},
		{"topx/50", day, query.TopX{Limit: 50}},
		{"timeline", day, query.Timeline{SegmentSeconds: 60}},
		{"timeline/5m", day, query.Timeline{SegmentSeconds: 300}},
		{"stats", day, query.Stats{SegmentSeconds: 60}},
		{"stats/5m", day, query.Stats{SegmentSeconds: 300}},
		{"logs", day + ", status>=500", query.Logs{Limit: 1000}},
		{"logs/unfiltered", day, query.Logs{Limit: 1000}},
		{"needle/day", day + `, request_id="` + *needle.RequestID + `"`, query.Logs{Limit: 200}},
		{"needle/hour", known + `, request_id="` + *needle.RequestID + `"`, query.Logs{Limit: 200}},
		{"headers", day + `, headers["user-agent"]~"(?i)bot"`, query.Stats{SegmentSeconds: 3600}},
		{"tags", day + `, tags="bot", result!="Passed"`, query.Stats{SegmentSeconds: 3600}},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := bind(b, c.filter, c.shape)
			_, cost, err := e.Run(b.Context(), q) // warm, as the goals are
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if _, _, err := e.Run(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cost.BytesScanned)/1e6, "MB")
		})
	}
}

// benchStore is a day of records as hourly objects, made once and kept, and one record to look for.
func benchStore(b *testing.B, records int) (*enginetest.Store, *lake.Row) {
	b.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("orrery-bench-%d", records))
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
	g, d := gen.New(gen.Options{Records: records, Seed: 1, From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}), record.NewDecoder()
	var hour []lake.Row
	flush := func() {
		if len(hour) > 0 {
			parquettest.Sort(hour)
			kept.Objects = append(kept.Objects, store.Add(b, lake.ObjectName(lake.PartitionOf(hour[0].TsMs), "bench", 0), hour))
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
