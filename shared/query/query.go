// Package query binds a filter: names become fields, texts become typed values, a route becomes a shape. A Query is
// everything that an engine needs. It depends neither on the text of the filter nor on SQL.
package query

import (
	"math"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
)

// Query is one bound query.
type Query struct {
	Period     Period      // the period of the filter
	Scope      Scope       // the period to read, clamped to the data, and the compaction watermark
	Conditions []Condition // all must hold; the period is not among them
	Shape      Shape
	Filter     filter.Filter  // the canonical filter, period first; filter.Format and FormatJSON print it
	Relative   []RelativeTime // the relative times that the filter had; Filter has absolute ones
}

// Period is a time interval in epoch milliseconds; it includes both ends.
type Period struct{ FromMs, ToMs int64 }

// Scope is the period that a query reads and the progress of compaction.
type Scope struct {
	Period
	// Watermark is the first partition not yet compacted. Earlier partitions are read from the compacted table, this
	// and later ones from the fresh table.
	Watermark lake.Partition
}

// Shape is the kind of answer to compute from the matching records: Logs, Stats, Timeline, TopX, Facets,
// Histogram, Diff, Counts, Sequences or Values.
type Shape interface{ shape() }

// Logs asks for the newest matching records.
type Logs struct {
	Limit  int      // 1…2500
	Fields []string // fields to return; nil for all

	OlderThan *Place // only records older than this place; nil: no such bound
	NewerThan *Place // only records newer than this place; nil: no such bound
}

// Stats asks for traffic figures per segment.
type Stats struct {
	SegmentSeconds  int64
	Zone            *time.Location // segments follow its clock; nil: they are aligned to the Unix epoch
	GroupByHostname bool           // one result per segment and hostname
	// By asks for one result per segment and value instead, and one for the records without a value; nil: not grouped
	// by a field. Then GroupByHostname is false.
	By          *Dimension
	Percentiles bool // also percentiles of the durations
}

// Timeline asks for security figures per segment.
type Timeline struct {
	SegmentSeconds int64
	Zone           *time.Location // as of Stats
}

// TopX asks for the top keys of each of twelve labels.
type TopX struct {
	Limit int // keys per label, 1…80
	// Labels is a subset of the variable Labels; nil means all. An engine that cannot answer all labels at once splits
	// the query by them.
	Labels      []string
	Percentiles bool // also percentiles of the durations of each key
}

func (Logs) shape()     {}
func (Stats) shape()    {}
func (Timeline) shape() {}
func (TopX) shape()     {}

// Condition holds for a record when any of its terms holds, or, negated, when none does. One of alternatives, which has
// neither terms nor a field, holds when all conditions of any of them hold. Every condition is two-valued: an absent
// value satisfies no term.
type Condition struct {
	Field   *catalog.Field
	Key     *Key
	Op      filter.Op // canonical
	Negated bool
	Terms   []Term
	Any     [][]Condition // alternatives; no filter language has them, see BindAnyOf
}

// AllTerms returns the terms of a condition and of its alternatives.
func (c Condition) AllTerms() []Term {
	all := c.Terms
	for _, alternative := range c.Any {
		for _, one := range alternative {
			all = append(all[:len(all):len(all)], one.AllTerms()...)
		}
	}
	return all
}

// Key selects members by name. Exactly one of its fields is set.
type Key struct {
	Name    string         // the exact name
	Pattern *pattern.Regex // selects the names in which it is found
}

// Term tests the values at one source. It holds when any of them passes.
type Term struct {
	Source catalog.Source
	Key    *Key // for catalog.Pairs, the names to test; nil for all
	Fold   bool // names compare without regard to ASCII case
	Test   Test
}

// Test is a test of one value: BoolIs, TextIn, IntIn, IntRange, NumberRange, Matches, NetworkIn, InList, RefIn or, in
// groups, PairIn.
type Test interface{ test() }

// BoolIs holds for the boolean Want.
type BoolIs struct{ Want bool }

// TextIn holds for any of the texts. An empty list holds for nothing.
type TextIn struct{ Values []string }

// IntIn holds for any of the integers. The value may be an integer, microseconds, or a boolean counted as 1 or 0.
type IntIn struct{ Values []int64 }

// IntRange holds between the bounds, both included; a nil bound is unlimited. The operators gt and lt are bound to the
// next integer, so there are no strict bounds. A range with Min above Max holds for nothing.
type IntRange struct{ Min, Max *int64 }

// Bounds returns the least and the greatest integer for which r holds.
func (r IntRange) Bounds() (least, most int64) {
	least, most = math.MinInt64, math.MaxInt64
	if r.Min != nil {
		least = *r.Min
	}
	if r.Max != nil {
		most = *r.Max
	}
	return least, most
}

// NumberRange holds for a text that is a number (see catalog.NumericText) between the bounds.
type NumberRange struct {
	Min, Max         *float64
	MinOpen, MaxOpen bool // the bound itself is excluded
}

// Matches holds for a text in which any of the patterns is found.
type Matches struct{ Patterns []*pattern.Regex }

func (BoolIs) test()      {}
func (TextIn) test()      {}
func (IntIn) test()       {}
func (IntRange) test()    {}
func (NumberRange) test() {}
func (Matches) test()     {}
