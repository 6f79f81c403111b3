package enginetest

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// testEstimate compares estimates with the costs of answers, for engines that estimate. What an engine does not know
// before it runs a query is absent.
func testEstimate(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	e, ok := open(Records(t, 400, 23)).(engine.Estimator)
	if !ok {
		t.Skip("the engine does not estimate")
	}
	const period = "timestamp between 2026-01-01 22:15 and 2026-01-02 00:15"
	shapes := append([]query.Shape{query.Logs{Limit: 3}, query.Logs{Limit: 1000, Fields: []string{"ip"}}}, caseShapes...)
	filters := []string{period + `, headers["x"]!="1"`, period, period + `, ip="192.0.2.250"`}
	if few() {
		filters = filters[:1]
	}
	for _, filter := range filters {
		for _, shape := range shapes {
			q := bind(t, filter, shape)
			estimate, err := e.Estimate(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			_, cost, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			name := shapeName(shape) + " " + filter
			if estimate.By == "" || len(estimate.Partitions) != 3 || len(estimate.Columns) != len(q.Columns()) {
				t.Errorf("%s: %+v", name, estimate)
			}
			checkEstimate(t, name, estimate, cost)
		}
	}
	empty := bind(t, "timestamp between 1990-01-01 and 1990-01-02", query.Timeline{SegmentSeconds: 3600})
	estimate, err := e.Estimate(t.Context(), empty)
	if err != nil {
		t.Fatal(err)
	}
	if b := estimate.Bytes; len(estimate.Partitions) != 0 || b != nil && *b != (engine.Bytes{}) {
		t.Errorf("a period without records: %+v", estimate)
	}
}

func checkEstimate(t *testing.T, name string, e engine.Estimate, cost engine.Cost) {
	t.Helper()
	if b := e.Bytes; b != nil && (cost.BytesScanned < b.Low || cost.BytesScanned > b.High || b.High == 0) {
		t.Errorf("%s: the answer read %d bytes, estimated were %+v", name, cost.BytesScanned, *b)
	}
	if e.Bytes == nil && len(e.Warnings) == 0 {
		t.Errorf("%s: bytes are not known, and no warning says why", name)
	}
	if cost.Objects != nil && (e.Objects == nil || *cost.Objects > *e.Objects) {
		t.Errorf("%s: the answer read %d objects, estimated were %v", name, *cost.Objects, e.Objects)
	}
	if cost.RowsConsidered != nil && (e.Rows == nil || *cost.RowsConsidered > *e.Rows) {
		t.Errorf("%s: the answer considered %d rows, estimated were %v", name, *cost.RowsConsidered, e.Rows)
	}
	if cost.USD != nil && e.USD != nil && (*cost.USD < e.USD.Low || *cost.USD > e.USD.High) {
		t.Errorf("%s: the answer cost $%g, estimated were %+v", name, *cost.USD, *e.USD)
	}
}
