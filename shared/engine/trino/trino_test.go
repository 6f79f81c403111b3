package trino_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/lake"
)

// over opens an engine over rows, compacted before the watermark.
func over(t *testing.T, watermark lake.Partition) func(rows []lake.Row) engine.Engine {
	trinotest.Server(t) // skips the whole test, where the suite would skip its parts
	return func(rows []lake.Row) engine.Engine { return trinotest.Load(t, rows, watermark).Engine() }
}

func TestSuite(t *testing.T) { enginetest.Run(t, over(t, trinotest.NothingCompacted)) }
