package athena

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Estimator = (*Engine)(nil)

// The warnings of estimates.
const (
	sizesUnknown = "the sizes of some hours are not known, because an earlier version wrote their objects or because " +
		"objects were rebuilt; the bytes and the price are missing"
	sizesUnavailable = "the sizes of the objects cannot be read at the moment; the bytes and the price are missing"
)

// Estimate returns what Run would read, from the sizes of the hours. Athena reads at most the whole objects: it skips
// columns, and row groups in which no record can match, but reads small gaps between columns with them. It reads all of
// the columns if every record matches. If Athena runs out of resources and the query is split, each part reads as much.
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
	if _, err := statement(q, state.Version); err != nil {
		return engine.Estimate{}, err
	}
	estimate := engine.Estimate{By: e.Name(), Partitions: hoursOf(q)}
	for _, name := range q.Columns() {
		estimate.Columns = append(estimate.Columns, engine.ColumnSize{Name: name})
	}
	sizes, warning := e.sizesOf(ctx, state, estimate.Partitions)
	if warning != "" {
		estimate.Warnings = append(estimate.Warnings, warning)
		return estimate, nil
	}
	var columns int64
	for i, c := range estimate.Columns {
		bytes := sizes.Columns[c.Name]
		estimate.Columns[i].Bytes = &bytes
		columns += bytes
	}
	bytes := engine.Bytes{High: sizes.Bytes}
	if readsEveryRow(q, state.Extent) {
		bytes.Low = columns
	}
	estimate.Objects, estimate.Rows, estimate.Bytes = &sizes.Objects, &sizes.Rows, &bytes
	estimate.USD = &engine.USD{Low: e.priceOf(bytes.Low), High: e.priceOf(bytes.High)}
	return estimate, nil
}

// sizesOf returns the sizes of the objects of adjacent hours, or a warning if they are not known.
func (e *Engine) sizesOf(ctx context.Context, s engine.State, hours []lake.Partition) (_ engine.Sizes, warning string) {
	if len(hours) == 0 {
		return engine.Sizes{}, ""
	}
	first, last := hours[0], hours[len(hours)-1]
	for _, o := range s.Lost {
		if first <= o.Partition && o.Partition <= last {
			return engine.Sizes{}, sizesUnknown
		}
	}
	if e.Sizes == nil {
		return engine.Sizes{}, sizesUnknown
	}
	sizes, known, err := e.Sizes.Sizes(ctx, first, last)
	switch {
	case err != nil:
		return engine.Sizes{}, sizesUnavailable
	case !known:
		return engine.Sizes{}, sizesUnknown
	}
	return sizes, ""
}

// hoursOf returns the hours that q, which is clamped to the data, reads.
func hoursOf(q query.Query) []lake.Partition {
	span := q.Span()
	if span.Empty() {
		return nil
	}
	var hours []lake.Partition
	for p := lake.PartitionOf(span.FromMs); p <= lake.PartitionOf(span.ToMs); p++ {
		hours = append(hours, p)
	}
	return hours
}

// readsEveryRow reports whether every record of the hours that q reads belongs to its figures.
func readsEveryRow(q query.Query, data lake.Extent) bool {
	_, logs := q.Shape.(query.Logs)
	span := q.Span()
	if logs || span.Empty() || len(q.Conditions) > 0 {
		return false
	}
	first, last := lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs)
	return span.FromMs <= max(first.Start(), data.MinTsMs) && span.ToMs >= min((last+1).Start()-1, data.MaxTsMs)
}

// priceOf returns the price of an execution that scans so many bytes.
func (e *Engine) priceOf(bytes int64) float64 {
	return float64(max(bytes, minCharged)) * e.USDPerTB / terabyte
}
