package api

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// param is a parameter of a route. The POST form of a route has it as a member of the body.
type param struct {
	name     string
	doc      string
	required bool
	schema   *huma.Schema // of the query parameter
	body     *huma.Schema // of the member; nil: schema
	example  any
	// read converts the member to the text of a parameter, or returns the type that it must have.
	read func(json.RawMessage) (text string, want string)
}

func names(params []param) []string {
	list := make([]string, len(params))
	for i, p := range params {
		list[i] = p.name
	}
	return list
}

// arguments is the values of parameters, as text.
type arguments map[string]string

// maxDetails is the maximum number of details of an error.
const maxDetails = 20

// readQuery reads the parameters of a query.
func readQuery(raw string, params []param) (arguments, error) {
	return readFields("query", fieldsOf(raw), params)
}

// ignored reports whether a parameter is ignored. Names with an initial underscore are cache busters.
func ignored(name string) bool { return strings.HasPrefix(name, "_") }

// readFields reads parameters from fields. place is the location for errors: "query" or "body".
func readFields(place string, fields []field, params []param) (arguments, error) {
	args, wrong := arguments{}, details(nil)
	for _, f := range fields {
		_, twice := args[f.name]
		switch {
		case ignored(f.name):
			continue
		case len(wrong) == maxDetails:
			return nil, wrong
		case !known(params, f.name):
			_, afterFilters := args["filters"]
			wrong = append(wrong, unknown(names(params), afterFilters, place, f.name))
		case twice:
			wrong = append(wrong, repeated(place, f.name))
		case f.value == "" && !mayBeEmpty(params, f.name):
			wrong = append(wrong, empty(place, f.name))
		case !utf8.ValidString(f.value) && !isFilter(f.name):
			wrong = append(wrong, notUTF8(f.value, place, f.name))
		}
		args[f.name] = f.value
	}
	return args.complete(place, params, wrong)
}

// readBody reads parameters from the members of a JSON object.
func readBody(body []byte, params []param) (arguments, error) {
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	args, wrong := arguments{}, details(nil)
	for _, m := range members {
		_, twice := args[m.name]
		switch {
		case ignored(m.name):
			continue
		case len(wrong) == maxDetails:
			return nil, wrong
		case !known(params, m.name):
			wrong = append(wrong, unknown(names(params), false, "body", m.name))
			continue
		case twice:
			wrong = append(wrong, repeated("body", m.name))
			continue
		}
		text, want := find(params, m.name).read(m.value)
		switch {
		case want != "":
			wrong = append(wrong, wrongType(want, "body", m.name))
		case text == "" && !mayBeEmpty(params, m.name):
			wrong = append(wrong, empty("body", m.name))
		case !utf8.ValidString(text) && !isFilter(m.name):
			wrong = append(wrong, notUTF8(text, "body", m.name))
		}
		args[m.name] = text
	}
	return args.complete("body", params, wrong)
}

// complete returns the arguments, or wrong extended by the missing required parameters.
func (args arguments) complete(place string, params []param, wrong details) (arguments, error) {
	for _, p := range params {
		if _, ok := args[p.name]; p.required && !ok {
			wrong = append(wrong, missing(place, p.name))
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return args, nil
}

func known(params []param, name string) bool { return find(params, name) != nil }

// mayBeEmpty reports whether the route, and not the reading of parameters, refuses an empty value: an empty filter is a
// mistake in the filter, unless the route has a default for it.
func mayBeEmpty(params []param, name string) bool {
	return name == filtersParam.name && find(params, name).required
}

// isFilter reports whether a parameter has a filter, of which package filter reports the mistakes.
func isFilter(name string) bool { return name == filtersParam.name || name == selectName }

func find(params []param, name string) *param {
	for i := range params {
		if params[i].name == name {
			return &params[i]
		}
	}
	return nil
}
