// Package answering has the data routes: questions about records and their answers, queries that outlive their
// requests, filters, and reports.
package answering

import (
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// Routes returns the data routes.
func Routes(c Config) []route.Route {
	s := &server{Config: c}
	found := route.Response{
		Status: http.StatusOK, Doc: "The query is done: the answer of its route.", Value: queryResultSchema(),
	}
	ofLogs := representation.OffersOf(search.Logs)
	found.Texts, found.Headers = ofLogs.Documented()
	return slices.Concat(s.dataRoutes(), s.incidentRoutes(), s.effectRoutes(), s.whatIfRoutes(), s.reportRoutes(), s.whyRoutes(), []route.Route{
		{
			ID:      "parse",
			Method:  http.MethodPost,
			Path:    "/data/timeline/parse",
			Tag:     route.DataTag,
			Summary: "Convert a filter",
			Doc: "Converts a filter in either form to its canonical JSON form. " +
				"With `Accept: text/plain` the answer is the canonical query string.",
			Scope:   keys.DataRead,
			Offers:  content.Offers,
			Params:  []parameter.Parameter{parameter.Filters, parameter.DayZone},
			Headers: []parameter.Parameter{parameter.Syntax},
			Body: &route.RequestBody{
				Doc: "The filter: as `filters` of a JSON object or of a form, as a JSON filter, " +
					"or as the text itself.",
				Types: []string{content.JSON, content.Text, content.Form, content.Multipart},
				JSON:  parameter.BodySchema(),
			},
			Answers: []route.Response{
				{Status: http.StatusOK, Doc: "The canonical filter.", Value: parameter.CanonicalFilter{}, Texts: []string{content.Text}},
			},
			Errors: slices.Concat(route.BodyErrors, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}),
			Handle: s.parse,
		},
		{
			ID:       "query-status",
			Method:   http.MethodGet,
			Path:     "/data/queries/{id}",
			Tag:      route.DataTag,
			Searches: true,
			Summary:  "Answer of a long query",
			Doc: "Returns the answer of the data route, which may be an error, once the query is done. " +
				"The `Location` of a 202 or 504 is this route.",
			Scope:  keys.DataRead,
			Offers: ofLogs,
			Params: ofLogs.Parameters(),
			Answers: []route.Response{
				found,
				{Status: http.StatusAccepted, Doc: "The query is still running.", Value: Running{}},
			},
			Errors: slices.Concat(route.QueryErrors, []int{http.StatusNotFound}),
			Handle: s.queryStatus,
		},
		{
			ID:       "query-cancel",
			Method:   http.MethodDelete,
			Path:     "/data/queries/{id}",
			Tag:      route.DataTag,
			Searches: true,
			Summary:  "Cancel a query",
			Doc:      "Stops a running query and deletes its answer.",
			Scope:    keys.DataRead,
			Offers:   content.Offers,
			Params:   ofLogs.Parameters(), // of its location; they change nothing
			Answers:  []route.Response{{Status: http.StatusNoContent, Doc: "The query is stopped and its answer deleted."}},
			Errors:   []int{http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
			Handle:   s.queryCancel,
		},
		{
			ID:      "fields",
			Method:  http.MethodGet,
			Path:    "/data/fields",
			Tag:     route.DataTag,
			Summary: "Fields of a filter",
			Doc: "Lists every field that a filter can name and that `logs` returns, with its type, operators and " +
				"keys, and an example.",
			Scope:   keys.DataRead,
			Offers:  content.Offers,
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The fields, in alphabetical order.", Value: Fields{}}},
			Errors:  []int{http.StatusUnprocessableEntity},
			Handle:  s.fields,
		},
	})
}

// dataRoutes returns the data routes, each with its POST form.
func (s *server) dataRoutes() []route.Route {
	topX := route.Route{
		Summary: "Top values per category",
		Doc: "Returns the top `limit` keys of each of twelve labels, in one list. It is ordered by label, then " +
			"blocked requests, requests (both descending) and key.",
	}
	stats := route.Route{
		Summary: "Traffic per time segment",
		Doc: "Returns one result per segment of the period, including empty ones. With `group_by=hostname`, it " +
			"returns one per segment and hostname. With another field, it returns one per segment and value, in the " +
			"order of the values, and last one for requests without a value. A request counts for each of its values.",
	}
	timeline := route.Route{
		Summary: "Security per time segment",
		Doc:     "Returns one result per segment of the period, including empty ones.",
	}
	logs := route.Route{
		Summary: "Request records",
		Doc: "Returns the newest matching records, newest first. Fields that a record does not have are absent. " +
			"`meta.next` is the cursor of the next page, with older records, and null on the last page.",
	}
	facets := route.Route{
		Summary: "Most frequent values of fields",
		Doc: "Returns one result per field of `by`, in that order: its most frequent values, the number of different " +
			"values, and the number of requests without a value. A request counts once for each different element of " +
			"a list.",
	}
	histogram := route.Route{
		Summary: "A measure per time segment, split by a field",
		Doc: "Returns one result per segment and series, by segment, then in the order of `meta.series`: the values " +
			"with the largest totals, then `other` for all other values and `absent` for requests without a value, " +
			"if there are any. Without `by` the only series is `all`. A request counts in the series of each of its " +
			"values.",
	}
	diff := route.Route{
		Summary: "Values that differ between two sides",
		Doc: "Returns the values whose share of the selected requests differs most from their share of the baseline. " +
			"With `select`, the baseline is all other requests that the filter selects; with `against`, it is the " +
			"requests of another period. Exactly one of the two is required. A finding is statistically significant " +
			"(G-test, corrected for the number of values compared), and has at least `least` requests on the side " +
			"where its share is larger. Findings are ordered by the difference of the shares, then by score, field " +
			"and value.",
	}
	return slices.Concat(
		s.dataRoute(search.TopX, topX, Container[search.TopXResult]{}),
		s.dataRoute(search.Stats, stats, Container[search.StatsResult]{}),
		s.dataRoute(search.Timeline, timeline, Container[search.TimelineResult]{}),
		s.dataRoute(search.Facets, facets, Container[search.FacetResult]{}),
		s.dataRoute(search.Histogram, histogram, Container[search.HistogramResult]{}),
		s.dataRoute(search.Diff, diff, Container[search.DiffResult]{}),
		s.valuesRoute(),
		s.dataRoute(search.Logs, logs, Container[logRecord]{}),
	)
}

// dataRoute completes a data route, whose answer has the type of result, and adds its POST form.
func (s *server) dataRoute(to search.Route, get route.Route, result any) []route.Route {
	get.ID = string(to)
	get.Path = "/data/" + string(to)
	get.Tag = route.DataTag
	get.Searches = true
	get.Scope = keys.DataRead
	offers := representation.OffersOf(to)
	get.Offers = offers
	get.Params = paramsOf(to, offers)
	get.Headers = []parameter.Parameter{parameter.Syntax, parameter.Prefer}
	found := route.Response{
		Status: http.StatusOK, Doc: "The results. If nothing matches, an empty list or segments of zeros.", Value: result,
	}
	if get.HasFormat() {
		found.Texts, found.Headers = offers.Documented()
	}
	get.Answers = []route.Response{
		found,
		{Status: http.StatusAccepted, Doc: "With `Prefer: respond-async`: the query has started.", Value: Running{}},
	}
	if parameter.Find(get.Params, search.MarksParam) != nil {
		get.Answers[1].Doc += " With marks: some questions are not answered yet, and the same request later has their answers."
		get.Answers[1].Other = Finding{}
	}
	get.Errors = route.QueryErrors
	return bothForms(get, func(c *route.Call, args parameter.Arguments) error { return s.answerData(c, to, args) })
}

// paramsOf returns the parameters of a data route.
func paramsOf(to search.Route, offers representation.Offers) []parameter.Parameter {
	var list []parameter.Parameter
	for _, p := range search.ParametersOf(to) {
		if p.Name == dryRunName { // the last one
			list = append(list, offers.Parameters()...)
		}
		list = append(list, parameter.Of(p))
	}
	return list
}

// valuesRoute returns the route of values and its POST form. It always answers at once.
func (s *server) valuesRoute() []route.Route {
	get := route.Route{
		Summary: "Values of a field, for completion",
		Doc: "Returns values of a field that contain a text in any case: first the values that begin with it, then " +
			"the others, each in the order of their bytes. The search starts with the newest data and stops early; " +
			"`meta.scope` and `meta.exact` report how far it got. The answer may include values of records from " +
			"shortly before or after the period. With `counts`, all data of the period is counted, and the most " +
			"frequent values come first.",
	}
	routes := s.dataRoute(search.Values, get, Container[search.ValueResult]{})
	for i := range routes {
		r := &routes[i]
		r.Headers = []parameter.Parameter{parameter.Syntax}
		r.Answers = r.Answers[:1]
		r.Answers[0].Doc = "The values. If there are none, an empty list."
	}
	routes[1].Doc = "The same as GET, with the parameters as members of a JSON object."
	return routes
}

// bothForms returns a route whose parameters are in the query, and its POST form, which has them in the body.
func bothForms(get route.Route, answer func(c *route.Call, args parameter.Arguments) error) []route.Route {
	get.Method = http.MethodGet
	get.Handle = func(c *route.Call) error {
		args, err := parameter.ReadQuery(c.Request.URL.RawQuery, c.Route.Params)
		if err != nil {
			return err
		}
		return answer(c, args)
	}
	post := get
	post.ID += route.PostSuffix
	post.Method = http.MethodPost
	post.Summary += " (parameters in the body)"
	post.Doc = "The same as GET, with the parameters as members of a JSON object: for filters that are too long for " +
		"a URL, or that must not appear in the logs of proxies. `filters` is text in either form, or the JSON form " +
		"itself."
	post.Body = &route.RequestBody{Doc: "The parameters.", Types: []string{content.JSON}}
	post.Errors = slices.Concat(route.BodyErrors, get.Errors)
	post.Handle = func(c *route.Call) error {
		if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
			return err
		}
		var args parameter.Arguments
		err := c.Parse(parameter.MaxBody, []string{content.JSON}, func(sent parameter.Body) (err error) {
			args, err = parameter.ReadBody(sent.Text, c.Route.Params)
			return err
		})
		if err != nil {
			return err
		}
		return answer(c, args)
	}
	return []route.Route{get, post}
}

// logRecord is the Go type of records in the document. Its schema is made from the catalogue.
type logRecord struct{}

// Schema implements huma.SchemaProvider.
func (logRecord) Schema(r huma.Registry) *huma.Schema {
	r.Map()["LogRecord"] = recordSchema()
	for _, v := range recordedValues {
		r.Map()[v.name] = &huma.Schema{Description: v.doc, OneOf: v.oneOf}
	}
	return &huma.Schema{Ref: "#/components/schemas/LogRecord"}
}

// recordedValues has the schemas of the members of a record with one value, by the type of the field. Literals of the
// type stay as they were recorded, and so does null.
var recordedValues = map[catalog.Type]struct {
	name, doc string
	oneOf     []*huma.Schema
}{
	catalog.String: {
		"RecordedText", "A text. A number that was recorded in its place stays a number.",
		[]*huma.Schema{{Type: "string"}, {Type: "number"}, {Type: "null"}},
	},
	catalog.Int: {
		"RecordedInteger", "An integer. One that was recorded as text stays text.",
		[]*huma.Schema{{Type: "integer", Format: "int64"}, {Type: "string"}, {Type: "null"}},
	},
	catalog.Float: {
		"RecordedNumber", "A number. One that was recorded as text stays text.",
		[]*huma.Schema{{Type: "number", Format: "double"}, {Type: "string"}, {Type: "null"}},
	},
	catalog.Bool: {
		"RecordedBoolean", "A boolean. One that was recorded as text stays text.",
		[]*huma.Schema{{Type: "boolean"}, {Type: "string"}, {Type: "null"}},
	},
}

// recordSchema returns the schema of a record, with the fields of the catalogue. Other members are allowed, and lists
// and objects have no types, because records keep what was ingested.
func recordSchema() *huma.Schema {
	s := &huma.Schema{
		Type: "object", Properties: map[string]*huma.Schema{},
		Description: "One recorded request: every member as it was recorded, " +
			"including members that are not in the catalogue.",
	}
	for i := range catalog.Fields {
		f := &catalog.Fields[i]
		member := &huma.Schema{Description: f.Doc}
		value, typed := recordedValues[f.Type]
		switch {
		case f.Type == catalog.Time, f.Type == catalog.Reference:
			member.Type = "string"
		case typed && f.Sources[0].Layout == catalog.Scalar && f.Keys == catalog.NoKey:
			member.Ref = "#/components/schemas/" + value.name
		}
		s.Properties[f.Name] = member
	}
	return s
}
