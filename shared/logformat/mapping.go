package logformat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/record"
)

// mappingPrefix begins the name of a format that its user defines with mappings, which follow as a list in JSON.
const mappingPrefix = "map:"

// IsMapping reports whether the name of a format consists of mappings.
func IsMapping(name string) bool { return strings.HasPrefix(name, mappingPrefix) }

// ByMapping returns the format of logs with one JSON object per line. The mappings are the places of the fields in it.
// A mapping has the form
//
//	mapping = FIELD "=" path [ ( "/" | "*" ) number | "==" text ] .
//	path    = name { "." name } .
//	name    = bare | text .
//	text    = '"' … '"' .
//
// where a bare name has no dot, quote, slash, asterisk or two equals signs. FIELD is a name as that of a group of a
// pattern. The value of a comparison is true or false. The error is of kind fault.Invalid and names the place.
func ByMapping(mappings []string) (Format, error) {
	var variables []jsonVariable
	fields := map[string]bool{}
	var taken slots
	for _, text := range mappings {
		v, err := parseMapping(text)
		if err != nil {
			return nil, err
		}
		if fields[v.text] {
			return nil, mappingError(text, 0, "%s has two mappings", v.text)
		}
		fields[v.text] = true
		taken |= slotsOf(v.variable, nil)
		variables = append(variables, v)
	}
	for _, v := range jsonVariables(true, mappingDefaults) {
		if slotsOf(v.variable, nil)&taken == 0 && !fields[v.text] {
			v.lenient = v.role != roleClient
			variables = append(variables, v)
		}
	}
	name, err := json.Marshal(mappings)
	if err != nil {
		return nil, err
	}
	return newJSONLog(mappingPrefix+string(name), func([]byte) bool { return true }, variables), nil
}

// byMappingName returns the format with a name that ByMapping has made.
func byMappingName(list string) (Format, error) {
	var mappings []string
	if err := json.Unmarshal([]byte(list), &mappings); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "mappings %s", list)
	}
	return ByMapping(mappings)
}

// mappingDefaults are the members that are fields without a mapping, because they have the names of fields. If the text
// of one cannot be the field, it stays a member, but a client that is neither an address nor a host name is refused.
var mappingDefaults = []namedVariable{
	{"timestamp", variable{role: roleTime, unit: timeAny}},
	{"ip", variable{role: roleClient}},
	{"request", variable{role: roleRequest}},
	{"target", variable{role: roleTarget}},
	{"path", variable{role: roleTarget}},
	{"url", variable{role: roleTarget}},
	{"query", variable{role: roleArguments}},
	{"method", variable{role: roleMethod}},
	{"protocol", variable{role: roleProtocol}},
	{"authority", variable{role: roleAuthority}},
	{"host", variable{role: roleAuthority}},
	{"hostname", variable{role: roleHostname}},
	{"port", variable{role: rolePort}},
	{"status", variable{role: roleStatus}},
	{"bytes_sent", variable{role: roleBytesSent}},
	{"request_length", variable{role: roleRequestLength}},
	{"request_time", variable{role: roleDuration, unit: timeSeconds}},
	{"upstream_response_time", variable{role: roleUpstreamTimes, unit: timeSeconds}},
	{"upstream_addr", variable{role: roleUpstreamAddresses}},
	{"upstream_status", variable{role: roleUpstreamStatuses}},
	{"user_agent", variable{role: roleHeader, name: "user-agent"}},
	{"referer", variable{role: roleHeader, name: "referer"}},
}

// derivedFields follow from other fields, so they have no mapping of their own.
var derivedFields = []string{"arguments", "path_parts", "time_period", "url"}

// parseMapping parses one mapping.
func parseMapping(text string) (jsonVariable, error) {
	field, _, found := strings.Cut(text, "=")
	name := strings.TrimSpace(field)
	switch {
	case !found || name == "":
		return jsonVariable{}, mappingError(text, 0, "write FIELD=PATH, such as ip=client.ip")
	case slices.Contains(derivedFields, name):
		return jsonVariable{}, mappingError(text, 0, "%s follows from other fields; write target=PATH for a whole URL, "+
			"or for a path with its query", name)
	}
	v := jsonVariable{variable: groupVariable(name)}
	p := mappingParser{text: text, at: len(field) + 1}
	var err error
	if v.path, err = p.path(); err != nil {
		return jsonVariable{}, err
	}
	if p.at == len(text) {
		return v, nil
	}
	operator := p.at
	if strings.HasPrefix(text[p.at:], comparison) {
		if v.equals, err = p.comparison(); err == nil && !mayBeFlag(v.variable) {
			err = mappingError(text, operator, "a comparison is true or false, which %s cannot be", name)
		}
		return v, err
	}
	if v.scale, err = p.scale(); err == nil && !hasUnit(v.role) {
		err = mappingError(text, operator, "the values of %s are no numbers with a unit", name)
	}
	return v, err
}

// comparison compares the value of a member with a text.
const comparison = "=="

// mayBeFlag reports whether a variable may be true or false.
func mayBeFlag(v variable) bool {
	return v.role == roleMember && (record.IsFlag(v.name) || !slices.Contains(record.FieldNames(), v.name))
}

// hasUnit reports whether the values of a role are numbers of a unit.
func hasUnit(r role) bool {
	switch r {
	case roleMember, roleTime, roleDuration, roleUpstreamTimes, roleBytesSent, roleRequestLength:
		return true
	}
	return false
}

// mappingParser parses the text of a mapping from an offset on.
type mappingParser struct {
	text string
	at   int
}

// path parses
//
//	path = name { "." name } .
func (p *mappingParser) path() ([]string, error) {
	var path []string
	for {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		path = append(path, name)
		if !strings.HasPrefix(p.text[p.at:], ".") {
			return path, nil
		}
		p.at++
	}
}

// name parses
//
//	name = bare | text .
func (p *mappingParser) name() (string, error) {
	p.spaces()
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, `"`) {
		return p.quoted()
	}
	bare, _, _ := strings.Cut(rest, comparison)
	end := strings.IndexAny(bare, `."/*`)
	if end < 0 {
		end = len(bare)
	}
	name := strings.TrimSpace(rest[:end])
	if name == "" {
		return "", mappingError(p.text, p.at, "the name of a member is missing")
	}
	p.at += end
	return name, nil
}

// quoted parses
//
//	text = '"' … '"' .
func (p *mappingParser) quoted() (string, error) {
	text, _, closed := strings.Cut(p.text[p.at+1:], `"`)
	if !closed {
		return "", mappingError(p.text, p.at, "the closing quote is missing")
	}
	p.at += len(text) + 2
	p.spaces()
	return text, nil
}

// comparison parses
//
//	"==" text
//
// to the end of the mapping.
func (p *mappingParser) comparison() (*string, error) {
	p.at += len(comparison)
	p.spaces()
	if !strings.HasPrefix(p.text[p.at:], `"`) {
		return nil, mappingError(p.text, p.at, "write the text in double quotes, as in blocked=action==\"block\"")
	}
	text, err := p.quoted()
	if err == nil && p.at < len(p.text) {
		err = mappingError(p.text, p.at, "nothing can follow the text")
	}
	return &text, err
}

func (p *mappingParser) spaces() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " "))
}

// scale parses
//
//	( "/" | "*" ) number
//
// to the end of the text.
func (p *mappingParser) scale() (*big.Rat, error) {
	operator := p.text[p.at]
	if operator != '/' && operator != '*' {
		return nil, mappingError(
			p.text, p.at, "write a dot before a member, / or * before a number, or == before a text",
		)
	}
	p.at++
	p.spaces()
	number := strings.TrimSpace(p.text[p.at:])
	if len(number) > 18 || !isNumber([]byte(number)) {
		return nil, mappingError(p.text, p.at, "%q is not a number", number)
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok || n.Sign() == 0 {
		return nil, mappingError(p.text, p.at, "%q is not a number above 0", number)
	}
	if operator == '/' {
		n.Inv(n)
	}
	return n, nil
}

// flagError is the error of a value of a member that is mapped to a field that is true or false.
type flagError struct {
	record.Reject
	field, path string
	value       []byte
}

func (e *flagError) Unwrap() error { return &e.Reject }

// notFlag returns the error of a value that a field which is true or false cannot have.
func (v jsonVariable) notFlag(value jsonValue) error {
	e := &flagError{field: v.text, path: v.source(), value: value.text}
	if !value.plain {
		e.value = value.raw
	}
	e.Reject = record.Reject{
		Code:    BadLine,
		Message: fmt.Sprintf("%s is %.80q, but %s is true or false", e.path, e.value, e.field),
	}
	return e
}

// CheckHead returns an error of kind fault.Invalid if the mappings of a format map a member to a field that is true or
// false, and the member has another value in one of the first lines of a log. It names a mapping with a comparison.
func CheckHead(f Format, head []byte) error {
	if !IsMapping(f.Name()) {
		return nil
	}
	read := 0
	for line := range bytes.Lines(bytes.TrimPrefix(head, ByteOrderMark)) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if read++; read > detectLines {
			break
		}
		_, err := Convert(f, nil, line)
		if wrong, is := errors.AsType[*flagError](err); is {
			text := string(wrong.value)
			if strings.ContainsRune(text, '"') {
				text = "TEXT"
			}
			return fault.New(fault.Invalid, "%s; compare it with the text for true: --map '%s=%s==\"%.80s\"'",
				wrong.Message, wrong.field, wrong.path, text)
		}
	}
	return nil
}

// mappingError returns an error with the place in the mapping.
func mappingError(text string, at int, format string, args ...any) error {
	column := utf8.RuneCountInString(text[:at]) + 1
	return fault.New(fault.Invalid, "map %s: column %d: %s", text, column, fmt.Sprintf(format, args...))
}
