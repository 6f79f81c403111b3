package sqlgen

import (
	"strconv"

	"github.com/orrery/orrery/shared/query"
)

// Counts group the records by segment and value. Each selection is a column of the records, which is true, false or
// NULL, and a count of the records for which it is true.

// selected is the name of the column of selection i.
func selected(i int) fragment { return name("is_selected_" + strconv.Itoa(i+1)) }

// numberOf is the name of the count of selection i.
func numberOf(i int) fragment { return name("n_" + strconv.Itoa(i+1)) }

func (p *printer) countedRecords(shape query.Counts) []fragment {
	columns := []fragment{p.segment() + " AS segment", p.dimension(shape.By) + " AS value"}
	for i, s := range shape.Of {
		parts, _ := p.holding(s.Conditions)
		columns = append(columns, both(parts)+" AS "+selected(i))
	}
	return columns
}

func (p *printer) counts(shape query.Counts, records block, value fragment) block {
	columns := []fragment{"segment", value, "count(*) AS n"}
	for i := range shape.Of {
		columns = append(columns, p.dialect.countIf(selected(i))+" AS "+numberOf(i))
	}
	return selection{
		columns: columns,
		from:    records,
		group:   "1, 2",
		order:   "value IS NULL, value, segment",
		limit:   integer(query.MaxStatsRows + 1),
	}.block()
}

func (p *printer) athenaCounts(shape query.Counts) block {
	records := p.matching(selection{columns: p.countedRecords(shape)}, p.query.Columns())
	from, value := athenaValues(shape.By, records.block())
	return p.counts(shape, from, value)
}

func (p *printer) duckDBCounts(shape query.Counts) block {
	records := p.reading(selection{columns: p.countedRecords(shape)})
	return p.counts(shape, duckDBValues(shape.By, records.block()), "value")
}

// athenaValues returns records with a row for each value of a dimension, and the column that has the value. The records
// have the value, or the list of values, in the column value.
func athenaValues(by query.Dimension, records block) (from block, value fragment) {
	from = records.bracketed("", " AS records")
	if by.Single() {
		return from, "value"
	}
	return append(from, line{0, "CROSS JOIN UNNEST(value) AS elements(element)"}), "element AS value"
}

// duckDBValues is athenaValues for DuckDB; the column is value.
func duckDBValues(by query.Dimension, records block) block {
	from := records.bracketed("", " AS records")
	if by.Single() {
		return from
	}
	return selection{columns: []fragment{"* EXCLUDE (value)", "unnest(value) AS value"}, from: from}.
		block().bracketed("", " AS records")
}
