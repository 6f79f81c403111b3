package sqlgen

import (
	"fmt"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// duckDB is the dialect of DuckDB 1.5.
type duckDB struct{}

func (duckDB) maxBytes() int { return 0 }

func (duckDB) maxExpressions(expressions, _ int) int { return expressions }

func (duckDB) maxBranches() int { return 0 }

// quotient uses //, because / of integers is a floating-point division.
func (duckDB) quotient(a, b fragment) fragment { return a + " // " + b }

// whole casts, because a sum of BIGINTs is a HUGEINT.
func (duckDB) whole(sum fragment) fragment { return "CAST(" + sum + " AS BIGINT)" }

// total needs no conversion, because a sum of BIGINTs or HUGEINTs is a HUGEINT.
func (duckDB) total(column fragment) fragment { return "coalesce(sum(" + column + "), 0)" }

func (duckDB) limited(total fragment) fragment {
	return "CAST(least(greatest(" + total + ", -9223372036854775808), 9223372036854775807) AS BIGINT)"
}

// countIf replaces NULL by 0, because count_if is NULL if the condition is NULL for every record.
func (duckDB) countIf(condition fragment) fragment { return "coalesce(count_if(" + condition + "), 0)" }

// pattern returns the canonical pattern unchanged, because DuckDB's engine is RE2.
func (duckDB) pattern(r *pattern.Regex) (text, warning string) { return r.Canonical, "" }

// foundAny writes each pattern as a constant, however many there are: a constant pattern is compiled once, but a
// pattern in a list is compiled for every record.
func (duckDB) foundAny(p *printer, text fragment, patterns []string) fragment {
	parts := make([]fragment, len(patterns))
	for i, one := range patterns {
		parts[i] = "regexp_matches(" + text + ", " + p.text(one) + ")"
	}
	return either(parts)
}

// InListFunction is the name of a function of two texts, a value and query.InList.Handle, that whoever runs the SQL defines. It
// returns what query.InList.PassesStored does.
const InListFunction = "in_list"

func (duckDB) inList(p *printer, value fragment, t query.InList) fragment {
	return name(InListFunction) + "(CAST(" + value + " AS VARCHAR), " + p.text(t.Handle()) + ")"
}

func (duckDB) numeric(p *printer, text fragment) fragment {
	return "regexp_full_match(" + text + ", " + p.text(catalog.NumericPattern) + ")"
}

// anyElement uses list_filter, because DuckDB has no any_match. list_filter drops elements for which the condition is
// NULL.
func (duckDB) anyElement(list, condition fragment) fragment {
	return "len(list_filter(" + list + ", lambda " + element + ": " + condition + ")) > 0"
}

func (duckDB) overlaps(list fragment, values []fragment) fragment {
	if len(values) == 1 {
		return "list_contains(" + list + ", " + values[0] + ")"
	}
	return "list_has_any(" + list + ", [" + join(values, ", ") + "])"
}

func (duckDB) demands(*printer, query.Term, []query.Test) (all fragment, ok bool) { return "", false }

func (duckDB) bytes(text fragment) fragment { return "strlen(" + text + ")" }

func (duckDB) sha256(text fragment) fragment { return "sha256(" + text + ")" }

func (duckDB) length(list fragment) fragment { return "len(" + list + ")" }

func (duckDB) last(list fragment) fragment { return list + "[-1]" }

// duckDBType returns a column's type as DuckDB writes it.
func duckDBType(t lake.Type) fragment {
	switch t.Kind {
	case lake.Text:
		return "VARCHAR"
	case lake.Int:
		return "BIGINT"
	case lake.Bool:
		return "BOOLEAN"
	case lake.List:
		return duckDBType(*t.Elem) + "[]"
	case lake.Struct:
		members := make([]fragment, len(t.Members))
		for i, m := range t.Members {
			members[i] = name(m.Name) + " " + duckDBType(m.Type)
		}
		return "STRUCT(" + join(members, ", ") + ")"
	}
	panic(fmt.Sprintf("sqlgen: no type of DuckDB for %s", t))
}

func (duckDB) filtered(list, condition fragment) fragment {
	return "list_filter(" + list + ", lambda " + element + ": " + condition + ")"
}

func (duckDB) mapped(list, value fragment) fragment {
	return "list_transform(" + list + ", lambda " + element + ": " + value + ")"
}

func (duckDB) withElement(list, value fragment) fragment {
	return "list_append(" + list + ", " + value + ")"
}

func (duckDB) spaced(list fragment) fragment { return "array_to_string(" + list + ", ' ')" }

// different uses list_distinct, which leaves out NULL.
func (duckDB) different(list fragment) fragment { return "list_distinct(" + list + ")" }

func (duckDB) orNull(list fragment) fragment {
	return "coalesce(nullif(" + list + ", []), [NULL])"
}

// gathered returns the list of all percentiles. quantile_disc takes the nearest rank; it computes the rank with
// integers because the fractions are DECIMALs.
func (duckDB) gathered(rounded fragment) fragment {
	fractions := make([]fragment, len(query.Percents))
	for i, percent := range query.Percents {
		fractions[i] = "0." + integer(percent)
	}
	return "quantile_disc(" + rounded + ", [" + join(fractions, ", ") + "])"
}

func (duckDB) atRank(gathered, _ fragment, i int) fragment {
	return gathered + "[" + integer(int64(i+1)) + "]"
}

func (duckDB) commonest(text fragment) fragment {
	return "list_sort(list_transform(map_entries(histogram(" + text + ")), " +
		"lambda e: row(-CAST(e.value AS BIGINT), e.key)))[1][2]"
}
