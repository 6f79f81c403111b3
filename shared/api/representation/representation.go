// Package representation writes the results of data routes in the media type that a client chooses: JSON, CSV, or lines
// of JSON.
package representation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/search"
)

// csvRaw is the value of the parameter csv.
const csvRaw = "raw"

// formats maps the values of the parameter format to media types.
var formats = map[string]string{"json": content.JSON, "csv": content.CSV, "ndjson": content.NDJSON}

// Offers are the media types of the answers of a route, the default first. Text is for errors and comes before the
// tables, so that a client that accepts text/* receives JSON.
type Offers []string

// OffersOf returns the media types of the answers of a data route. A route whose results have no table offers JSON
// only.
func OffersOf(to search.Route) Offers {
	if _, ok := TableOf(to, nil); !ok {
		return content.Offers
	}
	offers := Offers{content.JSON, content.Text, content.CSV}
	if to == search.Logs {
		offers = append(offers, content.NDJSON)
	}
	return offers
}

// formats lists the values of the parameter format.
func (o Offers) formats() []string {
	var list []string
	for name, mediaType := range formats {
		if slices.Contains(o, mediaType) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Parameters returns the parameters that choose the representation, if there is more than one.
func (o Offers) Parameters() []parameter.Parameter {
	var values []any
	for _, name := range o.formats() {
		values = append(values, name)
	}
	if len(values) == 1 {
		return nil
	}
	return []parameter.Parameter{
		{
			Name:    parameter.FormatName,
			Doc:     "The form of the answer. By default it is the one that `Accept` prefers.",
			Schema:  &huma.Schema{Type: "string", Enum: values},
			Example: "json",
			Read:    parameter.ReadText,
		},
		{
			Name: parameter.CSVName,
			Doc: "raw: do not put an apostrophe before cells of CSV that begin with `=`, `+`, `-`, `@`, a tab or a " +
				"line end. Spreadsheets may calculate such cells.",
			Schema:  &huma.Schema{Type: "string", Enum: []any{csvRaw}},
			Example: csvRaw,
			Read:    parameter.ReadText,
		},
	}
}

// Choice is the representation of an answer.
type Choice struct {
	MediaType string
	raw       bool // of CSV: cells are not guarded
}

// Choose returns the representation that a client has chosen, by the parameter format or else by the Accept headers.
func (o Offers) Choose(accept []string, args parameter.Arguments) (Choice, error) {
	c := Choice{MediaType: content.Negotiate(accept, o...)}
	if name := args[parameter.FormatName]; name != "" {
		mediaType, known := formats[name]
		if !known {
			return c, UnknownFormat(name, o.formats())
		}
		c.MediaType = mediaType
	}
	if !slices.Contains(o, c.MediaType) {
		return c, problem.NotAcceptable(o)
	}
	if c.MediaType == content.Text {
		c.MediaType = content.JSON
	}
	switch raw := args[parameter.CSVName]; {
	case raw == "":
		return c, nil
	case raw != csvRaw:
		return c, &search.ParamError{
			Param: parameter.CSVName, Message: fmt.Sprintf("the only value is %s, not %q", csvRaw, raw), Suggestion: csvRaw,
		}
	case c.MediaType != content.CSV:
		return c, &search.ParamError{
			Param: parameter.CSVName, Message: "the answer is not CSV; add format=csv, or leave csv out", Suggestion: "format=csv",
		}
	}
	c.raw = true
	return c, nil
}

// UnknownFormat is the error for a value of the parameter format that is not offered.
func UnknownFormat(name string, offered []string) error {
	e := &search.ParamError{
		Param:   parameter.FormatName,
		Message: fmt.Sprintf("unknown format %q; the formats are %s", name, strings.Join(offered, ", ")),
	}
	if near := filter.Nearest(name, offered); near != "" {
		e.Suggestion = near
	}
	return e
}

// QueryOf returns the parameters that choose the representation as the query of a location, so that the answer there
// has the same one.
func QueryOf(args parameter.Arguments) string {
	query := ""
	for _, name := range []string{parameter.FormatName, parameter.CSVName} {
		if value := args[name]; value != "" {
			query += "&" + name + "=" + value
		}
	}
	return strings.Replace(query, "&", "?", 1)
}
