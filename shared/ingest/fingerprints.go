package ingest

import (
	"encoding/binary"
	"slices"

	"github.com/orrery/orrery/shared/lake"
)

// Fingerprint is a hash of a record. About one of sixteen records has one, the same ones in every log. Imports that
// cannot read the objects of the lake notice parts and copies of imported logs by fingerprints.
type Fingerprint uint64

// FingerprintSlot is the number of a period of five minutes since 1970.
type FingerprintSlot int64

const (
	fingerprintSlotMs = 5 * 60 * 1000
	// fingerprintsOneOf is the number of records of which one has a fingerprint.
	fingerprintsOneOf = 16
	// maxFingerprintSlots is the maximum number of slots of an import with fingerprints. The records in later ones have
	// none.
	maxFingerprintSlots = 1000
	// maxFingerprints is the maximum number of fingerprints of an import in a slot.
	maxFingerprints = 20_000
	// maxLookedUp is the maximum number of slots in which the first records of a log are looked for.
	maxLookedUp = 12
	// overlapLeastFingerprints is the number of fingerprints from which more than half of them are more than chance.
	overlapLeastFingerprints = 10
)

// FingerprintLookup returns which of some fingerprints other sources than the given one have in some slots, by source,
// as often as they have them. With an error, it may return a part of them.
type FingerprintLookup func(
	source string, slots []FingerprintSlot, fingerprints []Fingerprint,
) (map[string][]Fingerprint, error)

// fingerprints are the fingerprints of the new records of a log.
type fingerprints struct {
	known FingerprintLookup // nil: records have no fingerprints
	fresh bool              // the log is a new source
	rows  int               // seen so far, up to overlapRecords
	first []Fingerprint     // of the first records
	where []FingerprintSlot // in which the first fingerprints are
	slots map[FingerprintSlot][]Fingerprint
}

// add adds the records of a batch.
func (f *fingerprints) add(rows []lake.Row) {
	if f.known == nil {
		return
	}
	for i := range rows {
		early := f.rows < overlapRecords
		if early {
			f.rows++
		}
		if !hasFingerprint(&rows[i]) {
			continue
		}
		slot := FingerprintSlot(rows[i].TsMs / fingerprintSlotMs)
		list, known := f.slots[slot]
		if !known && len(f.slots) == maxFingerprintSlots || len(list) == maxFingerprints {
			continue
		}
		id := identity(&rows[i])
		fingerprint := Fingerprint(binary.BigEndian.Uint64(id[:]))
		f.slots[slot] = append(list, fingerprint)
		if !early || !f.fresh {
			continue
		}
		if !slices.Contains(f.where, slot) {
			if len(f.where) == maxLookedUp {
				continue
			}
			f.where = append(f.where, slot)
		}
		f.first = append(f.first, fingerprint)
	}
}

// hasFingerprint reports whether a record has a fingerprint. It depends on what identity depends on, and is much
// faster.
func hasFingerprint(r *lake.Row) bool {
	h := uint64(r.TsMs) * 0x9e3779b97f4a7c15
	for _, n := range []*int64{&r.TsNanos, r.Status, r.BytesSent, r.TotalUs} {
		if n != nil {
			h ^= uint64(*n)
		}
		h = (h ^ h>>32) * 0xd6e8feb86659fd93
	}
	return (h^h>>32)%fingerprintsOneOf == 0
}

// lookFor counts which fingerprints of the first records other sources have. If it cannot find out, the report has the
// reason, because the log can be imported all the same.
func (f *fingerprints) lookFor(source string, report *Report) {
	if len(f.first) == 0 {
		return
	}
	found, err := f.known(source, f.where, f.first)
	holders := map[Fingerprint][]string{} // a source for each equal record
	for id, list := range found {
		for _, fingerprint := range list {
			holders[fingerprint] = append(holders[fingerprint], id)
		}
	}
	seen := map[string]int{}
	report.Judged, report.Sampled = len(f.first), true
	for _, fingerprint := range f.first {
		if of := holders[fingerprint]; len(of) > 0 {
			report.Seen++
			seen[of[0]]++
			holders[fingerprint] = of[1:]
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
