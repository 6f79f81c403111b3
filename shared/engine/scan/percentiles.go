package scan

import (
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// durationColumns are the columns of durations, in the order of query.Percentiles.
var durationColumns = []string{"origin_us", "svc_us", "total_us"}

// durations holds rounded durations of the records of a group in one row group.
type durations [3][]int64

// add adds the durations of a row. The columns are durationColumns.
func (d *durations) add(columns []*parquet.ColumnValues, row int32) {
	for i, c := range columns {
		if len(c.Present) == 0 || c.Present[row] {
			d[i] = append(d[i], query.RoundDuration(c.Ints[row]))
		}
	}
}

// count returns the numbers of the durations, and forgets the durations.
func (d *durations) count() durationCounts {
	var counts durationCounts
	for i, rounded := range d {
		counts[i] = query.CountDurations(rounded)
		d[i] = rounded[:0]
	}
	return counts
}

// durationCounts counts the rounded durations of the records of a group.
type durationCounts [3][]query.DurationCount

// durationCountBytes is the memory that a query.DurationCount takes.
const durationCountBytes = 16

// join adds other counts, and returns the additional memory.
func (c *durationCounts) join(other durationCounts) (bytes int64) {
	for i, counts := range other {
		if len(counts) > 0 {
			before := len(c[i])
			c[i] = query.MergeCounts(c[i], counts)
			bytes += int64(len(c[i])-before) * durationCountBytes
		}
	}
	return bytes
}

func (c *durationCounts) bytes() (bytes int64) {
	for _, counts := range c {
		bytes += int64(cap(counts)) * durationCountBytes
	}
	return bytes
}

func (c *durationCounts) percentiles() query.Percentiles {
	return query.Percentiles{Origin: query.RanksOf(c[0]), Svc: query.RanksOf(c[1]), Total: query.RanksOf(c[2])}
}
