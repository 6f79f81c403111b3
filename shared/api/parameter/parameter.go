// Package parameter describes the parameters of routes, for the OpenAPI document, and reads them from queries, forms
// and JSON.
package parameter

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/problem"
)

// Parameter is a parameter of a route. The POST form of a route has it as a member of the body.
type Parameter struct {
	Name     string
	Doc      string
	Required bool
	Schema   *huma.Schema // of the query parameter
	Body     *huma.Schema // of the member; nil: Schema
	Example  any
	// Read converts the member to the text of a parameter, or returns the type that it must have.
	Read func(json.RawMessage) (text string, want string)
}

// names returns the names of parameters.
func names(params []Parameter) []string {
	list := make([]string, len(params))
	for i, p := range params {
		list[i] = p.Name
	}
	return list
}

// Arguments is the values of parameters, as text.
type Arguments map[string]string

// maxDetails is the maximum number of details of an error.
const maxDetails = 20

// ReadQuery reads the parameters of a query.
func ReadQuery(raw string, params []Parameter) (Arguments, error) {
	return readFields("query", fieldsOf(raw), params)
}

// ignored reports whether a parameter is ignored. Names with an initial underscore are cache busters.
func ignored(name string) bool { return strings.HasPrefix(name, "_") }

// readFields reads parameters from fields. place is the location for errors: "query" or "body".
func readFields(place string, fields []Field, params []Parameter) (Arguments, error) {
	args, wrong := Arguments{}, problem.Details(nil)
	for _, f := range fields {
		_, twice := args[f.Name]
		switch {
		case ignored(f.Name):
			continue
		case len(wrong) == maxDetails:
			return nil, wrong
		case !known(params, f.Name):
			_, afterFilters := args["filters"]
			wrong = append(wrong, unknown(names(params), afterFilters, place, f.Name))
		case twice:
			wrong = append(wrong, repeated(place, f.Name))
		case f.Value == "" && !mayBeEmpty(params, f.Name):
			wrong = append(wrong, Empty(place, f.Name))
		case !utf8.ValidString(f.Value) && !isFilter(f.Name):
			wrong = append(wrong, notUTF8(f.Value, place, f.Name))
		}
		args[f.Name] = f.Value
	}
	return args.complete(place, params, wrong)
}

// ReadBody reads parameters from the members of a JSON object.
func ReadBody(body []byte, params []Parameter) (Arguments, error) {
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	args, wrong := Arguments{}, problem.Details(nil)
	for _, m := range members {
		_, twice := args[m.Name]
		switch {
		case ignored(m.Name):
			continue
		case len(wrong) == maxDetails:
			return nil, wrong
		case !known(params, m.Name):
			wrong = append(wrong, unknown(names(params), false, "body", m.Name))
			continue
		case twice:
			wrong = append(wrong, repeated("body", m.Name))
			continue
		}
		text, want := Find(params, m.Name).Read(m.Value)
		switch {
		case want != "":
			wrong = append(wrong, wrongType(want, "body", m.Name))
		case text == "" && !mayBeEmpty(params, m.Name):
			wrong = append(wrong, Empty("body", m.Name))
		case !utf8.ValidString(text) && !isFilter(m.Name):
			wrong = append(wrong, notUTF8(text, "body", m.Name))
		}
		args[m.Name] = text
	}
	return args.complete("body", params, wrong)
}

// complete returns the arguments, or wrong extended by the missing required parameters.
func (args Arguments) complete(place string, params []Parameter, wrong problem.Details) (Arguments, error) {
	for _, p := range params {
		if _, ok := args[p.Name]; p.Required && !ok {
			wrong = append(wrong, missing(place, p.Name))
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return args, nil
}

func known(params []Parameter, name string) bool { return Find(params, name) != nil }

// mayBeEmpty reports whether the route, and not the reading of parameters, refuses an empty value: an empty filter is a
// mistake in the filter, unless the route has a default for it.
func mayBeEmpty(params []Parameter, name string) bool {
	return name == Filters.Name && Find(params, name).Required
}

// isFilter reports whether a parameter is a filter. Package filter reports the mistakes in it.
func isFilter(name string) bool { return name == Filters.Name || name == selectName }

// Find returns the parameter with a name, or nil.
func Find(params []Parameter, name string) *Parameter {
	for i := range params {
		if params[i].Name == name {
			return &params[i]
		}
	}
	return nil
}
