package service

import (
	"net/http"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

// metricsRoutes returns the route of the figures of the process, which are of all branches, if there are any.
func (s *server) metricsRoutes() []route.Route {
	if s.Metrics == nil {
		return nil
	}
	return []route.Route{{
		ID: "metrics", Method: http.MethodGet, Path: "/metrics", AtRoot: true, Tag: route.ServiceTag,
		Summary: "Metrics for Prometheus",
		Doc: "Returns figures of the process in the text format of Prometheus: requests and their times, the load of " +
			"the engine, and the age of the data. They cover all branches, so a key that is limited to branches is " +
			"refused.",
		Scope:   keys.DataRead,
		Answers: []route.Response{{Status: http.StatusOK, Doc: "The metrics.", Texts: []string{content.Text}}},
		Errors: []int{
			http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests,
		},
		Handle: s.metrics,
	}}
}

func (s *server) metrics(c *route.Call) error {
	if c.Caller.Branches != nil {
		return errAllBranches()
	}
	s.Metrics.ServeHTTP(c.Writer, c.Request)
	return nil
}

func errAllBranches() error {
	return fault.New(fault.Forbidden, "the metrics are of all branches, and the API key is limited to some")
}
