package parquet

import (
	"errors"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// ErrMemory reports that rows would take more memory than the caller allows.
var ErrMemory = errors.New("the rows take too much memory")

// Budget is the memory that rows may take. Several calls may share one.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

func (b *Budget) take(bytes int64) { b.left.Add(-bytes) }

func (b *Budget) exhausted() bool { return b.left.Load() < 0 }

// arena allocates the values of the rows of one call in chunks, which is several times cheaper than one by one. It
// never reuses memory, so rows stay valid as long as they are referenced. Rows share memory, so it must not be
// modified.
type arena struct {
	*Budget
	rows int // that the call reads

	bytes   []byte
	strings []string
	ints    []int64
	items   []itemChunk // by leaf: structs, and elements of lists

	recent [sharedTexts]sharedText // of the column that is being read
}

// itemChunk is room for structs, or for elements of lists.
type itemChunk struct {
	at   unsafe.Pointer // of the first free item
	free int
}

// sharedText is the text of a code of the dictionary. Most columns have few different values.
type sharedText struct {
	code int32
	text *string
}

const (
	sharedTexts = 64
	firstChunk  = 1 << 10 // bytes
	lastChunk   = 64 << 10
	chunkItems  = 512
	// maxShared is the length in bytes of the longest text that shares a chunk with others.
	maxShared = 1 << 10
)

// newArena returns an arena for some rows.
func newArena(rows int, within *Budget) *arena {
	return &arena{Budget: within, rows: max(rows, 1), items: make([]itemChunk, len(leaves))}
}

// begin prepares the arena for a column of a row group. Its codes mean other texts than the codes of the column before.
func (a *arena) begin() {
	for i := range a.recent {
		a.recent[i].text = nil
	}
}

// text returns a copy of value i of a page.
func (a *arena) text(c *cursor, i int) *string {
	if !c.coded {
		return a.copyText(c.plain.texts.At(int32(i)))
	}
	code := c.codes[i]
	r := &a.recent[code%sharedTexts]
	if r.text == nil || r.code != code {
		r.code, r.text = code, a.copyText(c.entries.texts.At(code))
	}
	return r.text
}

func (a *arena) copyText(text []byte) *string {
	if len(a.strings) == cap(a.strings) {
		a.strings = make([]string, 0, a.chunk())
		a.take(int64(cap(a.strings)) * int64(unsafe.Sizeof("")))
	}
	a.strings = append(a.strings, a.copy(text))
	return &a.strings[len(a.strings)-1]
}

func (a *arena) copy(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) > maxShared:
		a.take(int64(len(text)))
		return string(text)
	case cap(a.bytes)-len(a.bytes) < len(text):
		size := min(max(2*cap(a.bytes), firstChunk, len(text)), lastChunk)
		a.bytes = make([]byte, 0, size)
		a.take(int64(size))
	}
	from := len(a.bytes)
	a.bytes = append(a.bytes, text...)
	return unsafe.String(&a.bytes[from], len(text)) // these bytes are never modified again
}

// smallInts contains the integers that are frequent in records, such as statuses and counters.
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
	if len(a.ints) == cap(a.ints) {
		a.ints = make([]int64, 0, a.chunk())
		a.take(8 * int64(cap(a.ints)))
	}
	a.ints = append(a.ints, v)
	return &a.ints[len(a.ints)-1]
}

var flags = [2]bool{false, true}

// chunk returns how many values a new chunk has.
func (a *arena) chunk() int { return min(a.rows, chunkItems) }

// next returns n new structs, or elements of the list, of a leaf. n is not 0.
func (a *arena) next(l *leaf, n int) unsafe.Pointer {
	c := &a.items[l.number]
	if c.free < n {
		c.free = max(n, min(n*a.rows, chunkItems))
		c.at = reflect.MakeSlice(l.items, c.free, c.free).UnsafePointer()
		a.take(int64(c.free) * int64(l.size))
	}
	at := c.at
	if c.free -= n; c.free > 0 {
		c.at = unsafe.Add(at, uintptr(n)*l.size)
	}
	return at
}
