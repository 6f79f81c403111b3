package ledger

import "time"

// Summary sums up the imports of a ledger, without those of forgotten sources.
type Summary struct {
	Latest    Import // Source is "" if there is no import
	Rejected  int64  // lines that are not records, without those that were imported again and are records now
	Rejecting Import // the latest import with such lines; Source is "" if there is none
}

// Import names an import.
type Import struct {
	Source     string
	Generation int
	Name       string // of the input
	At         time.Time
}
