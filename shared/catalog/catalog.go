// Package catalog is what a user may ask for: every field of the request record, its type, its key rule and
// where its values lie. Binding, SQL, OpenAPI, documentation and completion derive from the one table in fields.go.
package catalog

// Type is the type of a field's values.
type Type uint8

const (
	String Type = iota + 1
	Int
	Float // seconds, stored and compared in whole microseconds
	Bool
	Time // only timestamp
	Any  // no documented type: text to string operators, a number to numeric ones when it reads as one
)

// KeyRule says what a condition's key may be.
type KeyRule uint8

const (
	NoKey      KeyRule = iota // the field has one value, or a plain list
	ClosedKeys                // the members are known; a key that can match none is an error
	OpenKeys                  // any name
	FoldedKeys                // any name, compared without regard to case (headers)
)

// Layout is how values lie in a column.
type Layout uint8

const (
	Scalar  Layout = iota + 1 // one value, or a member of a struct
	List                      // list of values
	Pairs                     // list of {name, value}
	Structs                   // list of structs; Source.Member names the member
)

// Source is a place where values of a field lie.
type Source struct {
	Name   string // the key that addresses it, for ClosedKeys
	Column string // top-level column of lake.Row
	Member string // member of a struct column, or ""
	Layout Layout
	Type   Type
}

// Field is one row of the catalogue.
type Field struct {
	Name    string
	Type    Type // Any also where members differ in type
	Keys    KeyRule
	Sources []Source // one, or one per member for ClosedKeys
	Names   []string // documented names of OpenKeys and FoldedKeys, for completion; others are as good
	Doc     string   // one line
	Example string   // a condition in the query-string form

	detailed bool // returned from the details column, which keeps the exact JSON
}
