// Package rollup defines what is kept of whole days, and of large objects, so that questions about long periods need
// not read the objects. A rollup is never needed: if it is missing, damaged, of another version or of other objects,
// the records are counted.
package rollup

import (
	"math"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Hour, DayLength and WeekLength are in seconds.
const (
	Hour       = 3600
	DayLength  = 24 * Hour
	WeekLength = 7 * DayLength
)

// Lengths are the lengths of the segments of which a rollup has timeline figures, in seconds. Segments begin at their
// multiples in UTC.
var Lengths = []int64{Hour, 6 * Hour, DayLength}

// Day holds figures of all records of a day in UTC, or of a subset of them, or of an object of an hour. That of a week
// has lists only, and one segment with the number of its requests.
type Day struct {
	Start     int64      // of the day, of the hour or of the week, in Unix seconds
	Subset    Subset     // whose records are counted
	Divisions []Division // of a day or week as a whole, in the order of SubsetFields; none: nobody looked for subsets
	Objects   []Object   // that have the records, in the order of their names
	Hosts     []Host     // of each hour
	Segments  []Segment  // of each length

	HashID   uint64    // of the HashKey of the lists
	Sections []Section // of the lists: Values and Keys
	Bytes    int       // of all but the sections, once it is encoded
}

// Object identifies an object whose records are in a rollup.
type Object struct {
	Name             string // lake.NameOf
	Bytes, Rows      int64
	MinTsMs, MaxTsMs int64
}

// ObjectOf returns what identifies an object.
func ObjectOf(o lake.Object) Object {
	return Object{Name: lake.NameOf(o.Path), Bytes: o.Bytes, Rows: o.Rows, MinTsMs: o.MinTsMs, MaxTsMs: o.MaxTsMs}
}

// Sum is a sum of 128 bits: High·2⁶⁴ + Low.
type Sum struct {
	High int64
	Low  uint64
}

// Host holds the traffic of a host in an hour, as stats have it.
type Host struct {
	Hour              int64 // its start in Unix seconds
	Name              string
	Named             bool // false: the requests without a host
	Requests, Timed   int64
	Bandwidth, TimeUs Sum // bytes, microseconds
}

// Segment holds the figures of a segment, as a timeline has them.
type Segment struct {
	Start, Seconds                                      int64
	Requests, Blocked, Challenges, Human, OriginBlocked int64
	IPs, Sessions                                       int64 // different ones
	BytesSent                                           Sum
	Statuses, Origins                                   []query.StatusCount
}

// Requests returns the number of records of the day.
func (d *Day) Requests() (n int64) {
	for _, s := range d.Segments {
		if s.Seconds == Hour || s.Seconds == WeekLength {
			n += s.Requests
		}
	}
	return n
}

// Times returns the times of the first and of the last record, in Unix milliseconds. A day without records has none.
func (d *Day) Times() (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for _, o := range d.Objects {
		if o.Rows > 0 {
			first, last = min(first, o.MinTsMs), max(last, o.MaxTsMs)
		}
	}
	return first, last
}

// Memory returns about how many bytes the rollup takes in memory.
func (d *Day) Memory() int64 {
	const perObject, perHost, perSegment, perStatus, perSection = 128, 104, 144, 16, 80
	bytes := perObject*len(d.Objects) + perHost*len(d.Hosts) + perSegment*len(d.Segments) +
		perSection*len(d.Sections)
	for _, of := range d.Divisions {
		bytes += perSection * len(of.Subsets)
	}
	for i := range d.Segments {
		bytes += perStatus * (len(d.Segments[i].Statuses) + len(d.Segments[i].Origins))
	}
	return int64(bytes)
}

// StartOf returns the start of the day of an instant, in Unix seconds.
func StartOf(tsMs int64) int64 { return query.SegmentStart(tsMs, DayLength) }

// WeekOf returns the start of the week of a day, in Unix seconds. Weeks begin on Monday in UTC.
func WeekOf(day int64) int64 {
	const monday = 4 * DayLength // the first one after 1970-01-01
	return query.SegmentStart((day-monday)*1000, WeekLength) + monday
}
