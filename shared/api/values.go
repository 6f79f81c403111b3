package api

import "github.com/orrery/orrery/shared/search"

// valuesRoute returns the route of values and its POST form. It always answers at once.
func (s *server) valuesRoute() []route {
	get := route{
		summary: "Values of a field, for completion",
		doc: "Values of a field in which a text is found, without regard to case: those that begin with it first, " +
			"then in the order of their bytes. It looks in the newest data first and stops early; `meta.scope` and " +
			"`meta.exact` report how far it came. Values of records shortly before and after the period may be among " +
			"them. With `counts`, all data of the period is counted, and the most frequent values come first.",
	}
	routes := s.dataRoute(search.Values, get, Container[search.ValueResult]{})
	for i := range routes {
		r := &routes[i]
		r.headers = []param{syntaxHeader}
		r.answers = r.answers[:1]
		r.answers[0].doc = "The values. If there are none, an empty list."
	}
	routes[1].doc = "The same as GET, with the parameters as members of a JSON object."
	return routes
}
