package athena_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// sizes are the same for all hours, except those that are not known.
type sizes struct {
	hour    engine.Sizes
	unknown lake.Partition
	fail    error
}

func (s *sizes) Sizes(_ context.Context, from, to lake.Partition) (engine.Sizes, bool, error) {
	if s.fail != nil || from <= s.unknown && s.unknown <= to {
		return engine.Sizes{}, false, s.fail
	}
	sum := engine.Sizes{Columns: map[string]int64{}}
	for range to - from + 1 {
		sum.Objects += s.hour.Objects
		sum.Rows += s.hour.Rows
		sum.Bytes += s.hour.Bytes
		for name, bytes := range s.hour.Columns {
			sum.Columns[name] += bytes
		}
	}
	return sum, true, nil
}

// sizesLike returns sizes for the bytes that the reference backend scans, which are the same for every query.
func sizesLike(rows []lake.Row) *sizes {
	return &sizes{hour: engine.Sizes{
		Objects: 1, Rows: int64(len(rows)), Bytes: int64(len(rows)) * 100, Columns: map[string]int64{"ts_ms": 8},
	}}
}

func TestEstimate(t *testing.T) {
	states := newStates(enginetest.Records(t, 400, 23))
	known := sizes{hour: engine.Sizes{
		Objects: 2, Rows: 1000, Bytes: 30_000_000, Columns: map[string]int64{"ts_ms": 8_000_000, "status": 1_000_000},
	}}
	estimate := func(t *testing.T, text string, change func(*athena.Config)) engine.Estimate {
		t.Helper()
		e := newEngine(t, nopClient{}, states, func(c *athena.Config) {
			c.Sizes = &known
			if change != nil {
				change(c)
			}
		})
		estimate, err := e.Estimate(t.Context(), bind(t, text, query.Histogram{SegmentSeconds: 60}))
		if err != nil {
			t.Fatal(err)
		}
		return estimate
	}
	const oneHour = "timestamp between 2026-01-01 23:00 and 2026-01-01 23:59:59.999"
	low := func(t *testing.T, text string, want engine.Bytes) {
		t.Helper()
		if got := estimate(t, text, nil); got.Bytes == nil || *got.Bytes != want {
			t.Errorf("%s: %+v, want %+v", text, got.Bytes, want)
		}
	}
	t.Run("whole hours read at least the columns", func(t *testing.T) {
		low(t, oneHour, engine.Bytes{Low: 8_000_000, High: 30_000_000})
	})
	t.Run("a part of an hour may read nothing", func(t *testing.T) {
		low(t, "timestamp between 2026-01-01 23:00 and 2026-01-01 23:30", engine.Bytes{High: 30_000_000})
	})
	t.Run("a condition may match nothing", func(t *testing.T) {
		low(t, oneHour+", status=404", engine.Bytes{High: 30_000_000})
	})
	t.Run("objects, rows and columns are those of the hours", func(t *testing.T) {
		got := estimate(t, "timestamp between 2026-01-01 23:00 and 2026-01-02 00:59:59.999, status=404", nil)
		if *got.Objects != 4 || *got.Rows != 2000 || len(got.Partitions) != 2 || *got.Columns[0].Bytes != 16_000_000 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("the price is at least that of 10 MB", func(t *testing.T) {
		got := estimate(t, oneHour, nil)
		if diff := cmp.Diff(&engine.USD{Low: 0.00005, High: 0.00015}, got.USD); diff != "" {
			t.Error(diff)
		}
	})
	for name, change := range map[string]func(*athena.Config){
		"an unknown hour makes the bytes unknown":           func(c *athena.Config) { c.Sizes = &sizes{unknown: hourOf(23)} },
		"sizes that cannot be read are unknown":             func(c *athena.Config) { c.Sizes = &sizes{fail: errors.New("x")} },
		"an engine without sizes knows nothing about bytes": func(c *athena.Config) { c.Sizes = nil },
		"a lost object makes the bytes of its hour unknown": func(c *athena.Config) {
			c.States = &staticStates{engine.State{
				Extent: states.state.Extent, Lost: []engine.LostObject{{Name: "x", Partition: hourOf(23)}},
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := estimate(t, oneHour, change)
			if got.Bytes != nil || got.USD != nil || got.Objects != nil || got.Rows != nil || len(got.Warnings) != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("a query that Athena cannot run has the error of the run", func(t *testing.T) {
		e := newEngine(t, nopClient{}, states, nil)
		text := oneHour
		for i := range 100 {
			text += fmt.Sprintf(`, host!~"%d%s"`, i, strings.Repeat("a", 3000))
		}
		_, err := e.Estimate(t.Context(), bind(t, text, query.Histogram{SegmentSeconds: 60}))
		if fault.KindOf(err) != fault.EngineLimit {
			t.Errorf("%v", err)
		}
	})
}

func hourOf(hour int64) lake.Partition {
	return lake.PartitionOf(enginetest.Start.UnixMilli()/86_400_000*86_400_000 + hour*3_600_000)
}

// nopClient is a client that must not be asked.
type nopClient struct{ athena.Client }
