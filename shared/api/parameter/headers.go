package parameter

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/filter"
)

// Headers that several routes read.
var (
	Prefer = Parameter{
		Name: "Prefer", Schema: &huma.Schema{Type: "string"},
		Doc: "respond-async: answer at once with the location of the result.",
	}
	Syntax = Parameter{
		Name: "syntax", Schema: &huma.Schema{Type: "string"},
		Doc: "string_query: read the filter in the query-string form even if it begins with a brace or a bracket.",
	}
)

// SyntaxOf returns the syntax of a filter according to the header "syntax", or 0 if its first character decides.
func SyntaxOf(h http.Header) filter.Syntax {
	if strings.EqualFold(h.Get("Syntax"), "string_query") {
		return filter.QueryString
	}
	return 0
}

// ParseFilter parses a filter of a request. The headers may name its syntax.
func ParseFilter(text string, h http.Header) filter.Filter {
	return SyntaxOf(h).Parse(text)
}
