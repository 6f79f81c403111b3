// Package catalog defines the fields that a user may ask for: every field of the request record, its type, its rule
// for keys and the columns of its values. Binding, SQL, OpenAPI, documentation and completion are derived from the
// table in fields.go.
package catalog

import "slices"

// Type is the type of a field's values.
type Type uint8

const (
	String Type = iota + 1
	Int
	Float // seconds, stored and compared in whole microseconds
	Bool
	Time      // only timestamp
	Any       // no documented type: string operators see text, numeric operators see a number if the text is one
	Reference // to the record itself; only record_ref
)

// KeyRule is the rule for the keys of conditions on a field.
type KeyRule uint8

const (
	NoKey      KeyRule = iota // the field has one value, or a plain list
	ClosedKeys                // the members are known; a key that cannot match any of them is an error
	OpenKeys                  // any name
	FoldedKeys                // any name, compared ignoring case (headers)
)

// Layout is the layout of values in a column.
type Layout uint8

const (
	Scalar  Layout = iota + 1 // one value, or a member of a struct
	List                      // list of values
	Pairs                     // list of {name, value}
	Structs                   // list of structs; Source.Member names the member
	Place                     // several columns, which together identify the record
)

// Source is a column, or a member of one, that contains values of a field.
type Source struct {
	Name   string // the key that selects it, for ClosedKeys
	Column string // top-level column of lake.Row; of a Place, the time
	Member string // member of a struct column, or ""
	Layout Layout
	Type   Type
}

// Field is one row of the catalogue.
type Field struct {
	Name    string
	Type    Type // Any if the members differ in type
	Keys    KeyRule
	Sources []Source // one, or one per member for ClosedKeys
	Names   []string // documented names of OpenKeys and FoldedKeys, for completion; other names are valid, too
	Doc     string   // one line
	Example string   // a condition in the query-string form

	inDetails bool // whether records take the value from the details column, which keeps the exact JSON
}

// Columns lists the columns with the values: one, except for a Place.
func (s Source) Columns() []string {
	if s.Layout == Place {
		return []string{"ts_ms", "source", "line"}
	}
	return []string{s.Column}
}

// HasNetworks reports whether the values at the source are addresses. Conditions on them can name networks.
func (s Source) HasNetworks() bool { return s.Column == "ip" }

// Groupable reports whether records can be grouped by the values at the source: by texts, integers and booleans, but
// not by times, durations and references.
func (s Source) Groupable() bool {
	switch s.Column {
	case "time_period", "svc_us":
		return false
	}
	return s.Type != Time && s.Type != Float && s.Type != Reference
}

// Groupable reports whether records can be grouped by the values of the field or of some of its members.
func (f *Field) Groupable() bool { return slices.ContainsFunc(f.Sources, Source.Groupable) }
