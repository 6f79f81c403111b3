package engine

import (
	"context"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// State is the information about the lake that engines over object storage need besides the tables.
type State struct {
	Extent    lake.Extent    // the period that all published objects cover
	Watermark lake.Partition // earlier hours are read from the compacted table, this and later ones from the fresh one
	Version   int64          // every publication increases it; equal versions mean equal data
	Lost      []LostObject   // objects that were set aside because they are damaged, even if they were rebuilt recently

	// Days are the versions of days. If they are zero, every day has the version of the lake.
	Days lake.DayVersions

	// CompleteThrough is a time such that every log that was handed in before it is completely in the data, or was
	// refused. It is zero if no such time is known.
	CompleteThrough time.Time
}

// LostObject is an object that was set aside because it is damaged. Answers about its hour lack its rows.
type LostObject struct {
	Name      string // lake.NameOf
	Partition lake.Partition
	Rebuilt   time.Time // when queries could read its rows again; zero if they cannot
	Reason    string    // why it cannot be rebuilt; "" if that has not been tried
}

// VersionOf returns the version of the days that q reads, which need not be clamped to the data. As long as it is the
// same, these days have the same records. Publications of other days do not change it.
func (s State) VersionOf(q query.Query) int64 {
	version, reads := int64(0), false
	for _, span := range q.Clamp(s.Extent).Spans() {
		if !span.Empty() {
			reads = true
			version = max(version, s.versionOf(lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs)))
		}
	}
	if !reads {
		return s.Version
	}
	return version
}

// VersionOfDay returns a version of the lake since which the objects of a day are the same.
func (s State) VersionOfDay(d lake.Day) int64 { return s.versionOf(d.First(), (d+1).First()-1) }

func (s State) versionOf(first, last lake.Partition) int64 {
	if s.Days.IsZero() {
		return s.Version
	}
	return s.Days.Of(first, last)
}

// rebuiltSkew is the largest assumed difference between the clocks of compaction and of an engine.
const rebuiltSkew = time.Minute

// Skipped returns the names of the lost objects of the hours that q covers, for Cost.Skipped. began is when q began to
// read: objects that were rebuilt later count as lost. An engine must read the state after its query: the query may
// have read objects after one of them was removed, which is at least StateAge after the state lists it.
func (s State) Skipped(q query.Query, began time.Time) []string {
	var names []string
	reach := q.TimeBounds()
	for _, o := range s.Lost {
		if !o.Rebuilt.IsZero() && o.Rebuilt.Before(began.Add(-rebuiltSkew)) {
			continue
		}
		if reach.Touches(o.Partition.Start(), (o.Partition+1).Start()-1) {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names) // a rebuilt object may be lost again
}

// When the watermark has passed an hour, the hour's fresh objects are superseded. Some time later they are removed.
// A query that still reads them then lacks their rows, without an error. Therefore
//
//	time from reading the state to the end of the execution that uses it < KeepSuperseded
//
// must hold for every answer that is accepted. LongestExecution is the largest part of the left side. The remaining
// hour covers the rest: the age of a state (seconds), the start of an execution (a minute), differences between clocks,
// and the time from the moment that compaction records for a move of the watermark until it has written the move (15
// minutes, the longest that its function runs).
const (
	// KeepSuperseded is how long superseded objects are kept after the watermark has moved.
	KeepSuperseded = 6 * time.Hour
	// LongestExecution is the longest time that an execution may take, including its time in the queue. The result of
	// a longer one is accepted only if the watermark has not moved meanwhile.
	LongestExecution = KeepSuperseded - time.Hour
)

// StateAge is the maximum age of a state that States returns.
const StateAge = 5 * time.Second

// States reads the current state of the lake. The state is at most StateAge old.
type States interface {
	State(ctx context.Context) (State, error)
}
