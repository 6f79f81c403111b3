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

// formSchema returns the schema of a form with the parameters as text fields.
func formSchema(params []Parameter) *huma.Schema {
	fields := slices.Clone(params)
	for i := range fields {
		fields[i].Body = nil
	}
	return ObjectSchema(fields)
}

// FilterSchema returns the schema of the member of a body that is a filter with at least so many conditions. It refers
// to FilterSchemas.
func FilterSchema(conditions int) *huma.Schema {
	text, list := &huma.Schema{Type: "string"}, &huma.Schema{Type: "array", Items: refTo(conditionName)}
	if conditions > 0 {
		text.MinLength, list.MinItems = new(1), &conditions
	}
	return &huma.Schema{
		Description: "The filter: text in either form, or the JSON form itself.",
		OneOf:       []*huma.Schema{text, refTo(objectName), list},
	}
}

// BodySchema returns the schema of a JSON body that is a filter or a form with one. It refers to FilterSchemas.
func BodySchema() *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		FormRef(),
		refTo(objectName),
		{Type: "array", Items: refTo(conditionName), Description: "The conditions of a JSON filter."},
		{Type: "string", Description: "A filter as text."},
	}}
}

// FormRef returns a reference to the schema of a form with a filter.
func FormRef() *huma.Schema { return refTo(formName) }

// FilterSchemas returns the schemas with names to which schemas of filters refer. Objects need names because clients
// that are generated for Java do not compile if one without a name is among alternatives. An object and an element of a
// list are two schemas because TypeScript would import a single one twice. The form is among the alternatives of JSON
// because a schema that only forms have is missing in the clients of openapi-generator.
func FilterSchemas() map[string]*huma.Schema {
	member := func(doc string) *huma.Schema { return &huma.Schema{Type: "string", Description: doc} }
	condition := func(doc string) *huma.Schema {
		s := &huma.Schema{Type: "object", Description: doc, AdditionalProperties: true}
		s.Properties = map[string]*huma.Schema{
			"field": member("Name of a field."),
			"key":   member("The members of the field that the condition tests."),
			"op":    member("An operator, or `not` and an operator."),
			"value": {Description: "Text, a number, a boolean, or a list of them."},
			"list":  member("Name of a list of values, instead of a value."),
			"NOT": {
				Type: "object", AdditionalProperties: true,
				Description: "The condition to negate, instead of the other members.",
			},
		}
		return s
	}
	object := condition("A filter in the JSON form, or one condition.")
	object.Properties["AND"] = &huma.Schema{
		Type: "array", Items: refTo(conditionName), Description: "The conditions, instead of the other members.",
	}
	return map[string]*huma.Schema{
		conditionName: condition("A condition of a filter in the JSON form."),
		objectName:    object,
		formName:      formSchema([]Parameter{Filters, DayZone}),
	}
}

// The names of FilterSchemas.
const (
	conditionName = "FilterCondition"
	objectName    = "FilterObject"
	formName      = "FilterForm"
)

func refTo(name string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + name} }

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
