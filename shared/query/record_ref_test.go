package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

const oneHour = 3_600_000

// hourRef returns a reference to a record at the beginning of an hour of 2026, as a filter writes it.
func hourRef(hour int64) string {
	return fmt.Sprintf("%q", lake.RefTo(1767225600000+hour*oneHour, "source", hour+1))
}

func TestReferencesLimitWhatIsRead(t *testing.T) {
	const from, week = 1767225600000, "timestamp between 2026-01-01 and 2026-01-08, "
	for _, c := range []struct {
		rule, filter string
		span         query.Period
	}{
		{"to the time of one", "record_ref=" + hourRef(30),
			query.Period{FromMs: from + 30*oneHour, ToMs: from + 30*oneHour}},
		{"from the first time to the last", week + "record_ref in (" + hourRef(30) + "," + hourRef(3) + ")",
			query.Period{FromMs: from + 3*oneHour, ToMs: from + 30*oneHour}},
		{"to those that all conditions name",
			"record_ref in (" + hourRef(1) + "," + hourRef(2) + "), " +
				"record_ref in (" + hourRef(2) + "," + hourRef(3) + ")",
			query.Period{FromMs: from + 2*oneHour, ToMs: from + 2*oneHour}},
		{"within the period",
			"timestamp between 2026-01-01 and 2026-01-02, record_ref in (" + hourRef(3) + "," + hourRef(99) + ")",
			query.Period{FromMs: from + 3*oneHour, ToMs: from + 3*oneHour}},
		{"not if they are excluded", week + "not record_ref=" + hourRef(30),
			query.Period{FromMs: from, ToMs: from + 168*oneHour}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := bindShape(t, c.filter, query.Logs{}).Span(); got != c.span {
				t.Errorf("%s: the span is %v, want %v", c.filter, got, c.span)
			}
		})
	}
	t.Run("to nothing if no reference is in all conditions", func(t *testing.T) {
		for _, shape := range []query.Shape{query.Logs{}, query.Stats{}} {
			q := bindShape(t, "record_ref="+hourRef(1)+", record_ref="+hourRef(2), shape)
			if !q.Span().Empty() || q.TimeBounds().Touches(from, from+9*oneHour) {
				t.Errorf("the span is %v", q.Span())
			}
		}
	})
	t.Run("to nothing if the references are outside of the period", func(t *testing.T) {
		for _, refs := range []string{hourRef(99), hourRef(-99), hourRef(-99) + "," + hourRef(99)} {
			for _, filters := range []string{
				"timestamp between 2026-01-01 and 2026-01-02, record_ref in (" + refs + ")",
				"record_ref in (" + refs + "," + hourRef(3) + "), timestamp between 2026-01-01 and 2026-01-02, " +
					"not timestamp between 2025-01-01 and 2025-01-02, timestamp between 2026-01-01 04:00 and 2026-01-02",
			} {
				r := bindShape(t, filters, query.TopX{}).TimeBounds()
				hours, fewer := r.Hours(lake.PartitionOf(from), lake.PartitionOf(from)+23)
				if !r.Span().Empty() || r.Touches(from-200*oneHour, from+200*oneHour) || len(hours) > 0 || !fewer {
					t.Errorf("%s: the span is %v, the hours are %v, %v", filters, r.Span(), hours, fewer)
				}
			}
		}
	})
	three := hourRef(1) + "," + hourRef(50) + "," + hourRef(100) + "," + hourRef(50)
	several := bindShape(t, "record_ref in ("+three+")", query.Logs{})
	t.Run("to the objects and row groups with one of the times", func(t *testing.T) {
		for hour := range int64(110) {
			begin := from + hour*oneHour
			if got, want := several.TimeBounds().Touches(begin-5, begin+5), hour == 1 || hour == 50 || hour == 100; got != want {
				t.Errorf("touches hour %d: %v", hour, got)
			}
			if several.TimeBounds().Touches(begin+1, begin+oneHour-1) {
				t.Errorf("touches the records between the hours %d and %d", hour, hour+1)
			}
		}
	})
	t.Run("to the hours with one of the times", func(t *testing.T) {
		first := lake.PartitionOf(from)
		hours, fewer := several.TimeBounds().Hours(first, first+100)
		if want := []lake.Partition{first + 1, first + 50, first + 100}; !fewer || !slices.Equal(hours, want) {
			t.Errorf("hours %v, %v", hours, fewer)
		}
		if hours, fewer := several.TimeBounds().Hours(first+1, first+1); fewer {
			t.Errorf("one hour: hours %v are fewer than all", hours)
		}
		if hours, fewer := several.TimeBounds().Hours(first+2, first+9); !fewer || len(hours) > 0 {
			t.Errorf("hours without a reference: %v, %v", hours, fewer)
		}
		if _, fewer := bindShape(t, midnight, query.Logs{}).TimeBounds().Hours(first, first+100); fewer {
			t.Error("without references, some hours are not read")
		}
	})
	t.Run("to one search, not one of the newest hours and others of earlier ones", func(t *testing.T) {
		if windows := several.Windows(); len(windows) != 1 || windows[0] != several.Scope.Period {
			t.Errorf("windows %v", windows)
		}
	})
}

// TestReferencesOfRecords checks over generated records, many of them at the same time, that each reference leads to
// its record, and that the order of the records does not matter.
func TestReferencesOfRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	rows := querytest.Rows(r, 2000)
	for _, row := range rows {
		row.TsMs = 1767225600000 + row.Line%20 // a hundred records each
	}
	owners := map[lake.Ref]*lake.Row{}
	for _, row := range rows {
		if other, taken := owners[lake.RefOf(row)]; taken {
			t.Fatalf("the records at %s and %s have the same reference", query.PlaceOf(other), query.PlaceOf(row))
		}
		owners[lake.RefOf(row)] = row
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, row := range rows[:50] {
		q, err := query.Bind(filter.Parse("record_ref="+lake.RefOf(row).String()), query.Logs{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if found := reference.Evaluate(&q, rows).Logs; len(found) != 1 || found[0] != row {
			t.Errorf("%s finds %d records", lake.RefOf(row), len(found))
		}
	}
}
