package api

import (
	"slices"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
)

// Route is a route under the base paths, for the configuration of a gateway.
type Route struct {
	ID     string // operation id
	Method string
	Path   string // without the base path; a name in braces is one segment
}

// Routes returns every route under the base paths, in the order of the OpenAPI document.
func Routes() []Route {
	var all []Route
	for _, r := range everyRoute() {
		if !r.AtRoot {
			all = append(all, Route{r.ID, r.Method, r.Path})
		}
	}
	return all
}

// RouteIDs returns the operation ids of all routes, including those outside the base paths, for Config.Serves.
func RouteIDs() []string {
	var ids []string
	for _, r := range everyRoute() {
		ids = append(ids, r.ID)
	}
	return ids
}

// everyRoute returns the table of routes of a server that has all of them.
func everyRoute() []route.Route {
	every := &server{Config: Config{Definitions: &definition.Rules{}, Runs: struct{ runs.Store }{}, Reports: noReports{}}}
	return every.routes()
}

// noReports stands for reports in the table of routes.
type noReports struct{ answering.Reports }

func (noReports) Document() any { return nil }

// BasePaths returns the base paths. All have the same routes.
func BasePaths() []string { return slices.Clone(route.BasePaths) }
