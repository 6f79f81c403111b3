package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/search"
)

// csvRaw is the value of the parameter csv.
const csvRaw = "raw"

// formats maps the values of the parameter format to media types.
var formats = map[string]string{"json": jsonType, "csv": csvType, "ndjson": ndjsonType}

// Media types of data answers. text/plain is for errors and comes before the tables, so that a client that accepts
// text/* receives JSON.
var (
	figureOffers = []string{jsonType, textType, csvType}
	recordOffers = []string{jsonType, textType, csvType, ndjsonType}
)

// offersOf returns the media types of the answers of a data route. A route whose results have no table offers JSON only.
func offersOf(to search.Route) []string {
	if to == search.Logs {
		return recordOffers
	}
	if _, ok := TableOf(to, nil); !ok {
		return offers
	}
	return figureOffers
}

// formatsOf lists the values of the parameter format for a route with these media types.
func formatsOf(offers []string) []string {
	var list []string
	for name, mediaType := range formats {
		if slices.Contains(offers, mediaType) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// formatParams are the parameters of a route that select the form of its answer, if there is more than one.
func formatParams(offers []string) []param {
	var values []any
	for _, name := range formatsOf(offers) {
		values = append(values, name)
	}
	if len(values) == 1 {
		return nil
	}
	return []param{
		{
			name:    formatName,
			doc:     "The form of the answer. By default it is the one that `Accept` prefers.",
			schema:  &huma.Schema{Type: "string", Enum: values},
			example: "json",
			read:    readText,
		},
		{
			name: csvName,
			doc: "raw: do not put an apostrophe before cells of CSV that begin with `=`, `+`, `-`, `@`, a tab or a " +
				"line end. Spreadsheets may calculate such cells.",
			schema:  &huma.Schema{Type: "string", Enum: []any{csvRaw}},
			example: csvRaw,
			read:    readText,
		},
	}
}

// form is the form of a data answer.
type form struct {
	mediaType string
	raw       bool // of CSV: cells are not guarded
}

// formFor returns the form of an answer that is offered in the given media types: by the parameter format or else by the
// Accept headers.
func formFor(accept []string, args arguments, offers []string) (form, error) {
	f := form{mediaType: negotiate(accept, offers...)}
	if name := args[formatName]; name != "" {
		mediaType, known := formats[name]
		if !known {
			return f, errFormat(name, formatsOf(offers))
		}
		f.mediaType = mediaType
	}
	if !slices.Contains(offers, f.mediaType) {
		return f, errNotAcceptable(offers)
	}
	if f.mediaType == textType {
		f.mediaType = jsonType
	}
	switch raw := args[csvName]; {
	case raw == "":
		return f, nil
	case raw != csvRaw:
		return f, &search.ParamError{
			Param: csvName, Message: fmt.Sprintf("the only value is %s, not %q", csvRaw, raw), Suggestion: csvRaw,
		}
	case f.mediaType != csvType:
		return f, &search.ParamError{
			Param: csvName, Message: "the answer is not CSV; add format=csv, or leave csv out", Suggestion: "format=csv",
		}
	}
	f.raw = true
	return f, nil
}

func errFormat(name string, offered []string) error {
	e := &search.ParamError{
		Param:   formatName,
		Message: fmt.Sprintf("unknown format %q; the formats are %s", name, strings.Join(offered, ", ")),
	}
	if near := filter.Nearest(name, offered); near != "" {
		e.Suggestion = near
	}
	return e
}

// formQuery returns the parameters of the form as the query of a location, so that the answer there has the same form.
func formQuery(args arguments) string {
	query := ""
	for _, name := range []string{formatName, csvName} {
		if value := args[name]; value != "" {
			query += "&" + name + "=" + value
		}
	}
	return strings.Replace(query, "&", "?", 1)
}
