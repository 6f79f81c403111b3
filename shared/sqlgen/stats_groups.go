package sqlgen

import "github.com/orrery/orrery/shared/query"

// Like other stats, stats that are grouped by a field, or have percentiles, read the records once. But they group the
// records by segment directly, because the percentiles of a segment do not follow from the percentiles of its hosts.

// groupedRecords returns the columns of a record.
func (p *printer) groupedRecords(shape query.Stats) []fragment {
	columns := []fragment{p.segment() + " AS segment"}
	if shape.By != nil {
		columns = append(columns, p.dimension(*shape.By)+" AS value")
	} else {
		columns = append(columns, hostOf(shape)+" AS host_of_record")
	}
	columns = append(columns, "bytes_sent", "request_length", "total_us")
	if shape.Percentiles {
		columns = append(append(columns, "origin_us", "svc_us"), roundedDurations()...)
	}
	return columns
}

// groupedStats returns the figures of the groups of records. value is the column with the value of the records, if they
// are grouped by a field.
func (p *printer) groupedStats(shape query.Stats, records block, value fragment) block {
	groups := selection{
		columns: append([]fragment{"segment", "host_of_record AS hostname"}, p.recordTotals()...),
		from:    records,
		group:   "1, 2",
	}
	answer := selection{columns: p.statsAnswer("hostname"), order: "1, 2"}
	switch {
	case shape.By != nil:
		groups.columns[1], answer.columns[1] = value, "value"
		answer.order, answer.limit = "segment, value IS NULL, value", integer(query.MaxStatsRows+1)
	case !shape.GroupByHostname:
		groups.columns[1] = "coalesce(" + p.dialect.commonest("host_of_record") + ", '') AS hostname"
		groups.group, answer.order = "1", "1"
	}
	if shape.Percentiles {
		groups.columns = append(groups.columns, "count(origin_us) AS origin_count", "count(svc_us) AS svc_count")
		groups.columns = append(groups.columns, p.gatheredDurations()...)
		answer.columns = append(answer.columns, p.ranks(func(duration fragment) fragment {
			if duration == "total" {
				return "timed"
			}
			return countOf(duration)
		})...)
	}
	answer.from = groups.block().bracketed("", " AS groups")
	return answer.block()
}

// athenaGroupedStats unnests the values of a record, so that one scan returns all figures.
func (p *printer) athenaGroupedStats(shape query.Stats) block {
	records := p.matching(selection{columns: p.groupedRecords(shape)}, p.query.Columns())
	if shape.By == nil {
		return p.groupedStats(shape, records.block().bracketed("", " AS records"), "")
	}
	from, value := athenaValues(*shape.By, records.block())
	return p.groupedStats(shape, from, value)
}

func (p *printer) duckDBGroupedStats(shape query.Stats) block {
	records := p.reading(selection{columns: p.groupedRecords(shape)}).block()
	if shape.By == nil {
		return p.groupedStats(shape, records.bracketed("", " AS records"), "")
	}
	return p.groupedStats(shape, duckDBValues(*shape.By, records), "value")
}
