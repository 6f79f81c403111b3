package parameter

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// NotEmpty returns the schema of a parameter, which may not be the empty text, except of a required filter: there it is
// a mistake in the filter.
func (p *Parameter) NotEmpty(schema *huma.Schema) *huma.Schema {
	if schema.Type != "string" || schema.Enum != nil || mayBeEmpty([]Parameter{*p}, p.Name) {
		return schema
	}
	one, stricter := 1, *schema
	stricter.MinLength = &one
	return &stricter
}

// ObjectSchema returns the schema of an object with the parameters as members.
func ObjectSchema(params []Parameter) *huma.Schema {
	s := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range params {
		member := p.Schema
		if p.Body != nil {
			member = p.Body
		}
		s.Properties[p.Name] = p.NotEmpty(member)
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

// FormSchema returns the schema of a form with the parameters as text fields.
func FormSchema(params []Parameter) *huma.Schema {
	fields := slices.Clone(params)
	for i := range fields {
		fields[i].Body = nil
	}
	return ObjectSchema(fields)
}

// FilterSchema returns the schema of the member of a body that is a filter with at least so many conditions.
func FilterSchema(conditions int) *huma.Schema {
	text, list := &huma.Schema{Type: "string"}, &huma.Schema{
		Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true},
	}
	if conditions > 0 {
		text.MinLength, list.MinItems = new(1), &conditions
	}
	return &huma.Schema{
		Description: "The filter: text in either form, or the JSON form itself.",
		OneOf:       []*huma.Schema{text, {Type: "object", AdditionalProperties: true}, list},
	}
}

// namesSchema returns the schema of the member of a body that readNames reads: a list of names, at most so many; 0: any
// number.
func namesSchema(name *huma.Schema, most int) *huma.Schema {
	s := &huma.Schema{Type: "array", Items: name, MinItems: new(1)}
	if most > 0 {
		s.MaxItems = &most
	}
	return s
}

// textOrInteger is the schema of a member that readLength or readTextOrInteger reads.
func textOrInteger(text *huma.Schema) *huma.Schema {
	stricter := *text
	stricter.MinLength = new(1)
	return &huma.Schema{OneOf: []*huma.Schema{&stricter, {Type: "integer"}}}
}

// orDigits is the schema of a member that readInteger reads.
func orDigits(integer *huma.Schema) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{integer, {Type: "string", Pattern: "^[0-9]+$"}}}
}

// orBooleanText is the schema of a member that readBoolean reads.
func orBooleanText(boolean *huma.Schema) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{boolean, {Type: "string", Enum: []any{"true", "false"}}}}
}

// CanonicalFilter is the canonical JSON form of a filter.
type CanonicalFilter struct {
	AND []CanonicalCondition `json:"AND"`
}

// CanonicalCondition is a condition of a CanonicalFilter. Its members are in this order.
type CanonicalCondition struct {
	Field string `json:"field" example:"status"`
	Key   string `json:"key,omitempty" example:"^name$"`
	Op    string `json:"op" example:"not eq"`
	Value any    `json:"value" doc:"A value, or a list of values"`
}
