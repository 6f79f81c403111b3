package api

import "github.com/orrery/orrery/shared/search"

// Names of parameters that are mentioned below.
const (
	dryRunName = "dry_run"
	cursorName = "cursor"
	sinceName  = "since"
)

// paramsOf returns the parameters of a data route.
func paramsOf(to search.Route, offers []string) []param {
	var list []param
	for _, p := range search.ParametersOf(to) {
		if p.Name == dryRunName { // the last one
			list = append(list, formatParams(offers)...)
		}
		list = append(list, paramOf(p))
	}
	return list
}
