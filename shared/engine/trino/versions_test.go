package trino_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/lake"
)

func TestVersions(t *testing.T) {
	trinotest.Server(t)
	enginetest.Versions(t, func(rows []lake.Row) (engine.Engine, *enginetest.Store) {
		tables := trinotest.Load(t, rows, trinotest.NothingCompacted)
		return tables.Engine(), tables.Store
	})
}
