package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/search"
)

// valuesRoute returns the route of values and its POST form. It always answers at once.
func (s *server) valuesRoute() []route {
	get := route{
		summary: "Values of a field, for completion",
		doc: "Values of a field in which a text is found, without regard to case: those that begin with it first, " +
			"then in the order of their bytes. It looks in the newest data first and stops early; `meta.scope` and " +
			"`meta.exact` report how far it came. Values of records shortly before and after the period may be among " +
			"them. With `counts`, all data of the period is counted, and the most frequent values come first.",
		params: []param{
			fieldParam, prefixParam, containsParam,
			limitParam("Values.", search.DefaultValues, search.MaxValues),
			countsParam,
			dayZoneParam,
		},
	}
	routes := s.dataRoute(search.Values, get, Container[search.ValueResult]{})
	for i := range routes {
		r := &routes[i]
		r.params[0] = periodParam
		r.headers = []param{syntaxHeader}
		r.answers = r.answers[:1]
		r.answers[0].doc = "The values. If there are none, an empty list."
	}
	routes[1].doc = "The same as GET, with the parameters as members of a JSON object."
	return routes
}

var (
	periodParam = param{
		name: filtersParam.name,
		doc: "A filter that is only a period: where to look. By default the newest 24 hours of the data, or the last 24 " +
			"hours for a key that is limited to branches. Other " +
			"conditions are an error.",
		schema:  filtersParam.schema,
		body:    filtersParam.body,
		example: "timestamp between 2020-01-01 and 2100-01-01",
		read:    filtersParam.read,
	}
	fieldParam = param{
		name: "field", required: true,
		doc:    "The field, with a key if it has members, as in `headers[\"accept\"]`.",
		schema: &huma.Schema{Type: "string"}, example: "country", read: readText,
	}
	prefixParam   = partParam("prefix", "What the values begin with; at most 200 characters.", "ge")
	containsParam = partParam("contains", "What the values contain; not together with prefix.", "land")
	countsParam   = booleanParam("counts", "true: count the requests of each value.")
)

// partParam returns a parameter that is a part of a value.
func partParam(name, doc, example string) param {
	schema := &huma.Schema{Type: "string", MaxLength: length(200)}
	return param{
		name: name, doc: doc, schema: schema, body: textOrInteger(schema), example: example, read: readTextOrInteger,
	}
}

func length(n int) *int { return &n }
