package sqlgen

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// FuzzReference: no text in a condition on a reference reaches the SQL. If the text is a reference, the statement has
// the same tokens as for any other reference.
func FuzzReference(f *testing.F) {
	if testing.Short() {
		f.Skip("long and sequential: left out with -short, for the race detector")
	}
	valid := lake.RefTo(1767307500123, "9f86d081884c7d65", 42).String()
	for _, text := range append(slices.Clone(hostile),
		valid, valid[:35], valid+"A", valid+"'", "'"+valid, valid+"\n", lake.Ref{}.String(),
		lake.RefTo(-62_135_596_800_000, "", 0).String(), lake.RefTo(253_402_300_799_999, "it's", 1).String(),
		lake.RefTo(-62_135_596_800_001, "", 0).String(), lake.RefTo(-1<<63, "", 0).String(), "AgAA_MUNfA",
	) {
		f.Add(text)
	}
	tokensOf := func(t *testing.T, text string) ([]string, error) {
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		f := filter.ParseJSON(`{"field":"record_ref","op":"eq","value":` + string(value) + `}`)
		q, err := query.Bind(f, query.Logs{Limit: 1})
		if err != nil {
			return nil, err
		}
		q.Scope.Watermark = math.MinInt64 // so that all times are in the same table
		athena, err := Athena(q)
		if err != nil {
			t.Fatal(err)
		}
		duckDB, err := DuckDB(q, []lake.Object{{Path: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		return tokens(all(athena) + all(duckDB)), nil
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := tokensOf(t, text)
		if _, invalid := lake.ParseRef(text); (err != nil) != (invalid != nil) {
			t.Fatalf("%q: the filter is refused: %v, the reference: %v", text, err, invalid)
		}
		if err != nil {
			return
		}
		want, err := tokensOf(t, valid)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q changes the tokens of the statement: %q", text, got)
		}
	})
}
