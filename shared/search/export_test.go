package search_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// exporter is an oracle that exports records in parts, and has skipped an object from the second part on.
type exporter struct{ oracle }

const partRecords = 7

func (e exporter) Export(_ context.Context, q query.Query, visit func(engine.ExportPart) error) error {
	if e.fail != nil {
		return e.fail
	}
	shape := q.Shape.(query.Logs)
	shape.Limit = len(e.rows)
	q.Shape = shape
	cost := engine.Cost{By: "rows"}
	for part := range slices.Chunk(reference.Evaluate(&q, e.rows).Logs, partRecords) {
		if err := visit(engine.ExportPart{Rows: part, Cost: cost}); err != nil {
			return err
		}
		cost.Skipped = []string{"a.parquet"}
	}
	return visit(engine.ExportPart{Last: true, Cost: cost})
}

func TestExport(t *testing.T) {
	rows := crowd(rand.New(rand.NewPCG(3, 0)), 50)
	s := service(t, exporter{oracle{rows: rows}})
	r := search.Request{Route: search.Logs, Limit: "3", Filters: hour + ", status<202"}
	whole := r
	whole.Limit = "2500"
	want := find(t, rows, whole)
	var parts []search.Result
	export := func(visit func(search.Result) error) error { return s.Export(t.Context(), r, visit) }
	err := export(func(part search.Result) error {
		parts = append(parts, part)
		return nil
	})
	if err != nil || len(parts) < 3 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	t.Run("the parts are the whole answer", func(t *testing.T) {
		var got []string
		for _, part := range parts {
			got = append(got, textsOf(part)...)
		}
		if diff := cmp.Diff(textsOf(want), got); diff != "" {
			t.Errorf("records (-answer +parts):\n%s", diff)
		}
	})
	t.Run("every part but the last has the cursor of the others", func(t *testing.T) {
		n := 0
		for i, part := range parts {
			n += part.Logs.Len()
			next := *part.Meta.Next
			if last := i == len(parts)-1; last != (next == nil) || part.Meta.Head != want.Meta.Head {
				t.Fatalf("part %d: next %v, head %q, want %q", i, next, part.Meta.Head, want.Meta.Head)
			}
			if next == nil {
				return
			}
			rest := whole
			rest.Cursor = *next
			if got := textsOf(find(t, rows, rest)); !slices.Equal(got, textsOf(want)[n:]) {
				t.Errorf("%d records after part %d, want the last %d", len(got), i, want.Logs.Len()-n)
			}
		}
	})
	t.Run("the meta names skipped objects", func(t *testing.T) {
		last := parts[len(parts)-1].Meta
		if !slices.Equal(last.Skipped, []string{"a.parquet"}) || *last.Exact || last.Truncated != nil {
			t.Errorf("skipped %v, exact %t, truncated %v", last.Skipped, *last.Exact, last.Truncated)
		}
	})
	t.Run("an error of visit ends it", func(t *testing.T) {
		enough := errors.New("enough")
		if err := export(func(search.Result) error { return enough }); err == nil || err.Error() != "enough" {
			t.Errorf("%v", err)
		}
	})
	t.Run("a failure of the engine keeps its kind", func(t *testing.T) {
		failing := service(t, exporter{oracle{rows: rows, fail: fault.New(fault.Unavailable, "busy")}})
		err := failing.Export(t.Context(), r, func(search.Result) error { return nil })
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%v, want an error of kind Unavailable", err)
		}
	})
	t.Run("a mistake of the filter is one of Search", func(t *testing.T) {
		wrong := search.Request{Route: search.Logs, Filters: "hots=1"}
		err := s.Export(t.Context(), wrong, func(search.Result) error { return nil })
		if !errors.As(err, new(*query.FilterError)) {
			t.Errorf("%v, want a FilterError", err)
		}
	})
	t.Run("an engine without exports has pages only", func(t *testing.T) {
		err := service(t, oracle{rows: rows}).Export(t.Context(), r, func(search.Result) error { return nil })
		if !errors.Is(err, search.ErrNoExport) {
			t.Errorf("%v, want ErrNoExport", err)
		}
	})
}
