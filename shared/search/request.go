package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Route is one of the data routes.
type Route string

const (
	Logs     Route = "logs"
	Stats    Route = "stats"
	Timeline Route = "timeline"
	TopX     Route = "topx"
	Facets   Route = "facets"

	Histogram Route = "histogram"
	Diff      Route = "diff"
	Values    Route = "values"
)

// Counts answers questions that only other routes ask: numbers of requests by segment and value, of several selections
// at once. No client can ask them.
const Counts Route = "counts"

// Sequences answers questions that only other routes ask: the requests of each key in the order of their times. No client
// can ask them.
const Sequences Route = "sequences"

// The routes that several questions to others answer; no query has them.
const (
	Incidents Route = "incidents"
	Effect    Route = "effect"
	WhatIf    Route = "whatif"
)

// Routes lists the data routes.
var Routes = []Route{Logs, Stats, Timeline, TopX, Facets, Histogram, Diff, Values}

// MaxLogs is the maximum number of records of a page.
const MaxLogs = 2500

// Request is one data request. The members that the table Parameters names are text as the client sent it; this package
// parses it. Their zero values are their defaults.
type Request struct {
	Route    Route
	Filters  string
	Syntax   filter.Syntax // 0: determined by the first character
	Limit    string
	Segment  string
	TZ       string
	GroupBy  string
	Figures  string
	Fields   string
	By       string
	Order    string
	Measure  string
	Select   string
	Against  string
	Least    string
	Cursor   string
	Since    string
	Field    string
	Prefix   string
	Contains string
	Counts   string
	Marks    string `json:"-"`          // other questions find them
	Of       string `json:",omitempty"` // of Counts: a list of conditions in JSON; of Sequences: SequencesOf.Text
	// AnyOf is lists of filters without a period, in JSON; a record must meet one filter of each list. Only other questions
	// have it, because no filter language has alternatives.
	AnyOf string    `json:",omitempty"`
	Now   time.Time `json:",omitzero"` // what relative times are relative to; zero: Search sets it
	// Lists is the versions of the lists of values that the filters name, by the names as they are written: tor, tor:3.
	Lists    map[string]string     `json:",omitempty"`
	Found    map[string]query.List `json:"-"` // the lists, by the same names; Search sets it
	DryRun   string
	MaxBytes string   `json:",omitempty"`
	Branches []string // branches the caller may see; nil: all
	Caller   string   // the caller who may ask about the query later; "": callers are not distinguished
}

// The values of the dry_run parameter.
const dryRunTrue, dryRunFalse = "true", "false"

func (r Request) dryRun() bool { return r.DryRun == dryRunTrue }

// DryRun reads the dry_run parameter.
func DryRun(value string) (dry bool, err error) { return Boolean("dry_run", value) }

// Boolean reads a parameter that is false by default. The error is a *ParamError.
func Boolean(param, value string) (is bool, err error) {
	if value != "" && value != dryRunTrue && value != dryRunFalse {
		err = &ParamError{Param: param, Message: fmt.Sprintf("%q is neither true nor false", value), Suggestion: dryRunTrue}
	}
	return value == dryRunTrue, err
}

// shape reads the parameters of the route.
func (r Request) shape() (query.Shape, error) {
	if _, err := DryRun(r.DryRun); err != nil {
		return nil, err
	}
	if _, err := MaxBytes(r.MaxBytes); err != nil {
		return nil, err
	}
	switch r.Route {
	case Logs:
		limit, err := r.limit()
		if err != nil {
			return nil, err
		}
		fields, err := fieldsOf(r.Fields)
		return query.Logs{Limit: limit, Fields: fields}, err
	case Stats:
		return r.stats()
	case Timeline:
		seconds, zone, err := r.segment()
		return query.Timeline{SegmentSeconds: seconds, Zone: zone}, err
	case TopX:
		limit, err := r.limit()
		if err != nil {
			return nil, err
		}
		percentiles, err := r.percentiles()
		return query.TopX{Limit: limit, Percentiles: percentiles}, err
	case Facets:
		return r.facets()
	case Histogram:
		return r.histogram()
	case Diff:
		return r.diff()
	case Counts:
		return r.counts()
	case Sequences:
		return r.sequences()
	case Values:
		return r.values()
	}
	return nil, fmt.Errorf("search: unknown route %q", r.Route)
}

func (r Request) facets() (query.Shape, error) {
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	if r.Order != "" && r.Order != OrderRequests && r.Order != OrderBlocked {
		return nil, &ParamError{
			Param:      "order",
			Message:    fmt.Sprintf("cannot order by %q; use %s or %s", r.Order, OrderRequests, OrderBlocked),
			Suggestion: OrderRequests,
		}
	}
	by, err := dimensionsOf("by", r.By)
	return query.Facets{By: by, Limit: limit, ByBlocked: r.Order == OrderBlocked}, err
}

func (r Request) histogram() (query.Shape, error) {
	shape := query.Histogram{Measure: query.Measure(cmp.Or(r.Measure, string(query.Measures[0])))}
	if !slices.Contains(query.Measures, shape.Measure) {
		e := &ParamError{
			Param:      "measure",
			Message:    fmt.Sprintf("unknown measure %q; the measures are %s", r.Measure, joined(query.Measures)),
			Suggestion: string(query.Measures[0]),
		}
		if near := filter.Nearest(r.Measure, textsOf(query.Measures)); near != "" {
			e.Suggestion = near
		}
		return nil, e
	}
	by, err := dimensionsOf("by", r.By)
	switch {
	case err != nil:
		return nil, err
	case len(by) > 1:
		return nil, &ParamError{
			Param: "by", Message: fmt.Sprintf("a histogram is split by one field, not by %d", len(by)),
			Suggestion: by[0].String(),
		}
	case by == nil && r.Limit != "":
		return nil, &ParamError{Param: "limit", Message: "without by, a histogram has one series, so it takes no limit"}
	case by != nil:
		shape.By = &by[0]
		if shape.Limit, err = r.limit(); err != nil {
			return nil, err
		}
	}
	shape.SegmentSeconds, shape.Zone, err = r.segment()
	return shape, err
}

func textsOf[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = string(one)
	}
	return texts
}

func joined[T ~string](list []T) string { return strings.Join(textsOf(list), ", ") }

// The values of the order parameter.
const (
	OrderRequests = "requests"
	OrderBlocked  = "blocked"
)

// dimensionsOf parses a parameter with the fields by which records are grouped. It returns nil, the default of the
// shape, for "".
func dimensionsOf(param, text string) ([]query.Dimension, error) {
	if text == "" {
		return nil, nil
	}
	list, err := query.ParseDimensions(text)
	var wrong *query.DimensionError
	if errors.As(err, &wrong) {
		return nil, &ParamError{Param: param, Message: wrong.Message, Suggestion: wrong.Suggestion, Code: wrong.Code}
	}
	return list, err
}

// limit returns the limit of the request, or the default of its route.
func (r Request) limit() (int, error) {
	p := ParameterOf(r.Route, limitParam)
	n, ok := wholeNumber(cmp.Or(r.Limit, p.Default))
	if !ok || n > int64(p.Max) {
		return 0, &ParamError{
			Param:      p.Name,
			Message:    fmt.Sprintf("%q is not a whole number from 1 to %d", r.Limit, p.Max),
			Suggestion: p.Default,
		}
	}
	return int(n), nil
}

// wholeNumber parses a positive number: digits without a sign or leading zeros.
func wholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n >= 1 && strconv.FormatInt(n, 10) == text
}

func fieldsOf(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var names []string
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		if _, ok := catalog.Lookup(name); !ok {
			e := &ParamError{Param: "fields", Message: fmt.Sprintf("unknown field %q", name)}
			if near := filter.Nearest(name, catalog.Names()); near != "" {
				e.Message += fmt.Sprintf("; did you mean %q?", near)
				e.Suggestion = near
			}
			return nil, e
		}
		names = append(names, name)
	}
	return names, nil
}

// segment reads the length of the segments, 0 for the default, and their zone, nil for none.
func (r Request) segment() (seconds int64, zone *time.Location, err error) {
	if zone, err = zoneOf(r.TZ); err == nil {
		seconds, err = segmentOf(r.Segment)
	}
	return seconds, zone, err
}

// segmentOf parses the length of a segment, such as "300", "300s", "5m", "1h" or "2d", and returns it in seconds. It
// returns 0, the default for the period, for "". query.Bind checks whether the length is allowed for the period.
func segmentOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	seconds, ok := query.ParseLength(text)
	if !ok {
		return 0, &ParamError{
			Param:      "segment",
			Message:    fmt.Sprintf("%q is not a length such as 60, 5m, 1h or 1d", text),
			Suggestion: "5m",
		}
	}
	return seconds, nil
}
