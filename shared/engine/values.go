package engine

import (
	"context"

	"github.com/orrery/orrery/shared/query"
)

// ValueFinder is an engine that finds values of fields for completion: fast, and not necessarily all of them.
type ValueFinder interface {
	// FindValues answers q, a query for values. It may stop looking when enough returns true. Errors are of the kinds
	// that Engine lists.
	FindValues(ctx context.Context, q query.Query, enough func() bool) (FoundValues, Cost, error)
}

// FoundValues is the answer of a ValueFinder.
type FoundValues struct {
	query.ValuesAnswer
	Exact      bool // all data of the period was looked at, so that no value is missing
	Looked, Of int  // the objects that were looked at, and all objects of the period
	// Unavailable is the reason, as a sentence for users, why there is nothing to look at; "" if there is.
	Unavailable string
}
