package parquet

import (
	"errors"
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
)

// errDisagree reports that columns of one list or struct have different numbers of elements.
var errDisagree = errors.New("its list or struct has a different number of elements in another column")

// assemble sets the leaf's part of a row to the values where the cursor is, and moves the cursor to the next row. It is
// the inverse of shred. The first leaf of a list or struct allocates it.
func (l *leaf) assemble(row *lake.Row, c *cursor, a *arena) error {
	field := unsafe.Add(unsafe.Pointer(row), l.offset)
	switch l.layout {
	case structLayout:
		if err := l.assembleStruct(field, c, a); err != nil {
			return err
		}
	case listLayout:
		return l.assembleList(field, c, a)
	default:
		l.assembleValue(field, c, a)
	}
	c.row++
	return nil
}

func (l *leaf) assembleStruct(field unsafe.Pointer, c *cursor, a *arena) error {
	value := (*unsafe.Pointer)(field)
	absent := c.defs[c.level] == 0
	if l.first && !absent {
		*value = a.next(l, 1)
	}
	if absent != (*value == nil) {
		return errDisagree
	}
	if absent {
		c.level++
		return nil
	}
	l.assembleValue(unsafe.Add(*value, l.member), c, a)
	return nil
}

// emptyList is the memory of lists without elements, which differ from absent ones.
var emptyList [1]uint64

func (l *leaf) assembleList(field unsafe.Pointer, c *cursor, a *arena) error {
	end := c.rowEnd(c.level)
	length := end - c.level
	absent := c.defs[c.level] == 0
	if c.defs[c.level] < elementLevel {
		length = 0
	}
	list := (*[]byte)(field) // whatever its type, the length of a list is the number of elements
	switch {
	case !l.first || absent:
	case length == 0:
		*list = unsafe.Slice((*byte)(unsafe.Pointer(&emptyList)), 1)[:0:0]
	default:
		*list = unsafe.Slice((*byte)(a.next(l, length)), length)
	}
	if len(*list) != length || (*list == nil) != absent {
		return errDisagree
	}
	elements := unsafe.Pointer(unsafe.SliceData(*list))
	for i := range length {
		l.assembleValue(unsafe.Add(elements, uintptr(i)*l.size+l.member), c, a)
	}
	c.row, c.level = c.row+1, end
	c.mark()
	return nil
}

// assembleValue sets a value, or a pointer to it, to the value of the page at the cursor, and moves the cursor to the
// next value.
func (l *leaf) assembleValue(to unsafe.Pointer, c *cursor, a *arena) {
	level := c.level
	c.level++
	if l.maxDef > 0 && c.defs[level] != l.maxDef {
		return
	}
	i := c.present
	c.present++
	switch l.kind {
	case lake.Text:
		text := a.text(c, i)
		if l.optional {
			*(**string)(to) = text
		} else {
			*(*string)(to) = *text
		}
	case lake.Int:
		values, i := c.value(i)
		if n := values.ints[i]; l.optional {
			*(**int64)(to) = a.Int(n)
		} else {
			*(*int64)(to) = n
		}
	case lake.Bool:
		values, i := c.value(i)
		if flag := &flags[values.bit(i)]; l.optional {
			*(**bool)(to) = flag
		} else {
			*(*bool)(to) = *flag
		}
	}
}
