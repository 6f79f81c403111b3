package api

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// basePaths have the same routes. The first one is documented; the vendor's newer clients use /api/v4.3.
var basePaths = []string{"/api/v4.0", "/api/v4", "/api/v4.3"}

const (
	healthPath   = "/healthz"
	documentPath = "/openapi.json"
	pagePath     = "/api/" // of the interactive page

	planetsTag = "planets"
	filtersTag = "filters"
)

// route is a row of the table of routes, which is also the source of the OpenAPI document.
type route struct {
	id       string // operation id; names the route in logs and examples
	method   string
	path     string
	tag      string // group in the document; "": not in the document
	searches bool   // uses the engine
	summary  string
	doc      string
	scope    keys.Scope // required of the caller; "": none
	offers   []string   // media types of answers, the default first; nil: any
	params   []param    // of the query, or members of the body
	headers  []param    // that it reads
	body     *requestBody
	answers  []response
	errors   []int // statuses in addition to those of every route
	handle   func(*call) error
}

// requestBody describes a request body.
type requestBody struct {
	doc   string
	types []string
	json  *huma.Schema // of the JSON; nil: the route's parameters
}

// response describes a response that is not an error.
type response struct {
	status int
	doc    string
	value  any // a value of the Go type, or a *huma.Schema; nil without a body
	etag   bool
}

// Error statuses that several routes have.
var (
	queryErrors = []int{
		http.StatusBadRequest,
		http.StatusUnprocessableEntity,
		http.StatusServiceUnavailable,
		http.StatusGatewayTimeout,
	}
	bodyErrors  = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	writeErrors = []int{
		http.StatusNotFound,
		http.StatusPreconditionFailed,
		http.StatusUnprocessableEntity,
		http.StatusPreconditionRequired,
		http.StatusInsufficientStorage,
	}
)

// offers are the media types of most routes. text/plain is for errors.
var offers = []string{jsonType, textType}

// routes returns the table of routes.
func (s *server) routes() []route {
	const all = "/conf/{config}/planets"
	const entry = all + "/{entry_id}"
	planets := s.planets()

	settings := []response{
		{http.StatusOK, "The settings.", settingsSchema(true), true},
		{http.StatusNotModified, "The client has them already.", nil, true},
	}

	return slices.Concat(s.dataRoutes(), s.reportRoutes(), s.metricsRoutes(), []route{
		{
			id:      "parse",
			method:  http.MethodPost,
			path:    "/data/timeline/parse",
			tag:     "data",
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
			answers: []response{{http.StatusOK, "The canonical filter.", CanonicalFilter{}, false}},
			errors:  slices.Concat(bodyErrors, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}),
			handle:  s.parse,
		},
		{
			id:       "query-status",
			method:   http.MethodGet,
			path:     "/data/queries/{id}",
			tag:      "data",
			searches: true,
			summary:  "Answer of a long query",
			doc: "The answer of the data route, which may be an error, when the query is done. " +
				"`Location` of a 202 or 504 is this route.",
			scope:  keys.DataRead,
			offers: recordOffers,
			params: formatParams(recordOffers),
			answers: []response{
				{http.StatusOK, "The query is done: the answer of its route.", queryResultSchema(), false},
				{http.StatusAccepted, "The query is still running.", Running{}, false},
			},
			errors: slices.Concat(queryErrors, []int{http.StatusNotFound}),
			handle: s.queryStatus,
		},
		{
			id:       "query-cancel",
			method:   http.MethodDelete,
			path:     "/data/queries/{id}",
			tag:      "data",
			searches: true,
			summary:  "Cancel a query",
			doc:      "Stops a running query and deletes its answer.",
			scope:    keys.DataRead,
			offers:   offers,
			params:   formatParams(recordOffers), // of its location; they change nothing
			answers:  []response{{http.StatusNoContent, "The query is stopped and its answer deleted.", nil, false}},
			errors:   []int{http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
			handle:   s.queryCancel,
		},
		{
			id:      "fields",
			method:  http.MethodGet,
			path:    "/data/fields",
			tag:     "data",
			summary: "Fields of a filter",
			doc:     "Every field that a filter can name and that `logs` returns: type, operators, keys, an example.",
			scope:   keys.DataRead,
			offers:  offers,
			answers: []response{{http.StatusOK, "The fields, in alphabetical order.", Fields{}, false}},
			errors:  []int{http.StatusUnprocessableEntity},
			handle:  s.fields,
		},
		{
			id:      "planet-get",
			method:  http.MethodGet,
			path:    all,
			tag:     planetsTag,
			summary: "Read a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: settings,
			errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle:  planets.get,
		},
		{
			id:      "planet-put",
			method:  http.MethodPut,
			path:    entry,
			tag:     planetsTag,
			summary: "Replace a planet",
			doc: "Every accepted write is kept as a version. " +
				"The planet is created when the configuration has none.",
			scope:   keys.ConfWrite,
			offers:  offers,
			headers: []param{ifMatch, ifNoneMatchWrite},
			body: &requestBody{
				doc:   "The settings. Unknown members are kept.",
				types: []string{jsonType},
				json:  settingsSchema(false),
			},
			answers: []response{
				{http.StatusOK, "The settings were replaced, or the planet was created.", Message{}, true},
			},
			errors: slices.Concat(bodyErrors, writeErrors),
			handle: planets.put,
		},
		{
			id:      "planet-versions",
			method:  http.MethodGet,
			path:    entry + "/versions",
			tag:     planetsTag,
			summary: "History of a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			answers: []response{
				{http.StatusOK, "Every version, newest first, without its settings.", Versions{}, false},
			},
			errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle: planets.versions,
		},
		{
			id:      "planet-version",
			method:  http.MethodGet,
			path:    entry + "/versions/{version}",
			tag:     planetsTag,
			summary: "Read a version of a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: settings,
			errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle:  planets.getVersion,
		},
		{
			id:      "planet-restore",
			method:  http.MethodPost,
			path:    entry + "/versions/{version}/restore",
			tag:     planetsTag,
			summary: "Restore a version of a planet",
			doc:     "Writes the settings of an earlier version as a new version.",
			scope:   keys.ConfWrite,
			offers:  offers,
			headers: []param{ifMatch},
			answers: []response{{http.StatusOK, "The version was restored.", Message{}, true}},
			errors:  writeErrors,
			handle:  planets.restore,
		},
	}, s.filterRoutes(), s.definitionRoutes(), s.runRoutes(), s.statusRoutes(), []route{
		{
			id:      "health",
			method:  http.MethodGet,
			path:    healthPath,
			tag:     "service",
			summary: "Health check",
			answers: []response{{http.StatusOK, "The service is running.", Health{}, false}},
			handle:  s.health,
		},
		{id: "openapi", method: http.MethodGet, path: documentPath, handle: s.document},
		{id: "console", method: http.MethodGet, path: "/{$}", handle: s.console},
		{id: "console-file", method: http.MethodGet, path: "/console/{file}", handle: s.consoleFile},
		{id: "page-folder", method: http.MethodGet, path: strings.TrimSuffix(pagePath, "/"), handle: s.pageFolder},
		{id: "page", method: http.MethodGet, path: pagePath + "{$}", handle: s.page},
		{id: "page-file", method: http.MethodGet, path: "/page/{file}", handle: s.page},
	})
}

// dataRoutes returns the data routes, each with its POST form.
func (s *server) dataRoutes() []route {
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
func (s *server) dataRoute(to search.Route, get route, result any) []route {
	get.id = string(to)
	get.path = "/data/" + string(to)
	get.tag = "data"
	get.searches = true
	get.scope = keys.DataRead
	get.offers = offersOf(to)
	get.params = paramsOf(to, get.offers)
	get.headers = []param{syntaxHeader, preferHeader}
	get.answers = []response{
		{http.StatusOK, "The results. If nothing matches, an empty list or segments of zeros.", result, false},
		{http.StatusAccepted, "With `Prefer: respond-async`: the query has started.", Running{}, false},
	}
	get.errors = queryErrors
	return s.bothForms(get, func(c *call, args arguments) error { return s.answerData(c, to, args) })
}

// postSuffix ends the id of the POST form of a route.
const postSuffix = "-post"

// ofGet returns the id of a route, or of the route of which it is the POST form.
func (r *route) ofGet() string { return strings.TrimSuffix(r.id, postSuffix) }

// bothForms returns a route whose parameters are in the query, and its POST form, which has them in the body.
func (s *server) bothForms(get route, answer func(c *call, args arguments) error) []route {
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
		sent, err := c.body(maxFilterBody, jsonType)
		if err != nil {
			return err
		}
		release, err := s.prepare(c)
		if err != nil {
			return err
		}
		args, err := readBody(sent.text, c.route.params)
		release()
		if err != nil {
			return err
		}
		return answer(c, args)
	}
	return []route{get, post}
}

// register adds routes to the mux.
func (s *server) register(routes []route) {
	for i := range routes {
		to := &routes[i]
		bases := []string{""}
		if to.underBase() {
			bases = basePaths
			if !strings.Contains(to.path, "{") {
				s.paths = append(s.paths, basePaths[0]+to.path)
			}
		}
		for _, base := range bases {
			s.mux.HandleFunc(to.method+" "+base+to.path, func(_ http.ResponseWriter, r *http.Request) { s.run(to, r) })
		}
	}
}

func (r *route) underBase() bool {
	return strings.HasPrefix(r.path, "/data/") || strings.HasPrefix(r.path, "/conf/") || r.path == statusPath
}

// run answers a request to a route.
func (s *server) run(to *route, r *http.Request) {
	c := callOf(r.Context())
	c.r, c.route = r, to // r has the path values
	if !s.serves(to.id) {
		c.route = nil
		s.fail(c, errNoRoute(r.URL.Path, ""))
		return
	}
	if err := s.handle(c); err != nil {
		s.fail(c, err)
	}
}

func (s *server) handle(c *call) error {
	if err := s.authenticate(c); err != nil {
		return err
	}
	if offers := c.route.offers; offers != nil {
		if c.accepts = c.accepted(offers); c.accepts == "" && !c.route.choosesForm() {
			return errNotAcceptable(offers)
		}
		if c.codings().none() {
			return errNoEncoding()
		}
	}
	return c.route.handle(c)
}

// pattern returns the pattern of the mux that matches a request, or "". Paths that are not clean do not match: the mux
// would redirect them with an HTML response.
func (s *server) pattern(r *http.Request) string {
	if p := r.URL.EscapedPath(); p != pagePath && (!strings.HasPrefix(p, "/") || path.Clean(p) != p) {
		return ""
	}
	_, pattern := s.mux.Handler(r)
	return pattern
}

// noRoute returns the error for a path without a route, or without one for the method.
func (s *server) noRoute(r *http.Request) error {
	if allow := s.allowed(r); allow != "" {
		return errMethod(r.Method, allow)
	}
	return errNoRoute(r.URL.Path, filter.Nearest(r.URL.Path, s.paths))
}

// options answers OPTIONS. It sends no CORS headers, because other origins may not use the API.
func (s *server) options(c *call) error {
	allow := s.allowed(c.r)
	if allow == "" {
		return s.noRoute(c.r)
	}
	c.w.Header().Set("Allow", allow)
	c.send(answer{status: http.StatusNoContent})
	return nil
}

// allowed returns the methods of a path for the header Allow, or "" if there are none.
func (s *server) allowed(r *http.Request) string {
	var methods []string
	for _, method := range []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete,
	} {
		try := r.Clone(r.Context())
		try.Method = method
		if s.pattern(try) != "" {
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		return ""
	}
	return strings.Join(append(methods, http.MethodOptions), ", ")
}

// RouteIDs returns the operation ids of all routes, including those outside the base paths, for Config.Serves.
func RouteIDs() []string {
	var ids []string
	for _, r := range everyRoute() {
		ids = append(ids, r.id)
	}
	return ids
}
