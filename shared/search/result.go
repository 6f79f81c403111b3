package search

import (
	"cmp"
	"context"
	"encoding/json"
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
	Counts    PackedCounts
	Sequences query.SequencesAnswer
	Values    []ValueResult
	Meta      Meta
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
	return &BytesEstimate{Low: *r.Meta.Unrounded, High: *r.Meta.Unrounded}
}

// freshness is what is known about the data when a query begins. The times are in milliseconds.
type freshness struct {
	Newest   *int64 `json:"newest_ms,omitempty"`           // of the newest record; nil if there is none
	Oldest   *int64 `json:"oldest_ms,omitempty"`           // of the oldest record; nil also in queries of earlier versions
	Complete *int64 `json:"complete_through_ms,omitempty"` // every log handed in before is in the data; nil if unknown
	Demo     bool   `json:"demo,omitempty"`                // the records are a demo
	Change   int64  `json:"change,omitempty"`              // the latest one, of engine.Arrivals; 0 if unknown
}

// Data is what answers are about.
type Data struct {
	Name     string  // of the records: others have another name; "" if the engine does not count changes
	Complete *string // as in Meta
}

// Data returns the data that the next answers are about.
func (s *Service) Data(ctx context.Context) (Data, error) {
	f, err := s.freshness(ctx)
	if err != nil || f.Change == 0 {
		return Data{}, err
	}
	of := Data{Complete: known(f.Complete)}
	f.Complete = nil // it goes on while the records are the same
	text, err := json.Marshal(f)
	of.Name = string(text)
	return of, err
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
			return f, fmt.Errorf("read whether the data is a demo: %w", err)
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
	case query.Counts:
		return shape.SegmentSeconds
	}
	return 0
}

func (s *Service) metaOf(r Request, q query.Query, cost engine.Cost, data freshness, e *Estimate) Meta {
	meta := Meta{
		Filter:         filter.Format(q.Filter),
		Fingerprint:    q.Fingerprint(),
		Period:         PeriodOf(q.Period),
		TZ:             r.TZ,
		Engine:         cmp.Or(cost.By, s.engine.Name()),
		Objects:        cost.Objects,
		ObjectsReused:  cost.Reused,
		BytesScanned:   cost.BytesScanned,
		RowsConsidered: cost.RowsConsidered,
		Skipped:        cost.Skipped,
		EngineMS:       milliseconds(cost.Engine),
		QueueMS:        milliseconds(cost.Queue),
		CostUSD:        cost.USD,
		Split:          cost.Split,
		Demo:           data.Demo,
		Estimate:       e,
		Lists:          r.listsMeta(),
	}
	if r.Branches != nil {
		data.hideOthers()
		hideOthersIn(&meta)
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
	case query.Counts:
		r.Meta.SegmentSeconds = shape.SegmentSeconds
		r.Counts = packCounts(a.Counts)
	case query.Sequences:
		r.Sequences = a.Sequences
	default:
		panic(fmt.Sprintf("search: no result for %T", shape))
	}
	if r.Meta.Saturated = saturatedIn(a); r.Meta.Saturated != nil {
		exact = false
	}
	return r
}
