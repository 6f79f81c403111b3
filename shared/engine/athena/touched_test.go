package athena_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// objects are the objects of a lake. They know their sizes, and how many bytes a statement touches.
type objects []lake.Object

// objectsOf returns objects as an import and a compaction would write them, without writing them: a record has 100
// bytes.
func objectsOf(rows []lake.Row, watermark lake.Partition) (all objects) {
	at := map[string]int{}
	for _, r := range rows {
		hour := lake.PartitionOf(r.TsMs)
		name := lake.ObjectName(hour, r.Source, 0)
		if hour < watermark {
			name = lake.CompactName(hour, "compacted")
		}
		i, known := at[name]
		if !known {
			i, at[name] = len(all), len(all)
			all = append(all, lake.Object{Path: name, Partition: hour})
		}
		all[i].Rows++
		all[i].Bytes += 100
	}
	return all
}

func (o objects) Sizes(
	_ context.Context, _ engine.State, from, to lake.Partition,
) (hours map[lake.Partition]engine.Sizes, known bool, _ error) {
	hours = map[lake.Partition]engine.Sizes{}
	for _, object := range o {
		if from <= object.Partition && object.Partition <= to {
			hour := hours[object.Partition]
			hour.Objects++
			hour.Bytes += object.Bytes
			hours[object.Partition] = hour
		}
	}
	return hours, true, nil
}

var (
	tables     = regexp.MustCompile(`\btraffic_(?:compact|fresh)\b`)
	references = regexp.MustCompile(`FROM traffic_(compact|fresh)\b(?s:.*?)\bdatehour (BETWEEN|=|IN) *(.*)`)
	hourKeys   = regexp.MustCompile(`'(\d{4}/\d\d/\d\d/\d\d)'`)
)

// touched returns the number and the bytes of the objects that a statement reads, each as often as the statement refers
// to it.
func (o objects) touched(sql string) (reads engine.Sizes, err error) {
	found := references.FindAllStringSubmatch(sql, -1)
	if all := len(tables.FindAllString(sql, -1)); len(found) != all {
		return reads, fmt.Errorf("%d of %d references to tables have bounds of hours", len(found), all)
	}
	for _, reference := range found {
		keys := hourKeys.FindAllStringSubmatch(reference[3], -1)
		between := reference[2] == "BETWEEN"
		if len(keys) == 0 || between && len(keys) != 2 {
			return reads, fmt.Errorf("no hours in %q", reference[0])
		}
		for _, object := range o {
			if !strings.HasPrefix(lake.NameOf(object.Path), reference[1]+"/") {
				continue
			}
			hour := object.Partition.String()
			listed := func(key []string) bool { return key[1] == hour }
			if between && keys[0][1] <= hour && hour <= keys[1][1] || !between && slices.ContainsFunc(keys, listed) {
				reads.Objects++
				reads.Bytes += object.Bytes
			}
		}
	}
	return reads, nil
}

// meter is a backend that scans the objects that a statement touches, as a whole, and opens each of them.
type meter struct {
	*athenatest.Reference
	objects objects
}

func (m meter) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	reads, err := m.objects.touched(s.SQL)
	if err != nil {
		return emulator.Result{}, &emulator.Failure{Category: 2, Reason: err.Error()}
	}
	return m.Reference.Run(ctx, s, func(int64) {
		scanned(reads.Bytes + int64(reads.Objects)*opening)
	})
}

// openMetered returns an engine over a meter of objects, which have the rows and whose sizes the engine knows.
func openMetered(t *testing.T, rows []lake.Row, all objects) registeringEngine {
	states := newStates(rows)
	backend := athenatest.NewReference(rows)
	_, client := serve(t, emulator.Config{Backend: meter{backend, all}}, nil)
	sized := func(c *athena.Config) { c.Sizes = all }
	return registeringEngine{newEngine(t, client, states, sized), backend, states.state.Watermark}
}

// TestEstimateOfWhatStatementsTouch compares estimates from the sizes of real objects with the bytes that the
// statements touch. Some statements read the objects twice, and statements for logs may leave out older hours.
func TestEstimateOfWhatStatementsTouch(t *testing.T) {
	rows := enginetest.Records(t, 300, 29)
	states := newStates(rows)
	store := enginetest.NewStore(t, nil)
	store.Fill(t, rows, states.state.Watermark)
	stored, err := store.Objects(t.Context(), 0, lake.PartitionOf(states.state.Extent.MaxTsMs))
	if err != nil {
		t.Fatal(err)
	}
	all := objects(stored)
	e := openMetered(t, rows, all)
	tenToEleven := lake.PartitionOf(time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC).UnixMilli())
	listed, _, err := all.Sizes(t.Context(), states.state, tenToEleven, tenToEleven)
	hour := listed[tenToEleven]
	if err != nil || hour.Bytes == 0 {
		t.Fatalf("%+v, %v", hour, err)
	}
	once := hour.Bytes + int64(hour.Objects)*opening
	country := querytest.Dimensions("country")
	minute := time.Minute.Milliseconds()
	against := func(back int64) query.Diff {
		return query.Diff{
			By: country, Limit: 2, Least: 1, Against: query.Against{Kind: query.AgainstEarlier, BackMs: back * minute},
		}
	}
	const (
		hours  = "timestamp between 2026-01-01 22:15 and 2026-01-02 01:15"
		within = "timestamp between 2026-01-01 22:30 and 2026-01-01 22:40"
	)
	link := fmt.Sprintf(", record_ref=%q", lake.RefOf(&rows[len(rows)/2]))
	for _, c := range []struct {
		name  string
		shape query.Shape
		scans int64 // how often the statement reads the objects of the hours of the period at most
	}{
		{"logs", query.Logs{Limit: 2500}, 2},
		{"logs of few records", query.Logs{Limit: 2}, 2},
		{"logs of one field", query.Logs{Limit: 2500, Fields: []string{"ip"}}, 2},
		{"stats", query.Stats{SegmentSeconds: 3600}, 1},
		{"stats with percentiles", query.Stats{SegmentSeconds: 3600, Percentiles: true}, 1},
		{"stats by host with percentiles", query.Stats{SegmentSeconds: 3600, GroupByHostname: true, Percentiles: true}, 1},
		{"stats by a field with percentiles", query.Stats{SegmentSeconds: 3600, By: &country[0], Percentiles: true}, 1},
		{"timeline", query.Timeline{SegmentSeconds: 3600}, 1},
		{"topx", query.TopX{Limit: 3}, 1},
		{"topx with percentiles", query.TopX{Limit: 3, Percentiles: true}, 2},
		{"facets", query.Facets{Limit: 3, By: country}, 1},
		{"histogram", query.Histogram{SegmentSeconds: 3600}, 1},
		{"histogram by a field", query.Histogram{SegmentSeconds: 3600, Limit: 2, By: &country[0]}, 1},
		{"diff of a selection", query.Diff{
			By: country, Limit: 2, Least: 1, Select: querytest.Selection("blocked is true"),
		}, 1},
		{"diff of adjoining periods", query.Diff{
			By: country, Limit: 2, Least: 1, Against: query.Against{Kind: query.AgainstPrevious},
		}, 1},
		{"diff of periods in one hour", against(20), 2},
		{"diff of distant periods", against(24 * 60), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			filters := []string{within, within + ", status>=400", hours, hours + link}
			if strings.HasSuffix(c.name, "in one hour") {
				filters = filters[:2]
			}
			for _, filter := range filters {
				q := bind(t, filter, c.shape).Clamp(states.state.Extent)
				estimate, err := e.Estimate(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				_, cost, err := e.Run(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				read, most := cost.BytesScanned, estimate.Bytes.High
				if read > most || *cost.USD > estimate.USD.High {
					t.Errorf("%s: %d bytes and $%g, estimated were %d and $%g", filter, read, *cost.USD, most, estimate.USD.High)
				}
				if _, logs := c.shape.(query.Logs); !logs && read != most {
					t.Errorf("%s: %d bytes of whole objects, estimated were %d", filter, read, most)
				}
				if filter == within && len(estimate.Partitions) == 1 && read != c.scans*once {
					t.Errorf("%d bytes of an hour of %d, want %d times as many", read, once, c.scans)
				}
			}
		})
	}
}
