package engine

import (
	"context"

	"github.com/orrery/orrery/shared/query"
)

// Arrivals is an engine that knows which of its records have arrived after a moment.
type Arrivals interface {
	// Mark returns a number for this moment, for Late. It grows with the data, and it is equal as long as the data is.
	// It is 0 if the engine does not know when records arrive.
	Mark(ctx context.Context) (int64, error)
	// Late counts the records that match a query for logs, whatever its limit, and that have arrived since the moment
	// of a mark. It returns false if their number is not known.
	Late(ctx context.Context, q query.Query, mark int64) (n int64, known bool, _ error)
}

// NumberedIndex is an index that numbers its changes, see lake.Object.
type NumberedIndex interface {
	Index
	// Sequence returns the number of the latest change. As long as it stays the same, so does the data.
	Sequence(ctx context.Context) (int64, error)
}
