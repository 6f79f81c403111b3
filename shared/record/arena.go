package record

import (
	"hash/maphash"
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
)

const (
	chunkBytes  = 64 << 10
	chunkItems  = 1 << 10
	internSlots = 1 << 14
	internLimit = 256 // longer strings seldom repeat
	// internLife is after how many records the interned strings are forgotten, and internBytes after how many bytes of
	// text: each keeps its whole chunk alive, and what the others in it point to.
	internLife  = 1 << 16
	internBytes = 32 << 20
	// aloneBytes is from which length on a text shares no chunk: one interned neighbour would keep it alive.
	aloneBytes = 1 << 10
)

// arena hands out memory in chunks and never takes it back, so rows stay valid as long as somebody holds them.
// Strings seen lately are handed out again: most values of a log repeat, and equal values then share memory.
// What it hands out is shared between rows and must not be written to.
type arena struct {
	bytes    []byte
	strings  []string
	integers []int64
	pairs    []lake.Pair
	origins  []lake.Upstream
	counters []lake.TriggerCounters
	configs  []lake.SecurityConfig

	seed     maphash.Seed
	interned [internSlots]interned
	records  int
	copied   int // bytes of text since the interned strings were forgotten
}

// interned is a string handed out, and where it lies: looked at far more often than given away.
type interned struct {
	text string
	at   *string
}

func (a *arena) init() { a.seed = maphash.MakeSeed() }

// record is called once a record.
func (a *arena) record() {
	if a.records++; a.records == internLife || a.copied > internBytes {
		a.records, a.copied = 0, 0
		clear(a.interned[:])
	}
}

// intern returns a string equal to b, an earlier one if it can.
func (a *arena) intern(b []byte) *string {
	if len(b) > internLimit {
		return a.text(b)
	}
	slot := &a.interned[maphash.Bytes(a.seed, b)%internSlots]
	if slot.at == nil || slot.text != string(b) {
		slot.at = a.text(b)
		slot.text = *slot.at
	}
	return slot.at
}

// text copies b.
func (a *arena) text(b []byte) *string {
	if len(b) > aloneBytes {
		alone := string(b)
		return &alone
	}
	p := one(&a.strings)
	*p = a.copy(b)
	return p
}

func (a *arena) copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > aloneBytes {
		return string(b)
	}
	a.copied += len(b)
	if cap(a.bytes)-len(a.bytes) < len(b) {
		a.bytes = make([]byte, 0, chunkBytes)
	}
	from := len(a.bytes)
	a.bytes = append(a.bytes, b...)
	return unsafe.String(&a.bytes[from], len(b)) // these bytes are never written again
}

// smallInts are the integers that records are full of: statuses and counters.
var smallInts = func() (ints [1024]int64) {
	for i := range ints {
		ints[i] = int64(i)
	}
	return ints
}()

func (a *arena) int(v int64) *int64 {
	if v >= 0 && v < int64(len(smallInts)) {
		return &smallInts[v]
	}
	p := one(&a.integers)
	*p = v
	return p
}

var (
	yes = true
	no  = false
)

func boolean(v bool) *bool {
	if v {
		return &yes
	}
	return &no
}

// keep copies items to the end of a chunk; the result is never nil, because an empty list is not an absent one.
func keep[T any](chunk *[]T, items []T) []T {
	if len(items) == 0 {
		return []T{}
	}
	*chunk = grown(*chunk, len(items))
	from := len(*chunk)
	*chunk = append(*chunk, items...)
	return (*chunk)[from:len(*chunk):len(*chunk)]
}

// emptied is an empty set, the same one unless it has grown large: emptying a large one takes as long as filling it.
func emptied(set map[string]struct{}) map[string]struct{} {
	if len(set) > chunkItems {
		return map[string]struct{}{}
	}
	clear(set)
	return set
}

// one is a new zero item at the end of a chunk.
func one[T any](chunk *[]T) *T {
	*chunk = grown(*chunk, 1)
	*chunk = (*chunk)[:len(*chunk)+1]
	return &(*chunk)[len(*chunk)-1]
}

// grown returns a chunk with room for n more items: the same one or a new one.
func grown[T any](chunk []T, n int) []T {
	if cap(chunk)-len(chunk) >= n {
		return chunk
	}
	return make([]T, 0, max(chunkItems, n))
}
