package api

import (
	"net/http"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

// metricsRoutes returns the route of the figures of the process, which are of all branches, if there are any.
func (s *serviceServer) metricsRoutes() []route {
	if s.Metrics == nil {
		return nil
	}
	return []route{{
		id: "metrics", method: http.MethodGet, path: "/metrics", atRoot: true, tag: serviceTag,
		summary: "Metrics for Prometheus",
		doc: "The figures of the process in the text format of Prometheus: requests and their times, the load of the " +
			"engine, and the age of the data. They are of all branches, so a key that is limited to some is refused.",
		scope:   keys.DataRead,
		answers: []response{{status: http.StatusOK, doc: "The metrics.", texts: []string{textType}}},
		errors: []int{
			http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests,
		},
		handle: s.metrics,
	}}
}

func (s *serviceServer) metrics(c *call) error {
	if c.caller.Branches != nil {
		return errAllBranches()
	}
	s.Metrics.ServeHTTP(c.w, c.r)
	return nil
}

func errAllBranches() error {
	return fault.New(fault.Forbidden, "the metrics are of all branches, and the API key is limited to some")
}
