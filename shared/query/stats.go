package query

// MaxStatsRows limits the results of stats that are grouped by a field.
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
