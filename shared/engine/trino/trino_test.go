package trino_test

import (
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/whatif/whatiftest"
)

// The tests of this file and of proof_test.go need a real Trino; see package trinotest.

func TestSuite(t *testing.T) { enginetest.Run(t, over(t, trinotest.NothingCompacted)) }

// TestDifferential uses a watermark in the middle of the records. -differential.filters sets the number of filters.
func TestDifferential(t *testing.T) { enginetest.Differential(t, over(t, middle)) }

func TestDifferentialNoticesMutations(t *testing.T) { enginetest.Mutations(t, over(t, middle)) }

// middle is the hour in the middle of the generated records.
var middle = lake.PartitionOf(enginetest.Start.Add(enginetest.Length / 2).Truncate(time.Hour).UnixMilli())

// over returns a function that makes an engine over rows. The hours before the watermark are compacted.
func over(t *testing.T, watermark lake.Partition) func(rows []lake.Row) engine.Engine {
	trinotest.Server(t) // skips the whole test if there is no server; the suite would skip each subtest
	return func(rows []lake.Row) engine.Engine { return trinotest.Load(t, rows, watermark).Engine() }
}

// TestRules: rules decide by Trino as by the simulation. -whatif.rules sets the number of rules.
func TestRules(t *testing.T) {
	whatiftest.Decisions(t, over(t, lake.PartitionOf(whatiftest.Begin.UnixMilli())), 100_000, 60)
}
