package sqlgen

// timelineFigures returns the figures of one segment, except for the counts of statuses.
func (p *printer) timelineFigures() []fragment {
	return []fragment{
		p.segment() + " AS segment",
		"count(*) AS requests",
		p.dialect.countIf("blocked") + " AS blocked",
		p.dialect.countIf(challenged) + " AS challenges",
		p.dialect.countIf("human") + " AS human",
		p.dialect.countIf(p.dialect.last("upstream_status")+" >= 400") + " AS origin_blocked",
		"count(DISTINCT ip) AS ips",
		"count(DISTINCT session) AS sessions",
		p.limitedTotal("bytes_sent", "bytes_sent"),
	}
}

// challenged is true for records that count as challenged, otherwise false or NULL.
const challenged fragment = "challenge OR ichallenge"

// monitored is true for records that count as monitored, otherwise false or NULL.
func (p *printer) monitored() fragment {
	return "monitor OR " + p.dialect.length("monitor_reasons") + " > 0"
}

// athenaTimeline counts statuses in the same scan. It counts lists of origin statuses as text ("502,200"), because
// unnesting them would multiply the records that the other figures count. The counts are JSON objects without an order.
func (p *printer) athenaTimeline() block {
	figures := append(p.timelineFigures(),
		"json_format(CAST(histogram(status) AS JSON)) AS statuses",
		"json_format(CAST(histogram(array_join(upstream_status, ',')) AS JSON)) AS origin_statuses",
	)
	s := p.matching(selection{columns: figures, group: "1", order: "1"}, p.query.Columns())
	return s.block()
}

// duckDBTimeline counts statuses in a second statement: DuckDB groups by lists quickly, and the groups are few.
func (p *printer) duckDBTimeline() []statement {
	figures := p.reading(selection{columns: p.timelineFigures(), group: "1", order: "1"})
	statuses := p.reading(selection{
		columns: []fragment{
			p.segment() + " AS segment",
			"status",
			"upstream_status",
			"count(*) AS requests",
		},
		group: "1, 2, 3",
	})
	return []statement{{"figures per segment", figures.block()}, {"statuses per segment", statuses.block()}}
}
