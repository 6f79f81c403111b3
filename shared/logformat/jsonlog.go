package logformat

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// jsonLog is a log with one JSON object in each line. Some members of the object are fields; all others stay members
// with their own names and values.
type jsonLog struct {
	name    string
	matches func(line []byte) bool
	// variables are the members that are fields. If a line has several members for one field, the first variable sets
	// the field.
	variables []jsonVariable
	root      *jsonNode
	// dynamic, if not nil, returns the variable of a member of the object that variables do not list.
	dynamic func(name string) (variable, bool)
	localTime
}

// jsonVariable is a member of the object of a line that is a field.
type jsonVariable struct {
	variable
	path    []string // of the member: names from the outermost object inwards
	scale   *big.Rat // what the value is multiplied with; nil for 1
	equals  *string  // the field is whether the value is this text; nil to take the value
	lenient bool     // a value that the field cannot have stays a member; otherwise the line is rejected
}

// jsonNode is a member of an object in the tree of the paths of all variables.
type jsonNode struct {
	variables []int // numbers of the variables with this path
	members   map[string]*jsonNode
}

// newJSONLog returns a format with these variables.
func newJSONLog(name string, matches func([]byte) bool, variables []jsonVariable) *jsonLog {
	f := &jsonLog{name: name, matches: matches, variables: variables, root: &jsonNode{}}
	for i, v := range variables {
		node := f.root
		for _, name := range v.path {
			if node.members == nil {
				node.members = map[string]*jsonNode{}
			}
			if node.members[name] == nil {
				node.members[name] = &jsonNode{}
			}
			node = node.members[name]
		}
		node.variables = append(node.variables, i)
	}
	return f
}

func (f *jsonLog) Name() string { return f.named(f.name) }

func (f *jsonLog) Matches(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) && f.matches(line)
}

func (*jsonLog) Complete(row *lake.Row) { complete(row) }

// jsonLine is a line while it is converted.
type jsonLine struct {
	layoutLine
	format *jsonLog
	values []jsonValue // of the variables, by their number
	more   []jsonMember
	rest   []jsonMember // members that are no field
	taken  slots        // what has a value
}

// jsonValue is the value of a variable.
type jsonValue struct {
	raw   []byte // JSON; nil if the line does not have the member
	text  []byte // without quotes and escapes; of a list, its elements with commas between them
	plain bool   // the value is a string, a number, a boolean, or a list of these
}

// jsonMember is a member of the object of a line.
type jsonMember struct {
	name string
	v    variable // of a dynamic member
	jsonValue
}

// Convert converts a line.
func (f *jsonLog) Convert(dst, line []byte) ([]byte, error) {
	c := jsonLine{format: f, values: make([]jsonValue, len(f.variables))}
	c.o, c.localTime = newObject(dst), f.localTime
	c.o.written = map[string]bool{}
	d := jx.DecodeBytes(line)
	rest, err := c.read(d, f.root, true)
	if err != nil {
		return nil, &record.Reject{Code: record.BadJSON, Message: fmt.Sprintf("not a record of %s: %v", f.kind(), err)}
	}
	c.rest = rest
	for i, v := range f.variables {
		if err := c.apply(v, c.values[i]); err != nil {
			return nil, err
		}
	}
	for _, m := range c.more {
		if err := c.apply(jsonVariable{variable: m.v, path: []string{m.name}, lenient: true}, m.jsonValue); err != nil {
			return nil, err
		}
	}
	c.finish(nil)
	for _, m := range c.rest {
		c.o.raw(c.free(m.name), m.raw)
	}
	return c.o.close(), nil
}

// kind returns the name of the format for messages.
func (f *jsonLog) kind() string {
	if IsMapping(f.name) {
		return "a log in JSON"
	}
	return f.name
}

// read reads an object. It takes the values of variables, and returns the other members. An object of which variables
// take some members is returned without these.
func (c *jsonLine) read(d *jx.Decoder, node *jsonNode, outermost bool) (rest []jsonMember, err error) {
	err = d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		next := node.members[string(key)]
		raw, err := d.Raw()
		if err != nil {
			return err
		}
		value := valueOf(raw)
		if value.isAbsent() {
			return nil
		}
		if next != nil {
			for _, i := range next.variables {
				c.values[i] = value
			}
			if next.members != nil && raw[0] == '{' {
				inner, err := c.read(jx.DecodeBytes(raw), next, false)
				if err == nil && len(inner) > 0 && len(next.variables) == 0 {
					rest = append(rest, jsonMember{name: string(key), jsonValue: jsonValue{raw: objectOf(inner)}})
				}
				return err
			}
			if len(next.variables) > 0 {
				return nil
			}
		}
		name := string(key)
		if outermost && c.format.dynamic != nil && value.plain {
			if v, ok := c.format.dynamic(name); ok {
				c.more = append(c.more, jsonMember{name, v, value})
				return nil
			}
		}
		rest = append(rest, jsonMember{name: name, jsonValue: value})
		return nil
	})
	return rest, err
}

// objectOf returns an object with these members.
func objectOf(members []jsonMember) []byte {
	o := newObject(nil)
	for _, m := range members {
		o.raw(m.name, m.raw)
	}
	return o.close()
}

// isAbsent reports whether a value is an empty text or a dash, which mean an absent value.
func (v jsonValue) isAbsent() bool {
	return v.plain && v.raw[0] == '"' && (len(v.text) == 0 || string(v.text) == "-")
}

// isFlag reports whether a value is true or false, perhaps as text, or null.
func (v jsonValue) isFlag() bool {
	switch string(v.raw) {
	case "true", "false", `"true"`, `"false"`, "null":
		return true
	}
	return false
}

// valueOf returns a value in JSON.
func valueOf(raw []byte) jsonValue {
	v := jsonValue{raw: raw}
	if text := raw[1:]; raw[0] == '"' && bytes.IndexByte(text, '\\') < 0 {
		end := len(text) - 1
		v.text, v.plain = text[:end:end], true
		return v
	}
	d := jx.DecodeBytes(raw)
	switch d.Next() {
	case jx.String, jx.Number, jx.Bool:
		v.text, v.plain = scalar(d)
	case jx.Array:
		v.plain = true
		err := d.Arr(func(d *jx.Decoder) error {
			text, ok := scalar(d)
			if v.plain = v.plain && ok; !ok {
				return d.Skip()
			}
			if v.text != nil {
				v.text = append(v.text, ", "...)
			}
			v.text = append(v.text, text...)
			return nil
		})
		v.plain = v.plain && err == nil
	}
	return v
}

// scalar reads a string, a number or a boolean as text. It returns false, and reads nothing, if the next value is
// another.
func scalar(d *jx.Decoder) (text []byte, ok bool) {
	var err error
	switch d.Next() {
	case jx.String:
		text, err = d.StrAppend([]byte{})
	case jx.Number, jx.Bool:
		text, err = d.Raw()
	default:
		return nil, false
	}
	return text, err == nil
}

// apply sets the field of a variable. If the line has no value for the field, or another variable has set it, the value
// stays a member, unless the record has it anyway.
func (c *jsonLine) apply(v jsonVariable, value jsonValue) error {
	if value.raw == nil {
		return nil
	}
	keep := jsonMember{name: v.path[len(v.path)-1], jsonValue: value}
	needs := slotsOf(v.variable, value.text)
	switch {
	case needs&c.taken != 0:
		if !c.repeats(v.role, value.text) {
			c.rest = append(c.rest, keep)
		}
		return nil
	case v.equals != nil:
		if string(value.raw) != "null" {
			c.o.flag(v.name, value.plain && string(value.text) == *v.equals)
		}
		c.rest = append(c.rest, keep)
		return nil
	case v.role == roleMember && record.IsFlag(v.name) && !value.isFlag():
		return v.notFlag(value)
	case v.role == roleMember:
		raw := value.raw
		var err error
		if v.scale != nil {
			raw, err = v.scaled(value.text)
		}
		if err == nil {
			c.o.raw(v.name, raw)
		}
		return err
	case !value.plain && v.lenient || string(value.raw) == "null":
		c.rest = append(c.rest, keep)
		return nil
	case !value.plain:
		return badLine("%s is an object or a list with objects, which %s cannot be", pathText(v.path), v.text)
	}
	text, err := v.scaled(value.text)
	if err == nil {
		err = c.set(v.variable, text)
	}
	if err != nil && v.lenient {
		c.rest = append(c.rest, keep)
		return nil
	}
	c.taken |= needs
	return err
}

// free returns a name for a member that no field has.
func (c *jsonLine) free(name string) string {
	for c.o.written[name] || name == "url" {
		name = "log_" + name
	}
	return name
}

// repeats reports whether a value for a field that another variable has set is the value of the field.
func (c *jsonLine) repeats(r role, value []byte) bool {
	switch r {
	case roleMethod:
		return bytes.Equal(value, c.request.method)
	case roleProtocol:
		return bytes.Equal(value, c.request.protocol)
	case rolePath:
		return bytes.Equal(value, c.request.path)
	case roleArguments:
		return bytes.Equal(bytes.TrimPrefix(value, []byte("?")), bytes.TrimPrefix(c.request.query, []byte("?")))
	case roleTarget:
		var other request
		other.setTarget(value)
		return bytes.Equal(other.path, c.request.path) &&
			(other.query == nil || bytes.Equal(other.query, c.request.query))
	}
	return false
}

// slots are parts of a record. A variable sets one or more of them.
type slots uint32

// The slots of a request line. Every other role with a single value has the slot of its number.
const (
	slotMethod slots = 1 << (iota + 26)
	slotPath
	slotQuery
	slotProtocol
	slotUserAgent
	slotReferer
)

// slotsOf returns the slots that a variable with a value sets. A target without a query leaves the query to others.
func slotsOf(v variable, value []byte) slots {
	switch v.role {
	case roleRequest:
		return slotMethod | slotPath | slotQuery | slotProtocol
	case roleTarget:
		if bytes.IndexByte(value, '?') >= 0 {
			return slotPath | slotQuery
		}
		return slotPath
	case rolePath:
		return slotPath
	case roleArguments:
		return slotQuery
	case roleMethod:
		return slotMethod
	case roleProtocol:
		return slotProtocol
	case roleHeader:
		switch strings.ToLower(v.name) {
		case "user-agent":
			return slotUserAgent
		case "referer":
			return slotReferer
		}
	}
	if v.role.single() {
		return 1 << v.role
	}
	return 0
}

// scaled returns a value multiplied with the scale, as a decimal number.
func (v jsonVariable) scaled(value []byte) ([]byte, error) {
	mayHaveExponent := isFloatRole(v.role) && bytes.ContainsAny(value, "eE")
	if v.scale == nil && !mayHaveExponent {
		return value, nil
	}
	text := string(value)
	f, err := strconv.ParseFloat(text, 64)
	if v.scale == nil && err != nil {
		return value, nil //nolint:nilerr // a text, which the field may have or refuse
	}
	if err != nil || f > 1e30 || f < -1e30 {
		return nil, badLine("%s is %.80q, which is not a number", pathText(v.path), value)
	}
	if f < 1e-18 && f > -1e-18 {
		return []byte("0"), nil
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok || len(text) > 64 {
		return nil, badLine("%s is %.80q, which is not a number", pathText(v.path), value)
	}
	if v.scale != nil {
		n.Mul(n, v.scale)
	}
	const digits = 9
	out := []byte(n.FloatString(digits))
	return bytes.TrimSuffix(bytes.TrimRight(out, "0"), []byte(".")), nil
}

// isFloatRole reports whether the values of a role are numbers that may have an exponent in JSON.
func isFloatRole(r role) bool {
	return r == roleDuration || r == roleUpstreamTimes || r == roleTime
}

// pathText returns a path with dots between its names.
func pathText(path []string) string { return strings.Join(path, ".") }
