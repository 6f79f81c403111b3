package engine

import (
	"context"

	"github.com/orrery/orrery/shared/query"
)

// Arrivals is an engine that knows which of its records have arrived after a change of its data.
type Arrivals interface {
	// Sequence returns the number of the latest change, for Late. As long as it stays the same, so does the data. It is
	// 0 if the engine does not know when records arrive.
	Sequence(ctx context.Context) (int64, error)
	// Late counts the records that match a query for logs, whatever its limit, and that have arrived since a change.
	Late(ctx context.Context, q query.Query, change int64) (Late, error)
	// EstimateLate returns what Late would read.
	EstimateLate(ctx context.Context, q query.Query, change int64) (Bytes, error)
}

// Late is the number of records that have arrived late.
type Late struct {
	Records      int64
	Known        bool  // false: the number is not known
	BytesScanned int64 // as of Cost
}

// NumberedIndex is an index that numbers its changes, see lake.Object.
type NumberedIndex interface {
	Index
	// Sequence returns the number of the latest change. As long as it stays the same, so does the data.
	Sequence(ctx context.Context) (int64, error)
}
