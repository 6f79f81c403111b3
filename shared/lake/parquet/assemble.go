package parquet

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
)

// errDisagree reports that columns of one list or struct have different numbers of elements.
var errDisagree = errors.New("its list or struct has a different number of elements in another column")

// assemble sets the leaf's part of a row to the values where the cursor is. It is the inverse of shred. The first leaf
// of a list or struct allocates it.
func (l *leaf) assemble(row *lake.Row, c *cursor) error {
	field := unsafe.Add(unsafe.Pointer(row), l.offset)
	switch l.layout {
	case structLayout:
		return l.assembleStruct(field, c)
	case listLayout:
		return l.assembleList(field, c)
	}
	l.assembleValue(field, c, c.level, c.present)
	return nil
}

func (l *leaf) assembleStruct(field unsafe.Pointer, c *cursor) error {
	value := (*unsafe.Pointer)(field)
	absent := c.defs[c.level] == 0
	if l.first && !absent {
		*value = reflect.New(l.fieldType.Elem()).UnsafePointer()
	}
	if absent != (*value == nil) {
		return errDisagree
	}
	if !absent {
		l.assembleValue(unsafe.Add(*value, l.member), c, c.level, c.present)
	}
	return nil
}

func (l *leaf) assembleList(field unsafe.Pointer, c *cursor) error {
	level, end, present := c.level, c.rowEnd(c.level), c.present
	length := end - level
	if c.defs[level] < elementLevel {
		length = 0
	}
	list := (*[]byte)(field) // whatever its type, the length of a list is the number of elements
	if l.first && c.defs[level] > 0 {
		reflect.NewAt(l.fieldType, field).Elem().Set(reflect.MakeSlice(l.fieldType, length, length))
	}
	if len(*list) != length || (*list == nil) != (c.defs[level] == 0) {
		return errDisagree
	}
	elements := unsafe.Pointer(unsafe.SliceData(*list))
	for i := range length {
		at := unsafe.Add(elements, uintptr(i)*l.size+l.member)
		if l.assembleValue(at, c, level+i, present) {
			present++
		}
	}
	return nil
}

// assembleValue sets a value, or a pointer to it, from what the page has at a level, and reports whether it is present.
func (l *leaf) assembleValue(to unsafe.Pointer, c *cursor, level, present int) bool {
	if l.maxDef > 0 && c.defs[level] != l.maxDef {
		return false
	}
	values, i := c.value(present)
	switch l.kind {
	case lake.Text:
		set(to, l.optional, string(values.texts.At(int32(i))))
	case lake.Int:
		set(to, l.optional, values.ints[i])
	case lake.Bool:
		set(to, l.optional, values.bit(i) == 1)
	}
	return true
}

func set[T any](to unsafe.Pointer, optional bool, v T) {
	if optional {
		p := new(T)
		*p = v
		*(**T)(to) = p
	} else {
		*(*T)(to) = v
	}
}
