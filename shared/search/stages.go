package search

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Stage is what one step of the read path makes of a request, as text.
type Stage struct{ Name, Text string }

// Stages shows every step between a request's text and SQL, without data and without running anything. Names:
// tokens, conditions, query, canonical, canonical.json, athena.sql, duckdb.sql, and warnings where an engine
// might not stand the query. Partitions before the watermark count as compacted; the objects that DuckDB would
// read are written as one name, "…".
//
// The error is that of Search before the engine is asked.
func Stages(r Request, watermark lake.Partition) ([]Stage, error) {
	q, err := bind(r)
	if err != nil {
		return nil, err
	}
	q.Scope.Watermark = watermark
	f := parse(r.Filters, r.Form)
	stages := []Stage{
		{"tokens", tokensText(f)},
		{"conditions", conditionsText(f)},
		{"query", q.String()},
		{"canonical", filter.Format(q.Filter) + "\n"},
		{"canonical.json", filter.FormatJSON(q.Filter) + "\n"},
	}
	athena, err := sqlgen.Athena(q)
	stages = append(stages, scriptStages("athena", athena, err)...)
	duck, err := sqlgen.DuckDB(q, []string{"…"})
	return append(stages, scriptStages("duckdb", duck, err)...), nil
}

func tokensText(f filter.Filter) string {
	var b strings.Builder
	for _, t := range filter.Tokens(f) {
		fmt.Fprintf(&b, "%-8s %s\n", t.Kind, f.Text[t.Span.Offset:t.Span.End()])
	}
	return b.String()
}

func conditionsText(f filter.Filter) string {
	var b strings.Builder
	for _, c := range f.Conditions {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

// scriptStages shows one engine's SQL and its warnings; a query the engine cannot take is shown with the reason.
func scriptStages(name string, s sqlgen.Script, err error) []Stage {
	if err != nil {
		return []Stage{{name + ".sql", "-- not possible: " + err.Error() + "\n"}}
	}
	var b strings.Builder
	for _, statement := range s.Statements {
		fmt.Fprintf(&b, "-- %s\n%s\n", statement.Title, strings.TrimRight(statement.SQL, "\n"))
	}
	stages := []Stage{{name + ".sql", b.String()}}
	if len(s.Warnings) > 0 {
		stages = append(stages, Stage{name + ".warnings", strings.Join(s.Warnings, "\n") + "\n"})
	}
	return stages
}
