// Package query gives a filter its meaning: names become fields, text becomes typed values, a route becomes
// a shape. A Query is everything an engine needs; it knows neither text nor SQL.
package query

import (
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
)

// Query is one bound question.
type Query struct {
	Period     Period      // the period asked, as in the filter
	Scope      Scope       // what is read: the period clamped to the data, and the compaction watermark
	Conditions []Condition // all must hold; the period is not among them
	Shape      Shape
	Filter     filter.Filter // the canonical filter, period first; filter.Format and FormatJSON print it
}

// Period is a stretch of time, both ends included, in epoch milliseconds.
type Period struct{ FromMs, ToMs int64 }

// Scope is the stretch of time that is read and how far compaction has come.
type Scope struct {
	Period
	// Watermark is the first partition not yet compacted: earlier ones are read from the compacted
	// table, it and later ones from the fresh one.
	Watermark lake.Partition
}

// Shape is what is made of the matching records: Logs, Stats, Timeline or TopX.
type Shape interface{ shape() }

// Logs is the newest matching records.
type Logs struct {
	Limit  int      // 1…2500
	Fields []string // fields to return; nil for all
}

// Stats is traffic figures per segment.
type Stats struct {
	SegmentSeconds  int64
	GroupByHostname bool // one result per segment and hostname
}

// Timeline is security figures per segment.
type Timeline struct {
	SegmentSeconds int64
}

// TopX is the top keys of each of twelve labels.
type TopX struct {
	Limit  int      // keys per label, 1…80
	Labels []string // the labels wanted, some of Labels; nil: all. Engines split a question they are too small for
}

func (Logs) shape()     {}
func (Stats) shape()    {}
func (Timeline) shape() {}
func (TopX) shape()     {}

// Condition holds for a record when any of its terms holds, or, negated, when none does.
// Every condition is two-valued: an absent value satisfies no term.
type Condition struct {
	Field   *catalog.Field
	Key     *Key
	Op      filter.Op // canonical
	Negated bool
	Terms   []Term
}

// Key chooses members by name: exactly one of the two is set.
type Key struct {
	Name    string // the exact name
	Pattern *Regex // searched in the names
}

// Term tests the values at one source. It holds when any of them passes.
type Term struct {
	Source catalog.Source
	Key    *Key // for catalog.Pairs: which names; nil for all
	Fold   bool // names compare without regard to ASCII case
	Test   Test
}

// Test is what is asked of one value: TrueFalse, TextIn, IntIn, IntRange, NumberRange or Matches.
type Test interface{ test() }

// TrueFalse holds for the one boolean.
type TrueFalse struct{ Want bool }

// TextIn holds for any of the texts; for nothing when there are none.
type TextIn struct{ Values []string }

// IntIn holds for any of the integers: integers, microseconds, or a boolean counted as 1 or 0.
type IntIn struct{ Values []int64 }

// IntRange holds between the bounds, both included; a nil bound is open. gt and lt are bound as the next
// integer, so there are no strict bounds. A range whose Min is above its Max holds for nothing.
type IntRange struct{ Min, Max *int64 }

// NumberRange holds for text that reads as a number (catalog.NumericText) between the bounds.
type NumberRange struct {
	Min, Max         *float64
	MinOpen, MaxOpen bool // the bound itself is excluded
}

// Matches holds for text that any of the patterns is found in.
type Matches struct{ Patterns []*Regex }

func (TrueFalse) test()   {}
func (TextIn) test()      {}
func (IntIn) test()       {}
func (IntRange) test()    {}
func (NumberRange) test() {}
func (Matches) test()     {}
