package search

import "github.com/orrery/orrery/shared/answer"

// The types of answers.
type (
	StatsResult      = answer.StatsResult
	Percentiles      = answer.Percentiles
	TimelineResult   = answer.TimelineResult
	StatusResult     = answer.StatusResult
	TopXResult       = answer.TopXResult
	FacetResult      = answer.FacetResult
	FacetValueResult = answer.FacetValueResult
	FacetRest        = answer.FacetRest
	HistogramResult  = answer.HistogramResult
	DiffResult       = answer.DiffResult
	DiffSide         = answer.DiffSide
	ValueResult      = answer.ValueResult

	Meta            = answer.Meta
	MetaPeriod      = answer.MetaPeriod
	Truncated       = answer.Truncated
	Cached          = answer.Cached
	SeriesMeta      = answer.SeriesMeta
	DiffMeta        = answer.DiffMeta
	DiffSideMeta    = answer.DiffSideMeta
	DiffTermMeta    = answer.DiffTermMeta
	PercentilesMeta = answer.PercentilesMeta
	LookedAt        = answer.LookedAt

	Estimate       = answer.Estimate
	LackingColumn  = answer.LackingColumn
	BytesEstimate  = answer.BytesEstimate
	PriceEstimate  = answer.PriceEstimate
	MillisEstimate = answer.MillisEstimate
	ColumnSize     = answer.ColumnSize
)
