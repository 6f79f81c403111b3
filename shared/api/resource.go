package api

import (
	"slices"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
)

// ResourceConfig configures the routes of configurations. api.Config describes the fields.
type ResourceConfig struct {
	Planets     planet.Store
	Documents   document.Store
	Definitions *definition.Rules
	Runs        runs.Store
	Now         func() time.Time

	RequirePrecondition bool
	Maintenance         func() bool
}

type resourceServer struct{ ResourceConfig }

// ResourceRoutes returns the routes of configurations: planets, saved filters, scheduled reports and their runs.
func ResourceRoutes(c ResourceConfig) []route {
	s := &resourceServer{c}
	return slices.Concat(s.planetRoutes(), s.filterRoutes(), s.definitionRoutes(), s.runRoutes())
}
