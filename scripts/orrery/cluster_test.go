package main

import (
	"testing"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
)

// TestServeOverTrino checks that the routes of the specification count every record in a cluster's tables.
func TestServeOverTrino(t *testing.T) {
	url, _ := trinotest.Server(t)
	rows := enginetest.Records(t, 300, 5)
	tables := trinotest.Load(t, rows, trinotest.NothingCompacted)
	s := startServer(t, t.TempDir(),
		"--trino", url, "--trino-catalog", trinotest.Catalog, "--trino-schema", tables.Schema)
	const period = "timestamp between 1970-01-01 and 2100-01-01"
	total := 0.0
	for _, segment := range s.results("timeline", period) {
		total += segment["num_of_requests"].(float64)
	}
	if int(total) != len(rows) {
		t.Errorf("timeline counts %v of %d records", total, len(rows))
	}
	if got := len(s.results("logs", period, "limit", "2500")); got != len(rows) {
		t.Errorf("logs has %d of %d records", got, len(rows))
	}
	if got := len(s.results("topx", period, "limit", "1")); got != 12 {
		t.Errorf("topx has %d labels", got)
	}
}
