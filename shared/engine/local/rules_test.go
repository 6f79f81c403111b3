package local_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/whatif/whatiftest"
)

// TestRules: rules decide by the scan as by the simulation. -whatif.rules sets the number of rules.
func TestRules(t *testing.T) {
	whatiftest.Decisions(t, func(rows []lake.Row) engine.Engine {
		return openWithout(t, enginetest.NewStore(t, rows))
	}, 1_200, 1_000)
}

// TestRulesByDuckDB: rules decide by DuckDB as by the simulation.
func TestRulesByDuckDB(t *testing.T) {
	needDuckDB(t)
	whatiftest.Decisions(t, func(rows []lake.Row) engine.Engine {
		store := enginetest.NewStore(t, rows)
		e := open(t, store, store.Dir)
		e.OnlySQL()
		return e
	}, 1_200, 30)
}
