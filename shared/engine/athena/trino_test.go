package athena_test

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// overTrino returns a function that makes an engine over a real Trino behind the emulator of Athena.
func overTrino(t *testing.T, watermark lake.Partition) func(rows []lake.Row) engine.Engine {
	trinotest.Server(t) // skips the whole test if there is no server; the suite would skip each subtest
	return func(rows []lake.Row) engine.Engine {
		tables := trinotest.Load(t, rows, watermark)
		_, client := serve(t, emulator.Config{Backend: emulator.Trino{Client: tables.Client}}, nil)
		e := newEngine(t, client, tables, func(c *athena.Config) {
			c.Database = tables.Schema
			all := objectsIn(t, tables)
			c.Sizes, c.Columns = all, columnsIn(t, all, watermark)
			// A local Trino needs real pauses, but shorter ones.
			c.Sleep = shortSleep
		})
		return keepingLists{e, tables}
	}
}

// keepingLists is an engine over tables to which lists of values are added.
type keepingLists struct {
	engine.Engine
	tables *trinotest.Lake
}

func (k keepingLists) KeepList(digest string, content []byte) error {
	return k.tables.KeepList(digest, content)
}

// shortSleep sleeps for a part of the time.
func shortSleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d / 10)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// objectsIn returns the objects of tables, so that estimates use the sizes of the files that Trino reads.
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

// columnsIn returns the sizes of the columns of objects as a deployment keeps them.
func columnsIn(t *testing.T, all objects, watermark lake.Partition) *lakestate.Columns {
	t.Helper()
	hours := lakestate.ColumnsByHour{}
	for _, o := range all {
		hours.Add(o.Partition, o.Bytes, o.ColumnBytes)
	}
	compacted := maps.Clone(hours)
	maps.DeleteFunc(compacted, func(hour lake.Partition, _ lakestate.ColumnSizes) bool { return hour >= watermark })
	table := lakestate.Over(&tabletest.Memory{})
	err := lakestate.SaveHours(t.Context(), table, now(), compacted)
	fresh, err1 := lakestate.AddFresh(t.Context(), table, watermark, hours)
	if err := errors.Join(err, err1, table.Write(t.Context(), fresh)); err != nil {
		t.Fatal(err)
	}
	return lakestate.NewColumns(table, now)
}

// sharesIn returns the sizes of columns by their shares in all objects.
func sharesIn(t *testing.T, all objects) *lakestate.Columns {
	t.Helper()
	hours := lakestate.ColumnsByHour{}
	for _, o := range all {
		hours.Add(o.Partition, o.Bytes, o.ColumnBytes)
	}
	table := lakestate.Over(&tabletest.Memory{})
	if err := lakestate.SaveColumnSizes(t.Context(), table, hours.Total()); err != nil {
		t.Fatal(err)
	}
	return lakestate.NewColumns(table, now)
}

// TestColumnsOfAnAttackOverTrino compares estimates with the bytes that Trino reads, in a lake with ordinary hours and
// one of an attack with long queries. Each hour is read as a whole and without conditions, so that Trino reads at least
// the columns. Computed by the shares of the columns in the whole lake, the estimate would be too high for an ordinary
// hour, and far too low for the hour of the attack.
func TestColumnsOfAnAttackOverTrino(t *testing.T) {
	trinotest.Server(t)
	first := lake.PartitionOf(enginetest.Start.UnixMilli())
	attack, watermark := first+1, first+2
	rows := enginetest.Records(t, 3000, 31)
	random := rand.NewChaCha8([32]byte{31})
	for i := range rows {
		text := make([]byte, 8)
		if lake.PartitionOf(rows[i].TsMs) == attack {
			text = make([]byte, 3000)
		}
		_, _ = random.Read(text)
		query := hex.EncodeToString(text)
		rows[i].Query = &query
	}
	tables := trinotest.Load(t, rows, watermark)
	all := objectsIn(t, tables)
	_, client := serve(t, emulator.Config{Backend: emulator.Trino{Client: tables.Client}}, nil)
	columns, shares := columnsIn(t, all, watermark), sharesIn(t, all)
	facets := query.Facets{Limit: 3, By: querytest.Dimensions("query,country")}
	for hour := first; hour < first+4; hour++ {
		from, to := time.UnixMilli(hour.Start()).UTC(), time.UnixMilli((hour+1).Start()-1).UTC()
		const layout = "2006-01-02 15:04:05.000"
		q := bind(t, "timestamp between "+from.Format(layout)+" and "+to.Format(layout), facets)
		estimate := func(columns engine.ColumnsOfHours) (e *athena.Engine, found engine.Bytes, inColumns int64) {
			t.Helper()
			e = newEngine(t, client, tables, func(c *athena.Config) {
				c.Database, c.Sizes, c.Columns, c.Sleep = tables.Schema, all, columns, shortSleep
			})
			estimate, err := e.Estimate(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range estimate.Columns {
				inColumns += *c.Bytes
			}
			return e, *estimate.Bytes, inColumns
		}
		_, _, byShares := estimate(shares)
		e, bytes, sum := estimate(columns)
		_, cost, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		read := cost.BytesScanned
		if sum == 0 || bytes.Low != sum || read < bytes.Low || read > bytes.High {
			t.Errorf("%s: %d bytes, estimated were %+v, of them %d in the columns", hour, read, bytes, sum)
		}
		if hour == first && byShares <= read || hour == attack && byShares >= sum*4/5 {
			t.Errorf("%s: %d bytes, of them %d in the columns, and %d by shares", hour, read, sum, byShares)
		}
	}
}
