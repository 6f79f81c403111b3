package api

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
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
	const planets = "/conf/{config}/planets"
	const entry = planets + "/{entry_id}"

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
			path:    planets,
			tag:     planetsTag,
			summary: "Read a planet",
			scope:   keys.ConfRead,
			offers:  offers,
			headers: []param{ifNoneMatchRead},
			answers: settings,
			errors:  []int{http.StatusNotFound, http.StatusUnprocessableEntity},
			handle:  s.getPlanet,
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
			handle: s.putPlanet,
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
			handle: s.listVersions,
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
			handle:  s.getVersion,
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
			handle:  s.restoreVersion,
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
		params: []param{limitParam("Keys per label.", search.DefaultTopX, search.MaxTopX), figuresParam, dayZoneParam},
	}
	stats := route{
		summary: "Traffic per time segment",
		doc: "One result per segment of the period, including empty ones; " +
			"with `group_by=hostname` one per segment and hostname, and with another field one per segment and value, " +
			"in the order of the values, those without a value last. A request counts for each of its values.",
		params: []param{segmentParam, tzParam, groupByParam, figuresParam},
	}
	timeline := route{
		summary: "Security per time segment",
		doc:     "One result per segment of the period, including empty ones.",
		params:  []param{segmentParam, tzParam},
	}
	logs := route{
		summary: "Request records",
		doc: "The newest matching records, newest first. Fields that a record does not have are absent. " +
			"`meta.next` is the cursor of the next page, with older records, and null on the last page.",
		params: []param{
			limitParam("Records.", search.DefaultLogs, search.MaxLogs), fieldsParam, cursorParam, sinceParam,
			dayZoneParam,
		},
	}
	facets := route{
		summary: "Most frequent values of fields",
		doc: "One result per field of `by`, in that order: its most frequent values, how many different ones there " +
			"are, and how many requests have none. A request counts once for each different element of a list.",
		params: []param{
			byParam("Fields to group by, at most 16, separated by commas. A field with members needs a key, as in "+
				"`headers[\"accept\"]`.", query.MaxDimensions, query.DefaultFacets, `country,headers["accept"]`),
			limitParam("Values per field.", search.DefaultFacetLimit, search.MaxFacetLimit),
			orderParam,
			dayZoneParam,
		},
	}
	histogram := route{
		summary: "A measure per time segment, split by a field",
		doc: "One result per segment and series, by segment, then by the series in `meta.series`: the values with " +
			"the largest totals, then `other` for all other values and `absent` for requests without a value, if there " +
			"are any. Without `by` the only series is `all`. A request counts in the series of each of its values.",
		params: []param{
			segmentParam,
			tzParam,
			byParam("The field to split by, with a key if it has members.", 1, "", "status"),
			limitParam("Values with a series of their own; needs `by`.", search.DefaultSeries, search.MaxSeries),
			measureParam,
		},
	}
	diff := route{
		summary: "Values that differ between two sides",
		doc: "The values whose share of the selected requests differs most from their share of the baseline. With " +
			"`select` the baseline is all other requests of the filter, with `against` those of another period; exactly " +
			"one of them is required. A finding is statistically significant (G-test, corrected for the number of values " +
			"compared), and has at least `least` requests on the side on which its share is larger. Order: by the " +
			"difference of the shares, then score, field and value.",
		params: []param{
			selectParam, againstParam,
			byParam("Fields to compare, at most 16, separated by commas. A field with members needs a key, as in "+
				"`headers[\"accept\"]`.", query.MaxDimensions, query.DefaultDiff, `country,headers["accept"]`),
			limitParam("Findings.", search.DefaultFindings, search.MaxFindings),
			leastParam,
			dayZoneParam,
		},
	}
	return slices.Concat(
		s.dataRoute(search.TopX, topX, Container[TopXResult]{}),
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
	get.params = slices.Concat([]param{filtersParam}, get.params, formatParams(get.offers), []param{dryRunParam})
	get.headers = []param{syntaxHeader, preferHeader}
	get.answers = []response{
		{http.StatusOK, "The results. If nothing matches, an empty list or segments of zeros.", result, false},
		{http.StatusAccepted, "With `Prefer: respond-async`: the query has started.", Running{}, false},
	}
	get.errors = queryErrors
	return bothForms(get, func(c *call, args arguments) error { return s.answerData(c, to, args) })
}

// postSuffix ends the id of the POST form of a route.
const postSuffix = "-post"

// ofGet returns the id of a route, or of the route of which it is the POST form.
func (r *route) ofGet() string { return strings.TrimSuffix(r.id, postSuffix) }

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
		sent, err := c.body(maxFilterBody, jsonType)
		if err != nil {
			return err
		}
		args, err := readBody(sent.text, c.route.params)
		if err != nil {
			return err
		}
		return answer(c, args)
	}
	return []route{get, post}
}

// register adds the routes to the mux.
func (s *server) register() {
	routes := s.routes()
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
	s.openapi = sync.OnceValue(func() []byte { return describe(routes, s.Version) })
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

// pathParams are the parameters of paths.
var pathParams = []param{
	{
		name:    "config",
		doc:     "Name of the configuration.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + planet.ConfigPattern + "$"},
		example: planet.FirstConfig,
	},
	{
		name:    "entry_id",
		doc:     "Id of the planet; every configuration has one.",
		schema:  &huma.Schema{Type: "string"},
		example: planet.EntryID,
	},
	{
		name:    "name",
		doc:     "Name of the saved filter.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		example: "server-errors",
	},
	{
		name:    "report",
		doc:     "Name of the scheduled report.",
		schema:  &huma.Schema{Type: "string", Pattern: "^" + document.NamePattern + "$"},
		example: "weekly",
	},
	{
		name:    "run",
		doc:     "Id of the run.",
		schema:  &huma.Schema{Type: "string"},
		example: "b793f16476532fabe039321d4624bb13",
	},
	{
		name:    "id",
		doc:     "Id of the query, from the Location of a 202 or 504.",
		schema:  &huma.Schema{Type: "string", Pattern: "^[0-9a-f]{32}$"},
		example: "3f1c0a9be2d84c57a6f0d1e2b3c4a596",
	},
	{
		name:    "version",
		doc:     "Number of the version.",
		schema:  &huma.Schema{Type: "integer", Minimum: float(1), Maximum: float(maxVersion)},
		example: 1,
	},
}

var (
	filtersParam = param{
		name:     "filters",
		doc:      "The filter, in the query-string form or the JSON form. It must contain a period.",
		required: true,
		schema:   &huma.Schema{Type: "string", MinLength: whole(1)},
		body:     filterSchema(1),
		example:  exampleFilter,
		read:     readFilters,
	}
	segmentParam = param{
		name: "segment",
		doc: "Length of a segment: 1m, 5m, 15m, 1h, 6h, 1d, 2d, 4d, 8d … By default a minute for periods " +
			"up to 24 hours, then the shortest that gives at most 1,500 segments.",
		schema: &huma.Schema{Type: "string", Pattern: segmentPattern},
		body: &huma.Schema{OneOf: []*huma.Schema{
			{Type: "string", Pattern: segmentPattern}, {Type: "integer", Minimum: float(1)},
		}},
		example: "5m",
		read:    readLength,
	}
	groupByParam = param{
		name:    "group_by",
		doc:     "hostname (or host, if there is none), or another field, with a key if it has members.",
		schema:  &huma.Schema{Type: "string"},
		example: "hostname",
		read:    readText,
	}
	figuresParam = param{
		name:    "figures",
		doc:     "percentiles: also p50, p90 and p99 of the total, the origin and the service time.",
		schema:  &huma.Schema{Type: "string", Enum: []any{search.FiguresPercentiles}},
		example: search.FiguresPercentiles,
		read:    readText,
	}
	orderParam = param{
		name: "order",
		doc:  "What comes first: the values with the most requests, or with the most blocked requests.",
		schema: &huma.Schema{
			Type: "string", Enum: []any{search.OrderRequests, search.OrderBlocked}, Default: search.OrderRequests,
		},
		example: search.OrderBlocked,
		read:    readText,
	}
	measureParam = param{
		name:    "measure",
		doc:     "What to sum up.",
		schema:  &huma.Schema{Type: "string", Enum: measures(), Default: string(query.Measures[0])},
		example: string(query.MeasureBlocked),
		read:    readText,
	}
	selectParam = param{
		name: "select",
		doc: "Conditions of the selected requests, as in `filters`, but without a period: the other requests are the " +
			"baseline.",
		schema:  filtersParam.schema,
		body:    filtersParam.body,
		example: "blocked is true",
		read:    readFilters,
	}
	againstParam = param{
		name: "against",
		doc: "The other period, which is the baseline: previous (the same length, right before), a length of time such " +
			"as 1d or 7d (the same period, so much earlier), or two times such as 2026-01-01..2026-01-02 or now-2d..now-1d.",
		schema:  &huma.Schema{Type: "string", Pattern: `^(previous|\+?[0-9]+[smhd]|.+\.\..+)$`},
		example: "previous",
		read:    readText,
	}
	leastParam = integerParam("least",
		"Values with fewer requests, on the side on which their share is larger, are no findings.", 5,
		&huma.Schema{Type: "integer", Minimum: float(1), Default: float64(search.DefaultLeast)})
	fieldsParam = param{
		name:    "fields",
		doc:     "Names of the fields to return, separated by commas. By default all.",
		schema:  &huma.Schema{Type: "string", Pattern: `^\s*[a-z_]+\s*(,\s*[a-z_]+\s*)*$`},
		body:    namesSchema(&huma.Schema{Type: "string", Pattern: `^\s*[a-z_]+\s*$`}, 0),
		example: "timestamp,host,status",
		read:    readNames,
	}
	cursorParam = param{
		name:   "cursor",
		doc:    "`meta.next` of the page before. The other parameters, except `limit`, must be the same.",
		schema: &huma.Schema{Type: "string", Pattern: tokenPattern},
		read:   readText,
	}
	sinceParam = param{
		name:   "since",
		doc:    "`meta.head` of an earlier answer: only records that are newer than those of that answer.",
		schema: &huma.Schema{Type: "string", Pattern: tokenPattern},
		read:   readText,
	}
	dryRunParam = booleanParam("dry_run", "true: the query does not run. The answer has no results, and "+
		"`meta.estimate` has what the query would read and cost.")
	preferHeader = param{
		name: "Prefer", schema: &huma.Schema{Type: "string"},
		doc: "respond-async: answer at once with the location of the result.",
	}
	syntaxHeader = param{
		name: "syntax", schema: &huma.Schema{Type: "string"},
		doc: "string_query: read the filter in the query-string form even if it begins with a brace or a bracket.",
	}
	ifMatch = param{
		name: "If-Match", schema: &huma.Schema{Type: "string", MinLength: whole(1), Pattern: matchPattern},
		doc: "Write only if the newest version has this ETag, or, with *, if there is one.",
	}
	ifNoneMatchWrite = param{
		name: "If-None-Match", schema: &huma.Schema{Type: "string", Enum: []any{"*"}},
		doc: "*: write only if it does not exist yet.",
	}
	ifNoneMatchRead = param{
		name: "If-None-Match", schema: &huma.Schema{Type: "string"},
		doc: "Answer 304 if the newest version still has this ETag.",
	}
)

// segmentPattern is the form of a length of a segment.
const segmentPattern = "^[1-9][0-9]*[smhd]?$"

// tokenPattern is the form of meta.next and meta.head.
const tokenPattern = "^[A-Za-z0-9_-]+$"

// filterSchema returns the schema of the member of a body that is a filter with at least so many conditions.
func filterSchema(conditions int) *huma.Schema {
	text, list := &huma.Schema{Type: "string"}, &huma.Schema{
		Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true},
	}
	if conditions > 0 {
		text.MinLength, list.MinItems = whole(1), &conditions
	}
	return &huma.Schema{
		Description: "The filter: text in either form, or the JSON form itself.",
		OneOf:       []*huma.Schema{text, {Type: "object", AdditionalProperties: true}, list},
	}
}

// namesSchema returns the schema of the member of a body that readNames reads: a list of names, at most so many; 0: any
// number.
func namesSchema(name *huma.Schema, most int) *huma.Schema {
	s := &huma.Schema{Type: "array", Items: name, MinItems: whole(1)}
	if most > 0 {
		s.MaxItems = &most
	}
	return s
}

// matchPattern is the form of If-Match: * or a list of ETags.
const matchPattern = `^(\*|(W/)?"[^",]*"( *, *(W/)?"[^",]*")*)$`

// exampleFilter is the example on the interactive page. Its period includes all records.
const exampleFilter = "timestamp between 2020-01-01 and 2100-01-01, status>=500"

const limitName = "limit"

// dataParams are the parameters of all data routes.
var dataParams = []string{
	filtersParam.name, limitName, segmentParam.name, groupByParam.name, fieldsParam.name, byName, orderParam.name,
	measureParam.name, selectParam.name, againstParam.name, leastParam.name, cursorParam.name, sinceParam.name,
	figuresParam.name, formatName, csvName, fieldParam.name, prefixParam.name, containsParam.name, countsParam.name,
	dryRunParam.name, tzParam.name,
}

func measures() []any {
	var list []any
	for _, m := range query.Measures {
		list = append(list, string(m))
	}
	return list
}

const byName = "by"

func byParam(doc string, most int, standard, example string) param {
	p := param{
		name: byName, doc: doc, example: example, read: readNames,
		schema: &huma.Schema{Type: "string"},
		body:   namesSchema(&huma.Schema{Type: "string", MinLength: whole(1)}, most),
	}
	if standard != "" {
		p.schema.Default = standard
	}
	return p
}

func limitParam(doc string, standard, most float64) param {
	return integerParam(limitName, doc, 10,
		&huma.Schema{Type: "integer", Minimum: float(1), Maximum: &most, Default: standard})
}

func integerParam(name, doc string, example int, schema *huma.Schema) param {
	return param{name: name, doc: doc, schema: schema, body: orDigits(schema), example: example, read: readInteger}
}

// booleanParam returns a parameter that is false by default.
func booleanParam(name, doc string) param {
	schema := &huma.Schema{Type: "boolean", Default: false}
	return param{name: name, doc: doc, schema: schema, body: orBooleanText(schema), example: true, read: readBoolean}
}

func float(f float64) *float64 { return &f }

// RouteIDs returns the operation ids of all routes, including those outside the base paths, for Config.Serves.
func RouteIDs() []string {
	var ids []string
	for _, r := range everyRoute() {
		ids = append(ids, r.id)
	}
	return ids
}
