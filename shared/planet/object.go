package planet

import (
	"encoding/json"
	"slices"
	"strings"
)

// object is a JSON object with its members in order, keys and values verbatim.
type object []member

type member struct {
	name  string // unescaped
	key   string // as written, in quotes
	value string // as written
}

// kind is a JSON type, by its name in Problem.Type.
type kind string

const (
	kindString kind = "string"
	kindList   kind = "list"
	kindObject kind = "object"
	kindOther  kind = "other" // number, boolean or null: wrong for every member that has a rule
)

func (k kind) article() string {
	if k == kindObject {
		return "an object"
	}
	return "a " + string(k)
}

func kindOf(value string) kind {
	switch value[0] {
	case '"':
		return kindString
	case '[':
		return kindList
	case '{':
		return kindObject
	}
	return kindOther
}

// at returns the Loc of a path in the body.
func at(path ...any) []any { return append([]any{"body"}, path...) }

// object reads the members of a valid JSON value. Problems are a value of another type and repeated members.
func (p *Problems) object(loc []any, value string) (object, bool) {
	if kindOf(value) != kindObject {
		p.wrongType(loc, kindObject)
		return nil, false
	}
	o, ok := membersOf(value), true
	seen := make(map[string]bool, len(o))
	for _, m := range o {
		if seen[m.name] {
			p.repeated(append(slices.Clone(loc), m.name))
			ok = false
		}
		seen[m.name] = true
	}
	return o, ok
}

func (p *Problems) text(loc []any, value string) (string, bool) {
	if kindOf(value) != kindString {
		p.wrongType(loc, kindString)
		return "", false
	}
	return unquote(value), true
}

func (p *Problems) requiredText(in []any, o object, name string) (string, bool) {
	loc := at(append(slices.Clone(in), name)...)
	m, ok := o.find(name)
	if !ok {
		p.missing(loc)
		return "", false
	}
	return p.text(loc, m.value)
}

func (p *Problems) requiredList(in []any, o object, name string) ([]string, bool) {
	loc := at(append(slices.Clone(in), name)...)
	m, ok := o.find(name)
	if !ok {
		p.missing(loc)
		return nil, false
	}
	if kindOf(m.value) != kindList {
		p.wrongType(loc, kindList)
		return nil, false
	}
	return itemsOf(m.value), true
}

func (o object) find(name string) (member, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
	if i < 0 {
		return member{}, false
	}
	return o[i], true
}

// without returns the text of the object without one member.
func (o object) without(name string) string {
	var b strings.Builder
	b.WriteByte('{')
	for _, m := range o {
		if m.name == name {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(m.key)
		b.WriteByte(':')
		b.WriteString(m.value)
	}
	b.WriteByte('}')
	return b.String()
}

// membersOf returns the members of a valid JSON object.
func membersOf(text string) object {
	d := json.NewDecoder(strings.NewReader(text))
	mustRead(d.Token())
	var o object
	for d.More() {
		from := d.InputOffset()
		mustRead(d.Token())
		key := strings.TrimLeft(text[from:d.InputOffset()], ", \t\r\n")
		var value json.RawMessage
		mustRead(nil, d.Decode(&value))
		o = append(o, member{name: unquote(key), key: key, value: string(value)})
	}
	return o
}

// itemsOf returns the items of a valid JSON list.
func itemsOf(text string) []string {
	var values []json.RawMessage
	mustRead(nil, json.Unmarshal([]byte(text), &values))
	items := make([]string, len(values))
	for i, v := range values {
		items[i] = string(v)
	}
	return items
}

func unquote(text string) string {
	var s string
	mustRead(nil, json.Unmarshal([]byte(text), &s))
	return s
}

// mustRead panics if text that was valid JSON before cannot be read.
func mustRead(_ json.Token, err error) {
	if err != nil {
		panic("planet: valid JSON cannot be read: " + err.Error())
	}
}
