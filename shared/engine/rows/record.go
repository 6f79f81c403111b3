package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/orrery/orrery/shared/lake"
)

const recordColumn = "record"

// recordOf reads the record that stands in one column as a JSON object of the columns read. Text that is no UTF-8
// comes as U+FFFD, which is how the lake stores it.
func recordOf(r *result) *lake.Row {
	text := r.text(recordColumn)
	if r.err != nil {
		return nil
	}
	printed := reflect.New(printedRow)
	if err := json.Unmarshal([]byte(text), printed.Interface()); err != nil {
		r.fail(recordColumn, "%w", misprint(err))
		return nil
	}
	row := &lake.Row{}
	if err := stored(reflect.ValueOf(row).Elem(), printed.Elem()); err != nil {
		r.fail(recordColumn, "%w", err)
	}
	return row
}

// misprint tells of a value of another type than its column, without the types that reading it takes.
func misprint(err error) error {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return fmt.Errorf("%s: unexpected %s", mistyped.Field, mistyped.Value)
	}
	return err
}

// place is what every record tells; other columns are there when they were asked for.
var place = []string{"ts_ms", "ts_nanos", "source", "line"}

// printedRow is lake.Row as engines print it: the same fields under the names of their columns. What is never
// absent is a pointer too, so that an absent one is noticed.
var printedRow = printedStruct(reflect.TypeFor[lake.Row](), lake.Columns, true)

// printedStruct is a struct type whose fields have the names of the columns in JSON. Within lists and structs only
// names differ from the stored type, so that one converts to the other.
func printedStruct(t reflect.Type, columns []lake.Column, outermost bool) reflect.Type {
	fields := make([]reflect.StructField, t.NumField())
	for i := range fields {
		field := t.Field(i)
		printed := printedType(field.Type, columns[i].Type)
		if outermost && scalar(field.Type) {
			printed = reflect.PointerTo(printed)
		}
		fields[i] = reflect.StructField{Name: field.Name, Type: printed, Tag: reflect.StructTag(fmt.Sprintf(`json:"%s"`, columns[i].Name))}
	}
	return reflect.StructOf(fields)
}

func printedType(t reflect.Type, column lake.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(printedType(t.Elem(), column))
	case reflect.Slice:
		return reflect.SliceOf(printedType(t.Elem(), *column.Elem))
	case reflect.Struct:
		return printedStruct(t, column.Members, false)
	}
	return t
}

func scalar(t reflect.Type) bool { return t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice }

// stored copies a printed row into a stored one.
func stored(row, printed reflect.Value) error {
	for i := range row.NumField() {
		to, from := row.Field(i), printed.Field(i)
		switch {
		case scalar(to.Type()):
			if !from.IsNil() {
				to.Set(from.Elem())
			} else if slices.Contains(place, lake.ColumnNames[i]) {
				return fmt.Errorf("%s is missing", lake.ColumnNames[i])
			}
		case from.IsNil():
		case to.Kind() == reflect.Slice && from.Type() != to.Type():
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for n := range from.Len() {
				to.Index(n).Set(from.Index(n).Convert(to.Type().Elem()))
			}
		default:
			to.Set(from.Convert(to.Type()))
		}
	}
	return nil
}
