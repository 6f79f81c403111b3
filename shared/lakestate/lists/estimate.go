package lists

import (
	"context"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Estimator = (*Engine)(nil)

// Estimate returns what FindValues would read at most: the lists of the newest objects. No column is read, and nothing
// is charged for.
func (e *Engine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	shape, ok := q.Shape.(query.Values)
	if !ok {
		return engine.Estimate{}, errOnlyValues
	}
	estimate := engine.Estimate{By: e.Name(), Objects: new(int), Bytes: &engine.Bytes{}}
	if reason := noListsOf(shape); reason != "" {
		estimate.Warnings = []string{reason}
		return estimate, nil
	}
	state, err := e.state(ctx)
	if err != nil {
		return engine.Estimate{}, err
	}
	l, err := e.objects(ctx, state.Watermark, q.Span())
	if err != nil {
		return engine.Estimate{}, failure(ctx, err)
	}
	newest := l.newest[:min(len(l.newest), maxLists)]
	for _, object := range slices.Backward(newest) {
		hour, err := lake.PartitionOfName(strings.TrimPrefix(object.Name, lakeRoot))
		if err == nil { // engines do not read objects whose names have no hour
			estimate.Partitions = append(estimate.Partitions, hour)
		}
	}
	estimate.Partitions = slices.Compact(estimate.Partitions)
	*estimate.Objects = len(newest)
	estimate.Bytes.High = int64(len(newest)) * completionindex.MaxBytes
	return estimate, nil
}
