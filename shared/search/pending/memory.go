package pending

import (
	"reflect"

	"github.com/orrery/orrery/shared/query"
)

// memoryOf returns about how many bytes of memory an answer takes.
func memoryOf(a query.Answer) (bytes int64) {
	for _, row := range a.Logs {
		bytes += row.Memory()
	}
	a.Logs = nil
	for _, term := range a.Diff.Terms { // which may have a hundred thousand values
		bytes += sizeOf(reflect.ValueOf(query.DiffTerm{})) + int64(len(term.Values))*diffValueBytes
		for i := range term.Values {
			bytes += int64(len(term.Values[i].Value))
		}
	}
	a.Diff.Terms = nil
	for _, row := range a.Counts { // there may be a hundred thousand
		bytes += countsRowBytes + int64(len(row.Value)) + 8*int64(len(row.N))
	}
	a.Counts = nil
	return bytes + sizeOf(reflect.ValueOf(a))
}

// diffValueBytes is the size of a value of a diff without its text.
var diffValueBytes = int64(reflect.TypeFor[query.DiffValue]().Size())

// countsRowBytes is the size of a row of counts without its text and its numbers.
var countsRowBytes = int64(reflect.TypeFor[query.CountsRow]().Size())

// sizeOf returns the size of a value with everything that it refers to.
func sizeOf(v reflect.Value) (bytes int64) {
	bytes = int64(v.Type().Size())
	switch v.Kind() {
	case reflect.String:
		bytes += int64(v.Len())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			bytes += sizeOf(v.Elem())
		}
	case reflect.Slice:
		if isFlat(v.Type().Elem()) { // there may be a million requests in sequences
			return bytes + int64(v.Len())*int64(v.Type().Elem().Size())
		}
		for i := range v.Len() {
			bytes += sizeOf(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			bytes += sizeOf(f) - int64(f.Type().Size()) // the member itself is part of the struct
		}
	}
	return bytes
}

// isFlat reports whether values of a type refer to nothing.
func isFlat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan:
		return false
	case reflect.Array:
		return isFlat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isFlat(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}
