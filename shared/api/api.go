// Package api is the HTTP API: the data routes, planet settings, saved filters, scheduled reports, the status, the
// OpenAPI document, the console and the interactive page. README.md beside this file lists routes, parameters, errors,
// limits and authentication.
//
// A request passes through the packages below this one: observe.go assigns an id, access refuses foreign web pages,
// routes.go finds the route, access finds the caller, parameter reads the parameters, a handler of answering, resource
// or service answers, representation writes results, and route sends the answer. Errors become responses in problem,
// the only package that maps them to status codes.
package api

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/importing"
	"github.com/orrery/orrery/shared/api/openapi"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/api/service"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/status"
	"github.com/orrery/orrery/shared/valuelist"
)

// Config configures the API.
type Config struct {
	Search    answering.Searcher // for the data routes
	Queries   answering.Queries  // usually the same as Search; nil: queries end with their requests
	Prepare   route.Prepare      // called before the body of a request is parsed; nil: nothing is
	Planets   document.Store     // for the planet routes, and for marks; nil: there are no marks of planets
	Documents document.Store     // for the routes of saved filters and scheduled reports
	Lists     valuelist.Objects  // the values of lists of values
	Status    status.Source      // for the route of the status
	Importer  importing.Importer // imports the logs that requests bring; nil: there are no such routes
	Keys      keys.Callers       // nil: no key is needed, and only requests from this machine are answered
	TokenKeys keys.TokenKeys     // of keys without one of their own; nil: their tokens are valid in this process only
	Proxies   []netip.Prefix     // whose X-Forwarded-For names the clients; nil: the connection is the client
	Log       *slog.Logger       // one record per request
	Now       func() time.Time
	NewID     func() string // of requests; nil: random

	PresentStep time.Duration // by which the present of relative times advances; 0: search.PresentStep

	Definitions *definition.Rules // what scheduled reports may do; nil: there are none
	Runs        runs.Store        // of scheduled reports; nil: they are not made

	Reports answering.Reports // makes the reports of GET /data/report; nil: there is no such route
	// AtOnce is how many questions of incidents, effects and marks are asked at the same time; 0: all.
	AtOnce int
	// ReportTimeout is how long a request waits for a report, or for another answer that several questions give. If questions
	// are not answered by then, it is refused, and may be repeated: their queries go on. 0: each question has its own limit.
	ReportTimeout time.Duration

	Address string            // of console and API, for reports; "": they have links only for clients on this machine
	Observe func(Observation) // is called after every request; nil: nothing is
	Metrics http.Handler      // figures of the process, for GET /metrics; nil: none

	Console fs.FS    // the console: console.Files; nil: none
	Page    fs.FS    // the interactive page: page.Files; nil: none
	Serves  []string // operation ids of the routes to serve; nil: all

	Version             string      // of the program, for the OpenAPI document
	RequirePrecondition bool        // planets and saved filters are written only with If-Match or If-None-Match
	Maintenance         func() bool // reports whether planets and saved filters are read-only; nil: never
}

// New returns the handler of the configured routes. The error names every part that is missing from the Config.
func New(c Config) (http.Handler, error) {
	if missing := c.missing(); len(missing) > 0 {
		return nil, fmt.Errorf("api: not set in Config: %s", strings.Join(missing, ", "))
	}
	if c.NewID == nil {
		c.NewID = randomID
	}
	if c.Maintenance == nil {
		c.Maintenance = func() bool { return false }
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Observe == nil {
		c.Observe = func(Observation) {}
	}
	s := &server{
		Config: c, mux: http.NewServeMux(),
		access: access.New(access.Config{Keys: c.Keys, TokenKeys: c.TokenKeys, Proxies: c.Proxies, Now: c.Now}),
	}
	routes := s.routes()
	s.register(routes)
	s.openapi = sync.OnceValue(func() []byte { return openapi.Describe(routes, s.Version, s.Address) })
	return s, nil
}

// missing lists the required fields that are not set, in the order of Config.
func (c Config) missing() []string {
	var searches, keepsPlanets, keepsOthers, keepsLists, hasStatus bool
	for _, r := range (&server{Config: c}).routes() {
		if !c.serves(r.ID) {
			continue
		}
		searches = searches || r.Searches
		keepsPlanets = keepsPlanets || r.Tag == route.PlanetsTag
		keepsOthers = keepsOthers || r.Tag != route.PlanetsTag && strings.HasPrefix(r.Path, "/conf/")
		keepsLists = keepsLists || r.Tag == route.ListsTag
		hasStatus = hasStatus || r.ID == service.StatusID
	}
	var fields []string
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Search", searches && c.Search == nil},
		{"Planets", keepsPlanets && c.Planets == nil},
		{"Documents", keepsOthers && c.Documents == nil},
		{"Lists", keepsLists && c.Lists == nil},
		{"Status", hasStatus && c.Status == nil},
		{"Log", c.Log == nil},
		{"Now", c.Now == nil},
	} {
		if field.missing {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// serves reports whether a route is served.
func (c Config) serves(id string) bool { return c.Serves == nil || slices.Contains(c.Serves, id) }

type server struct {
	Config
	mux     *http.ServeMux
	openapi func() []byte // returns the document; builds it once
	paths   []string      // of routes without path parameters, for suggestions
	access  *access.Access
}

// ServeHTTP answers a request, even if a handler panics.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.begin(w, r)
	defer s.finish(c)
	if err := s.dispatch(c); err != nil {
		s.fail(c, err)
	}
}

// dispatch passes the request to its route, or returns an error if there is none.
func (s *server) dispatch(c *route.Call) error {
	if len(c.Request.TransferEncoding) > 0 {
		// With a Content-Length, too, the request may end elsewhere for a proxy, which then takes a part of it for the
		// request of another client. Package net/http removes that header before a handler sees it, so the request is
		// refused with or without it.
		return errTransferEncoding()
	}
	if err := s.checkOrigin(c.Request); err != nil {
		return err
	}
	if c.Request.Method == http.MethodOptions {
		return s.options(c)
	}
	if s.pattern(c.Request) == "" {
		return s.noRoute(c.Request)
	}
	s.mux.ServeHTTP(c.Writer, c.Request)
	return nil
}

// checkOrigin refuses requests that a web page of another site may have sent. Everybody may read the health and the
// page.
func (s *server) checkOrigin(r *http.Request) error {
	if r.URL.Path == service.HealthPath {
		return nil
	}
	if err := s.access.CheckHost(r); err != nil {
		return err
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == service.PagePath {
		return nil
	}
	return s.access.CheckPage(r)
}
