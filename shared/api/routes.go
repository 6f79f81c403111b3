package api

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/importing"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/api/service"
	"github.com/orrery/orrery/shared/filter"
)

// routes returns the table of routes.
func (s *server) routes() []route.Route {
	return slices.Concat(
		answering.Routes(answering.Config{
			Search: s.Search, Queries: s.Queries, Reports: s.Reports, Planets: s.Planets, AtOnce: s.AtOnce,
			ReportTimeout: s.ReportTimeout, Access: s.access,
			Address: s.Address, Now: s.Now, PresentStep: s.PresentStep, Log: s.Log,
		}),
		resource.Routes(resource.Config{
			Planets: s.Planets, Documents: s.Documents, Definitions: s.Definitions, Runs: s.Runs, Lists: s.Lists, Now: s.Now,
			RequirePrecondition: s.RequirePrecondition, Maintenance: s.Maintenance,
		}),
		importing.Routes(s.Importer),
		service.Routes(service.Config{
			Status: s.Status, NeedsKey: s.Keys != nil, Version: s.Version, Metrics: s.Metrics, Console: s.Console,
			Page: s.Page, Routes: s.routes, Document: func() []byte { return s.openapi() },
		}),
	)
}

// register adds routes to the mux.
func (s *server) register(routes []route.Route) {
	for i := range routes {
		to := &routes[i]
		bases := []string{""}
		if !to.AtRoot {
			bases = route.BasePaths
			if !strings.Contains(to.Path, "{") {
				s.paths = append(s.paths, route.BasePaths[0]+to.Path)
			}
		}
		for _, base := range bases {
			s.mux.HandleFunc(to.Method+" "+base+to.Path, func(_ http.ResponseWriter, r *http.Request) { s.run(to, r) })
		}
	}
}

// run answers a request to a route.
func (s *server) run(to *route.Route, r *http.Request) {
	c := callOf(r.Context())
	c.Request, c.Route = r, to // r has the path values
	if !s.serves(to.ID) {
		c.Route = nil
		s.fail(c, problem.NoRoute(r.URL.Path, ""))
		return
	}
	if err := s.handle(c); err != nil {
		s.fail(c, err)
	}
}

// handle passes the request to the handler of its route if the caller may use the route and accepts an answer.
func (s *server) handle(c *route.Call) error {
	if c.Route.Scope != "" {
		var err error
		if c.Caller, err = s.access.Authenticate(c.Request.Context(), c.Request.Header, c.Client, c.Route.Scope); err != nil {
			return err
		}
	}
	if offers := c.Route.Offers; offers != nil {
		if c.Accepts = c.Accepted(offers); c.Accepts == "" && !c.Route.HasFormat() {
			return problem.NotAcceptable(offers)
		}
		if c.Codings().None() {
			return errNoEncoding()
		}
	}
	return c.Route.Handle(c)
}

// pattern returns the pattern of the mux that matches a request, or "". Paths that are not clean do not match: the mux
// would redirect them with an HTML response.
func (s *server) pattern(r *http.Request) string {
	if p := r.URL.EscapedPath(); p != service.PagePath && (!strings.HasPrefix(p, "/") || path.Clean(p) != p) {
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
	return problem.NoRoute(r.URL.Path, filter.Nearest(r.URL.Path, s.paths))
}

// options answers OPTIONS. It sends no CORS headers, because other origins may not use the API.
func (s *server) options(c *route.Call) error {
	allow := s.allowed(c.Request)
	if allow == "" {
		return s.noRoute(c.Request)
	}
	c.Writer.Header().Set("Allow", allow)
	c.Send(route.Answer{Status: http.StatusNoContent})
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
