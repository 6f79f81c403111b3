package lake

import (
	"fmt"
	"reflect"
	"strings"
)

// Column is one top-level column of the table.
type Column struct {
	Name string
	Type Type
}

// Kind is the kind of a type.
type Kind uint8

const (
	Text   Kind = iota + 1 // UTF-8 string
	Int                    // 64-bit signed integer
	Bool                   //
	List                   // of Elem
	Struct                 // of Members
)

// Type is the type of a column: a scalar, a list of one type or a struct of named members.
type Type struct {
	Kind    Kind
	Elem    *Type    // of a List
	Members []Column // of a Struct
}

// Columns lists the table's columns in the order of Row, which is the order in every object. Parquet schema, DDL and
// SQL agree because all of them are derived from that struct.
var Columns = columnsOf(reflect.TypeFor[Row]())

// ColumnNames lists the names of Columns.
var ColumnNames = namesOf(Columns)

// ColumnByName returns the top-level column of that name, and false if there is none.
func ColumnByName(name string) (Column, bool) {
	for _, c := range Columns {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// String returns the type as the DDL of Hive, Glue and Athena writes it: array<struct<name:string,value:string>>.
func (t Type) String() string {
	switch t.Kind {
	case Text:
		return "string"
	case Int:
		return "bigint"
	case Bool:
		return "boolean"
	case List:
		return "array<" + t.Elem.String() + ">"
	case Struct:
		members := make([]string, len(t.Members))
		for i, m := range t.Members {
			members[i] = m.Name + ":" + m.Type.String()
		}
		return "struct<" + strings.Join(members, ",") + ">"
	}
	panic(fmt.Sprintf("lake: no kind %d", t.Kind))
}

func columnsOf(row reflect.Type) []Column {
	columns := make([]Column, row.NumField())
	for i := range columns {
		field := row.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		columns[i] = Column{Name: name, Type: TypeOf(field.Type)}
	}
	return columns
}

// TypeOf returns the column type of a Go type: the type of a field of Row, or of the element of its pointer or slice.
func TypeOf(t reflect.Type) Type {
	switch t.Kind() {
	case reflect.Pointer:
		return TypeOf(t.Elem())
	case reflect.String:
		return Type{Kind: Text}
	case reflect.Int64:
		return Type{Kind: Int}
	case reflect.Bool:
		return Type{Kind: Bool}
	case reflect.Slice:
		elem := TypeOf(t.Elem())
		return Type{Kind: List, Elem: &elem}
	case reflect.Struct:
		return Type{Kind: Struct, Members: columnsOf(t)}
	}
	panic(fmt.Sprintf("lake: no column type for %s", t))
}

func namesOf(columns []Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
