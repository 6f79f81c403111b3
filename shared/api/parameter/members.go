package parameter

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/api/problem"
)

// member is a member of a JSON object.
type member struct {
	Name  string
	Value json.RawMessage
}

// membersOf returns the members of a JSON object in order, including repeated ones.
func membersOf(body []byte) ([]member, error) {
	if err := validJSON(body); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, problem.Details{wrongType("an object", "body")}
	}
	var members []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, problem.Details{notJSON(err)}
		}
		m := member{Name: name.(string)} // a member begins with its name
		if err := d.Decode(&m.Value); err != nil {
			return nil, problem.Details{notJSON(err)}
		}
		members = append(members, m)
	}
	return members, nil
}

func validJSON(body []byte) error {
	var value json.RawMessage
	if err := json.Unmarshal(body, &value); err != nil {
		return problem.Details{notJSON(err)}
	}
	return nil
}

// Functions that read parameters of data routes from members of a body.

// ReadFilters reads a filter as text or as JSON.
func ReadFilters(value json.RawMessage) (text, want string) {
	switch value[0] {
	case '"':
		return ReadText(value)
	case '{', '[':
		return string(value), ""
	}
	return "", "a string, an object or a list"
}

// ReadText reads a string. Bytes that are not UTF-8 stay in it, so that an error can name their place; package json
// would replace them.
func ReadText(value json.RawMessage) (text, want string) {
	if value[0] != '"' {
		return "", "a string"
	}
	var read strings.Builder
	for rest := value[1 : len(value)-1]; ; {
		valid := validPrefix(rest)
		var part string
		if err := json.Unmarshal(slices.Concat([]byte{'"'}, rest[:valid], []byte{'"'}), &part); err != nil {
			return "", "a string"
		}
		read.WriteString(part)
		if valid == len(rest) {
			return read.String(), ""
		}
		read.WriteByte(rest[valid])
		rest = rest[valid+1:]
	}
}

// validPrefix returns the length of the longest prefix of a text that is UTF-8.
func validPrefix(text []byte) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size == 1 {
			return n
		}
		n += size
	}
	return n
}

// readInteger reads an integer in any JSON notation: 10, 10.0 and 1e1 are the same. It may also be text with the
// digits, as in a query.
func readInteger(value json.RawMessage) (text, want string) {
	if digits, want := ReadText(value); want == "" && strings.Trim(digits, "0123456789") == "" {
		return digits, ""
	}
	var n float64
	if err := json.Unmarshal(value, &n); err != nil || value[0] == 'n' || n != math.Trunc(n) {
		return "", "an integer"
	}
	if math.Abs(n) > 1<<53 {
		return string(value), "" // too large for every parameter; the error quotes it as sent
	}
	return strconv.FormatInt(int64(n), 10), ""
}

// readLength reads a length of time: text, or an integer of seconds.
func readLength(value json.RawMessage) (text, want string) {
	for _, read := range []func(json.RawMessage) (string, string){readInteger, ReadText} {
		if text, want := read(value); want == "" {
			return text, ""
		}
	}
	return "", "a length such as \"5m\", or an integer"
}

// readTextOrInteger reads a part of a value of a field, which may be an integer.
func readTextOrInteger(value json.RawMessage) (text, want string) {
	for _, read := range []func(json.RawMessage) (string, string){ReadText, readInteger} {
		if text, want := read(value); want == "" {
			return text, ""
		}
	}
	return "", "a string or an integer"
}

// readBoolean reads a boolean, or its text as in a query.
func readBoolean(value json.RawMessage) (text, want string) {
	switch text := string(value); text {
	case "true", "false":
		return text, ""
	case `"true"`, `"false"`:
		return text[1 : len(text)-1], ""
	}
	return "", "a boolean"
}

// readTexts reads a list of texts. It stays JSON, and bytes that are not UTF-8 stay in it.
func readTexts(value json.RawMessage) (text, want string) {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil || value[0] != '[' {
		return "", "a list of strings"
	}
	for _, one := range list {
		if _, want := ReadText(one); want != "" {
			return "", "a list of strings"
		}
	}
	return string(value), ""
}

// readNames reads a list of names, or text with commas as in a query.
func readNames(value json.RawMessage) (text, want string) {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil || value[0] != '[' {
		if text, want := ReadText(value); want == "" {
			return text, ""
		}
		return "", "a list of strings"
	}
	names := make([]string, len(list))
	for i, name := range list {
		if names[i], want = ReadText(name); want != "" {
			return "", "a list of strings"
		}
	}
	return strings.Join(names, ","), ""
}
