// Package resource has the routes of configurations: planets, saved filters, lists of values, scheduled reports and their runs.
// All but the runs are documents with versions; documents.go has what their routes have in common.
package resource

import (
	"slices"
	"time"

	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/valuelist"
)

// Config configures the routes of configurations. api.Config describes the fields.
type Config struct {
	Planets     document.Store
	Documents   document.Store
	Definitions *definition.Rules
	Runs        runs.Store
	Lists       valuelist.Objects
	Now         func() time.Time

	RequirePrecondition bool
	Maintenance         func() bool
}

type server struct{ Config }

// Routes returns the routes of configurations.
func Routes(c Config) []route.Route {
	s := &server{c}
	return slices.Concat(s.planetRoutes(), s.filterRoutes(), s.listRoutes(), s.definitionRoutes(), s.runRoutes())
}
