package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/filter"
)

// Headers that several routes read.
var (
	preferHeader = param{
		name: "Prefer", schema: &huma.Schema{Type: "string"},
		doc: "respond-async: answer at once with the location of the result.",
	}
	syntaxHeader = param{
		name: "syntax", schema: &huma.Schema{Type: "string"},
		doc: "string_query: read the filter in the query-string form even if it begins with a brace or a bracket.",
	}
)

// formOf returns the form of a filter according to the header "syntax", or 0 if its first character decides.
func formOf(h http.Header) filter.Form {
	if strings.EqualFold(h.Get("Syntax"), "string_query") {
		return filter.QueryString
	}
	return 0
}

// parseFilter parses a filter of a request, whose headers may name its form.
func parseFilter(text string, h http.Header) filter.Filter {
	if formOf(h) == filter.QueryString {
		return filter.ParseQueryString(text)
	}
	return filter.Parse(text)
}
