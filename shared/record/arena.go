package record

import (
	"hash/maphash"

	"github.com/orrery/orrery/shared/lake"
)

const (
	chunkItems  = 1 << 10
	internSlots = 1 << 14
	internLimit = 256 // the length of the longest string that is interned, in bytes; longer ones seldom repeat

	// The interned strings are dropped after internRecords records or internBytes bytes of text, whichever comes first.
	// An interned string keeps its whole chunk alive, and all that the other items of the chunk refer to.
	internRecords = 1 << 16
	internBytes   = 32 << 20
)

// arena allocates the values of rows. It interns recent strings: most values of a log repeat, and equal values share
// memory.
type arena struct {
	lake.Arena
	strings  []string // of lists
	integers []int64  // of lists
	pairs    []lake.Pair
	origins  []lake.Upstream
	counters []lake.TriggerCounters
	configs  []lake.SecurityConfig

	seed        maphash.Seed
	internTable [internSlots]internSlot
	records     int // records since the interned strings were dropped
}

// internSlot is a slot of the intern table. text is a copy of *at, because text is compared far more often than at is
// returned.
type internSlot struct {
	text string
	at   *string
}

func (a *arena) init() { a.Items, a.seed = chunkItems, maphash.MakeSeed() }

// record counts a record and drops the interned strings when they are due. Call it once for each record.
func (a *arena) record() {
	if a.records++; a.records == internRecords || a.Copied > internBytes {
		a.records, a.Copied = 0, 0
		clear(a.internTable[:])
	}
}

// intern returns a string equal to b. If possible, it returns an earlier one.
func (a *arena) intern(b []byte) *string {
	if len(b) > internLimit {
		return a.Text(b)
	}
	slot := &a.internTable[maphash.Bytes(a.seed, b)%internSlots]
	if slot.at == nil || slot.text != string(b) {
		slot.at = a.Text(b)
		slot.text = *slot.at
	}
	return slot.at
}

var (
	trueValue  = true
	falseValue = false
)

func boolean(v bool) *bool {
	if v {
		return &trueValue
	}
	return &falseValue
}

// keep copies items to the end of a chunk and returns the copy. It is never nil, because an empty list differs from an
// absent one.
func keep[T any](chunk *[]T, items []T) []T {
	if len(items) == 0 {
		return []T{}
	}
	*chunk = grow(*chunk, len(items))
	from := len(*chunk)
	*chunk = append(*chunk, items...)
	return (*chunk)[from:len(*chunk):len(*chunk)]
}

// emptySet returns an empty set: set itself, or a new one if set is large, because clearing a set takes as long as
// filling it.
func emptySet(set map[string]struct{}) map[string]struct{} {
	if len(set) > chunkItems {
		return map[string]struct{}{}
	}
	clear(set)
	return set
}

// add appends a zero item to a chunk and returns a pointer to it.
func add[T any](chunk *[]T) *T {
	*chunk = grow(*chunk, 1)
	*chunk = (*chunk)[:len(*chunk)+1]
	return &(*chunk)[len(*chunk)-1]
}

// grow returns a chunk with capacity for n more items: chunk itself or a new one.
func grow[T any](chunk []T, n int) []T {
	if cap(chunk)-len(chunk) >= n {
		return chunk
	}
	return make([]T, 0, max(chunkItems, n))
}
