package enginetest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// testPages reads logs in pages of random lengths, each older than the last record of the page before. All pages
// together must be the answer of the reference evaluation, although many records have the same time.
func testPages(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	random := rand.New(rand.NewPCG(31, 0))
	rows := Records(t, 600, 31)
	for i := range rows {
		rows[i].TsMs = Start.Add(time.Duration(random.IntN(25)) * 13 * time.Minute).UnixMilli()
		rows[i].TsNanos = int64(random.IntN(2))
	}
	e := open(rows)
	filters := []string{hours + `, path~"[aeiou]", not ip="192.0.2.1"`, hours, hours + ", status<400"}
	ranges := 4
	if few() {
		filters, ranges = filters[:1], 1
	}
	for _, text := range filters {
		q := bind(t, text, query.Logs{Limit: len(rows)})
		want := reference.Evaluate(&q, pointers(rows)).Logs
		run := func(shape query.Logs) []*lake.Row {
			t.Helper()
			page := q
			page.Shape = shape
			answer, _, err := e.Run(t.Context(), page)
			if err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			return answer.Logs
		}
		var (
			all  []*lake.Row
			last *query.Place
		)
		for {
			limit := 1 + random.IntN(250)
			page := run(query.Logs{Limit: limit, OlderThan: last})
			all = append(all, page...)
			if len(page) < limit || len(all) > len(want) {
				break
			}
			place := query.PlaceOf(page[len(page)-1])
			last = &place
		}
		if diff := diffLogs(want, all); diff != "" {
			t.Fatalf("%s: all pages (-reference +%s):\n%s", text, e.Name(), diff)
		}
		for range ranges {
			ends := []int{random.IntN(len(want)), random.IntN(len(want))}
			slices.Sort(ends)
			newest, oldest := query.PlaceOf(want[ends[0]]), query.PlaceOf(want[ends[1]])
			got := run(query.Logs{Limit: len(rows), NewerThan: &oldest})
			if diff := diffLogs(want[:ends[1]], got); diff != "" {
				t.Fatalf("%s newer than %s (-reference +%s):\n%s", text, oldest, e.Name(), diff)
			}
			got = run(query.Logs{Limit: len(rows), OlderThan: &newest, NewerThan: &oldest})
			if diff := diffLogs(want[min(ends[0]+1, ends[1]):ends[1]], got); diff != "" {
				t.Fatalf("%s between %s and %s (-reference +%s):\n%s", text, newest, oldest, e.Name(), diff)
			}
		}
		for _, beyond := range []query.Logs{
			{Limit: 9, NewerThan: &query.Place{TsMs: Start.Add(Length * 2).UnixMilli()}},
			{Limit: 9, OlderThan: &query.Place{TsMs: Start.Add(-Length).UnixMilli()}},
		} {
			if got := run(beyond); len(got) > 0 {
				t.Errorf("%s: %d records beyond the place of every record", text, len(got))
			}
		}
	}
}

func diffLogs(want, got []*lake.Row) string {
	return Diff(query.Answer{Logs: want}, query.Answer{Logs: got})
}
