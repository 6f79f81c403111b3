package sqlgen

import (
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/query"
)

// Facets count groups: the records that have a value of a dimension. Dimensions are numbered from 1. The group of the
// value NULL has the records without a value, and dimension 0 has all matching records, as the value NULL.

// flagCounts count the records of a group. They need the columns challenged and monitored.
func (p *printer) flagCounts() []fragment {
	return []fragment{
		"count(*) AS requests",
		p.dialect.countIf("blocked") + " AS blocked",
		p.dialect.countIf("challenged") + " AS challenges",
		p.dialect.countIf("monitored") + " AS monitored",
		p.dialect.countIf("human") + " AS human",
	}
}

// flags are the columns of flagCounts.
func (p *printer) flags() []fragment {
	return []fragment{"blocked", challenged + " AS challenged", p.monitored() + " AS monitored", "human"}
}

// valueColumn is the name of the column with the value of dimension i, or with the list of its values.
func valueColumn(i int) fragment { return name("value_" + strconv.Itoa(i+1)) }

// dimension returns the value of a dimension in a record, or the list of its different values, as text. A list is
// never empty: without values it has the element NULL.
func (p *printer) dimension(d query.Dimension) fragment {
	if d.Network != nil {
		return p.networkOf(value(d.Sources[0]), *d.Network)
	}
	if d.Joined {
		all := p.elements(d.Terms()[0])
		return "CASE WHEN " + p.dialect.length(all) + " > 0 THEN " + p.dialect.spaced(all) + " END"
	}
	if d.Single() {
		return asText(value(d.Sources[0]), d.Sources[0])
	}
	var list fragment
	for _, t := range d.Terms() {
		if t.Source.Layout != catalog.Scalar {
			list = p.elements(t)
		}
	}
	for _, s := range d.Sources {
		if s.Layout == catalog.Scalar {
			list = p.dialect.withElement(list, asText(value(s), s))
		}
	}
	return p.dialect.orNull(p.dialect.different(list))
}

// elements returns the list of the values in a list or in the members of its elements, as text.
func (p *printer) elements(t query.Term) fragment {
	column := name(t.Source.Column)
	switch t.Source.Layout {
	case catalog.Pairs:
		return p.dialect.mapped(p.dialect.filtered(column, p.keyed(t)), element+".value")
	case catalog.Structs:
		member := element + "." + name(t.Source.Member)
		return p.dialect.mapped(p.dialect.filtered(column, member+" IS NOT NULL"), asText(member, t.Source))
	}
	if t.Source.Type == catalog.String {
		return column
	}
	return p.dialect.mapped(column, asText(element, t.Source))
}

// asText converts a value of the source to text.
func asText(value fragment, s catalog.Source) fragment {
	if s.Type == catalog.Int || s.Type == catalog.Bool {
		return "CAST(" + value + " AS varchar)"
	}
	return value
}

// athenaFacets uses one scan. Every record becomes one row for each of its values, and the rows are grouped.
func (p *printer) athenaFacets(shape query.Facets) block {
	return p.topValues(shape, p.athenaGroups(shape.By, p.flags(), p.flagCounts()).bracketed("", " AS groups"))
}

// athenaGroups returns the groups with their counts, which need some columns of the records.
func (p *printer) athenaGroups(by []query.Dimension, records, counts []fragment) block {
	rows := []fragment{"CAST(ROW(0, NULL) AS " + dimensionRow + ")"}
	var lists []fragment
	for i, d := range by {
		column, number := valueColumn(i), integer(int64(i+1))
		records = append(records, p.dimension(d)+" AS "+column)
		if d.Single() {
			rows = append(rows, "CAST(ROW("+number+", "+column+") AS "+dimensionRow+")")
		} else {
			lists = append(lists, "transform("+column+", v -> CAST(ROW("+number+", v) AS "+dimensionRow+"))")
		}
	}
	values := append(append(lines("CROSS JOIN UNNEST(ARRAY["), listed(rows).deeper()...), line{0, "]"})
	for _, list := range lists {
		values = append(values, line{0, "|| " + list})
	}
	return selection{
		columns: append([]fragment{"dimension", "value"}, counts...),
		from: append(
			p.matching(selection{columns: records}, p.query.Columns()).block().bracketed("", " AS records"),
			values.around("", ") AS dimensions(dimension, value)")...),
		group: "1, 2",
	}.block()
}

const dimensionRow fragment = "ROW(dimension integer, value varchar)"

// duckDBFacets groups a materialised narrow base once for each dimension.
func (p *printer) duckDBFacets(shape query.Facets) block {
	return append(p.duckDBGroups(shape.By, p.flags(), p.flagCounts()), p.topValues(shape, lines("groups"))...)
}

// duckDBGroups defines the table groups, with the counts, which need some columns of the records.
func (p *printer) duckDBGroups(by []query.Dimension, base, counts []fragment) block {
	groups := []block{selection{
		columns: append([]fragment{"0 AS dimension", "NULL AS value"}, counts...),
		from:    lines("base"),
	}.block()}
	for i, d := range by {
		column := valueColumn(i)
		base = append(base, p.dimension(d)+" AS "+column)
		from := lines("base")
		if !d.Single() {
			from = lines("(SELECT * EXCLUDE (" + column + "), unnest(" + column + ") AS " + column + " FROM base)")
		}
		groups = append(groups, selection{
			columns: append([]fragment{integer(int64(i+1)) + " AS dimension", column + " AS value"}, counts...),
			from:    from,
			group:   column,
		}.block())
	}
	b := p.reading(selection{columns: base}).block().bracketed("WITH base AS MATERIALIZED ", ",")
	return append(b, unionAll(groups).bracketed("groups AS MATERIALIZED ", "")...)
}

// topValues selects the first values of each dimension among groups, each with the number of values of the dimension
// and with sums over them.
func (p *printer) topValues(shape query.Facets, groups block) block {
	order := fragment("requests DESC, value")
	if shape.ByBlocked {
		order = "blocked DESC, " + order
	}
	const over fragment = " OVER (PARTITION BY dimension, value IS NULL"
	ranked := selection{
		columns: []fragment{
			"*",
			"row_number()" + over + " ORDER BY " + order + ") AS place",
			"count(*)" + over + ") AS distinct_values",
			p.wholeAs("sum(requests)"+over+")", "sum_requests"),
			p.wholeAs("sum(blocked)"+over+")", "sum_blocked"),
		},
		from: groups,
	}
	return selection{
		columns: []fragment{
			"dimension", "value", "requests", "blocked", "challenges", "monitored", "human",
			"distinct_values", "sum_requests", "sum_blocked",
		},
		from:  ranked.block().bracketed("", " AS ranked"),
		where: []block{lines("place <= " + integer(int64(shape.Limit)))},
		order: "dimension, value IS NULL, place",
	}.block()
}
