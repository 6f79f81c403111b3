package cloud

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// state is the one item that says what is true of the lake. Whoever changes it names the revision that was read, so that
// its changes follow one another.
type state struct {
	// Watermark: readers take the hours before it from the compact prefix, the others from the fresh one.
	Watermark lake.Partition `json:"watermark"`
	// Closed is at or after the watermark: imports put the hours before it under the compact prefix, the others under
	// the fresh one. Between the two lie the hours that are being compacted.
	Closed lake.Partition `json:"closed"`
	// Version is raised by whatever changes what readers see.
	Version int64  `json:"version"`
	Extent  extent `json:"extent"`
	// Open are the imports that are committed, but whose objects may not all be where readers look.
	Open map[string]open `json:"open,omitempty"`
	// Moves are the recent moves of the watermark: what they superseded is still there.
	Moves []move `json:"moves,omitempty"`
}

// extent is the time that published objects cover.
type extent struct {
	MinTsMs int64 `json:"min_ts_ms"`
	MaxTsMs int64 `json:"max_ts_ms"`
	Rows    int64 `json:"rows"`
}

// open is a committed import that is to be published.
type open struct {
	Family   string         `json:"family"`
	Attempt  string         `json:"attempt"`        // names its staged objects
	Boundary lake.Partition `json:"boundary"`       // Closed when it was committed: tells where its hours go
	Late     lake.Partition `json:"late,omitempty"` // readers see all of it when the watermark is here; 0 when they do anyway
	Extent   extent         `json:"extent"`
}

// move is a move of the watermark, or several within a short time.
type move struct {
	To    lake.Partition `json:"to"`
	First time.Time      `json:"first"`
	Last  time.Time      `json:"last"`
}

// with is the extent of both.
func (e extent) with(other extent) extent {
	switch {
	case e.Rows == 0:
		return other
	case other.Rows == 0:
		return e
	}
	return extent{MinTsMs: min(e.MinTsMs, other.MinTsMs), MaxTsMs: max(e.MaxTsMs, other.MaxTsMs), Rows: e.Rows + other.Rows}
}

var stateKey = Key{Partition: "lake", Sort: "state"}

// loadState reads the state, and the item that it stands in. A lake in which nothing has happened has the zero state.
func loadState(ctx context.Context, table Table) (state, Item, error) {
	var s state
	item, err := table.Get(ctx, stateKey)
	if err == nil {
		err = item.read(&s)
	}
	if err != nil {
		return state{}, Item{}, fmt.Errorf("load state of the lake: %w", err)
	}
	return s, item, nil
}
