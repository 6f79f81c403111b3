// Package route has the table of routes, and what a handler gets: the call of a request.
package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/keys"
)

// basePaths have the same routes. The first one is documented; the vendor's newer clients use /api/v4.3.
var basePaths = []string{"/api/v4.0", "/api/v4", "/api/v4.3"}

// route is a row of the table of routes, which is also the source of the OpenAPI document.
type route struct {
	id       string // operation id; names the route in logs and examples
	method   string
	path     string
	atRoot   bool   // the path is not below the base paths
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
	status  int
	doc     string
	value   any               // a value of the Go type of the JSON, or a *huma.Schema; nil: there is no JSON
	other   any               // of another type that the JSON may have; nil: none
	texts   []string          // media types besides JSON
	headers map[string]string // their docs by their names, besides those of every response
	etag    bool
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

// Tags of routes: their groups in the OpenAPI document.
const (
	dataTag    = "data"
	planetsTag = "planets"
	filtersTag = "filters"
	reportsTag = "reports"
	serviceTag = "service"
)

// postSuffix ends the id of the POST form of a route.
const postSuffix = "-post"

// ofGet returns the id of a route, or of the route of which it is the POST form.
func (r *route) ofGet() string { return strings.TrimSuffix(r.id, postSuffix) }

// choosesForm reports whether the route has parameters for the form of its answer.
func (r *route) choosesForm() bool { return find(r.params, formatName) != nil }

// runsOn reports whether the query of the route can outlive its request.
func (r *route) runsOn() bool { return find(r.headers, preferHeader.name) != nil }

// allErrors returns the error statuses of the route, including those of every route under a base path.
func (r *route) allErrors() []int {
	all := slices.Clone(r.errors)
	if !r.atRoot {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotAcceptable,
			http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusInternalServerError)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
