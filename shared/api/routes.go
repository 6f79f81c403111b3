package api

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// routes returns the table of routes.
func (s *server) routes() []route {
	return slices.Concat(
		DataRoutes(DataConfig{
			Search: s.Search, Queries: s.Queries, Reports: s.Reports, ReportTimeout: s.ReportTimeout, Access: s.access,
			Address: s.Address, Now: s.Now, PresentStep: s.PresentStep, Log: s.Log,
		}),
		ResourceRoutes(ResourceConfig{
			Planets: s.Planets, Documents: s.Documents, Definitions: s.Definitions, Runs: s.Runs, Now: s.Now,
			RequirePrecondition: s.RequirePrecondition, Maintenance: s.Maintenance,
		}),
		ServiceRoutes(ServiceConfig{
			Status: s.Status, NeedsKey: s.Keys != nil, Version: s.Version, Metrics: s.Metrics, Console: s.Console,
			Page: s.Page, Routes: s.routes, Document: func() []byte { return s.openapi() },
		}),
	)
}

// register adds routes to the mux.
func (s *server) register(routes []route) {
	for i := range routes {
		to := &routes[i]
		bases := []string{""}
		if !to.atRoot {
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
	if c.route.scope != "" {
		var err error
		if c.caller, err = s.access.Authenticate(c.r.Context(), c.r.Header, c.client, c.route.scope); err != nil {
			return err
		}
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
