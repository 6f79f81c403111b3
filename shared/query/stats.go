package query

// MaxStatsRows limits the results of stats that are grouped by a field. An answer with more rows is an error, so
// engines may leave out those beyond the next one.
const MaxStatsRows = 100_000

// columns lists the columns from which the figures are computed.
func (s Stats) columns() []string {
	columns := []string{"bytes_sent", "request_length", "total_us"}
	if s.By != nil {
		columns = append(columns, dimensionColumns([]Dimension{*s.By})...)
	} else {
		columns = append(columns, "hostname", "host")
	}
	if s.Percentiles {
		columns = append(columns, "origin_us", "svc_us")
	}
	return columns
}
