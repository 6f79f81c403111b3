package query

// The limits of queries that clients may want to know.
const (
	MaxSegments   = maxSegments
	MaxDimensions = maxDimensions
)

// MaxDistinct limits the different values that matching records have in the fields of facets, histograms and diffs, all
// fields of a query together. A value of a histogram counts in each segment that has it, because engines count it there
// before they know which values have series of their own. Beyond the limit, every engine returns an error.
const MaxDistinct = 2_000_000

// Distinct returns the number of different values that facets, histograms and diffs have counted, as MaxDistinct limits
// it. It is 0 for other shapes.
func (a Answer) Distinct() int64 {
	n := DistinctValues(a.Histogram)
	for _, f := range a.Facets.Facets {
		n += f.Distinct
	}
	for _, t := range a.Diff.Terms {
		n += t.Distinct
	}
	return n
}
