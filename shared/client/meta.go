package client

import "github.com/orrery/orrery/shared/answer"

// Meta describes an answer: its query, its cost, and what is missing in it. Times are texts in RFC 3339 format.
type Meta struct {
	answer.Meta
	Next *string `json:"next"` // for logs: Question.Cursor of the next page; nil on the last page
	Late *int64  `json:"late"` // for logs with Question.Since: records that arrived too late to be returned; nil: not known
}

// The parts of Meta.
type (
	Period    = answer.MetaPeriod
	Series    = answer.SeriesMeta
	Truncated = answer.Truncated
	Cached    = answer.Cached
	Diff      = answer.DiffMeta
	Side      = answer.DiffSideMeta
	Compared  = answer.DiffTermMeta
	Method    = answer.PercentilesMeta
	Scope     = answer.LookedAt

	Estimate      = answer.Estimate
	Range         = answer.BytesEstimate
	PriceRange    = answer.PriceEstimate
	MillisRange   = answer.MillisEstimate
	ColumnSize    = answer.ColumnSize
	LackingColumn = answer.LackingColumn
)
