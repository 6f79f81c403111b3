// Package varints writes numbers and texts as varints, and reads them.
package varints

import (
	"encoding/binary"
	"math/bits"
)

// Writer appends to bytes.
type Writer struct{ Bytes []byte }

// Int appends a number.
func (w *Writer) Int(n int64) { w.Bytes = binary.AppendVarint(w.Bytes, n) }

// Uint appends a number.
func (w *Writer) Uint(n uint64) { w.Bytes = binary.AppendUvarint(w.Bytes, n) }

// Bool appends a truth value.
func (w *Writer) Bool(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	w.Uint(n)
}

// Text appends the length of a text, and the text.
func (w *Writer) Text(s string) {
	w.Uint(uint64(len(s)))
	w.Bytes = append(w.Bytes, s...)
}

// MostSparse is the largest length of a list for Sparse.
const MostSparse = 64

// Sparse appends a mask that tells which numbers of a list are not 0, and then these numbers.
func (w *Writer) Sparse(list []int64) {
	mask := uint64(0)
	for i, n := range list {
		if n != 0 {
			mask |= 1 << i
		}
	}
	w.Uint(mask)
	for _, n := range list {
		if n != 0 {
			w.Uint(uint64(n))
		}
	}
}

// Reader reads what a Writer has appended. After the first mistake, it has no bytes left and reads zeros.
type Reader struct {
	Bytes  []byte // that are left
	Failed bool
}

// Fail records a mistake.
func (r *Reader) Fail() { r.Bytes, r.Failed = nil, true }

func (r *Reader) skip(n int) {
	if n <= 0 {
		r.Fail()
		return
	}
	r.Bytes = r.Bytes[n:]
}

// Int reads a number.
func (r *Reader) Int() int64 {
	n, length := binary.Varint(r.Bytes)
	r.skip(length)
	return n
}

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if len(r.Bytes) > 0 && r.Bytes[0] < 1<<7 { // most numbers
		n := r.Bytes[0]
		r.Bytes = r.Bytes[1:]
		return uint64(n)
	}
	n, length := binary.Uvarint(r.Bytes)
	r.skip(length)
	return n
}

// Bool reads a truth value.
func (r *Reader) Bool() bool { return r.Uint() == 1 }

// Length reads the length of a list whose elements take a byte each at least.
func (r *Reader) Length() int {
	n := r.Uint()
	if n > uint64(len(r.Bytes)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Text reads a text. It shares the memory of the bytes.
func (r *Reader) Text() []byte {
	n := r.Length()
	text := r.Bytes[:n]
	r.Bytes = r.Bytes[n:]
	return text
}

// Sparse reads a list of known length.
func (r *Reader) Sparse(list []int64) {
	clear(list)
	for left := r.Uint(); left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		if i >= len(list) {
			r.Fail()
			return
		}
		list[i] = int64(r.Uint())
	}
}
