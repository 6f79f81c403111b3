package athena_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// sizes are the same for all hours.
type sizes struct {
	hour    engine.Sizes
	tooMany bool
	fail    error
}

func (s *sizes) Sizes(
	_ context.Context, _ engine.State, from, to lake.Partition,
) (hours map[lake.Partition]engine.Sizes, known bool, _ error) {
	if s.fail != nil || s.tooMany {
		return nil, false, s.fail
	}
	hours = map[lake.Partition]engine.Sizes{}
	for hour := from; hour <= to; hour++ {
		hours[hour] = s.hour
	}
	return hours, true, nil
}

// opening is the largest number of bytes that a scan reads of an object, or of each 32 MB of a large one, in addition
// to the object itself.
const opening = 96 << 10

func TestEstimate(t *testing.T) {
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })
	states := newStates(enginetest.Records(t, 400, 23))
	known := sizes{hour: engine.Sizes{Objects: 2, Bytes: 30_000_000}}
	estimateOf := func(t *testing.T, text string, shape query.Shape, change func(*athena.Config)) engine.Estimate {
		t.Helper()
		e := newEngine(t, nopClient{}, states, func(c *athena.Config) {
			c.Sizes = &known
			if change != nil {
				change(c)
			}
		})
		estimate, err := e.Estimate(t.Context(), bind(t, text, shape))
		if err != nil {
			t.Fatal(err)
		}
		return estimate
	}
	estimate := func(t *testing.T, text string, change func(*athena.Config)) engine.Estimate {
		t.Helper()
		return estimateOf(t, text, query.Histogram{SegmentSeconds: 60}, change)
	}
	const oneHour = "timestamp between 2026-01-01 23:00 and 2026-01-01 23:59:59.999"
	t.Run("at most the whole objects of the hours are read", func(t *testing.T) {
		got := estimate(t, "timestamp between 2026-01-01 23:30 and 2026-01-02 00:10, status=404", nil)
		if *got.Objects != 4 || len(got.Partitions) != 2 || *got.Bytes != (engine.Bytes{High: 60_000_000 + 5*opening}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("the price covers at least 10 MB", func(t *testing.T) {
		got := estimate(t, oneHour, nil)
		if diff := cmp.Diff(&engine.USD{Low: 0.00005, High: (30_000_000 + 2*opening) * 5e-12}, got.USD, near); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("hours between the two periods of a diff are not read", func(t *testing.T) {
		diff := query.Diff{
			By: querytest.Dimensions("country"), Limit: 1, Least: 1,
			Against: query.Against{Kind: query.AgainstEarlier, BackMs: 2 * time.Hour.Milliseconds()},
		}
		got := estimateOf(t, "timestamp between 2026-01-02 00:00 and 2026-01-02 00:10", diff, nil)
		if *got.Objects != 4 || len(got.Partitions) != 2 || *got.Bytes != (engine.Bytes{High: 60_000_000 + 5*opening}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("hours between links to records are not read", func(t *testing.T) {
		late := lake.RefTo(time.Date(2026, 1, 2, 0, 10, 0, 0, time.UTC).UnixMilli(), "a", 1)
		early := lake.RefTo(late.TsMs-2*time.Hour.Milliseconds(), "a", 2)
		earliest := lake.RefTo(late.TsMs-9*time.Hour.Milliseconds(), "a", 3)
		inside := lake.RefTo(late.TsMs-time.Hour.Milliseconds()/2, "a", 4)
		for text, hours := range map[string]int{
			fmt.Sprintf("record_ref=%q", late):                                                               1,
			fmt.Sprintf("record_ref in (%q, %q)", late, early):                                               2,
			fmt.Sprintf("record_ref=%q, status=404", late):                                                   1,
			fmt.Sprintf("record_ref!=%q, ", late) + oneHour:                                                  1,
			fmt.Sprintf("record_ref in (%q, %q), ", late, earliest) + oneHour:                                0,
			fmt.Sprintf("record_ref in (%q, %q, %q), ", late, inside, early) + oneHour:                       1,
			"timestamp between 2026-01-01 23:30 and 2026-01-02 00:10, " + fmt.Sprintf("record_ref=%q", late): 1,
		} {
			got := estimateOf(t, text, query.Logs{Limit: 3}, nil)
			if len(got.Partitions) != hours || *got.Objects != 2*hours {
				t.Errorf("%s: %d objects of %v", text, *got.Objects, got.Partitions)
			}
		}
	})
	t.Run("each statement of a query for logs is charged for", func(t *testing.T) {
		got := estimateOf(t, "timestamp between 2026-01-01 23:30 and 2026-01-02 00:10", query.Logs{Limit: 3}, nil)
		if *got.Bytes != (engine.Bytes{High: 2 * (60_000_000 + 5*opening)}) {
			t.Errorf("the statements read the objects twice, estimated were %+v", *got.Bytes)
		}
		if diff := cmp.Diff(&engine.USD{Low: 0.00005, High: 2*(60_000_000+5*opening)*5e-12 + 0.00005}, got.USD, near); diff != "" {
			t.Error(diff)
		}
	})
	for name, change := range map[string]func(*athena.Config){
		"too many objects are not known":          func(c *athena.Config) { c.Sizes = &sizes{tooMany: true} },
		"sizes that cannot be read are not known": func(c *athena.Config) { c.Sizes = &sizes{fail: errors.New("x")} },
		"an engine without sizes has none":        func(c *athena.Config) { c.Sizes = nil },
	} {
		t.Run(name, func(t *testing.T) {
			got := estimate(t, oneHour, change)
			if got.Bytes != nil || got.USD != nil || got.Objects != nil || got.Rows != nil || len(got.Warnings) != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("columns have their sizes in the objects of the hours", func(t *testing.T) {
		const twoHours = "timestamp between 2026-01-01 22:30 and 2026-01-01 23:30, status=404"
		columns := columnsOfHours{hour: engine.ColumnBytes{"ts_ms": 3, "host": 5}}
		got := estimate(t, twoHours, func(c *athena.Config) { c.Columns = &columns })
		bytes := int64(2 * 3)
		want := []engine.ColumnSize{{Name: "ts_ms", Bytes: &bytes}, {Name: "status"}}
		if diff := cmp.Diff(want, got.Columns); diff != "" || len(got.Warnings) > 0 {
			t.Errorf("%v, %s", got.Warnings, diff)
		}
		columns.fail = errors.New("x")
		got = estimate(t, oneHour, func(c *athena.Config) { c.Columns = &columns })
		if got.Columns[0].Bytes != nil || got.Bytes == nil || len(got.Warnings) != 1 {
			t.Errorf("sizes that cannot be read: %+v", got)
		}
	})
	t.Run("nothing is read of hours without records", func(t *testing.T) {
		unknown := func(c *athena.Config) { c.Columns = &columnsOfHours{} }
		got := estimate(t, "timestamp between 2020-01-01 and 2020-01-02", unknown)
		if len(got.Columns) != 1 || got.Columns[0].Bytes == nil || *got.Columns[0].Bytes != 0 {
			t.Errorf("%+v", got.Columns)
		}
	})
	t.Run("all of the columns is read of whole hours without conditions", func(t *testing.T) {
		country := querytest.Dimensions("country")
		facets := query.Facets{Limit: 3, By: country}
		diff := query.Diff{By: country, Limit: 1, Least: 1, Select: querytest.Selection("blocked is true")}
		narrow := diff
		narrow.Select = querytest.Selection(`blocked is true, country="Italy"`)
		members := query.Facets{Limit: 3, By: querytest.Dimensions(`trigger_counters["rl"]`)}
		beginning := "timestamp between 2026-01-01 and 2026-01-01 22:59:59.999"
		histogram := query.Histogram{SegmentSeconds: 60}
		earlier := func(back time.Duration) query.Diff {
			against := query.Against{Kind: query.AgainstEarlier, BackMs: back.Milliseconds()}
			return query.Diff{By: country, Limit: 1, Least: 1, Against: against}
		}
		columns := columnsOfHours{hour: engine.ColumnBytes{
			"ts_ms": 9_000_000, "country": 2_000_000, "blocked": 100_000, "host": 7_000_000, "trigger_counters": 1_000_000,
		}}
		for _, c := range []struct {
			text    string
			shape   query.Shape
			counted bool
			least   int64
		}{
			{oneHour, histogram, true, 9_000_000},
			{oneHour, facets, true, 11_100_000},
			{oneHour, diff, true, 11_100_000},
			{oneHour, query.TopX{Limit: 3, Percentiles: true}, true, 18_100_000},
			{oneHour, members, true, 9_100_000},
			{oneHour, narrow, true, 9_000_000},
			{oneHour, facets, false, 0},
			{oneHour, query.Logs{Limit: 3}, true, 0},
			{oneHour + ", status=404", facets, true, 0},
			{oneHour + `, branch="a"`, histogram, true, 0},
			{"timestamp between 2026-01-01 22:00 and 2026-01-01 23:59:59.998", histogram, true, 9_000_000},
			{"timestamp between 2026-01-01 22:00:00.001 and 2026-01-01 23:59:59.998", histogram, true, 0},
			{oneHour, earlier(2 * time.Hour), true, 2 * 11_000_000},
			{"timestamp between 2026-01-01 23:40 and 2026-01-01 23:59:59.999", earlier(30 * time.Minute), true, 0},
			// The records begin at 21:30, and no period needs to begin earlier.
			{beginning, histogram, true, 2 * 9_000_000},
		} {
			columns.counted = c.counted
			got := estimateOf(t, c.text, c.shape, func(config *athena.Config) { config.Columns = &columns })
			least := float64(max(c.least, 10_000_000)) * 5e-12
			if got.Bytes.Low != c.least || got.USD.Low-least > 1e-12 || least-got.USD.Low > 1e-12 {
				t.Errorf("%s, %T: at least %d bytes and $%g, want %d", c.text, c.shape, got.Bytes.Low, got.USD.Low, c.least)
			}
		}
	})
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

// columnsOfHours are the same for all hours.
type columnsOfHours struct {
	hour    engine.ColumnBytes
	counted bool
	fail    error
}

func (c *columnsOfHours) Columns(
	_ context.Context, _ lake.Partition, hours map[lake.Partition]engine.Sizes,
) (all engine.ColumnBytes, counted map[lake.Partition]engine.ColumnBytes, _ error) {
	all, counted = engine.ColumnBytes{}, map[lake.Partition]engine.ColumnBytes{}
	for hour := range hours {
		if c.counted {
			counted[hour] = c.hour
		}
		for name, bytes := range c.hour {
			all[name] += bytes
		}
	}
	return all, counted, c.fail
}

// nopClient is a client that must not be asked.
type nopClient struct{ athena.Client }
