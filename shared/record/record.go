// Package record converts log lines to rows of the lake, and rows to the records of the API, without loss.
//
// A line is one JSON object with the fields of the specification, in the shape that the API prints or in the shape
// that the engine of the gateway logs. Headers, cookies, arguments, path_parts and session_ids may be objects
// name → value (several values: an array) or lists of {name, value}. They are printed as objects.
//
// Without loss means that the output of AppendJSON is JSON-equal to the input of Decode (numbers by value), with these
// exceptions: such lists become objects, timestamp becomes RFC 3339 in UTC with the same number of digits, time_period
// is added if it is absent, invalid Unicode becomes U+FFFD, and values that their fields cannot have, such as
// "status":"ok", become members of an object log_rest. Row.Extra contains everything that the typed columns cannot
// represent: unknown fields, this object, null as opposed to absent, "status":"200", integers over 64 bits, seconds
// finer than a microsecond, unexpected shapes. A field in Extra is printed instead of its column. The column contains
// the nearest typed value, so that filters find it, unless the value is null or a number that is too large.
//
// Of members with equal names only the last counts, as in encoding/json and in browsers. If this or U+FFFD loses
// information, Row.RawLine contains the line and Notes reports it.
package record

import "fmt"

// MaxLine is the longest line, in bytes, that becomes a record.
const MaxLine = 1_000_000

// Notes reports what was unusual about a decoded line. Row.RawLine contains every line with a note.
type Notes struct {
	InvalidUTF8 bool // invalid bytes or \u escapes became U+FFFD
	Duplicates  bool // a member was repeated; the last one counts
}

// Code is the reason why a line is not a record.
type Code string

const (
	TooLarge     Code = "too_large"     // longer than MaxLine
	BadJSON      Code = "bad_json"      // not JSON
	NotObject    Code = "not_object"    // JSON, but not an object
	NoTimestamp  Code = "no_timestamp"  // no member timestamp, or null
	BadTimestamp Code = "bad_timestamp" // a timestamp in none of the forms of Decode
)

// Reject is the error for a line that is not a record. Reports count the lines with equal codes together.
type Reject struct {
	Code    Code
	Message string
	Column  int // in characters, from 1, where the line stops having its format; 0 if that is not known
}

func (r *Reject) Error() string {
	if r.Column > 0 {
		return fmt.Sprintf("column %d: %s", r.Column, r.Message)
	}
	return r.Message
}

func rejectf(code Code, format string, args ...any) *Reject {
	return &Reject{Code: code, Message: fmt.Sprintf(format, args...)}
}
