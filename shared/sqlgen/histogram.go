package sqlgen

import "github.com/orrery/orrery/shared/query"

// A histogram groups the records by segment and value. The value NULL is the absent one. The values are ranked by their
// totals, and the groups of the values beyond the limit are added up. query.HistogramRow defines the rows of the
// result.

// measure returns the measure of a group, and the column from which it is computed, or "". The measure may have more
// bits than a BIGINT, so that the sum of measures is exact.
func (p *printer) measure(m query.Measure) (figure, column fragment) {
	switch m {
	case query.MeasureRequests:
		return "count(*)", ""
	case query.MeasureBlocked:
		return p.dialect.countIf("blocked"), "blocked"
	case query.MeasureChallenges:
		return p.dialect.countIf("challenged"), challenged + " AS challenged"
	case query.MeasureMonitored:
		return p.dialect.countIf("monitored"), p.monitored() + " AS monitored"
	case query.MeasureHuman:
		return p.dialect.countIf("human"), "human"
	case query.MeasureBytesSent:
		return p.dialect.total("bytes_sent"), "bytes_sent"
	}
	panic("sqlgen: no rendering for measure " + string(m))
}

// measuredRecords returns the columns of a record in a histogram.
func (p *printer) measuredRecords(shape query.Histogram) []fragment {
	columns := []fragment{p.segment() + " AS segment"}
	if shape.By != nil {
		columns = append(columns, p.dimension(*shape.By)+" AS value")
	}
	if _, column := p.measure(shape.Measure); column != "" {
		columns = append(columns, column)
	}
	return columns
}

// unsplit returns the only series of a histogram without a dimension.
func (p *printer) unsplit(shape query.Histogram, records block) block {
	figure, _ := p.measure(shape.Measure)
	return p.withTotals(selection{
		columns: []fragment{
			"0 AS series", "CAST(NULL AS varchar) AS value", "segment", figure + " AS n", "0 AS distinct_values",
		},
		from:  records.bracketed("", " AS records"),
		group: "segment",
	}.block())
}

// withTotals adds the totals of the series to their points.
func (p *printer) withTotals(points block) block {
	return selection{
		columns: []fragment{
			"series", "value", p.dialect.limited("sum(n) OVER (PARTITION BY series)") + " AS total", "distinct_values",
			"segment", p.limitedAs("n"),
		},
		from:  points.bracketed("", " AS points"),
		order: "series, segment",
	}.block()
}

// seriesNumber numbers a value by its place among the values.
func seriesNumber(limit int) fragment {
	other, absent := integer(int64(limit+1)), integer(int64(limit+2))
	return "CASE WHEN value IS NULL THEN " + absent + " ELSE least(" + placeOfValue + ", " + other + ") END AS series"
}

// distinctValues counts the values while they are ranked. A value counts once for every segment that has it.
const distinctValues fragment = "CAST(sum(count(value)) OVER () AS bigint) AS distinct_values"

const placeOfValue = "row_number() OVER (ORDER BY value IS NULL, sum(n) DESC, value)"

// seriesColumns returns the columns of the points of series.
func seriesColumns(limit int) []fragment {
	return []fragment{
		"series", valueOfSeries(limit), "segment", "sum(n) AS n", "max(distinct_values) AS distinct_values",
	}
}

// valueOfSeries is NULL for the other values.
func valueOfSeries(limit int) fragment {
	return "CASE WHEN series <= " + integer(int64(limit)) + " THEN value END AS value"
}

// athenaHistogram uses one scan. The points of a value are collected in a list while the values are ranked, because a
// second reference to the groups would be a second scan.
func (p *printer) athenaHistogram(shape query.Histogram) block {
	records := p.matching(selection{columns: p.measuredRecords(shape)}, p.query.Columns()).block()
	if shape.By == nil {
		return p.unsplit(shape, records)
	}
	figure, _ := p.measure(shape.Measure)
	from, value := athenaValues(*shape.By, records)
	groups := selection{
		columns: []fragment{"segment", value, figure + " AS n"},
		from:    from,
		group:   "1, 2",
	}
	numbered := selection{
		columns: []fragment{
			"value",
			"array_agg(CAST(ROW(segment, n) AS ROW(segment bigint, n decimal(38, 0)))) AS points",
			seriesNumber(shape.Limit), distinctValues,
		},
		from:  groups.block().bracketed("", " AS groups"),
		group: "value",
	}
	return p.withTotals(selection{
		columns: seriesColumns(shape.Limit),
		from: append(numbered.block().bracketed("", " AS numbered"),
			line{0, "CROSS JOIN UNNEST(points) AS points(segment, n)"}),
		group: "1, 2, 3",
	}.block())
}

// duckDBHistogram groups once, ranks the values and joins their numbers to the groups.
func (p *printer) duckDBHistogram(shape query.Histogram) block {
	records := p.reading(selection{columns: p.measuredRecords(shape)}).block()
	if shape.By == nil {
		return p.unsplit(shape, records)
	}
	figure, _ := p.measure(shape.Measure)
	groups := selection{
		columns: []fragment{"segment", "value", figure + " AS n"},
		from:    duckDBValues(*shape.By, records),
		group:   "1, 2",
	}
	numbered := selection{
		columns: []fragment{"value", seriesNumber(shape.Limit), distinctValues},
		from:    lines("groups"),
		group:   "value",
	}
	joined := selection{
		columns: []fragment{"groups.*", "series", "distinct_values"},
		from:    lines("groups", "JOIN numbered ON groups.value IS NOT DISTINCT FROM numbered.value"),
	}
	b := groups.block().bracketed("WITH groups AS MATERIALIZED ", ",")
	b = append(b, numbered.block().bracketed("numbered AS MATERIALIZED ", "")...)
	return append(b, p.withTotals(selection{
		columns: seriesColumns(shape.Limit),
		from:    joined.block().bracketed("", " AS joined"),
		group:   "1, 2, 3",
	}.block())...)
}
