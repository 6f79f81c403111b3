// Package tabular writes JSON objects as the rows of a table in CSV, as RFC 4180 defines it.
//
// A cell has the text of a string, number or boolean, and the JSON text of a list or an object. It is empty for null
// and for a member that is absent. Spreadsheets calculate cells that begin like a formula, so such a cell gets a
// leading apostrophe, unless the table is raw.
package tabular

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/go-faster/jx"
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
	table  Table
	column map[string]int // index of each column
	json   *jx.Decoder
	out    []byte

	first  []int    // for each column, the index of the first column of its name
	next   int      // index of the column after that of the last member
	values [][]byte // JSON texts of the cells of a row; nil: absent
	others []member // of a row, those that have no column
	rest   []byte
}

// NewEncoder returns an encoder of a table.
func NewEncoder(t Table) *Encoder {
	e := &Encoder{
		table: t, column: make(map[string]int, len(t.Columns)), json: jx.DecodeBytes(nil),
		values: make([][]byte, len(t.Columns)),
	}
	for i, name := range t.Columns {
		if _, again := e.column[name]; !again {
			e.column[name] = i
		}
		e.first = append(e.first, e.column[name])
	}
	return e
}

// Head returns the line with the names of the columns.
func (e *Encoder) Head() []byte {
	e.out = e.out[:0]
	for i, name := range e.table.Columns {
		e.separate(i)
		e.out = appendText(e.out, []byte(name), e.table.Raw)
	}
	if e.table.Rest != "" {
		e.separate(len(e.table.Columns))
		e.out = appendCell(e.out, []byte(e.table.Rest))
	}
	e.endLine(0)
	return e.out
}

// Rows returns the lines of an object in JSON. The error is that the text is not an object, or that of Table.Rows.
func (e *Encoder) Rows(object []byte) ([]byte, error) {
	e.out = e.out[:0]
	if e.table.Rows == nil {
		e.begin()
		if err := e.members(object); err != nil {
			return nil, fmt.Errorf("read a result: %w", err)
		}
		err := e.row()
		return e.out, err
	}
	var members Object
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, fmt.Errorf("read a result: %w", err)
	}
	rows, err := e.table.Rows(members)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		e.begin()
		for name, value := range row {
			e.member([]byte(name), value)
		}
		if err := e.row(); err != nil {
			return nil, err
		}
	}
	return e.out, nil
}

// begin makes all cells of the next row absent.
func (e *Encoder) begin() {
	clear(e.values)
	e.others, e.next = e.others[:0], 0
}

// members takes the members of an object in JSON.
func (e *Encoder) members(object []byte) error {
	e.json.ResetBytes(object)
	err := e.json.ObjBytes(func(d *jx.Decoder, name []byte) error {
		value, err := d.Raw()
		e.member(name, value)
		return err
	})
	if err == nil && !errors.Is(e.json.Skip(), io.EOF) {
		err = errors.New("there is text after the object")
	}
	return err
}

// member takes a member. Of members with equal names, the last counts.
func (e *Encoder) member(name, value []byte) {
	if i, ok := e.columnOf(name); ok {
		e.values[i], e.next = value, i+1
	} else if e.table.Rest != "" {
		e.others = append(e.others, member{string(name), value})
	}
}

// columnOf returns the first column with a name. Most members are in the order of the columns, of which few are absent.
func (e *Encoder) columnOf(name []byte) (int, bool) {
	for i := e.next; i < min(e.next+3, len(e.first)); i++ {
		if e.table.Columns[i] == string(name) {
			return e.first[i], true
		}
	}
	i, ok := e.column[string(name)]
	return i, ok
}

// row writes the line of the members that were taken.
func (e *Encoder) row() error {
	start := len(e.out)
	for i, name := range e.table.Columns {
		e.separate(i)
		if err := e.value(e.values[e.first[i]]); err != nil {
			return fmt.Errorf("read the member %s of a result: %w", name, err)
		}
	}
	if e.table.Rest != "" {
		e.separate(len(e.values))
		if err := e.otherMembers(); err != nil {
			return fmt.Errorf("write the other members of a result: %w", err)
		}
	}
	e.endLine(start)
	return nil
}
