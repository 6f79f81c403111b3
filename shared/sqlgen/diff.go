package sqlgen

import "github.com/orrery/orrery/shared/query"

// A diff has the groups of facets. Each counts its requests and, among them, the selected ones. The many values that
// cannot be findings are added up. query.DiffRow defines the rows of the result.

// sides are the columns of a record from which sideCounts are computed. A record is selected if the column is true; it
// is NULL for some records of the baseline.
func (p *printer) sides(shape query.Diff) []fragment {
	parts, _ := p.holding(shape.Select.Conditions)
	return []fragment{both(parts) + " AS is_selected"}
}

// sideCounts count the records of a group.
func (p *printer) sideCounts() []fragment {
	return []fragment{"count(*) AS requests", p.dialect.countIf("is_selected") + " AS selected"}
}

func (p *printer) athenaDiff(shape query.Diff) block {
	return p.frequentValues(shape, p.athenaGroups(shape.By, p.sides(shape), p.sideCounts()).bracketed("", " AS groups"))
}

func (p *printer) duckDBDiff(shape query.Diff) block {
	groups := p.duckDBGroups(shape.By, p.sides(shape), p.sideCounts())
	return append(groups, p.frequentValues(shape, lines("groups"))...)
}

// frequentValues selects the values for which query.Diff.Frequent holds, and adds up the others of each dimension. The
// limit is large enough for an answer that query.Diff.CheckValues accepts, and for one row more.
func (p *printer) frequentValues(shape query.Diff, groups block) block {
	least := integer(shape.Least)
	frequent := "selected >= " + least + " OR requests - selected >= " + least
	kind := "CASE WHEN value IS NULL THEN " + integer(int64(query.DiffAbsent)) +
		" WHEN " + frequent + " THEN " + integer(int64(query.DiffFrequent)) +
		" ELSE " + integer(int64(query.DiffOthers)) + " END AS kind"
	return selection{
		columns: []fragment{
			"dimension", kind,
			"CASE WHEN " + frequent + " THEN value END AS value",
			"count(*) AS distinct_values",
			p.wholeAs("sum(selected)", "selected"),
			p.wholeAs("sum(requests - selected)", "baseline"),
		},
		from:  groups,
		group: "1, 2, 3",
		order: "1, 2, 3",
		limit: integer(int64(query.MaxDiffValues + 2*len(shape.By) + 2)),
	}.block()
}
