package sqlgen

import "github.com/orrery/orrery/shared/query"

// hostOf returns a record's host in the figures of stats. If the answer is grouped by host, records without one are
// under "". Otherwise their host is NULL, because the busiest host of a segment is chosen from records that have one.
func hostOf(shape query.Stats) fragment {
	if shape.GroupByHostname {
		return "coalesce(hostname, host, '')"
	}
	return "coalesce(hostname, host)"
}

// statsFigures returns the figures of one segment and host.
func (p *printer) statsFigures(shape query.Stats) []fragment {
	return append([]fragment{p.segment() + " AS segment", hostOf(shape) + " AS hostname"}, p.recordTotals()...)
}

// recordTotals returns the figures of a group of records.
func (p *printer) recordTotals() []fragment {
	return []fragment{
		"count(*) AS requests",
		p.dialect.total("bytes_sent") + " + " + p.dialect.total("request_length") + " AS bandwidth",
		p.dialect.total("total_us") + " AS time_us",
		"count(total_us) AS timed",
	}
}

// statsAnswer returns the columns of an answer whose figures have been computed. key is the column after the segment.
func (p *printer) statsAnswer(key fragment) []fragment {
	return []fragment{"segment", key, "requests", p.limitedAs("bandwidth"), p.limitedAs("time_us"), "timed"}
}

const segmentAndHost fragment = "1, 2"

// athenaStats finds the busiest host by row_number over the figures per segment and host, so that one scan returns one
// row per segment.
func (p *printer) athenaStats(shape query.Stats) block {
	if shape.By != nil || shape.Percentiles {
		return p.athenaGroupedStats(shape)
	}
	perHost := p.matching(selection{columns: p.statsFigures(shape), group: segmentAndHost}, p.query.Columns())
	if shape.GroupByHostname {
		return p.rowPerHost(perHost)
	}
	ranked := selection{
		columns: []fragment{
			"segment",
			"hostname",
			"sum(requests) OVER (PARTITION BY segment) AS requests",
			"sum(bandwidth) OVER (PARTITION BY segment) AS bandwidth",
			"sum(time_us) OVER (PARTITION BY segment) AS time_us",
			"sum(timed) OVER (PARTITION BY segment) AS timed",
			"row_number() OVER (PARTITION BY segment ORDER BY hostname IS NULL, requests DESC, hostname) AS place",
		},
		from: perHost.block().bracketed("", " AS hosts"),
	}
	return selection{
		columns: p.statsAnswer("coalesce(hostname, '') AS hostname"),
		from:    ranked.block().bracketed("", " AS ranked"),
		where:   []block{lines("place = 1")},
		order:   "1",
	}.block()
}

// duckDBStats finds the busiest host by arg_min over the same figures, which takes less time than window functions.
func (p *printer) duckDBStats(shape query.Stats) block {
	if shape.By != nil || shape.Percentiles {
		return p.duckDBGroupedStats(shape)
	}
	perHost := p.reading(selection{columns: p.statsFigures(shape), group: segmentAndHost})
	if shape.GroupByHostname {
		return p.rowPerHost(perHost)
	}
	return selection{
		columns: []fragment{
			"segment",
			"coalesce(arg_min(hostname, (-requests, hostname)), '') AS hostname",
			p.wholeAs("sum(requests)", "requests"),
			p.dialect.limited("sum(bandwidth)") + " AS bandwidth",
			p.dialect.limited("sum(time_us)") + " AS time_us",
			p.wholeAs("sum(timed)", "timed"),
		},
		from:  perHost.block().bracketed("", " AS hosts"),
		group: "segment",
		order: "1",
	}.block()
}

// limitedAs returns a column of totals as one of the nearest BIGINTs.
func (p *printer) limitedAs(column fragment) fragment {
	return p.dialect.limited(column) + " AS " + column
}

// limitedTotal returns the sum of a column as the nearest BIGINT, with a name.
func (p *printer) limitedTotal(column, alias fragment) fragment {
	return p.dialect.limited(p.dialect.total(column)) + " AS " + alias
}

// wholeAs returns a sum of counts as a BIGINT column with the given name.
func (p *printer) wholeAs(sum, alias fragment) fragment { return p.dialect.whole(sum) + " AS " + alias }

// rowPerHost returns the figures of each host in each segment.
func (p *printer) rowPerHost(perHost selection) block {
	return selection{
		columns: p.statsAnswer("hostname"),
		from:    perHost.block().bracketed("", " AS hosts"),
		order:   "1, 2",
	}.block()
}
