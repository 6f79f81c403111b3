package api

import (
	"net/http"
	"slices"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// DataRoutes returns the data routes.
func DataRoutes(c DataConfig) []route {
	s := &dataServer{c}
	found := response{
		status: http.StatusOK, doc: "The query is done: the answer of its route.", value: queryResultSchema(),
	}
	found.texts, found.headers = documented(recordOffers)
	return slices.Concat(s.dataRoutes(), s.reportRoutes(), []route{
		{
			id:      "parse",
			method:  http.MethodPost,
			path:    "/data/timeline/parse",
			tag:     dataTag,
			summary: "Convert a filter",
			doc: "Converts a filter in either form to its canonical JSON form. " +
				"With `Accept: text/plain` the answer is the canonical query string.",
			scope:   keys.DataRead,
			offers:  offers,
			params:  []param{filtersParam, dayZoneParam},
			headers: []param{syntaxHeader},
			body: &requestBody{
				doc: "The filter: as `filters` of a JSON object or of a form, as a JSON filter, " +
					"or as the text itself.",
				types: []string{jsonType, textType, formType, multipartType},
				json:  filterBodySchema(),
			},
			answers: []response{
				{status: http.StatusOK, doc: "The canonical filter.", value: CanonicalFilter{}, texts: []string{textType}},
			},
			errors: slices.Concat(bodyErrors, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}),
			handle: s.parse,
		},
		{
			id:       "query-status",
			method:   http.MethodGet,
			path:     "/data/queries/{id}",
			tag:      dataTag,
			searches: true,
			summary:  "Answer of a long query",
			doc: "The answer of the data route, which may be an error, when the query is done. " +
				"`Location` of a 202 or 504 is this route.",
			scope:  keys.DataRead,
			offers: recordOffers,
			params: formatParams(recordOffers),
			answers: []response{
				found,
				{status: http.StatusAccepted, doc: "The query is still running.", value: Running{}},
			},
			errors: slices.Concat(queryErrors, []int{http.StatusNotFound}),
			handle: s.queryStatus,
		},
		{
			id:       "query-cancel",
			method:   http.MethodDelete,
			path:     "/data/queries/{id}",
			tag:      dataTag,
			searches: true,
			summary:  "Cancel a query",
			doc:      "Stops a running query and deletes its answer.",
			scope:    keys.DataRead,
			offers:   offers,
			params:   formatParams(recordOffers), // of its location; they change nothing
			answers:  []response{{status: http.StatusNoContent, doc: "The query is stopped and its answer deleted."}},
			errors:   []int{http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
			handle:   s.queryCancel,
		},
		{
			id:      "fields",
			method:  http.MethodGet,
			path:    "/data/fields",
			tag:     dataTag,
			summary: "Fields of a filter",
			doc:     "Every field that a filter can name and that `logs` returns: type, operators, keys, an example.",
			scope:   keys.DataRead,
			offers:  offers,
			answers: []response{{status: http.StatusOK, doc: "The fields, in alphabetical order.", value: Fields{}}},
			errors:  []int{http.StatusUnprocessableEntity},
			handle:  s.fields,
		},
	})
}

// dataRoutes returns the data routes, each with its POST form.
func (s *dataServer) dataRoutes() []route {
	topX := route{
		summary: "Top values per category",
		doc: "Twelve labels in one list, ordered by label, then blocked requests, requests (both descending) " +
			"and key. Each label holds its top `limit` keys.",
	}
	stats := route{
		summary: "Traffic per time segment",
		doc: "One result per segment of the period, including empty ones; " +
			"with `group_by=hostname` one per segment and hostname, and with another field one per segment and value, " +
			"in the order of the values, those without a value last. A request counts for each of its values.",
	}
	timeline := route{
		summary: "Security per time segment",
		doc:     "One result per segment of the period, including empty ones.",
	}
	logs := route{
		summary: "Request records",
		doc: "The newest matching records, newest first. Fields that a record does not have are absent. " +
			"`meta.next` is the cursor of the next page, with older records, and null on the last page.",
	}
	facets := route{
		summary: "Most frequent values of fields",
		doc: "One result per field of `by`, in that order: its most frequent values, how many different ones there " +
			"are, and how many requests have none. A request counts once for each different element of a list.",
	}
	histogram := route{
		summary: "A measure per time segment, split by a field",
		doc: "One result per segment and series, by segment, then by the series in `meta.series`: the values with " +
			"the largest totals, then `other` for all other values and `absent` for requests without a value, if there " +
			"are any. Without `by` the only series is `all`. A request counts in the series of each of its values.",
	}
	diff := route{
		summary: "Values that differ between two sides",
		doc: "The values whose share of the selected requests differs most from their share of the baseline. With " +
			"`select` the baseline is all other requests of the filter, with `against` those of another period; exactly " +
			"one of them is required. A finding is statistically significant (G-test, corrected for the number of values " +
			"compared), and has at least `least` requests on the side on which its share is larger. Order: by the " +
			"difference of the shares, then score, field and value.",
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
func (s *dataServer) dataRoute(to search.Route, get route, result any) []route {
	get.id = string(to)
	get.path = "/data/" + string(to)
	get.tag = dataTag
	get.searches = true
	get.scope = keys.DataRead
	get.offers = offersOf(to)
	get.params = paramsOf(to, get.offers)
	get.headers = []param{syntaxHeader, preferHeader}
	found := response{
		status: http.StatusOK, doc: "The results. If nothing matches, an empty list or segments of zeros.", value: result,
	}
	if get.choosesForm() {
		found.texts, found.headers = documented(get.offers)
	}
	get.answers = []response{
		found,
		{status: http.StatusAccepted, doc: "With `Prefer: respond-async`: the query has started.", value: Running{}},
	}
	get.errors = queryErrors
	return bothForms(get, func(c *call, args arguments) error { return s.answerData(c, to, args) })
}

// valuesRoute returns the route of values and its POST form. It always answers at once.
func (s *dataServer) valuesRoute() []route {
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

// bothForms returns a route whose parameters are in the query, and its POST form, which has them in the body.
func bothForms(get route, answer func(c *call, args arguments) error) []route {
	get.method = http.MethodGet
	get.handle = func(c *call) error {
		args, err := readQuery(c.r.URL.RawQuery, c.route.params)
		if err != nil {
			return err
		}
		return answer(c, args)
	}
	post := get
	post.id += postSuffix
	post.method = http.MethodPost
	post.summary += " (parameters in the body)"
	post.doc = "The same as GET, with the parameters as members of a JSON object: for filters that are too long for a " +
		"URL, or that the logs of proxies shall not have. `filters` is text in either form, or the JSON form itself."
	post.body = &requestBody{doc: "The parameters.", types: []string{jsonType}}
	post.errors = slices.Concat(bodyErrors, queryErrors)
	post.handle = func(c *call) error {
		if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
			return err
		}
		var args arguments
		err := c.parse(maxFilterBody, []string{jsonType}, func(sent sentBody) (err error) {
			args, err = readBody(sent.text, c.route.params)
			return err
		})
		if err != nil {
			return err
		}
		return answer(c, args)
	}
	return []route{get, post}
}
