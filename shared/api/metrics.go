package api

import (
	"net/http"
	"time"

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
	return []route{{id: "metrics", method: http.MethodGet, path: "/metrics", scope: keys.DataRead, handle: s.metrics}}
}

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
