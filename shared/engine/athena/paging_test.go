package athena_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// twoTables are the tables of a lake: the compacted hours, and the hours as they were imported. A statement reads the
// hours before its watermark from the first table and all others from the second.
type twoTables struct {
	compact, fresh map[lake.Partition][]lake.Row
	states         *staticStates

	mu      sync.Mutex
	backend *athenatest.Reference // answers the statements of the query that runs
}

// Run answers a statement of the query that runs.
func (l *twoTables) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	l.mu.Lock()
	backend := l.backend
	l.mu.Unlock()
	return backend.Run(ctx, s, scanned)
}

// register makes the tables answer the statements of a query that is printed with the present watermark.
func (l *twoTables) register(q query.Query) {
	q.Scope.Watermark = l.states.state.Watermark
	var seen []lake.Row
	for hour, rows := range l.compact {
		if hour < q.Scope.Watermark {
			seen = append(seen, rows...)
		}
	}
	for hour, rows := range l.fresh {
		if hour >= q.Scope.Watermark {
			seen = append(seen, rows...)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.backend = athenatest.NewReference(seen)
	l.backend.Register(q)
}

// add publishes a row in the table that queries read for its hour.
func (l *twoTables) add(row lake.Row) {
	hour := lake.PartitionOf(row.TsMs)
	if hour < l.states.state.Watermark {
		l.compact[hour] = append(l.compact[hour], row)
	} else {
		l.fresh[hour] = append(l.fresh[hour], row)
	}
}

// compactHour does one of the steps in which the hour of the watermark is compacted: it copies the rows, then moves the
// watermark, then removes the superseded rows.
func (l *twoTables) compactHour(step int) {
	switch hour := l.states.state.Watermark; step % 3 {
	case 0:
		l.compact[hour] = slices.Clone(l.fresh[hour])
	case 1:
		// Rows that were published after the copy are merged before the watermark moves.
		l.compact[hour] = slices.Clone(l.fresh[hour])
		l.states.state.Watermark++
		l.states.state.Version++
	case 2:
		delete(l.fresh, hour-1)
	}
}

// overTables is an engine that runs each query in one call.
type overTables struct {
	engine *athena.Engine
	tables *twoTables
}

func (e overTables) Name() string { return e.engine.Name() }

func (e overTables) Extent(ctx context.Context) (lake.Extent, error) { return e.engine.Extent(ctx) }

func (e overTables) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	return e.engine.Explain(ctx, q)
}

func (e overTables) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	e.tables.register(q)
	return e.engine.Run(ctx, q)
}

// TestPagesWhileHoursAreCompacted asks for all pages of logs while the hours are compacted, one step after each page,
// and while records arrive in compacted and in other hours. No record comes twice, and every record that was there at
// the first page comes, in order.
func TestPagesWhileHoursAreCompacted(t *testing.T) {
	for _, limit := range []int{1, 3, 7, 20} {
		t.Run(fmt.Sprintf("pages of %d", limit), func(t *testing.T) {
			rows := enginetest.Records(t, 120, 3)
			for i := range rows {
				rows[i].TsMs -= rows[i].TsMs % 600_000 // so that many have the same time
			}
			l := &twoTables{
				compact: map[lake.Partition][]lake.Row{}, fresh: map[lake.Partition][]lake.Row{}, states: newStates(rows),
			}
			first := lake.PartitionOf(l.states.state.Extent.MinTsMs)
			l.states.state.Watermark = first
			var late []lake.Row
			missing := map[string]bool{} // the records of the first page's data, by reference
			for i, row := range rows {
				if i%6 == 0 {
					late = append(late, row)
					continue
				}
				l.add(row)
				missing[lake.RefTo(row.TsMs, row.Source, row.Line).String()] = true
			}
			_, client := serve(t, emulator.Config{Backend: l}, nil)
			service, err := search.New(overTables{newEngine(t, client, l.states, nil), l}, search.Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			r := search.Request{Route: search.Logs, Filters: hours, Limit: strconv.Itoa(limit), Fields: "timestamp,record_ref"}
			seen, last := map[string]bool{}, now()
			for page := 0; ; page++ {
				found, err := service.Search(t.Context(), r)
				if err != nil {
					t.Fatalf("page %d: %v", page, err)
				}
				for i := range found.Logs.Len() {
					var record struct {
						At  time.Time `json:"timestamp"`
						Ref string    `json:"record_ref"`
					}
					if err := json.Unmarshal(found.Logs.AppendJSON(nil, i), &record); err != nil {
						t.Fatal(err)
					}
					if seen[record.Ref] || record.At.After(last) {
						t.Errorf("page %d: record %s of %s comes again, or after one of %s", page, record.Ref, record.At, last)
					}
					seen[record.Ref], last = true, record.At
					delete(missing, record.Ref)
				}
				if *found.Meta.Next == nil {
					break
				}
				r.Cursor = **found.Meta.Next
				l.compactHour(page)
				if len(late) > 0 {
					l.add(late[0])
					late = late[1:]
				}
			}
			if len(missing) > 0 {
				t.Errorf("%d records are missing: %v", len(missing), missing)
			}
			if l.states.state.Watermark == first {
				t.Error("no hour was compacted, so the test tests nothing")
			}
		})
	}
}
