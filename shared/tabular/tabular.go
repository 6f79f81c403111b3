// Package tabular writes JSON objects as the rows of a table in CSV, as RFC 4180 defines it.
//
// A cell has the text of a string, number or boolean, and the JSON text of a list or an object. It is empty for null
// and for a member that is absent. Spreadsheets calculate cells that begin like a formula, so such a cell gets a
// leading apostrophe, unless the table is raw.
package tabular

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Object is a JSON object: the text of each member.
type Object = map[string]json.RawMessage

// Table describes how objects become rows.
type Table struct {
	Columns []string // names of members
	// Rest is the name of a last column, which has the members that are not in Columns as a JSON object. It is empty
	// if there are none. "": such members are left out.
	Rest string
	// Rows returns the rows of an object. Nil: an object is one row.
	Rows func(Object) ([]Object, error)
	// Raw leaves cells that begin like a formula unchanged.
	Raw bool
}

// Columns returns the names of the members that encoding/json prints for values of the struct type T, in order.
func Columns[T any]() []string { return columnsOf(reflect.TypeFor[T]()) }

func columnsOf(t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, columnsOf(f.Type)...)
		case name == "-" || !f.IsExported():
		case name == "":
			names = append(names, f.Name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// Encoder writes a table. Its methods return text that is valid until the next call.
type Encoder struct {
	table Table
	out   bytes.Buffer
	csv   *csv.Writer
	cells []string
}

// NewEncoder returns an encoder of a table.
func NewEncoder(t Table) *Encoder {
	e := &Encoder{table: t}
	e.csv = csv.NewWriter(&e.out)
	return e
}

// Head returns the line with the names of the columns.
func (e *Encoder) Head() []byte {
	e.out.Reset()
	e.cells = e.cells[:0]
	for _, name := range e.table.Columns {
		e.cells = append(e.cells, e.guarded(name))
	}
	if e.table.Rest != "" {
		e.cells = append(e.cells, e.table.Rest)
	}
	e.line()
	return e.out.Bytes()
}

// Rows returns the lines of an object in JSON. The error is that the text is not an object, or that of Table.Rows.
func (e *Encoder) Rows(object []byte) ([]byte, error) {
	var members Object
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, fmt.Errorf("read a result: %w", err)
	}
	rows := []Object{members}
	if e.table.Rows != nil {
		var err error
		if rows, err = e.table.Rows(members); err != nil {
			return nil, err
		}
	}
	e.out.Reset()
	for _, row := range rows {
		if err := e.row(row); err != nil {
			return nil, err
		}
	}
	return e.out.Bytes(), nil
}

func (e *Encoder) row(row Object) error {
	e.cells = e.cells[:0]
	for _, name := range e.table.Columns {
		text, err := e.textOf(row[name])
		if err != nil {
			return fmt.Errorf("read the member %s of a result: %w", name, err)
		}
		e.cells = append(e.cells, text)
	}
	if e.table.Rest != "" {
		text, err := e.rest(row)
		if err != nil {
			return err
		}
		e.cells = append(e.cells, text)
	}
	e.line()
	return nil
}

// rest returns the members that have no column, sorted by name.
func (e *Encoder) rest(row Object) (string, error) {
	others := Object{}
	for name, value := range row {
		if !slices.Contains(e.table.Columns, name) {
			others[name] = value
		}
	}
	if len(others) == 0 {
		return "", nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(others); err != nil {
		return "", fmt.Errorf("write the other members of a result: %w", err)
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// textOf returns the text of a cell. Only texts are guarded: a number is a number to a spreadsheet, too, and other values
// begin with a letter, a brace or a bracket.
func (e *Encoder) textOf(value json.RawMessage) (string, error) {
	if len(value) == 0 || string(value) == "null" {
		return "", nil
	}
	if value[0] != '"' {
		return string(value), nil
	}
	var text string
	err := json.Unmarshal(value, &text)
	return e.guarded(text), err
}

// line writes the cells as a line that ends with CR LF. The option of encoding/csv for these line ends would also
// change the line ends within cells.
func (e *Encoder) line() {
	if len(e.cells) == 1 && e.cells[0] == "" {
		e.out.WriteString(`""` + "\r\n") // encoding/csv writes an empty line, which readers skip
		return
	}
	err := e.csv.Write(e.cells)
	if e.csv.Flush(); err != nil || e.csv.Error() != nil {
		panic(fmt.Sprintf("tabular: write to memory: %v %v", err, e.csv.Error()))
	}
	e.out.Truncate(e.out.Len() - len("\n"))
	e.out.WriteString("\r\n")
}

// guarded returns a text that no spreadsheet takes for a formula, unless the table is raw.
func (e *Encoder) guarded(text string) string {
	if !e.table.Raw && text != "" && strings.IndexByte("=+-@\t\r\n", text[0]) >= 0 {
		return "'" + text
	}
	return text
}
