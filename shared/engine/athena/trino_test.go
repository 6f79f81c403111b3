package athena_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/lake"
)

// overTrino returns a function that makes an engine over a real Trino behind the emulator of Athena.
func overTrino(t *testing.T, watermark lake.Partition) func(rows []lake.Row) engine.Engine {
	trinotest.Server(t) // skips the whole test if there is no server; the suite would skip each subtest
	return func(rows []lake.Row) engine.Engine {
		tables := trinotest.Load(t, rows, watermark)
		_, client := serve(t, emulator.Config{Backend: emulator.Trino{Client: tables.Client}}, nil)
		return newEngine(t, client, tables, func(c *athena.Config) {
			c.Database = tables.Schema
			c.Sizes = objectsIn(t, tables)
			// A local Trino needs real pauses, but shorter ones.
			c.Sleep = func(ctx context.Context, d time.Duration) error {
				t := time.NewTimer(d / 10)
				defer t.Stop()
				select {
				case <-t.C:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
}

// objectsIn returns the objects of tables, so that the sizes in estimates are those of the files that Trino reads.
func objectsIn(t *testing.T, tables *trinotest.Lake) objects {
	t.Helper()
	all, err := tables.Store.Objects(t.Context(), math.MinInt64, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEngineOverTrino(t *testing.T) {
	enginetest.Run(t, overTrino(t, lake.PartitionOf(enginetest.Start.UnixMilli())+2))
}

func TestDifferentialOverTrino(t *testing.T) {
	enginetest.Differential(t, overTrino(t, lake.PartitionOf(enginetest.Start.UnixMilli())+2))
}
