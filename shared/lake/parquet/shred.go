package parquet

import (
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
)

// levels are the repetition and definition levels of a page: which values repeat, and which are absent.
type levels struct{ reps, defs []byte }

func (l *levels) reset() { l.reps, l.defs = l.reps[:0], l.defs[:0] }

// shred appends the levels of the leaf in some rows, and pointers to the values that are present: each to a string, an
// int64 or a bool.
func (l *leaf) shred(rows []*lake.Row, to *levels, values []unsafe.Pointer) []unsafe.Pointer {
	switch {
	case l.layout == listLayout:
		return l.shredLists(rows, to, values)
	case l.layout == structLayout:
		for _, row := range rows {
			value := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(row), l.offset))
			if value == nil {
				to.defs = append(to.defs, 0)
				continue
			}
			values = l.shredValue(unsafe.Add(value, l.member), to, values)
		}
	case l.optional:
		for _, row := range rows {
			value := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(row), l.offset))
			if value == nil {
				to.defs = append(to.defs, 0)
				continue
			}
			to.defs = append(to.defs, 1)
			values = append(values, value)
		}
	default:
		for _, row := range rows {
			values = append(values, unsafe.Add(unsafe.Pointer(row), l.offset))
		}
	}
	return values
}

func (l *leaf) shredLists(rows []*lake.Row, to *levels, values []unsafe.Pointer) []unsafe.Pointer {
	for _, row := range rows {
		// The length of a slice header is the number of elements, whatever their type.
		list := *(*[]byte)(unsafe.Add(unsafe.Pointer(row), l.offset))
		if len(list) == 0 {
			def := byte(elementLevel - 1)
			if list == nil {
				def = 0
			}
			to.reps, to.defs = append(to.reps, 0), append(to.defs, def)
			continue
		}
		elements, rep := unsafe.Pointer(unsafe.SliceData(list)), byte(0)
		for i := range len(list) {
			to.reps = append(to.reps, rep)
			rep = 1
			values = l.shredValue(unsafe.Add(elements, uintptr(i)*l.size+l.member), to, values)
		}
	}
	return values
}

// shredValue appends one value of a struct or list.
func (l *leaf) shredValue(at unsafe.Pointer, to *levels, values []unsafe.Pointer) []unsafe.Pointer {
	if l.optional {
		if at = *(*unsafe.Pointer)(at); at == nil {
			to.defs = append(to.defs, l.maxDef-1)
			return values
		}
	}
	to.defs = append(to.defs, l.maxDef)
	return append(values, at)
}
