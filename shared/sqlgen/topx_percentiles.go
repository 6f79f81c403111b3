package sqlgen

import "github.com/orrery/orrery/shared/query"

// athenaWinnerPercentiles scans a second time, for the winners only: in the first scan, the percentiles of every key
// would need more memory than all other figures. The winners are on the right of the join, because they are few.
func (p *printer) athenaWinnerPercentiles(shape query.TopX) block {
	columns := append([]fragment{"label", "key"}, roundedDurations()...)
	records := p.matching(selection{columns: columns}, p.query.Columns())
	records.from = append(records.from, keysOfRecord(shape).around("CROSS JOIN UNNEST(", ") AS keys(label, key)")...)
	records.where = append(records.where, lines("key IS NOT NULL"))

	from := records.block().bracketed("", " AS records")
	from = append(from, p.athenaWinners(shape).bracketed("JOIN ", " AS winners")...)
	from = append(from,
		line{0, "ON records.key = winners.key"},
		line{0, "AND records.label = " + labelOfKeys})
	figures := make([]fragment, len(topXNames))
	for i, name := range topXNames {
		figures[i] = "arbitrary(" + name + ") AS " + name
	}
	groups := selection{
		columns: append(append([]fragment{"winners.label", "winners.key"}, figures...), p.gatheredDurations()...),
		from:    from,
		group:   "1, 2",
	}
	return selection{
		columns: append(append([]fragment{"label", "key"}, topXNames...), p.ranks(countOf)...),
		from:    groups.block().bracketed("", " AS groups"),
		order:   "label, blocked DESC, requests DESC, key",
	}.block()
}

// labelOfKeys is the label under which the keys of a winner are: labels of times rank URLs.
var labelOfKeys = "CASE WHEN winners.label IN (" + quotedLabels(timeLabels) + ") THEN 'url' ELSE winners.label END"
