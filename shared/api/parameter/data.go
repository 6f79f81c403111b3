package parameter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/search"
)

// MaxBody is the maximum length of a body with a filter: a filter of 1 MB in which every character is escaped,
// and the other parameters.
const MaxBody = 2_100_000

// Names of the parameters that choose the representation of an answer.
const (
	FormatName = "format"
	CSVName    = "csv"
)

// selectName is the name of the other parameter that is a filter.
const selectName = "select"

// Parameters of data routes that other routes have, too.
var (
	Filters = Of(search.ParameterOf(search.Logs, "filters"))
	DayZone = Of(search.ParameterOf(search.Logs, "tz"))
)

// MaxBytes returns the parameter for a limit of what is read.
func MaxBytes(doc string) Parameter {
	p := Of(search.ParameterOf(search.Logs, search.MaxBytesParam))
	p.Doc = doc
	return p
}

// Of returns a parameter of data routes as routes have it.
func Of(of search.Parameter) Parameter {
	p := Parameter{Name: of.Name, Doc: of.Doc, Required: of.Required, Schema: &huma.Schema{Type: "string", Pattern: of.Pattern}}
	if of.Example != "" {
		p.Example = of.Example
	}
	if of.Default != "" {
		p.Schema.Default = of.Default
	}
	switch of.Kind {
	case search.TextKind:
		p.Read = ReadText
		for _, value := range of.Values {
			p.Schema.Enum = append(p.Schema.Enum, value)
		}
	case search.IntegerKind:
		return integerParam(of)
	case search.BytesKind:
		p.Schema = &huma.Schema{Type: "integer", Format: "int64", Minimum: new(1.0)}
		p.Body, p.Example, p.Read = orDigits(p.Schema), numberIn(of.Example, of.Name), readInteger
	case search.BooleanKind:
		return Boolean(of.Name, of.Doc)
	case search.FilterKind:
		p.Schema.MinLength, p.Body, p.Read = new(1), FilterSchema(1), ReadFilters
	case search.NamesKind:
		name := &huma.Schema{Type: "string", MinLength: new(1)}
		if of.Pattern != "" {
			name = &huma.Schema{Type: "string", Pattern: "^" + of.Pattern + "$"}
			p.Schema.Pattern = "^" + of.Pattern + "(," + of.Pattern + ")*$"
		}
		p.Body, p.Read = namesSchema(name, of.Max), readNames
	case search.LengthKind:
		seconds := &huma.Schema{Type: "integer", Minimum: new(1.0)}
		p.Body, p.Read = &huma.Schema{OneOf: []*huma.Schema{p.Schema, seconds}}, readLength
	case search.PartKind:
		p.Schema.MaxLength = new(of.Max)
		p.Body, p.Read = textOrInteger(p.Schema), readTextOrInteger
	default:
		panic(fmt.Sprintf("parameter: no schema for parameters of kind %d", of.Kind))
	}
	return p
}

func integerParam(of search.Parameter) Parameter {
	schema := &huma.Schema{Type: "integer", Minimum: new(1.0), Default: float64(numberIn(of.Default, of.Name))}
	if of.Max > 0 {
		schema.Maximum = new(float64(of.Max))
	}
	return Parameter{
		Name: of.Name, Doc: of.Doc, Schema: schema, Body: orDigits(schema), Example: numberIn(of.Example, of.Name), Read: readInteger,
	}
}

// numberIn returns a number of the table of parameters.
func numberIn(text, parameter string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("parameter: read the parameter " + parameter + ": " + err.Error())
	}
	return n
}

// Boolean returns a parameter that is false by default.
func Boolean(name, doc string) Parameter {
	schema := &huma.Schema{Type: "boolean", Default: false}
	return Parameter{Name: name, Doc: doc, Schema: schema, Body: orBooleanText(schema), Example: true, Read: readBoolean}
}

// The names of the parameters of why: the reference of a record, and whether sensitive values are shown.
const (
	ReferenceName = "record_ref"
	SecretsName   = "secrets"
)

// The names of parameters of effects: the moment, and the length of the periods.
const (
	AtName     = "at"
	LengthName = "length"
)

// The names of parameters of rules that are tried: the rule or several rules, and the attack that a limit is to stop.
const (
	RuleName   = "rule"
	RulesName  = "rules"
	AttackName = "attack"
)

// Texts returns a parameter that is a list of texts. In a query it is in JSON.
func Texts(name, doc string, most int, example []string) Parameter {
	return Parameter{
		Name: name, Doc: doc, Example: string(content.Encode(example)), Schema: &huma.Schema{Type: "string", MinLength: new(1)},
		Body: namesSchema(&huma.Schema{Type: "string", MinLength: new(1)}, most), Read: readTexts,
	}
}

// TextsOf reads the texts of a parameter. The error is a *search.ParamError.
func TextsOf(args Arguments, name string) (list []string, err error) {
	text, given := args[name]
	if !given {
		return nil, nil
	}
	if _, want := readTexts([]byte(strings.TrimSpace(text))); want != "" {
		return nil, &search.ParamError{Param: name, Message: `it is not a list of strings in JSON, such as ["a", "b"]`}
	}
	err = json.Unmarshal([]byte(text), &list)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the parameter %s: %w", name, err)
	case len(list) == 0:
		return nil, &search.ParamError{Param: name, Message: "the list is empty: leave it out, or give it a value"}
	}
	return list, nil
}

// Conditions returns a filter that has no period and may be left out.
func Conditions(doc string) Parameter {
	p := Of(search.Parameter{Name: Filters.Name, Kind: search.FilterKind, Doc: doc, Example: `host="shop.example"`})
	p.Body = FilterSchema(0)
	p.Body.OneOf[0].MinLength = new(1) // as in a query
	return p
}

// dataParams are the names of the parameters of all data routes.
var dataParams = append(
	parameterNames(), FormatName, CSVName, ReferenceName, SecretsName, AtName, LengthName, RuleName, RulesName,
	AttackName,
)

func parameterNames() []string {
	var list []string
	for _, p := range search.Parameters {
		list = append(list, p.Name)
	}
	return list
}
