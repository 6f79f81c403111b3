package filter

import (
	"fmt"
	"strings"
)

// Dimension is what records are grouped by: a field, a field with the key of one of its members, or the networks of an
// address: status, headers["accept"], ip/24.
type Dimension struct {
	Field  Word
	Key    *Key
	Length string // of the prefix of the networks, as it is written, or ""
}

// ParseDimensions parses a list of dimensions, which are written as in the query-string form:
//
//	dimensions = dimension { "," dimension } .
//	dimension  = field [ "[" [ "~" ] string "]" | "/" length ] .
//
// The error is the first mistake.
func ParseDimensions(text string) ([]Dimension, error) {
	if errs, bad := unreadable(text); bad {
		return nil, errs[0].asError(text)
	}
	p := parser{lexer: lexer{text}}
	var list []Dimension
	for {
		one := p.dimension()
		if len(p.errs) > 0 {
			return nil, p.errs[0].asError(text)
		}
		list = append(list, one)
		t := p.peek()
		switch {
		case t.Kind == endToken:
			return list, nil
		case !p.mark(t, ","):
			return nil, Error{Span: p.place(t), Message: "a comma separates fields; found " + p.found(t)}.asError(text)
		}
		p.take(t)
	}
}

func (p *parser) dimension() Dimension {
	t := p.peek()
	word := Word{t.Span.of(p.text), t.Span}
	field, member, dotted := strings.Cut(word.Text, ".")
	address, length, slashed := strings.Cut(word.Text, "/")
	switch {
	case t.Kind == WordToken && slashed && plainKey(address):
		if !plainKey(length) {
			p.fail(Error{Span: t.Span, Message: "expected the length of a prefix after the slash, as in ip/24"})
			return Dimension{}
		}
		p.take(t)
		return Dimension{Field: Word{address, Span{t.Span.Offset, len(address)}}, Length: length}
	case t.Kind != WordToken || !dotted && !plainKey(word.Text):
		const expected = `expected the name of a field, as in status or headers["accept"]; found `
		p.fail(Error{Span: p.place(t), Message: expected + p.found(t)})
		return Dimension{}
	case dotted:
		p.fail(dottedField(t.Span, field, member))
		return Dimension{}
	}
	p.take(t)
	key, _ := p.key()
	return Dimension{Field: word, Key: key}
}

// found names a token for a message about a list.
func (p *parser) found(t Token) string {
	if t.Kind == endToken {
		return "the end of the list"
	}
	return found(p.text, t.Span)
}

// asError returns the mistake as an error that names its column.
func (e Error) asError(text string) error {
	_, column := Position(text, e.Span.Offset)
	return fmt.Errorf("column %d: %s", column, e.Message)
}

// String returns the dimension in the query-string form.
func (d Dimension) String() string {
	c := Condition{Field: d.Field, Key: d.Key, Op: Is, Values: []Value{{}}}
	text := strings.TrimSuffix(c.String(), " is ")
	if d.Length != "" {
		text += "/" + d.Length
	}
	return text
}
