package local_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// TestOnlyObjectsOfReferencesAreRead: all objects without records of the times of the references are unreadable. The
// filters have no period, or one of years.
func TestOnlyObjectsOfReferencesAreRead(t *testing.T) {
	rows := enginetest.Records(t, 200, 5)
	all := pointers(rows)
	slices.SortFunc(all, lake.Compare)
	first, last := lake.RefOf(all[3]), lake.RefOf(all[len(all)-3])
	for rule, c := range map[string]struct {
		filter string
		refs   []lake.Ref
	}{
		"one reference": {fmt.Sprintf("record_ref=%q", last), []lake.Ref{last}},
		"a reference and a long period": {
			fmt.Sprintf("timestamp between 1970-01-01 and 2100-01-01, record_ref=%q", first), []lake.Ref{first},
		},
		"references of the first and the last hour": {
			fmt.Sprintf("record_ref in (%q, %q)", first, last), []lake.Ref{first, last},
		},
	} {
		for _, shape := range []query.Shape{query.Logs{Limit: 10}, query.TopX{Limit: 3}} {
			t.Run(fmt.Sprintf("%s, %T", rule, shape), func(t *testing.T) {
				eachEngine(t, func(t *testing.T, open openFunc) {
					checkObjectsRead(t, open, rows, c.refs, bind(t, c.filter, shape))
				})
			})
		}
	}
}

func checkObjectsRead(t *testing.T, open openFunc, rows []lake.Row, refs []lake.Ref, q query.Query) {
	t.Helper()
	store := enginetest.NewStore(t, rows)
	e := open(t, store)
	objects, touched := allObjects(t, store), 0
	for _, o := range objects {
		holds := func(r lake.Ref) bool { return o.MinTsMs <= r.TsMs && r.TsMs <= o.MaxTsMs }
		if slices.ContainsFunc(refs, holds) {
			touched++
		} else if err := os.WriteFile(o.Path, []byte("not Parquet"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, cost, err := e.Run(t.Context(), q)
	if err != nil || *cost.Objects > touched || len(cost.Skipped) > 0 || touched > len(objects)/2 {
		t.Errorf("cost %+v, %v; %d of %d objects have records of the times", cost, err, touched, len(objects))
	}
	if diff := enginetest.Diff(reference.Evaluate(&q, pointers(rows)), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, logs := q.Shape.(query.Logs); logs && len(got.Logs) != len(refs) {
		t.Errorf("%d references find %d records", len(refs), len(got.Logs))
	}
}
