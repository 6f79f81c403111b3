package parquet

import (
	"errors"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
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

// arena allocates the values of the rows of one call.
type arena struct {
	lake.Arena
	*Budget
	rows int // that the call reads

	items []itemChunk // by leaf: structs, and elements of lists

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
	chunkItems  = 512
)

// newArena returns an arena for some rows.
func newArena(rows int, within *Budget) *arena {
	rows = max(rows, 1)
	return &arena{
		Arena: lake.Arena{Items: min(rows, chunkItems), Take: within.take}, Budget: within, rows: rows,
		items: make([]itemChunk, len(leaves)),
	}
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
		return a.Text(c.plain.texts.At(int32(i)))
	}
	code := c.codes[i]
	r := &a.recent[code%sharedTexts]
	if r.text == nil || r.code != code {
		r.code, r.text = code, a.Text(c.entries.texts.At(code))
	}
	return r.text
}

var flags = [2]bool{false, true}

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
