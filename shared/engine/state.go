package engine

import (
	"context"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// State is the information about the lake that engines over object storage need besides the tables.
type State struct {
	Extent    lake.Extent    // the period that all published objects cover
	Watermark lake.Partition // earlier hours are read from the compacted table, this and later ones from the fresh one
	Version   int64          // every publication increases it; equal versions mean equal data
}

// When the watermark has passed an hour, the hour's fresh objects are superseded. Some time later they are removed.
// A query that still reads them then lacks their rows, without an error. Therefore
//
//	time from reading the state to the end of the execution that uses it < KeepSuperseded
//
// must hold for every answer that is accepted. LongestExecution is the largest part of the left side. The remaining
// hour covers the rest: the age of a state (seconds), the start of an execution (a minute), the time between the moment
// that compaction records for a move of the watermark and its write of the move (15 minutes, the longest that its
// function runs), and differences between clocks.
const (
	// KeepSuperseded is how long superseded objects are kept after the watermark has moved.
	KeepSuperseded = 6 * time.Hour
	// LongestExecution is the longest time that an execution may take, including its time in the queue. The result of
	// a longer one is accepted only if the watermark has not moved meanwhile.
	LongestExecution = KeepSuperseded - time.Hour
)

// States reads the current state of the lake. The state may be some seconds old.
type States interface {
	State(ctx context.Context) (State, error)
}
