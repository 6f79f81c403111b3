// Package route has the row of the table of routes, and the call of a request, which the handler of the row answers.
package route

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/keys"
)

// BasePaths have the same routes. The first one is documented; the vendor's newer clients use /api/v4.3.
var BasePaths = []string{"/api/v4.0", "/api/v4", "/api/v4.3"}

// Route is a row of the table of routes, which is also the source of the OpenAPI document.
type Route struct {
	ID       string // operation id; names the route in logs and examples
	Method   string
	Path     string
	AtRoot   bool   // the path is not below the base paths
	Tag      string // group in the document; "": not in the document
	Searches bool   // uses the engine
	Summary  string
	Doc      string
	Scope    keys.Scope            // required of the caller; "": none
	Offers   []string              // media types of answers, the default first; nil: any
	Params   []parameter.Parameter // of the query, or members of the body
	Headers  []parameter.Parameter // that it reads
	Body     *RequestBody
	Answers  []Response
	Errors   []int // statuses, besides the ones that AllErrors adds
	Handle   func(*Call) error
}

// RequestBody describes a request body.
type RequestBody struct {
	Doc   string
	Types []string
	JSON  *huma.Schema // of the JSON; nil: the route's parameters
}

// Response describes a response that is not an error.
type Response struct {
	Status  int
	Doc     string
	Value   any               // a value of the Go type of the JSON, or a *huma.Schema; nil: there is no JSON
	Other   any               // of another type that the JSON may have; nil: none
	Texts   []string          // media types besides JSON
	Headers map[string]string // docs by name, besides the headers of every response
	ETag    bool
}

// Error statuses that several routes have.
var (
	QueryErrors = []int{
		http.StatusBadRequest,
		http.StatusUnprocessableEntity,
		http.StatusServiceUnavailable,
		http.StatusGatewayTimeout,
	}
	BodyErrors  = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	WriteErrors = []int{
		http.StatusNotFound,
		http.StatusPreconditionFailed,
		http.StatusUnprocessableEntity,
		http.StatusPreconditionRequired,
		http.StatusInsufficientStorage,
	}
)

// Names of the groups of routes.
const (
	DataTag    = "data"
	ImportsTag = "imports"
	PlanetsTag = "planets"
	FiltersTag = "filters"
	ListsTag   = "lists"
	ReportsTag = "reports"
	ServiceTag = "service"
)

// Tag is a group of routes.
type Tag struct{ Name, Doc string }

// Tags are the groups in the order of the OpenAPI document, which leaves out those without a route.
var Tags = []Tag{
	{DataTag, "Recorded traffic"},
	{ImportsTag, "Imports of logs, on one machine"},
	{PlanetsTag, "Settings of planets, and their history"},
	{FiltersTag, "Saved filters, and their history"},
	{ListsTag, "Lists of values that filters name, and their history"},
	{ServiceTag, "The service itself"},
	{ReportsTag, "Scheduled reports, their history and their runs"},
}

// PostSuffix ends the id of the POST form of a route.
const PostSuffix = "-post"

// OfGet returns the id of the route. The POST form of a route has the id of its GET form.
func (r *Route) OfGet() string { return strings.TrimSuffix(r.ID, PostSuffix) }

// HasQuery reports whether the parameters are in the query: there is no body, or it is a file.
func (r *Route) HasQuery() bool {
	return r.Body == nil || slices.Equal(r.Body.Types, []string{content.Binary})
}

// HasFormat reports whether the route has parameters that choose the representation of its answer.
func (r *Route) HasFormat() bool { return parameter.Find(r.Params, parameter.FormatName) != nil }

// RunsOn reports whether the query of the route can outlive its request.
func (r *Route) RunsOn() bool { return parameter.Find(r.Headers, parameter.Prefer.Name) != nil }

// AllErrors returns the error statuses of the route, including the errors of every route under a base path.
func (r *Route) AllErrors() []int {
	all := slices.Clone(r.Errors)
	if !r.AtRoot {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotAcceptable,
			http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusInternalServerError)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
