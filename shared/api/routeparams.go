package api

import (
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
)

// pathParams are the parameters of paths.
var pathParams = []param{
	{
		name:    "config",
		doc:     "Name of the configuration.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + planet.ConfigPattern + "$"},
		example: planet.FirstConfig,
	},
	{
		name:    "entry_id",
		doc:     "Id of the planet; every configuration has one.",
		schema:  &huma.Schema{Type: "string"},
		example: planet.EntryID,
	},
	{
		name:    "name",
		doc:     "Name of the saved filter.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		example: "server-errors",
	},
	{
		name:    "report",
		doc:     "Name of the scheduled report.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		example: "weekly",
	},
	{
		name:    "run",
		doc:     "Id of the run.",
		schema:  &huma.Schema{Type: "string"},
		example: "b793f16476532fabe039321d4624bb13",
	},
	{
		name:    "id",
		doc:     "Id of the query, from the Location of a 202 or 504.",
		schema:  &huma.Schema{Type: "string", Pattern: "^[0-9a-f]{32}$"},
		example: "3f1c0a9be2d84c57a6f0d1e2b3c4a596",
	},
	{
		name:    "version",
		doc:     "Number of the version.",
		schema:  &huma.Schema{Type: "integer", Minimum: float(1), Maximum: float(maxVersion)},
		example: 1,
	},
}

// Parameters of data routes that other routes have, too.
var (
	filtersParam = paramOf(search.ParameterOf(search.Logs, "filters"))
	dayZoneParam = paramOf(search.ParameterOf(search.Logs, "tz"))
)

// Names of parameters that are mentioned below.
const (
	limitName  = "limit"
	selectName = "select"
	dryRunName = "dry_run"
	cursorName = "cursor"
	sinceName  = "since"
)

// paramsOf returns the parameters of a data route.
func paramsOf(to search.Route, offers []string) []param {
	var list []param
	for _, p := range search.ParametersOf(to) {
		if p.Name == dryRunName { // the last one
			list = append(list, formatParams(offers)...)
		}
		list = append(list, paramOf(p))
	}
	return list
}

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
		p.schema.MinLength, p.body, p.read = whole(1), filterSchema(1), readFilters
	case search.NamesKind:
		name := &huma.Schema{Type: "string", MinLength: whole(1)}
		if of.Pattern != "" {
			name = &huma.Schema{Type: "string", Pattern: "^" + of.Pattern + "$"}
			p.schema.Pattern = "^" + of.Pattern + "(," + of.Pattern + ")*$"
		}
		p.body, p.read = namesSchema(name, of.Max), readNames
	case search.LengthKind:
		seconds := &huma.Schema{Type: "integer", Minimum: float(1)}
		p.body, p.read = &huma.Schema{OneOf: []*huma.Schema{p.schema, seconds}}, readLength
	case search.PartKind:
		p.schema.MaxLength = whole(of.Max)
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
	schema := &huma.Schema{Type: "integer", Minimum: float(1), Default: number(of.Default)}
	if of.Max > 0 {
		schema.Maximum = float(float64(of.Max))
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

// Headers that routes read.
var (
	preferHeader = param{
		name: "Prefer", schema: &huma.Schema{Type: "string"},
		doc: "respond-async: answer at once with the location of the result.",
	}
	syntaxHeader = param{
		name: "syntax", schema: &huma.Schema{Type: "string"},
		doc: "string_query: read the filter in the query-string form even if it begins with a brace or a bracket.",
	}
	ifMatch = param{
		name: "If-Match", schema: &huma.Schema{Type: "string", MinLength: whole(1), Pattern: matchPattern},
		doc: "Write only if the newest version has this ETag, or, with *, if there is one.",
	}
	ifNoneMatchWrite = param{
		name: "If-None-Match", schema: &huma.Schema{Type: "string", Enum: []any{"*"}},
		doc: "*: write only if it does not exist yet.",
	}
	ifNoneMatchRead = param{
		name: "If-None-Match", schema: &huma.Schema{Type: "string"},
		doc: "Answer 304 if the newest version still has this ETag.",
	}
)

// filterSchema returns the schema of the member of a body that is a filter with at least so many conditions.
func filterSchema(conditions int) *huma.Schema {
	text, list := &huma.Schema{Type: "string"}, &huma.Schema{
		Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true},
	}
	if conditions > 0 {
		text.MinLength, list.MinItems = whole(1), &conditions
	}
	return &huma.Schema{
		Description: "The filter: text in either form, or the JSON form itself.",
		OneOf:       []*huma.Schema{text, {Type: "object", AdditionalProperties: true}, list},
	}
}

// namesSchema returns the schema of the member of a body that readNames reads: a list of names, at most so many; 0: any
// number.
func namesSchema(name *huma.Schema, most int) *huma.Schema {
	s := &huma.Schema{Type: "array", Items: name, MinItems: whole(1)}
	if most > 0 {
		s.MaxItems = &most
	}
	return s
}

// matchPattern is the form of If-Match: * or a list of ETags.
const matchPattern = `^(\*|(W/)?"[^",]*"( *, *(W/)?"[^",]*")*)$`

// dataParams are the names of the parameters of all data routes.
var dataParams = append(parameterNames(), formatName, csvName)

func parameterNames() []string {
	var list []string
	for _, p := range search.Parameters {
		list = append(list, p.Name)
	}
	return list
}

func float(f float64) *float64 { return &f }
