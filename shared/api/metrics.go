package api

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

// Observation describes a request that was answered.
type Observation struct {
	Route   string // operation id, or "none"
	Status  int    // 499 if the client disconnected before the answer
	Elapsed time.Duration
	Sent    int64         // bytes of the body
	Engine  time.Duration // of the query, as its answer reports it
	Scanned int64         // bytes that the engine read for it
}

// metricsRoutes returns the route of the figures of the process, which are of all branches, if there are any.
func (s *server) metricsRoutes() []route {
	if s.Metrics == nil {
		return nil
	}
	return []route{{
		id: metricsID, method: http.MethodGet, path: "/metrics", tag: "service",
		summary: "Metrics for Prometheus",
		doc: "The figures of the process in the text format of Prometheus: requests and their times, the load of the " +
			"engine, and the age of the data. They are of all branches, so a key that is limited to some is refused.",
		scope:   keys.DataRead,
		answers: []response{{http.StatusOK, "The metrics.", &huma.Schema{Type: "string"}, false}},
		errors: []int{
			http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests,
		},
		handle: s.metrics,
	}}
}

// metricsID is the operation id of the route of metrics. Its answers are only text.
const metricsID = "metrics"

func (s *server) metrics(c *call) error {
	if c.caller.Branches != nil {
		return errAllBranches()
	}
	s.Metrics.ServeHTTP(c.w, c.r)
	return nil
}

func errAllBranches() error {
	return fault.New(fault.Forbidden, "the metrics are of all branches, and the API key is limited to some")
}
