package ingest

import (
	"encoding/binary"
	"slices"

	"github.com/orrery/orrery/shared/lake"
)

// Mark is a hash of a record. About one of sixteen records has one, the same ones in every log. Imports that cannot read
// the objects of the lake notice parts and copies of imported logs by marks.
type Mark uint64

// MarkSlot is the number of a period of five minutes since 1970.
type MarkSlot int64

const (
	markSlotMs = 5 * 60 * 1000
	// marksOneOf is the number of records of which one has a mark.
	marksOneOf = 16
	// maxMarkSlots is the maximum number of slots of an import with marks. The records in later ones have none.
	maxMarkSlots = 1000
	// maxMarks is the maximum number of marks of an import in a slot.
	maxMarks = 20_000
	// maxLookedUp is the maximum number of slots in which the first records of a log are looked for.
	maxLookedUp = 12
	// overlapLeastMarks is the number of marks from which more than half of them are more than chance.
	overlapLeastMarks = 10
)

// LookUpMarks returns which of some marks other sources than the given one have in some slots, by source, as often as they
// have them. With an error, it may return a part of them.
type LookUpMarks func(source string, slots []MarkSlot, marks []Mark) (map[string][]Mark, error)

// marks are the marks of the new records of a log.
type marks struct {
	known LookUpMarks // nil: records have no marks
	fresh bool        // the log is a new source
	rows  int         // seen so far, up to overlapRecords
	first []Mark      // of the first records
	where []MarkSlot  // in which the first marks are
	slots map[MarkSlot][]Mark
}

// add adds the records of a batch.
func (m *marks) add(rows []lake.Row) {
	if m.known == nil {
		return
	}
	for i := range rows {
		early := m.rows < overlapRecords
		if early {
			m.rows++
		}
		if !isMarked(&rows[i]) {
			continue
		}
		slot := MarkSlot(rows[i].TsMs / markSlotMs)
		list, known := m.slots[slot]
		if !known && len(m.slots) == maxMarkSlots || len(list) == maxMarks {
			continue
		}
		id := identity(&rows[i])
		mark := Mark(binary.BigEndian.Uint64(id[:]))
		m.slots[slot] = append(list, mark)
		if !early || !m.fresh {
			continue
		}
		if !slices.Contains(m.where, slot) {
			if len(m.where) == maxLookedUp {
				continue
			}
			m.where = append(m.where, slot)
		}
		m.first = append(m.first, mark)
	}
}

// isMarked reports whether a record has a mark. It depends on what identity depends on, and is much faster.
func isMarked(r *lake.Row) bool {
	h := uint64(r.TsMs) * 0x9e3779b97f4a7c15
	for _, n := range []*int64{&r.TsNanos, r.Status, r.BytesSent, r.TotalUs} {
		if n != nil {
			h ^= uint64(*n)
		}
		h = (h ^ h>>32) * 0xd6e8feb86659fd93
	}
	return (h^h>>32)%marksOneOf == 0
}

// lookFor counts which marks of the first records other sources have. If it cannot find out, the report has the reason,
// because the log can be imported all the same.
func (m *marks) lookFor(source string, report *Report) {
	if len(m.first) == 0 {
		return
	}
	found, err := m.known(source, m.where, m.first)
	holders := map[Mark][]string{} // a source for each equal record
	for id, list := range found {
		for _, mark := range list {
			holders[mark] = append(holders[mark], id)
		}
	}
	seen := map[string]int{}
	report.Judged, report.Sampled = len(m.first), true
	for _, mark := range m.first {
		if of := holders[mark]; len(of) > 0 {
			report.Seen++
			seen[of[0]]++
			holders[mark] = of[1:]
		}
	}
	report.SeenIn = mostFrequent(seen)
	if err != nil && !report.Overlaps() {
		report.Unchecked = err.Error()
		report.Judged, report.Seen, report.SeenIn = 0, 0, ""
	}
}

// mostFrequent returns the source with the largest number, or "".
func mostFrequent(numbers map[string]int) (source string) {
	for id, n := range numbers {
		if n > numbers[source] || n == numbers[source] && id < source {
			source = id
		}
	}
	return source
}
