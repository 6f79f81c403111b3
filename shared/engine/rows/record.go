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

// MaxLogsMemory is the maximum of lake.Row.Memory in sum over the records of an answer. Records after it are not read,
// and the answer is truncated. The first record is always kept.
const MaxLogsMemory = 40 << 20

// records reads records until they take MaxLogsMemory, and reports whether there are more.
func records(in *result) (list []*lake.Row, truncated bool, err error) {
	var memory int64
	err = each(in, recordOf, func(row *lake.Row) bool {
		memory += row.Memory()
		truncated = memory > MaxLogsMemory && len(list) > 0
		if !truncated {
			list = append(list, row)
		}
		return !truncated
	})
	return list, truncated, err
}

// recordOf returns the record in a row, which is a JSON object in one column. Invalid UTF-8 becomes U+FFFD, as in the
// lake.
func recordOf(r *result) *lake.Row {
	text := r.text(recordColumn)
	if r.err != nil {
		return nil
	}
	printed := reflect.New(printedRow)
	if err := json.Unmarshal([]byte(text), printed.Interface()); err != nil {
		r.fail(recordColumn, "%w", withoutTypes(err))
		return nil
	}
	row := &lake.Row{}
	if err := stored(reflect.ValueOf(row).Elem(), printed.Elem()); err != nil {
		r.fail(recordColumn, "%w", err)
	}
	return row
}

// withoutTypes converts the error of a value that does not have the type of its column. The result does not name the Go
// types of this package.
func withoutTypes(err error) error {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return fmt.Errorf("%s: unexpected %s", mistyped.Field, mistyped.Value)
	}
	return err
}

// required are the columns that every record has. Other columns are present if the query asks for them.
var required = []string{"ts_ms", "ts_nanos", "source", "line"}

// printedRow is the type of a lake.Row as engines print it: the same fields, under the names of their columns. Fields
// that are never absent are pointers, too, so that an absent one is an error.
var printedRow = printedStruct(reflect.TypeFor[lake.Row](), lake.Columns, true)

// printedStruct returns a struct type with the names of the columns in JSON. Within lists and structs it differs from
// the stored type only in these names, so that Go converts one to the other.
func printedStruct(t reflect.Type, columns []lake.Column, outermost bool) reflect.Type {
	fields := make([]reflect.StructField, t.NumField())
	for i := range fields {
		field := t.Field(i)
		printed := printedType(field.Type, columns[i].Type)
		if outermost && scalar(field.Type) {
			printed = reflect.PointerTo(printed)
		}
		tag := reflect.StructTag(fmt.Sprintf(`json:"%s"`, columns[i].Name))
		fields[i] = reflect.StructField{Name: field.Name, Type: printed, Tag: tag}
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

// scalar reports whether a stored field has a value in every record.
func scalar(t reflect.Type) bool { return t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice }

// stored copies a printed row to a stored one.
func stored(row, printed reflect.Value) error {
	for i := range row.NumField() {
		to, from := row.Field(i), printed.Field(i)
		switch {
		case scalar(to.Type()):
			if !from.IsNil() {
				to.Set(from.Elem())
			} else if slices.Contains(required, lake.ColumnNames[i]) {
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
