package lake

import "unsafe"

// Arena allocates the values of rows in chunks, which is several times cheaper than one by one. It never reuses memory,
// so rows stay valid as long as they are referenced. Rows share memory, so it must not be modified.
type Arena struct {
	Items  int               // how many values a new chunk has, at least 1
	Take   func(bytes int64) // is called with the memory of each chunk, and of each long text; nil: nobody counts it
	Copied int               // bytes of texts that share chunks, until the owner of the arena sets it to 0

	bytes   []byte
	strings []string
	ints    []int64
}

const (
	firstChunk = 1 << 10 // bytes
	lastChunk  = 64 << 10
	// maxShared is the length in bytes of the longest text that shares a chunk with others. A longer text has memory of
	// its own, because a short text in the same chunk would keep it alive.
	maxShared = 1 << 10
)

func (a *Arena) take(bytes int) {
	if a.Take != nil {
		a.Take(int64(bytes))
	}
}

// Text returns a copy of a text.
func (a *Arena) Text(text []byte) *string {
	if len(text) > maxShared {
		a.take(len(text) + int(unsafe.Sizeof("")))
		s := string(text)
		return &s
	}
	if len(a.strings) == cap(a.strings) {
		a.strings = make([]string, 0, a.Items)
		a.take(a.Items * int(unsafe.Sizeof("")))
	}
	a.strings = append(a.strings, a.Copy(text))
	return &a.strings[len(a.strings)-1]
}

// Copy returns a copy of a text.
func (a *Arena) Copy(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) > maxShared:
		a.take(len(text))
		return string(text)
	case cap(a.bytes)-len(a.bytes) < len(text):
		size := min(max(2*cap(a.bytes), firstChunk, len(text)), lastChunk)
		a.bytes = make([]byte, 0, size)
		a.take(size)
	}
	a.Copied += len(text)
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

// Int returns an integer of this value.
func (a *Arena) Int(v int64) *int64 {
	if v >= 0 && v < int64(len(smallInts)) {
		return &smallInts[v]
	}
	if len(a.ints) == cap(a.ints) {
		a.ints = make([]int64, 0, a.Items)
		a.take(a.Items * int(unsafe.Sizeof(v)))
	}
	a.ints = append(a.ints, v)
	return &a.ints[len(a.ints)-1]
}
