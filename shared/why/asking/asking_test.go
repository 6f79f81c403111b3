package asking_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/why"
	"github.com/orrery/orrery/shared/why/asking"
)

// sourceOver returns a source over rows, with the permissions for all branches or for some.
func sourceOver(t *testing.T, rows []*lake.Row, branches ...string) answering.Ask {
	t.Helper()
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return day.AddDate(0, 0, 2) }})
	if err != nil {
		t.Fatal(err)
	}
	return answering.AskAs(service, branches, "", nil)
}

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// generated returns the rows of a generated day, oldest first.
func generated(t *testing.T, records int, seed uint64) []*lake.Row {
	t.Helper()
	return rowsOf(t, gen.Options{Records: records, Seed: seed, From: day, To: day.Add(24 * time.Hour)})
}

func rowsOf(t *testing.T, o gen.Options) []*lake.Row {
	t.Helper()
	text, err := io.ReadAll(gen.New(o))
	if err != nil {
		t.Fatal(err)
	}
	var rows []*lake.Row
	decoder := record.NewDecoder()
	for line := range bytes.Lines(text) {
		row := &lake.Row{}
		if _, err := decoder.Decode(line, row); err != nil && !o.Nasty {
			t.Fatal(err)
		} else if err != nil {
			continue
		}
		row.Source, row.Line = "s", int64(len(rows)+1)
		rows = append(rows, row)
	}
	return rows
}

// explain explains the request of a row.
func explain(t *testing.T, from asking.Source, row *lake.Row) asking.Explained {
	t.Helper()
	e, err := asking.Explain(t.Context(), from, why.Options{Reference: lake.RefOf(row).String()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func result(row *lake.Row) why.Result {
	r, err := why.ReadRecord(record.AppendJSON(nil, row, nil))
	if err != nil {
		panic(err) // an encoded record is JSON
	}
	return r.Result()
}

// TestNumbersAreThoseOfTheFilters asks each filter of each reason, and compares the number of its requests.
func TestNumbersAreThoseOfTheFilters(t *testing.T) {
	rows := generated(t, 6000, 7)
	from := sourceOver(t, rows)
	explained, counts, above := map[why.Result]int{}, 0, 0
	for _, row := range rows {
		if of := result(row); of == why.Passed || of == why.Refused || explained[of] >= 20 {
			continue
		}
		e := explain(t, from, row)
		explained[e.Result]++
		if n := len(e.Verdict.Reasons); n < 2 || n > 3 {
			t.Errorf("%s has %d reasons", e.Sentence, n)
		}
		for _, reason := range e.Verdict.Reasons {
			for _, c := range reason.Counts {
				body, err := from.Ask(t.Context(), "facets", map[string]string{"filters": c.Filter, "by": "blocked"})
				if err != nil {
					t.Fatal(err)
				}
				var a struct{ Meta search.Meta }
				if err := json.Unmarshal(body, &a); err != nil {
					t.Fatal(err)
				}
				if *a.Meta.NumOfRequests != c.NumOfRequests {
					t.Errorf("%s: %d %s, and the filter has %d: %s", reason.Reason, c.NumOfRequests, c.Name, *a.Meta.NumOfRequests, c.Filter)
				}
				if counts++; c.NumOfRequests > 0 {
					above++
				}
			}
		}
	}
	for _, of := range []why.Result{why.Blocked, why.Challenged, why.Monitored} {
		if explained[of] < 10 {
			t.Errorf("only %d requests are %s", explained[of], of)
		}
	}
	if above < counts/4 {
		t.Errorf("only %d of %d counts are above 0", above, counts)
	}
}

// TestBranches: a caller who is limited to branches learns nothing of others.
func TestBranches(t *testing.T) {
	rows := generated(t, 6000, 8)
	hidden, shown := 0, 0
	var own []*lake.Row
	for _, row := range rows {
		if row.Branch != nil && *row.Branch == "staging" {
			own = append(own, row)
		}
	}
	limited, alone := sourceOver(t, rows, "staging"), sourceOver(t, own)
	for _, row := range rows {
		if result(row) != why.Blocked {
			continue
		}
		if row.Branch == nil || *row.Branch != "staging" {
			_, err := asking.Explain(t.Context(), limited, why.Options{Reference: lake.RefOf(row).String()})
			if fault.KindOf(err) != fault.NotFound {
				t.Fatalf("a record of another branch is %v", err)
			}
			hidden++
			continue
		}
		shown++
		if got, want := explain(t, limited, row).Text(), explain(t, alone, row).Text(); got != want {
			t.Errorf("with other branches:\n%s\nwithout:\n%s", got, want)
		}
	}
	if hidden < 10 || shown < 3 {
		t.Errorf("%d records are hidden and %d shown", hidden, shown)
	}
}

func TestMistakes(t *testing.T) {
	rows := generated(t, 10, 9)
	from := sourceOver(t, rows)
	var wrong *search.ParamError
	for _, reference := range []string{"", "x", `" , blocked is true`, lake.RefOf(rows[0]).String() + "A"} {
		if _, err := asking.Explain(t.Context(), from, why.Options{Reference: reference}); !errors.As(err, &wrong) || wrong.Param != "record_ref" {
			t.Errorf("%q is %v", reference, err)
		}
	}
	none := lake.RefTo(rows[0].TsMs, "other", 1).String()
	if _, err := asking.Explain(t.Context(), from, why.Options{Reference: none}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("no record is %v", err)
	}
}

// TestHostileRecords: every record has an explanation, whatever is in it.
func TestHostileRecords(t *testing.T) {
	rows := rowsOf(t, gen.Options{Records: 1500, Seed: 5, From: day, To: day.Add(24 * time.Hour), Nasty: true})
	slices.SortFunc(rows, func(a, b *lake.Row) int { return cmp.Compare(a.TsMs, b.TsMs) })
	from, reasons := sourceOver(t, rows), 0
	for _, row := range rows {
		if e := explain(t, from, row); e.Verdict != nil {
			reasons += len(e.Verdict.Reasons)
		}
	}
	if len(rows) < 1000 || reasons < 300 {
		t.Errorf("%d reasons of %d records", reasons, len(rows))
	}
}
