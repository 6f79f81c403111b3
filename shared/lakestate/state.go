// Package lakestate has what queries must know of a lake in the cloud: the time it covers, its watermark and its version.
// Imports and compactions change the state, package ingest/cloud; the port Table keeps it, and their ledger.
package lakestate

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// State is the one item that says what is true of the lake. Whoever changes it names the revision that was read, so that
// its changes follow one another.
type State struct {
	// Watermark: readers take the hours before it from the compact prefix, the others from the fresh one.
	Watermark lake.Partition `json:"watermark"`
	// Closed is at or after the watermark: imports put the hours before it under the compact prefix, the others under
	// the fresh one. Between the two lie the hours that are being compacted.
	Closed lake.Partition `json:"closed"`
	// Version is raised by whatever changes what readers see.
	Version int64       `json:"version"`
	Extent  lake.Extent `json:"extent"`
	// Open are the imports that are committed, but whose objects may not all be where readers look.
	Open map[string]Open `json:"open,omitempty"`
	// Moves are the recent moves of the watermark: what they superseded is still there.
	Moves []Move `json:"moves,omitempty"`
}

// Open is a committed import that is to be published.
type Open struct {
	Family   string         `json:"family"`
	Attempt  string         `json:"attempt"`        // names its staged objects
	Boundary lake.Partition `json:"boundary"`       // Closed when it was committed: tells where its hours go
	Late     lake.Partition `json:"late,omitempty"` // readers see all of it when the watermark is here; 0 when they do anyway
	Extent   lake.Extent    `json:"extent"`
}

// Move is a move of the watermark, or several within a short time.
type Move struct {
	To    lake.Partition `json:"to"`
	First time.Time      `json:"first"`
	Last  time.Time      `json:"last"`
}

var stateKey = Key{Partition: "lake", Sort: "state"}

// Load reads the state, and the item that it stands in. A lake in which nothing has happened has the zero state.
func Load(ctx context.Context, table Table) (State, Item, error) {
	var s State
	item, err := table.Get(ctx, stateKey)
	if err == nil {
		err = item.Read(&s)
	}
	if err != nil {
		return State{}, Item{}, fmt.Errorf("load state of the lake: %w", err)
	}
	return s, item, nil
}
