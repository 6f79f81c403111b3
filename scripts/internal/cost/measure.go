package cost

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
)

// Bytes is the size of a record in bytes.
type Bytes struct {
	JSON    float64            // as a line of a log
	Raw     float64            // as that line compressed with gzip
	Parquet float64            // as a row of an object
	Route   map[string]float64 // of the row's columns that a query of the route reads
	// Percentiles has the bytes that a query of the route reads in addition if it asks for percentiles.
	Percentiles map[string]float64
	Report      []ReportBytes // of the questions of a daily report
}

// routes has the shape of each data route's query with default parameters. A histogram is split by a field, and a diff
// compares the blocked requests with the others.
func routes() (map[string]query.Shape, error) {
	blocked, err := query.BindSelection(filter.Parse("blocked is true"))
	if err != nil {
		return nil, err
	}
	status, err := query.ParseDimensions("status")
	if err != nil {
		return nil, err
	}
	return map[string]query.Shape{
		"topx":     query.TopX{Limit: query.DefaultTopX},
		"stats":    query.Stats{SegmentSeconds: 60},
		"timeline": query.Timeline{SegmentSeconds: 60},
		"facets":   query.Facets{Limit: query.DefaultFacetLimit},
		"histogram": query.Histogram{
			SegmentSeconds: 60, By: &status[0], Limit: query.DefaultSeries, Measure: query.MeasureRequests,
		},
		"diff": query.Diff{Select: blocked, Limit: query.DefaultFindings, Least: query.DefaultLeast},
		"logs": query.Logs{Limit: query.DefaultLogs},
	}, nil
}

// Measure writes generated records of one hour as a log and as a Parquet object, and measures both. The same number of
// records gives the same result on every machine.
func Measure(records int) (Bytes, error) {
	from := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	generator := gen.New(gen.Options{Records: records, Seed: 1, From: from, To: from.Add(time.Hour)})
	var plain float64
	var compressed, object bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	decoder, rows := record.NewDecoder(), make([]lake.Row, records)
	for i := range rows {
		line, _ := generator.Next(nil)
		plain += float64(len(line) + 1)
		if _, err := zip.Write(append(line, '\n')); err != nil {
			return Bytes{}, fmt.Errorf("compress record %d: %w", i, err)
		}
		if _, err := decoder.Decode(line, &rows[i]); err != nil {
			return Bytes{}, fmt.Errorf("decode record %d: %w", i, err)
		}
	}
	if err := zip.Close(); err != nil {
		return Bytes{}, fmt.Errorf("compress: %w", err)
	}
	w := parquet.NewWriter(&object)
	if err := w.Write(rows); err != nil {
		return Bytes{}, err
	}
	if err := w.Close(); err != nil {
		return Bytes{}, err
	}
	verified, err := parquet.Verify(bytes.NewReader(object.Bytes()), int64(object.Len()))
	if err != nil {
		return Bytes{}, err
	}
	n := float64(records)
	measured := Bytes{
		JSON: plain / n, Raw: float64(compressed.Len()) / n, Parquet: float64(object.Len()) / n,
		Route: map[string]float64{}, Percentiles: map[string]float64{},
	}
	sum := func(columns []string) (bytes float64) {
		for _, name := range columns {
			bytes += float64(verified.ColumnBytes[name]) / n
		}
		return bytes
	}
	shapes, err := routes()
	if err != nil {
		return Bytes{}, err
	}
	for route, shape := range shapes {
		q, err := query.Bind(filter.Parse(`status=404, timestamp between 2026-01-01 and 2026-01-02`), shape)
		if err != nil {
			return Bytes{}, err
		}
		measured.Route[route] = sum(touched(q))
		if columns := ofPercentiles(q); columns != nil {
			measured.Percentiles[route] = sum(columns)
		}
	}
	measured.Report, err = reportBytes(sum)
	return measured, err
}

// durations are the columns for which percentiles are computed.
var durations = []string{"origin_us", "svc_us", "total_us"}

// ofPercentiles returns the columns that Athena reads in addition for percentiles. Stats reads the durations that it
// does not need otherwise. Topx scans the keys, the durations and the conditions a second time.
func ofPercentiles(q query.Query) []string {
	switch q.Shape.(type) {
	case query.Stats:
		has := func(name string) bool { return slices.Contains(q.Columns(), name) }
		return slices.DeleteFunc(slices.Clone(durations), has)
	case query.TopX:
		columns := append(q.ConditionColumns(), durations...)
		for _, part := range query.TopXParts {
			columns = append(columns, part.Column)
		}
		columns = append(columns, "monitor_reasons") // of the label reason
		slices.Sort(columns)
		return slices.Compact(columns)
	}
	return nil
}

// touched returns the columns that Athena reads. For logs, these are the columns that find the newest matches, because
// the matching rows are few.
func touched(q query.Query) []string {
	if _, ok := q.Shape.(query.Logs); ok {
		return q.FindingColumns()
	}
	return q.Columns()
}
