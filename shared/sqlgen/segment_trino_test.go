package sqlgen_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/sqlgen"
)

// TestLocalSegmentsOnTrino computes segments by local clocks on a real Trino, around changes of some clocks in decades.
func TestLocalSegmentsOnTrino(t *testing.T) {
	url, _ := trinotest.Server(t)
	config := trino.Config{URL: url, Catalog: trinotest.Catalog, Schema: "none", User: "test", Now: time.Now}
	client, err := trino.Connect(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone    string
		seconds int64
		years   int
	}{
		{"Europe/Berlin", 3600, 1},
		{"Europe/Berlin", 86_400, 27},
		{"America/Sao_Paulo", 86_400, 27},
		{"Asia/Kolkata", 21_600, 6},
		{"Pacific/Chatham", 7 * 86_400, 25},
		{"Africa/Casablanca", 2 * 86_400, 20},
	} {
		t.Run(fmt.Sprintf("%s %d s", c.zone, c.seconds), func(t *testing.T) {
			zone := querytest.Zone(c.zone)
			from := time.Date(1998, 3, 1, 7, 0, 0, 0, time.UTC)
			p := query.Period{FromMs: from.UnixMilli(), ToMs: from.AddDate(c.years, 0, 0).UnixMilli()}
			q := query.Query{
				Period: p, Scope: query.Scope{Period: p}, Shape: query.Timeline{SegmentSeconds: c.seconds, Zone: zone},
			}
			var instants []int64
			add := func(ms int64) {
				if p.FromMs <= ms && ms <= p.ToMs {
					instants = append(instants, ms)
				}
			}
			add(p.FromMs)
			for _, at := range append([]time.Time{from}, querytest.Changes(zone, from, time.UnixMilli(p.ToMs))...) {
				for _, hours := range []time.Duration{-49, -25, -1, 0, 1, 3, 23, 24, 25, 47} {
					ms := at.Add(hours * time.Hour).UnixMilli()
					add(ms - 1)
					add(ms)
				}
			}
			add(p.ToMs)
			// Trino plans the expression once for every row of VALUES, so there are not many.
			random := rand.New(rand.NewPCG(3, 5))
			random.Shuffle(len(instants), func(i, j int) { instants[i], instants[j] = instants[j], instants[i] })
			instants = instants[:min(len(instants), 60)]
			rows, want := make([]string, len(instants)), make([]int64, len(instants))
			for i, ms := range instants {
				rows[i], want[i] = fmt.Sprintf("(%d, BIGINT '%d')", i, ms), q.Segmentation(p).Start(ms)
			}
			segment, err := sqlgen.SegmentOnAthena(q)
			if err != nil {
				t.Fatal(err)
			}
			table, err := client.Query(t.Context(), "SELECT n, "+segment+" FROM (VALUES\n"+strings.Join(rows, ",\n")+
				"\n) AS t(n, ts_ms) ORDER BY n")
			if err != nil {
				t.Fatal(err)
			}
			if len(table) != len(want) {
				t.Fatalf("%d answers to %d questions", len(table), len(want))
			}
			for i, start := range want {
				if got := *table[i][1]; got != strconv.FormatInt(start, 10) {
					t.Errorf("%s is in the segment %s, want %d", rows[i], got, start)
				}
			}
			t.Logf("%d instants, %d bytes of SQL for the segment, %d branches", len(want), len(segment),
				strings.Count(segment, "WHEN")+1)
		})
	}
}
