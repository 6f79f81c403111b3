package sqlgen

import (
	"math"

	"github.com/orrery/orrery/shared/query"
)

// Percentiles are taken from the rounded durations of a group, in two steps: an aggregate gathers them, and an
// expression on its result returns the duration at a rank. See package query for rounding and ranks.

// durations are the names of the durations of a record, without their unit.
var durations = []fragment{"origin", "svc", "total"}

// rounded returns a duration rounded like query.RoundDuration. The remainder of a negative number is negative on both
// engines.
func rounded(us fragment) fragment {
	unit := fragment("CASE")
	power := int64(1)
	for ; power <= math.MaxInt64/1000; power *= 10 {
		most := 1000*power - 1
		unit += " WHEN " + us + " BETWEEN " + integer(-most) + " AND " + integer(most) + " THEN " + integer(power)
	}
	return us + " - " + us + " % " + unit + " ELSE " + integer(power) + " END"
}

// roundedDurations returns the rounded durations of a record as columns.
func roundedDurations() []fragment {
	columns := make([]fragment, len(durations))
	for i, d := range durations {
		columns[i] = rounded(d+"_us") + " AS " + d + "_rounded"
	}
	return columns
}

// gatheredDurations returns the aggregates of the columns of roundedDurations.
func (p *printer) gatheredDurations() []fragment {
	columns := make([]fragment, len(durations))
	for i, d := range durations {
		columns[i] = p.dialect.gathered(d+"_rounded") + " AS " + d + "_gathered"
	}
	return columns
}

// ranks returns the percentiles of the columns of gatheredDurations, given the columns with the numbers of durations.
func (p *printer) ranks(count func(duration fragment) fragment) []fragment {
	var columns []fragment
	for _, d := range durations {
		for i, percent := range query.Percents {
			at := p.dialect.atRank(d+"_gathered", count(d), i)
			columns = append(columns, at+" AS "+d+"_p"+integer(percent))
		}
	}
	return columns
}

// countOf returns the name of the column with the number of durations of a key of topx.
func countOf(duration fragment) fragment { return duration + "_count" }
