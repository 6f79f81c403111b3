package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Result is the answer to one request. Only the results of the request's route are set.
type Result struct {
	Logs      Records
	Stats     []StatsResult
	Timeline  []TimelineResult
	TopX      []TopXResult
	Facets    []FacetResult
	Histogram []HistogramResult
	Diff      []DiffResult
	Values    []ValueResult
	Meta      Meta
}

// Meta describes an answer: its query, its cost, and what is missing in it.
type Meta struct {
	Filter         string     `json:"filter" doc:"Canonical filter, in the query-string form"`
	Fingerprint    string     `json:"fingerprint" doc:"The same for every spelling of the same filter"`
	Period         MetaPeriod `json:"period"`
	SegmentSeconds int64      `json:"segment_seconds,omitempty" doc:"Length of a segment"`
	TZ             string     `json:"tz,omitempty" doc:"The zone by whose clock segments, today and yesterday begin"`
	NumOfRequests  *int64     `json:"num_of_requests,omitempty" doc:"Matching requests, for facets and diff"`
	Engine         string     `json:"engine" enum:"scan,duckdb,rows,athena,trino,lists" doc:"The method that answered"`
	ElapsedMS      float64    `json:"elapsed_ms" doc:"Milliseconds from request to answer, waiting included"`
	EngineMS       float64    `json:"engine_ms" doc:"Milliseconds of them in the engine"`
	Objects        *int       `json:"objects,omitempty" doc:"Parquet objects read; absent if the engine does not know it"`
	BytesScanned   int64      `json:"bytes_scanned" doc:"Compressed bytes of the columns read"`
	RowsConsidered *int64     `json:"rows_considered,omitempty" doc:"Records in the objects read; absent like objects"`
	Skipped        []string   `json:"skipped,omitempty" doc:"Objects that could not be read; their records are missing"`
	Truncated      *Truncated `json:"truncated,omitempty" doc:"Present if the answer is not complete"`
	Newest         *string    `json:"newest" nullable:"true" doc:"Time of the newest record when the request began; for a key that is limited to branches, its minute"`
	Oldest         *string    `json:"oldest" nullable:"true" doc:"Time of the oldest record when the request began; null if there is none, or for a key that is limited to branches"`
	Complete       *string    `json:"complete_through" nullable:"true" doc:"Every log handed in before this time is in the data, or was refused; null if unknown"`

	Demo bool `json:"demo,omitempty" doc:"The records are those of a demo day, because there are no others"`

	Diff *DiffMeta `json:"diff,omitempty" doc:"The two sides of a diff"`
	// Only logs have the following. Next is a pointer to nil if there is no next page.
	Next **string `json:"next,omitempty" nullable:"true" doc:"Of logs: the parameter cursor of the next page; null on the last page"`
	Head string   `json:"head,omitempty" doc:"Of logs: the parameter since of a later request for newer records"`
	// Late is a pointer to nil if the request has since, and the number is not known.
	Late        **int64          `json:"late,omitempty" nullable:"true" doc:"Of logs with since: matching records that arrived after the token was made and are older than its place; null if not known"`
	Percentiles *PercentilesMeta `json:"percentiles,omitempty" doc:"Present if percentiles were asked for"`

	DryRun   bool      `json:"dry_run,omitempty" doc:"The query did not run; there is only an estimate"`
	Estimate *Estimate `json:"estimate,omitempty" doc:"What was known before the query ran"`

	Series []SeriesMeta `json:"series,omitempty" doc:"Of a histogram, in the order of the results of a segment"`

	Exact       *bool     `json:"exact,omitempty" doc:"Whether every figure is exact: no object was skipped, no time is rounded, no sum is saturated, and, of values, all data of the period was looked at; absent in a dry run"`
	Saturated   []string  `json:"saturated,omitempty" doc:"Members of the results of which some are the largest or smallest integer of 64 bits, or its mean, because the sum may be beyond it"`
	Scope       *LookedAt `json:"scope,omitempty" doc:"Of values; absent for keys limited to branches"`
	Unavailable string    `json:"unavailable,omitempty" doc:"Of values: the reason why there is nothing to look at"`

	// The following are set only by engines that run as a service.
	QueueMS float64  `json:"queue_ms,omitempty" doc:"Milliseconds in the engine's own queue"`
	CostUSD *float64 `json:"cost_usd,omitempty" doc:"Price of the query; absent if the engine charges nothing"`
	Cached  *Cached  `json:"cached,omitempty" doc:"Present if the answer of an earlier equal query was reused"`
	Split   bool     `json:"split,omitempty" doc:"The engine ran the query in parts for lack of resources"`

	Unrounded *int64 `json:"-"` // of BytesScanned; nil if they are not rounded. Callers do not see it.
}

// Unrounded returns the bytes that the query has read, or would read if this is a dry run, before they were rounded up
// for a caller who is limited to branches; nil if they were not. Sum rounds the bytes of several queries once.
func (r Result) Unrounded() *BytesEstimate {
	switch {
	case r.Meta.DryRun && r.Meta.Estimate != nil:
		return r.Meta.Estimate.Unrounded
	case r.Meta.DryRun || r.Meta.Unrounded == nil:
		return nil
	}
	return &BytesEstimate{*r.Meta.Unrounded, *r.Meta.Unrounded}
}

// Cached is the age of the answer of an earlier query.
type Cached struct {
	AgeSeconds int64 `json:"age_seconds" doc:"At most"`
}

// MetaPeriod is the period of the request. Both ends are included.
type MetaPeriod struct {
	From string `json:"from" doc:"RFC 3339, UTC"`
	To   string `json:"to" doc:"RFC 3339, UTC"`
}

// Truncated describes why an answer is not complete.
type Truncated struct {
	Reason string `json:"reason" enum:"limit,bytes" doc:"limit: more records match; bytes: the answer is too large"`
}

// freshness is what is known about the data when a query begins. The times are in milliseconds.
type freshness struct {
	Newest   *int64 `json:"newest_ms,omitempty"`           // of the newest record; nil if there is none
	Oldest   *int64 `json:"oldest_ms,omitempty"`           // of the oldest record; nil also in queries of earlier versions
	Complete *int64 `json:"complete_through_ms,omitempty"` // every log handed in before is in the data; nil if unknown
	Demo     bool   `json:"demo,omitempty"`                // the records are those of a demo day
	Change   int64  `json:"change,omitempty"`              // the latest one, of engine.Arrivals; 0 if unknown
}

// freshness returns what is known about the data now. A query that begins afterwards, or joins one over the same
// version of the data, reads at least that data.
func (s *Service) freshness(ctx context.Context) (f freshness, err error) {
	if e, ok := s.engine.(engine.Completeness); ok {
		through, err := e.CompleteThrough(ctx)
		if err != nil {
			return f, fmt.Errorf("read to which time the data is complete: %w", err)
		}
		if !through.IsZero() {
			ms := through.UnixMilli()
			f.Complete = &ms
		}
	}
	if e, ok := s.engine.(engine.Demonstration); ok {
		if f.Demo, err = e.IsDemo(ctx); err != nil {
			return f, fmt.Errorf("read whether the data is a demo day: %w", err)
		}
	}
	if e, ok := s.engine.(engine.Arrivals); ok {
		if f.Change, err = e.Sequence(ctx); err != nil {
			return f, fmt.Errorf("read the number of the latest change: %w", err)
		}
	}
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return f, fmt.Errorf("read the extent of the data: %w", err)
	}
	if extent.Rows > 0 {
		f.Newest, f.Oldest = &extent.MaxTsMs, &extent.MinTsMs
	}
	return f, nil
}

// dryResult returns the answer of a dry run.
func (s *Service) dryResult(
	r Request, q query.Query, by string, e *Estimate, data freshness, began time.Time,
) Result {
	meta := s.metaOf(r, q, engine.Cost{By: by}, data, e)
	meta.DryRun, meta.BytesScanned = true, 0
	meta.SegmentSeconds = segmentSeconds(q.Shape)
	meta.ElapsedMS = milliseconds(s.now().Sub(began))
	return Result{Meta: meta}
}

// segmentSeconds returns the length of a segment, or 0 for shapes without segments.
func segmentSeconds(shape query.Shape) int64 {
	switch shape := shape.(type) {
	case query.Stats:
		return shape.SegmentSeconds
	case query.Timeline:
		return shape.SegmentSeconds
	case query.Histogram:
		return shape.SegmentSeconds
	}
	return 0
}

func (s *Service) metaOf(r Request, q query.Query, cost engine.Cost, data freshness, e *Estimate) Meta {
	meta := Meta{
		Filter:         filter.Format(q.Filter),
		Fingerprint:    q.Fingerprint(),
		Period:         metaPeriodOf(q.Period),
		TZ:             r.TZ,
		Engine:         cmp.Or(cost.By, s.engine.Name()),
		Objects:        cost.Objects,
		BytesScanned:   cost.BytesScanned,
		RowsConsidered: cost.RowsConsidered,
		Skipped:        cost.Skipped,
		EngineMS:       milliseconds(cost.Engine),
		QueueMS:        milliseconds(cost.Queue),
		CostUSD:        cost.USD,
		Split:          cost.Split,
		Demo:           data.Demo,
		Estimate:       e,
	}
	if r.Branches != nil {
		data.hideOthers()
		meta.hideOthers()
	}
	meta.Newest, meta.Oldest, meta.Complete = known(data.Newest), known(data.Oldest), known(data.Complete)
	if cost.Cached != nil {
		meta.Cached = &Cached{AgeSeconds: int64(math.Ceil(cost.Cached.Seconds()))}
	}
	return meta
}

// rounds reports whether figures of a shape are rounded before they are computed.
func rounds(shape query.Shape) bool {
	switch shape := shape.(type) {
	case query.Stats:
		return shape.Percentiles
	case query.TopX:
		return shape.Percentiles
	}
	return false
}

// instant returns a time in RFC 3339 format. It prints milliseconds only if they are not zero.
func instant(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z07:00")
}

// known returns a time in RFC 3339 format, or nil for a time that is not known.
func known(ms *int64) *string {
	if ms == nil {
		return nil
	}
	text := instant(*ms)
	return &text
}

// resultOf returns the route's results for the engine's answer.
func resultOf(asked Request, q query.Query, a query.Answer, meta Meta) Result {
	r := Result{Meta: meta}
	exact := len(meta.Skipped) == 0 && !rounds(q.Shape)
	r.Meta.Exact = &exact
	switch shape := q.Shape.(type) {
	case query.Logs:
		r.Logs = logsOf(asked, q, a, &r.Meta)
	case query.Stats:
		r.Meta.SegmentSeconds = shape.SegmentSeconds
		r.Meta.Percentiles = percentilesMeta(shape.Percentiles)
		r.Stats = statsOf(a.Stats, q, shape)
	case query.Timeline:
		r.Meta.SegmentSeconds = shape.SegmentSeconds
		r.Timeline = timelineOf(a.Timeline, q, shape)
	case query.TopX:
		r.Meta.Percentiles = percentilesMeta(shape.Percentiles)
		r.TopX = topxOf(a.TopX, shape)
	case query.Facets:
		r.Meta.NumOfRequests = &a.Facets.Requests
		r.Facets = facetsOf(a.Facets, shape)
	case query.Histogram:
		series := seriesOf(a.Histogram, shape)
		r.Meta.SegmentSeconds, r.Meta.Series = shape.SegmentSeconds, seriesMetaOf(series)
		r.Histogram = histogramOf(series, q, shape)
	case query.Diff:
		n := a.Diff.Requests.Selected + a.Diff.Requests.Baseline
		r.Meta.NumOfRequests, r.Meta.Diff = &n, diffMetaOf(a.Diff, q, shape)
		r.Diff = diffOf(a.Diff, shape)
	default:
		panic(fmt.Sprintf("search: no result for %T", shape))
	}
	if r.Meta.Saturated = saturatedIn(a); r.Meta.Saturated != nil {
		exact = false
	}
	return r
}
