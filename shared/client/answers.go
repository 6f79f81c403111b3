package client

import (
	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/why"
)

// The results of the routes. Tags named doc describe the members. Decoded into any, a value is a string, a float64 or a
// bool.
type (
	// Timeline has the security statistics of a segment.
	Timeline    = answer.TimelineResult
	StatusCount = answer.StatusResult

	// TopX has the figures of one key of one label. Percentiles is nil unless Question.Figures asks for them.
	TopX        = answer.TopXResult
	Percentiles = answer.Percentiles

	// Facet has the most frequent values of a field.
	Facet      = answer.FacetResult
	FacetValue = answer.FacetValueResult
	FacetRest  = answer.FacetRest

	// Bar is the value of one series of a histogram in one segment.
	Bar = answer.HistogramResult

	// Finding is a value that differs between the two sides of a diff.
	Finding = answer.DiffResult
	Share   = answer.DiffSide

	// Value is a value of a field.
	Value = answer.ValueResult

	// Explanation says why a request was stopped. Its method Text prints it.
	Explanation = why.Explanation

	// Incident is a bounded episode against one target.
	Incident       = answer.IncidentResult
	IncidentValue  = answer.IncidentValue
	IncidentHeld   = answer.IncidentHeld
	IncidentOthers = answer.IncidentOthers

	// Mark is a change of the settings of a gateway.
	Mark = answer.Mark

	// Effect compares the blocked requests before and after a moment: all of them, or the requests that one
	// rule blocked.
	Effect     = answer.EffectResult
	EffectSide = answer.EffectSide

	// WhatIf is what a rule would have done.
	WhatIf = answer.WhatIfResult
)

// Stats is the traffic of a segment, or of one group in a segment. Percentiles is nil unless Question.Figures asks for
// them.
type Stats struct {
	answer.StatsResult
	Hostname string `json:"hostname"` // "" if grouped by a field
}
