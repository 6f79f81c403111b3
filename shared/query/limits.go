package query

// The limits of queries that clients may want to know.
const (
	MaxSegments   = maxSegments
	MaxDimensions = maxDimensions
)
