package trino_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/lake"
)

// The tests of this file and of proof_test.go need a real Trino; see package trinotest.

func TestSuite(t *testing.T) { enginetest.Run(t, over(t, trinotest.NothingCompacted)) }

// TestDifferential has the watermark in the midst of the records. -differential.filters says how many filters.
func TestDifferential(t *testing.T) { enginetest.Differential(t, over(t, midst)) }

func TestDifferentialNoticesMutations(t *testing.T) { enginetest.Mutations(t, over(t, midst)) }

// midst is an hour within the generated records.
var midst = lake.PartitionOf(enginetest.Start.Add(enginetest.Length / 2).Truncate(time.Hour).UnixMilli())

// over opens an engine over rows, compacted before the watermark.
func over(t *testing.T, watermark lake.Partition) func(rows []lake.Row) engine.Engine {
	trinotest.Server(t) // skips the whole test, where the suite would skip its parts
	return func(rows []lake.Row) engine.Engine { return trinotest.Load(t, rows, watermark).Engine() }
}
