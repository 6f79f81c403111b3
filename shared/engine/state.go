package engine

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// State is what engines over object storage must know of the lake besides its tables.
type State struct {
	Extent    lake.Extent    // the time all published objects cover
	Watermark lake.Partition // hours before it are read from the compacted table, from it on from the fresh one
	Version   int64          // every publication raises it: equal versions, equal data
}

// Once the watermark has passed an hour, the hour's fresh objects are superseded, and some time later they are removed.
// A query that still reads them then lacks their rows, without an error. Therefore
//
//	from reading the state to the end of the execution that reads by it < KeepSuperseded
//
// holds for every answer that is taken. LongestExecution is the largest part of the left side. The hour to spare covers
// the rest: the age of a state (seconds), beginning an execution (a minute), the time that compaction may take to write
// a move of the watermark which it has dated already (15 minutes, as long as its function runs), and clocks that differ.
const (
	// KeepSuperseded is how long superseded objects stay after the watermark has moved.
	KeepSuperseded = 6 * time.Hour
	// LongestExecution is the longest an execution may take, its queue included. One that took longer is trusted only if
	// the watermark has not moved meanwhile.
	LongestExecution = KeepSuperseded - time.Hour
)

// States returns the state of the lake at this moment. It may be some seconds old.
type States interface {
	State(ctx context.Context) (State, error)
}
