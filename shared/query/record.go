package query

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// value is one value of a stored record, with the name it has in a name/value field.
type value struct {
	name    string
	kind    catalog.Type
	text    string
	int     int64
	boolean bool
	ref     lake.Ref
}

// Elements lists the values at a source as a filter writes them, with their names in name/value fields.
func Elements(r *lake.Row, s catalog.Source) []lake.Pair {
	var elements []lake.Pair
	for _, v := range valuesAt(r, s) {
		e := lake.Pair{Name: v.name, Value: v.text}
		switch s.Type {
		case catalog.Bool:
			e.Value = strconv.FormatBool(v.boolean)
		case catalog.Int:
			e.Value = strconv.FormatInt(v.int, 10)
		case catalog.Float:
			micros, _ := parseDecimal(strconv.FormatInt(v.int, 10))
			e.Value = micros.scaled(-6).String()
		case catalog.Time:
			e.Value = canonicalTime(v.int)
		case catalog.Reference:
			e.Value = v.ref.String()
		}
		elements = append(elements, e)
	}
	return elements
}

// integer returns the number for numeric tests: a boolean counts as 1 or 0.
func (v value) integer() int64 {
	if v.kind == catalog.Bool && v.boolean {
		return 1
	}
	return v.int
}

// valuesAt lists the values at a source. The list is empty when the column, the member or the list is absent.
func valuesAt(r *lake.Row, s catalog.Source) []value {
	if s.Layout == catalog.Place {
		return []value{{kind: s.Type, ref: lake.RefOf(r)}}
	}
	column := field(reflect.ValueOf(r).Elem(), s.Column)
	switch s.Layout {
	case catalog.Scalar:
		if s.Member != "" {
			if column.IsNil() {
				return nil
			}
			column = field(column.Elem(), s.Member)
		}
		return scalarValues(column, s.Type)
	case catalog.List:
		var values []value
		for i := range column.Len() {
			values = append(values, scalarValues(column.Index(i), s.Type)...)
		}
		return values
	case catalog.Pairs:
		var values []value
		for _, pair := range column.Interface().([]lake.Pair) {
			values = append(values, value{name: pair.Name, kind: catalog.Any, text: pair.Value})
		}
		return values
	case catalog.Structs:
		var values []value
		for i := range column.Len() {
			values = append(values, scalarValues(field(column.Index(i), s.Member), s.Type)...)
		}
		return values
	}
	panic(fmt.Sprintf("query: unknown layout %d", s.Layout))
}

// scalarValues returns the value of a column of one value, or an empty list when it is nil.
func scalarValues(v reflect.Value, kind catalog.Type) []value {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	one := value{kind: kind}
	switch v.Kind() {
	case reflect.String:
		one.text = v.String()
	case reflect.Int64:
		one.int = v.Int()
	case reflect.Bool:
		one.boolean = v.Bool()
	default:
		panic(fmt.Sprintf("query: unknown kind of column %s", v.Kind()))
	}
	return []value{one}
}

// field returns the field of a struct by the name of its column.
func field(v reflect.Value, column string) reflect.Value {
	i, ok := columns[v.Type()][column]
	if !ok {
		panic(fmt.Sprintf("query: %s has no column %q", v.Type(), column))
	}
	return v.Field(i)
}

// columns maps each struct of a record to the index of the field of every column.
var columns = func() map[reflect.Type]map[string]int {
	all := map[reflect.Type]map[string]int{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[lake.Row](),
		reflect.TypeFor[lake.Upstream](),
		reflect.TypeFor[lake.TriggerCounters](),
		reflect.TypeFor[lake.SecurityConfig](),
	} {
		all[t] = map[string]int{}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("parquet"), ",")
			all[t][name] = i
		}
	}
	return all
}()
