package api

import "slices"

// Route is a route under the base paths, as what stands before the handler needs to know it.
type Route struct {
	ID     string // operation id
	Method string
	Path   string // after a base path; parts in braces stand for one segment each
}

// Routes is every route under the base paths, in the order of the document.
func Routes() []Route {
	var all []Route
	for _, r := range new(server).routes() {
		if r.underBase() {
			all = append(all, Route{r.id, r.method, r.path})
		}
	}
	return all
}

// BasePaths is where the routes lie: the same under each.
func BasePaths() []string { return slices.Clone(basePaths) }
