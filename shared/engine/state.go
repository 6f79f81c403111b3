package engine

import (
	"context"

	"github.com/orrery/orrery/shared/lake"
)

// State is what engines over object storage must know of the lake besides its tables.
type State struct {
	Extent    lake.Extent    // the time all published objects cover
	Watermark lake.Partition // hours before it are read from the compacted table, from it on from the fresh one
	Version   int64          // every publication raises it: equal versions, equal data
}

// States tells the state of the lake at this moment. An answer may be some seconds old: what compaction
// supersedes is kept for longer than that.
type States interface {
	State(ctx context.Context) (State, error)
}
