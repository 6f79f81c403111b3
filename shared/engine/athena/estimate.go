package athena

import (
	"context"
	"maps"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Estimator = (*Engine)(nil)

// The warnings of estimates.
const (
	sizesUnknown     = "the period has too many objects to list them; the bytes and the price are missing"
	sizesUnavailable = "the sizes of the objects cannot be read; the bytes and the price are missing"

	columnsUnavailable = "the sizes of the columns cannot be read"
)

// Estimate returns what Run would read, from the sizes of the objects of the hours and of their columns. Athena reads
// at most the whole objects, once in each scan of the statement, and a part of them again when it opens them. Usually
// it reads little more than the columns, but gaps of up to a megabyte between them are read with them, and so is the
// footer of each object. If there are row groups in which no record can match, it may read nothing. If Athena runs out
// of resources and the query is split, each part reads as much.
//
// If the sizes cannot be read, they are missing in the estimate, so that the query is answered nevertheless. Estimate
// returns the errors of queries that Athena cannot run.
func (e *Engine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	state, err := e.state(ctx)
	if err != nil {
		return engine.Estimate{}, err
	}
	q = q.Clamp(state.Extent)
	if err := e.checkFirstYear(q); err != nil {
		return engine.Estimate{}, err
	}
	q.Scope.Watermark = state.Watermark
	_, scans, err := statement(q, state.VersionOf(q))
	if err != nil {
		return engine.Estimate{}, err
	}
	estimate := engine.Estimate{By: e.Name(), Partitions: engine.HoursOf(q)}
	for _, name := range q.Columns() {
		estimate.Columns = append(estimate.Columns, engine.ColumnSize{Name: name})
	}
	hours, warning := e.sizesOf(ctx, state, estimate.Partitions)
	if warning != "" {
		estimate.Warnings = append(estimate.Warnings, warning)
		return estimate, nil
	}
	counted, warning := e.addColumnSizes(ctx, estimate.Columns, state.Watermark, hours)
	if warning != "" {
		estimate.Warnings = append(estimate.Warnings, warning)
	}
	var sizes, again engine.Sizes // again: of the hour that is in both periods of a diff
	for _, hour := range hours {
		sizes.Objects += hour.Objects
		sizes.Bytes += hour.Bytes
	}
	if hour, ok := sharedHour(q); ok {
		again = hours[hour]
	}
	most := int64(scans) * (mostOf(sizes) + mostOf(again))
	least := engine.LeastOf(q, state.Extent, counted)
	estimate.Objects, estimate.Bytes = &sizes.Objects, &engine.Bytes{Low: least, High: most}
	further := float64(len(q.Windows()) - 1) // each statement is charged for
	estimate.USD = &engine.USD{Low: e.priceOf(least), High: e.priceOf(most) + further*e.priceOf(0)}
	return estimate, nil
}

// The bytes of an object that a scan reads besides its columns. Before the columns, Trino reads the last 48 kB of an
// object, in which it expects the footer, and again for each further part of a large object. It also reads indexes and
// the dictionaries of columns with conditions before these columns. TestBytes of package trino checks the sum.
const (
	openingBytes = 96 << 10
	partBytes    = 32 << 20 // of the first parts of a query; later ones are larger
)

// mostOf returns the largest number of bytes that a scan of objects reads.
func mostOf(objects engine.Sizes) int64 {
	return objects.Bytes + (int64(objects.Objects)+objects.Bytes/partBytes)*openingBytes
}

// sharedHour returns the hour in which one period of a diff ends and the other begins. Each scan reads it for both.
func sharedHour(q query.Query) (hour lake.Partition, ok bool) {
	spans := q.Spans()
	if len(spans) < 2 {
		return 0, false
	}
	hour = lake.PartitionOf(spans[1].FromMs)
	return hour, hour == lake.PartitionOf(spans[0].ToMs)
}

// addColumnSizes sets the sizes of columns in the objects of hours, and returns the sizes by hour for the hours whose
// objects were counted. It returns a warning if the sizes cannot be read.
func (e *Engine) addColumnSizes(
	ctx context.Context, columns []engine.ColumnSize, watermark lake.Partition, hours map[lake.Partition]engine.Sizes,
) (counted map[lake.Partition]engine.ColumnBytes, warning string) {
	if e.Columns == nil {
		return nil, ""
	}
	if len(hours) == 0 {
		for i := range columns {
			columns[i].Bytes = new(int64)
		}
		return nil, ""
	}
	sizes, counted, err := e.Columns.Columns(ctx, watermark, hours)
	if err != nil {
		return nil, columnsUnavailable
	}
	for i := range columns {
		if bytes, known := sizes[columns[i].Name]; known {
			columns[i].Bytes = &bytes
		}
	}
	return counted, ""
}

// sizesOf returns the sizes of the objects of hours, which are ascending, or a warning if they are not known.
func (e *Engine) sizesOf(
	ctx context.Context, state engine.State, hours []lake.Partition,
) (_ map[lake.Partition]engine.Sizes, warning string) {
	all := map[lake.Partition]engine.Sizes{}
	if len(hours) == 0 {
		return all, ""
	}
	if e.Sizes == nil {
		return nil, sizesUnavailable
	}
	for len(hours) > 0 {
		n := engine.Adjacent(hours)
		sizes, known, err := e.Sizes.Sizes(ctx, state, hours[0], hours[n-1])
		switch {
		case err != nil:
			return nil, sizesUnavailable
		case !known:
			return nil, sizesUnknown
		}
		maps.Copy(all, sizes)
		hours = hours[n:]
	}
	return all, ""
}

// priceOf returns the price of an execution that scans so many bytes.
func (e *Engine) priceOf(bytes int64) float64 {
	return float64(max(bytes, minCharged)) * e.USDPerTB / terabyte
}
