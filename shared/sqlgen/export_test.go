package sqlgen

import "github.com/orrery/orrery/shared/query"

// Exported for the tests with a real Trino, which cannot be in this package because package trino imports it.
var (
	Joni          = joni
	RandomPattern = randomPattern
	Texts         = texts
)

// SegmentOnAthena returns the expression of a record's segment.
func SegmentOnAthena(q query.Query) (string, error) {
	p := &printer{dialect: athena{}, query: q}
	return string(p.segment()), p.err
}
