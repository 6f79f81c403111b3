// Package lakestate has the state of a lake in the cloud that queries need: the time that it covers, its watermark and
// its version. The imports and compactions of package ingest/cloud change the state. A Table stores it together with
// their ledger.
package lakestate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/lake"
)

// State is the state of the lake, which is one item of the table. Every change names the revision that it was based on,
// so that no change is lost.
type State struct {
	// Watermark is the first hour that readers read from the fresh prefix. They read the hours before it from the
	// compact prefix.
	Watermark lake.Partition `json:"watermark"`
	// Closed is the first hour that imports write under the fresh prefix. They write the hours before it under the
	// compact prefix. It is never before the watermark. The hours from the watermark to Closed are being compacted.
	Closed lake.Partition `json:"closed"`
	// Version increases with every change that readers can see. Changed and ChangedAll increase it.
	Version int64 `json:"version"`
	// Days are the versions of days. They are zero if an earlier version of the program has written the state last, which
	// leaves them out. Then every day has the version of the lake.
	Days   lake.DayVersions `json:"days,omitzero"`
	Extent lake.Extent      `json:"extent"`
	// Open holds the committed imports that are not completely visible to readers yet, by <source>#<generation>.
	Open map[string]OpenImport `json:"open,omitempty"`
	// Moves lists the recent moves of the watermark. The objects that they superseded still exist.
	Moves []Move `json:"moves,omitempty"`
	// Lost lists the damaged objects that were set aside, also those rebuilt recently. Answers about the hours of the
	// others lack their rows.
	Lost    []LostObject `json:"lost,omitempty"`
	Backlog Backlog      `json:"backlog,omitzero"`
	Imports Imports      `json:"imports,omitzero"`
	// Shrunk is set if objects were removed whose rows the extent still counts. It is reset when they are counted
	// again.
	Shrunk bool `json:"shrunk,omitempty"`
	// Counted is when the rows of the extent were last counted from the objects.
	Counted time.Time `json:"counted,omitzero"`
	// CountBegan is when the latest count began, if it has not succeeded yet.
	CountBegan time.Time `json:"count_began,omitzero"`
}

// LostObject is a damaged object that was set aside.
type LostObject struct {
	Name string         `json:"name"` // lake.NameOf
	Hour lake.Partition `json:"hour"`
	At   time.Time      `json:"at"`
	// Tried is when compaction last tried to rebuild the object and could not. Reason is why, or "" if the time was up.
	Tried  time.Time `json:"tried,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Rebuilt is when readers saw the rows again. The list keeps a rebuilt object as long as queries run that began
	// before.
	Rebuilt time.Time `json:"rebuilt,omitzero"`
}

// Same reports whether both are the same loss of an object.
func (o LostObject) Same(other LostObject) bool { return o.Name == other.Name && o.At.Equal(other.At) }

// HasLost reports whether an object is listed as lost and not as rebuilt.
func (s State) HasLost(name string) bool {
	return slices.ContainsFunc(s.Lost, func(o LostObject) bool { return o.Name == name && o.Rebuilt.IsZero() })
}

// MarkRebuilt records that readers see the rows of a lost object again.
func (s *State) MarkRebuilt(name string, at time.Time) {
	for i := range s.Lost {
		if o := &s.Lost[i]; o.Name == name && o.Rebuilt.IsZero() {
			o.Rebuilt = at.UTC()
			s.Changed(o.Hour.Day())
		}
	}
}

// Changed increases the version because readers see other records of some days, or see them in other objects. Records
// of other days must not have changed.
func (s *State) Changed(days ...lake.Day) {
	if s.Days.IsZero() {
		s.Days.SetAll(s.Version)
	}
	s.Version++
	s.Days.Set(s.Version, days...)
}

// ChangedAll increases the version because records of any days may have changed.
func (s *State) ChangedAll() {
	s.Version++
	s.Days.SetAll(s.Version)
}

// OpenImport is a committed import that has not been published completely, or the rebuilt rows of a lost object.
type OpenImport struct {
	Family  string `json:"family"`
	Attempt string `json:"attempt"` // names its staged objects
	// Boundary is the value of Closed at the commit. It decides under which prefix each hour of the import goes.
	Boundary lake.Partition `json:"boundary"`
	// Late is the watermark at which readers see all of the import, or 0 if it does not depend on the watermark.
	Late   lake.Partition `json:"late,omitempty"`
	Extent lake.Extent    `json:"extent"`
	// Arrived is when the log was put into the raw bucket. It is zero if an earlier version committed the import.
	Arrived time.Time `json:"arrived,omitzero"`
	// Rebuilds is the name of the lost object whose rows these are; "" for an import.
	Rebuilds string `json:"rebuilds,omitempty"`
}

// Move is a move of the watermark, or several within a short time.
type Move struct {
	To    lake.Partition `json:"to"`
	First time.Time      `json:"first"`
	Last  time.Time      `json:"last"`
}

var stateKey = Key{Partition: "lake", Sort: "state"}

// Load reads the state and returns it with its item. A new lake has the zero State.
func Load(ctx context.Context, table Table) (State, Item, error) {
	s, item, err := Get[State](ctx, table, stateKey)
	if err != nil {
		return State{}, Item{}, fmt.Errorf("load state of the lake: %w", err)
	}
	return s, item, nil
}

// NewestAge returns the age of the newest record, which is 0 if the record is from the future. It is meaningless for a
// lake without records.
func (s State) NewestAge(now time.Time) time.Duration {
	return max(0, now.Sub(time.UnixMilli(s.Extent.MaxTsMs)))
}

// Behind returns the time between the first hour that is not compacted and the newest record, or now if that is
// earlier. It grows while compaction does not keep up, but not while no records arrive. It is meaningless for a lake
// without records.
func (s State) Behind(now time.Time) time.Duration {
	from := s.Watermark.Start()
	if s.Watermark == 0 { // nothing has been compacted
		from = s.Extent.MinTsMs
	}
	until := min(s.Extent.MaxTsMs, now.UnixMilli())
	return max(0, time.Duration(until-from)*time.Millisecond)
}
