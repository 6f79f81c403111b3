package lakestate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
)

// suspects is the partition of the table with the suspects. Functions that query may write nothing else.
const (
	suspects      = "suspects"
	suspectObject = "object#" // and the name of an object
	suspectHours  = "hours#"  // and the first and the last hour
)

// Suspect is an object, or an object of some hours, at which a query has failed.
type Suspect struct {
	Object   string         `json:"object,omitempty"` // lake.NameOf; "" if it is one of the objects of the hours
	From     lake.Partition `json:"from"`
	To       lake.Partition `json:"to"` // included
	At       time.Time      `json:"at"`
	Reason   string         `json:"reason"`
	Examined time.Time      `json:"examined,omitzero"` // when compaction examined it; zero if it has not
	Reached  string         `json:"reached,omitempty"` // the last object examined, if the time was up after it
}

// DamageReports keeps suspects in a table, where compaction finds them.
type DamageReports struct {
	table Table
	now   func() time.Time
}

var _ engine.DamageReports = (*DamageReports)(nil)

// NewDamageReports returns DamageReports that write to a table.
func NewDamageReports(table Table, now func() time.Time) *DamageReports {
	return &DamageReports{table, now}
}

// maxReason is the number of bytes of an engine's message that a suspect keeps.
const maxReason = 1000

// maxHours is the maximum number of hours of a suspect without a name. Compaction examines all of their objects.
const maxHours = 48

// Report writes a suspect, unless the table has it already and compaction has not examined it yet. It ignores an object
// without a name in a period that is too long.
func (s *DamageReports) Report(ctx context.Context, e *engine.DamageError) error {
	if e.To-e.From >= maxHours {
		return nil
	}
	key := Key{Partition: suspects, Sort: suspectObject + e.Object}
	if e.Object == "" {
		key.Sort = suspectHours + e.From.String() + "#" + e.To.String()
	}
	earlier, item, err := Get[Suspect](ctx, s.table, key)
	if err != nil {
		return fmt.Errorf("report suspect: %w", err)
	}
	if item.Revision > 0 && earlier.Examined.IsZero() {
		return nil
	}
	reason := e.Error()
	err = Replace(ctx, s.table, item, Suspect{
		Object: e.Object, From: e.From, To: e.To, At: s.now().UTC(), Reason: reason[:min(len(reason), maxReason)],
	})
	if err != nil && !errors.Is(err, ErrConflict) { // after a conflict another caller has reported it
		return fmt.Errorf("report suspect: %w", err)
	}
	return nil
}

// SuspectItem is a suspect with its item.
type SuspectItem struct {
	Suspect
	item Item
}

// ListSuspects returns the suspects that compaction has not examined, first the named objects.
func ListSuspects(ctx context.Context, table Table) ([]SuspectItem, error) {
	var list []SuspectItem
	for _, prefix := range []string{suspectObject, suspectHours} {
		items, err := table.List(ctx, suspects, prefix)
		if err != nil {
			return nil, fmt.Errorf("list suspects: %w", err)
		}
		for _, item := range items {
			s := SuspectItem{item: item}
			if err := item.Read(&s.Suspect); err != nil {
				return nil, err
			}
			if s.Examined.IsZero() {
				list = append(list, s)
			}
		}
	}
	return list, nil
}

// MarkExamined records that a suspect has been examined.
func MarkExamined(ctx context.Context, table Table, s SuspectItem, at time.Time) error {
	s.Examined, s.Reached = at.UTC(), ""
	return mark(ctx, table, s)
}

// MarkReached records up to which of its objects a suspect has been examined.
func MarkReached(ctx context.Context, table Table, s SuspectItem, name string) error {
	s.Reached = name
	return mark(ctx, table, s)
}

func mark(ctx context.Context, table Table, s SuspectItem) error {
	err := Replace(ctx, table, s.item, s.Suspect)
	if err != nil && !errors.Is(err, ErrConflict) { // after a conflict another compaction has examined it
		return fmt.Errorf("mark suspect as examined: %w", err)
	}
	return nil
}
