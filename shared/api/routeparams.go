package api

import (
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/search"
)

// maxFilterBody is the maximum length of a body with a filter: a filter of 1 MB in which every character is escaped,
// and the other parameters.
const maxFilterBody = 2_100_000

// Names of the parameters that select the representation of an answer.
const (
	formatName = "format"
	csvName    = "csv"
)

// selectName is the name of the other parameter that is a filter.
const selectName = "select"

// Parameters of data routes that other routes have, too.
var (
	filtersParam = paramOf(search.ParameterOf(search.Logs, "filters"))
	dayZoneParam = paramOf(search.ParameterOf(search.Logs, "tz"))
)

// paramOf returns a parameter of data routes.
func paramOf(of search.Parameter) param {
	p := param{name: of.Name, doc: of.Doc, required: of.Required, schema: &huma.Schema{Type: "string", Pattern: of.Pattern}}
	if of.Example != "" {
		p.example = of.Example
	}
	if of.Default != "" {
		p.schema.Default = of.Default
	}
	switch of.Kind {
	case search.TextKind:
		p.read = readText
		for _, value := range of.Values {
			p.schema.Enum = append(p.schema.Enum, value)
		}
	case search.IntegerKind:
		return integerParam(of)
	case search.BooleanKind:
		return booleanParam(of.Name, of.Doc)
	case search.FilterKind:
		p.schema.MinLength, p.body, p.read = new(1), filterSchema(1), readFilters
	case search.NamesKind:
		name := &huma.Schema{Type: "string", MinLength: new(1)}
		if of.Pattern != "" {
			name = &huma.Schema{Type: "string", Pattern: "^" + of.Pattern + "$"}
			p.schema.Pattern = "^" + of.Pattern + "(," + of.Pattern + ")*$"
		}
		p.body, p.read = namesSchema(name, of.Max), readNames
	case search.LengthKind:
		seconds := &huma.Schema{Type: "integer", Minimum: new(1.0)}
		p.body, p.read = &huma.Schema{OneOf: []*huma.Schema{p.schema, seconds}}, readLength
	case search.PartKind:
		p.schema.MaxLength = new(of.Max)
		p.body, p.read = textOrInteger(p.schema), readTextOrInteger
	default:
		panic(fmt.Sprintf("api: no form for parameters of kind %d", of.Kind))
	}
	return p
}

func integerParam(of search.Parameter) param {
	number := func(text string) float64 {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic("api: read the parameter " + of.Name + ": " + err.Error())
		}
		return float64(n)
	}
	schema := &huma.Schema{Type: "integer", Minimum: new(1.0), Default: number(of.Default)}
	if of.Max > 0 {
		schema.Maximum = new(float64(of.Max))
	}
	return param{
		name: of.Name, doc: of.Doc, schema: schema, body: orDigits(schema), example: int(number(of.Example)), read: readInteger,
	}
}

// booleanParam returns a parameter that is false by default.
func booleanParam(name, doc string) param {
	schema := &huma.Schema{Type: "boolean", Default: false}
	return param{name: name, doc: doc, schema: schema, body: orBooleanText(schema), example: true, read: readBoolean}
}

// dataParams are the names of the parameters of all data routes.
var dataParams = append(parameterNames(), formatName, csvName)

func parameterNames() []string {
	var list []string
	for _, p := range search.Parameters {
		list = append(list, p.Name)
	}
	return list
}
