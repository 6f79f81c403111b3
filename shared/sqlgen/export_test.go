package sqlgen

import "github.com/orrery/orrery/shared/query"

// SegmentOnAthena returns the expression of a record's segment.
func SegmentOnAthena(q query.Query) (string, error) {
	p := &printer{dialect: athena{}, query: q}
	return string(p.segment()), p.err
}
