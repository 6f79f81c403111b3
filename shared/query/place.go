package query

import (
	"cmp"
	"fmt"

	"github.com/orrery/orrery/shared/lake"
)

// Place is a place in the total order of records. Every record has its own place.
type Place struct {
	TsMs, TsNanos int64
	Source        string
	Line          int64
}

// PlaceOf returns the place of a record.
func PlaceOf(r *lake.Row) Place {
	return Place{TsMs: r.TsMs, TsNanos: r.TsNanos, Source: r.Source, Line: r.Line}
}

// Compare returns a negative number if p is older than o, a positive number if it is newer, and 0 if they are equal.
func (p Place) Compare(o Place) int {
	return cmp.Or(
		cmp.Compare(p.TsMs, o.TsMs),
		cmp.Compare(p.TsNanos, o.TsNanos),
		cmp.Compare(p.Source, o.Source),
		cmp.Compare(p.Line, o.Line),
	)
}

// String returns a text that is different for every place.
func (p Place) String() string {
	return fmt.Sprintf("%d.%06d %q line %d", p.TsMs, p.TsNanos, p.Source, p.Line)
}

// Between reports whether the shape accepts a record at place p: whether p is older than OlderThan and newer than
// NewerThan.
func (s Logs) Between(p Place) bool {
	return (s.OlderThan == nil || p.Compare(*s.OlderThan) < 0) && (s.NewerThan == nil || p.Compare(*s.NewerThan) > 0)
}

// bounded reports whether the shape accepts only a part of the records.
func (s Logs) bounded() bool { return s.OlderThan != nil || s.NewerThan != nil }

// within returns the part of the period in which there can be records that the shape accepts.
func (s Logs) within(p Period) Period {
	if s.OlderThan != nil {
		p.ToMs = min(p.ToMs, s.OlderThan.TsMs)
	}
	if s.NewerThan != nil {
		p.FromMs = max(p.FromMs, s.NewerThan.TsMs)
	}
	return p
}
