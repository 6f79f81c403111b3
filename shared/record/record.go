// Package record turns log lines into rows of the lake and rows into the API's records, without loss.
//
// A line is one JSON object with the fields of the specification, in the shape the API prints or the one the
// gateway's engine logs. Headers, cookies, arguments, path_parts and session_ids may be objects name → value
// (several values: an array) or lists of {name, value}; they are printed as objects.
//
// Lossless means: what AppendJSON prints is JSON-equal to what Decode read (numbers by value), except that such
// lists have become objects, timestamp is RFC 3339 in UTC with the digits it had, time_period is there
// even if it was not, and text that was no Unicode has U+FFFD in its place. Everything the typed columns cannot
// hold goes into Row.Extra: unknown fields, null against absent, "status":"200", integers over 64 bits, seconds
// finer than a microsecond, odd shapes. What is in Extra is printed instead of what the column says; the column
// still holds the nearest typed value, if the text is exactly a literal of the type, so that filters find it.
//
// A member named twice counts once, the last one, as in encoding/json and in browsers. Where that or U+FFFD loses
// something, Row.RawLine keeps the line and Notes says so.
package record

import "fmt"

// MaxLine is the longest line, in bytes, that becomes a record.
const MaxLine = 1_000_000

// Notes says what was unusual about a decoded line.
type Notes struct {
	InvalidUTF8 bool // bytes or \u escapes that are no Unicode became U+FFFD
	Duplicates  bool // a member stood there twice; the last one counts
}

// Code is why a line is not a record.
type Code string

const (
	TooLarge     Code = "too_large"     // longer than MaxLine
	BadJSON      Code = "bad_json"      // not JSON
	NotObject    Code = "not_object"    // JSON, but no object
	NoTimestamp  Code = "no_timestamp"  // no member timestamp, or null
	BadTimestamp Code = "bad_timestamp" // a timestamp in none of the forms of Decode
)

// Reject says why a line is not a record. Lines with equal codes are counted together.
type Reject struct {
	Code    Code
	Message string
}

func (r *Reject) Error() string { return r.Message }

func rejectf(code Code, format string, args ...any) *Reject {
	return &Reject{Code: code, Message: fmt.Sprintf(format, args...)}
}
