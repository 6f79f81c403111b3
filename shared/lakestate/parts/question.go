// Package parts counts parts of questions in other processes: functions that run at the same time, each over some of
// the objects. A process puts what it has counted into a bucket, where the next question with the same part finds it.
package parts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// ErrNoText is the error of Encode for a query that has no text.
var ErrNoText = errors.New("the query cannot be sent to another process")

// Encode returns a text for the query of a part, which Decode reads. Queries about the same records of the same objects
// have the same text. The conditions are sent as they are bound: with the branches of the caller, and with absolute
// times.
func Encode(q query.Query) ([]byte, error) {
	to := question{Span: q.Scope.Period}
	var err error
	if to.Conditions, err = encodeConditions(q.Conditions); err != nil {
		return nil, err
	}
	if err := to.setShape(q); err != nil {
		return nil, err
	}
	text, err := json.Marshal(to)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoText, err)
	}
	read, err := Decode(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoText, err)
	case !sameQuestion(q, read):
		return nil, fmt.Errorf("%w: its text is another query", ErrNoText)
	}
	return text, nil
}

// sameQuestion reports whether two queries of parts have the same answer. A text that is not valid in JSON, for
// example, makes a difference.
func sameQuestion(a, b query.Query) bool {
	return a.Scope.Period == b.Scope.Period && identity(a) == identity(b)
}

func identity(q query.Query) string {
	shape := fmt.Sprintf("%T", q.Shape)
	switch s := q.Shape.(type) {
	case query.TopX:
		shape += fmt.Sprintf(" %+v", s)
	case query.Facets:
		for _, d := range s.By {
			shape += fmt.Sprintf(" (%s)", d.Identity())
		}
	case query.Counts:
		shape += " " + s.String()
	case query.Histogram:
		shape += " " + string(s.Measure)
		if s.By != nil {
			shape += " " + s.By.Identity()
		}
	case query.Stats:
		shape += fmt.Sprintf(" %t %t", s.GroupByHostname, s.Percentiles)
	}
	return shape + "\n" + q.SegmentsIdentity() + "\n" + query.ConditionsIdentity(q.Conditions)
}

// Decode reads a text that Encode has returned.
func Decode(text []byte) (q query.Query, err error) {
	var from question
	if err := json.Unmarshal(text, &from); err != nil {
		return q, fmt.Errorf("read the query of a part: %w", err)
	}
	q.Period, q.Scope.Period = from.Span, from.Span
	if from.Period != nil {
		q.Period = *from.Period
	}
	if q.Conditions, err = decodeConditions(from.Conditions); err != nil {
		return q, err
	}
	q.Shape, err = from.shape()
	return q, err
}

// question is the query of a part as JSON.
type question struct {
	Kind       string
	Span       query.Period
	Conditions []condition

	Labels   []string      `json:",omitempty"`
	Limit    int           `json:",omitempty"`
	By       []string      `json:",omitempty"`
	Segment  int64         `json:",omitempty"` // seconds
	Zone     string        `json:",omitempty"`
	Period   *query.Period `json:",omitempty"` // of the whole question, on which segments by a local clock depend
	PerHosts bool          `json:",omitempty"`

	Percentiles bool `json:",omitempty"`

	Of      [][]condition `json:",omitempty"` // of counts
	Measure query.Measure `json:",omitempty"` // of a histogram
}

// The kinds of questions.
const (
	kindTopX      = "topx"
	kindFacets    = "facets"
	kindStats     = "stats"
	kindCounts    = "counts"
	kindHistogram = "histogram"
	kindTimeline  = "timeline"
)

func (to *question) setShape(q query.Query) error {
	switch s := q.Shape.(type) {
	case query.TopX:
		if s.Percentiles {
			return fmt.Errorf("%w: topx with percentiles", ErrNoText)
		}
		to.Kind, to.Labels, to.Limit = kindTopX, s.Labels, s.Limit
	case query.Facets:
		to.Kind = kindFacets
		for _, d := range s.By {
			to.By = append(to.By, d.String())
		}
	case query.Stats:
		if s.By != nil {
			return fmt.Errorf("%w: stats by a field", ErrNoText)
		}
		to.Kind, to.PerHosts, to.Percentiles = kindStats, s.GroupByHostname, s.Percentiles
		to.setSegments(s.SegmentSeconds, s.Zone, q.Period)
	case query.Histogram:
		to.Kind, to.Measure = kindHistogram, s.Measure
		if s.By != nil {
			to.By = []string{s.By.String()}
		}
		to.setSegments(s.SegmentSeconds, s.Zone, q.Period)
	case query.Counts:
		to.Kind, to.By = kindCounts, []string{s.By.String()}
		to.setSegments(s.SegmentSeconds, nil, q.Period)
		for _, of := range s.Of {
			conditions, err := encodeConditions(of.Conditions)
			if err != nil {
				return err
			}
			to.Of = append(to.Of, conditions)
		}
	case query.Timeline:
		to.Kind = kindTimeline
		to.setSegments(s.SegmentSeconds, s.Zone, q.Period)
	default:
		return fmt.Errorf("%w: %T", ErrNoText, s)
	}
	return nil
}

func (to *question) setSegments(seconds int64, zone *time.Location, period query.Period) {
	if to.Segment = seconds; zone != nil {
		to.Zone, to.Period = zone.String(), &period
	}
}

func (from *question) shape() (query.Shape, error) {
	var zone *time.Location
	if from.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(from.Zone); err != nil {
			return nil, fmt.Errorf("read the query of a part: %w", err)
		}
	}
	switch from.Kind {
	case kindTopX:
		return query.TopX{Limit: from.Limit, Labels: from.Labels}, nil
	case kindFacets:
		facets := query.Facets{Limit: 1}
		for _, text := range from.By {
			by, err := query.ParseDimensions(text)
			if err != nil {
				return nil, fmt.Errorf("read the query of a part: %w", err)
			}
			facets.By = append(facets.By, by...)
		}
		return facets, nil
	case kindStats:
		return query.Stats{
			SegmentSeconds: from.Segment, Zone: zone, GroupByHostname: from.PerHosts, Percentiles: from.Percentiles,
		}, nil
	case kindHistogram:
		histogram := query.Histogram{SegmentSeconds: from.Segment, Zone: zone, Measure: from.Measure}
		if from.By == nil {
			return histogram, nil
		}
		by, err := from.dimension()
		histogram.By, histogram.Limit = &by, 1
		return histogram, err
	case kindCounts:
		return from.counts()
	case kindTimeline:
		return query.Timeline{SegmentSeconds: from.Segment, Zone: zone}, nil
	}
	return nil, fmt.Errorf("read the query of a part: unknown kind %q", from.Kind)
}

// dimension returns the only dimension of a question.
func (from *question) dimension() (query.Dimension, error) {
	by, err := query.ParseDimensions(strings.Join(from.By, ","))
	if err == nil && len(by) != 1 {
		err = errors.New("there is not one dimension")
	}
	if err != nil {
		return query.Dimension{}, fmt.Errorf("read the query of a part: %w", err)
	}
	return by[0], nil
}

func (from *question) counts() (query.Shape, error) {
	if len(from.Of) > query.MostCounted {
		return nil, errors.New("read the query of a part: too many selections are counted")
	}
	by, err := from.dimension()
	if err != nil {
		return nil, err
	}
	counts := query.Counts{SegmentSeconds: from.Segment, By: by}
	for _, of := range from.Of {
		conditions, err := decodeConditions(of)
		if err != nil {
			return nil, err
		}
		counts.Of = append(counts.Of, query.Selection{Conditions: conditions})
	}
	return counts, nil
}

type condition struct {
	Field   string        `json:",omitempty"`
	Key     *key          `json:",omitempty"`
	Op      filter.Op     `json:",omitempty"`
	Negated bool          `json:",omitempty"`
	Terms   []term        `json:",omitempty"`
	Any     [][]condition `json:",omitempty"`
}

type term struct {
	Source catalog.Source
	Key    *key `json:",omitempty"`
	Fold   bool `json:",omitempty"`
	Test   test
}

type key struct {
	Name    string  `json:",omitempty"`
	Pattern *string `json:",omitempty"`
}

// test is a test of a value. Exactly one of its fields is set.
type test struct {
	Bool     *query.BoolIs      `json:",omitempty"`
	Texts    *query.TextIn      `json:",omitempty"`
	Ints     *query.IntIn       `json:",omitempty"`
	Range    *query.IntRange    `json:",omitempty"`
	Numbers  *query.NumberRange `json:",omitempty"`
	Patterns []string           `json:",omitempty"`
	Networks []netip.Prefix     `json:",omitempty"`
	Refs     []lake.Ref         `json:",omitempty"`
}

func encodeConditions(conditions []query.Condition) ([]condition, error) {
	all := make([]condition, len(conditions))
	for i, c := range conditions {
		to := condition{Key: encodeKey(c.Key), Op: c.Op, Negated: c.Negated}
		if c.Field != nil {
			to.Field = c.Field.Name
		}
		for _, t := range c.Terms {
			of, err := encodeTest(t.Test)
			if err != nil {
				return nil, err
			}
			to.Terms = append(to.Terms, term{t.Source, encodeKey(t.Key), t.Fold, of})
		}
		for _, alternative := range c.Any {
			of, err := encodeConditions(alternative)
			if err != nil {
				return nil, err
			}
			to.Any = append(to.Any, of)
		}
		all[i] = to
	}
	return all, nil
}

func decodeConditions(conditions []condition) (all []query.Condition, err error) {
	for _, c := range conditions {
		to := query.Condition{Op: c.Op, Negated: c.Negated}
		if c.Field != "" {
			field, known := catalog.Lookup(c.Field)
			if !known {
				return nil, fmt.Errorf("read the query of a part: unknown field %q", c.Field)
			}
			to.Field = field
		}
		if to.Key, err = c.Key.decode(); err != nil {
			return nil, err
		}
		for _, t := range c.Terms {
			of := query.Term{Source: t.Source, Fold: t.Fold}
			if of.Key, err = t.Key.decode(); err != nil {
				return nil, err
			}
			if of.Test, err = t.Test.decode(); err != nil {
				return nil, err
			}
			to.Terms = append(to.Terms, of)
		}
		for _, alternative := range c.Any {
			of, err := decodeConditions(alternative)
			if err != nil {
				return nil, err
			}
			to.Any = append(to.Any, of)
		}
		all = append(all, to)
	}
	return all, nil
}

func encodeKey(k *query.Key) *key {
	switch {
	case k == nil:
		return nil
	case k.Pattern != nil:
		return &key{Pattern: &k.Pattern.Canonical}
	}
	return &key{Name: k.Name}
}

func (k *key) decode() (*query.Key, error) {
	switch {
	case k == nil:
		return nil, nil
	case k.Pattern == nil:
		return &query.Key{Name: k.Name}, nil
	}
	of, err := parsePattern(*k.Pattern)
	return &query.Key{Pattern: of}, err
}

func parsePattern(canonical string) (*pattern.Regex, error) {
	of, _, wrong := pattern.Parse(canonical, false)
	if wrong != nil {
		return nil, fmt.Errorf("read the query of a part: a pattern has the mistake %s", wrong.Code)
	}
	return of, nil
}

func encodeTest(t query.Test) (to test, _ error) {
	switch t := t.(type) {
	case query.BoolIs:
		to.Bool = &t
	case query.TextIn:
		to.Texts = &t
	case query.IntIn:
		to.Ints = &t
	case query.IntRange:
		to.Range = &t
	case query.NumberRange:
		to.Numbers = &t
	case query.Matches:
		for _, p := range t.Patterns {
			to.Patterns = append(to.Patterns, p.Canonical)
		}
	case query.NetworkIn:
		to.Networks = t.Networks
	case query.RefIn:
		to.Refs = t.Refs
	default:
		return to, fmt.Errorf("%w: a condition with %T", ErrNoText, t)
	}
	if reflect.ValueOf(to).IsZero() {
		return to, fmt.Errorf("%w: a condition that nothing meets", ErrNoText)
	}
	return to, nil
}

func (t test) decode() (query.Test, error) {
	switch {
	case t.Bool != nil:
		return *t.Bool, nil
	case t.Texts != nil:
		return *t.Texts, nil
	case t.Ints != nil:
		return *t.Ints, nil
	case t.Range != nil:
		return *t.Range, nil
	case t.Numbers != nil:
		return *t.Numbers, nil
	case t.Networks != nil:
		return query.NetworkIn{Networks: t.Networks}, nil
	case t.Refs != nil:
		return query.RefIn{Refs: t.Refs}, nil
	case t.Patterns == nil:
		return nil, errors.New("read the query of a part: a condition has no test")
	}
	var all query.Matches
	for _, text := range t.Patterns {
		of, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		all.Patterns = append(all.Patterns, of)
	}
	return all, nil
}
