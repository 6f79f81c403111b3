package api

import "slices"

// Route is a route under the base paths, for the configuration of a gateway.
type Route struct {
	ID     string // operation id
	Method string
	Path   string // without the base path; a name in braces is one segment
}

// Routes returns every route under the base paths, in the order of the OpenAPI document.
func Routes() []Route {
	var all []Route
	for _, r := range new(server).routes() {
		if r.underBase() {
			all = append(all, Route{r.id, r.method, r.path})
		}
	}
	return all
}

// BasePaths returns the base paths. All have the same routes.
func BasePaths() []string { return slices.Clone(basePaths) }
