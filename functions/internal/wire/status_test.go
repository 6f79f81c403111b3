package wire

import (
	"time"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// described returns the table and the bucket of a lake with the records of the tests, which were one log with a line
// that is no record.
func (w *world) described(e function.Environment) (lakestate.Table, blob.Store) {
	w.t.Helper()
	rows := records(w.t)
	state := stateOf(rows)
	bucket := w.objectsOf(rows, state.Watermark, e.LakeBucket)
	if w.is("-table-down") {
		return lakestate.Over(tabledynamo.New(w.table, e.Table)), bucket
	}
	s, item, err := lakestate.Load(w.t.Context(), w.ledger)
	if err != nil {
		w.t.Fatal(err)
	}
	s.AddImport("raw/2026/01/01/edge 3.ndjson", at().Add(-time.Minute), 1, "bad_json")
	s.Extent, s.Watermark, s.Version = state.Extent, state.Watermark, state.Version
	s.Backlog.Through = state.CompleteThrough
	if err := lakestate.Replace(w.t.Context(), w.ledger, item, s); err != nil {
		w.t.Fatal(err)
	}
	return w.ledger, bucket
}
