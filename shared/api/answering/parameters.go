package answering

import (
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/search"
)

// Names of parameters that are mentioned below.
const (
	dryRunName = "dry_run"
	cursorName = "cursor"
	sinceName  = "since"
)

// paramsOf returns the parameters of a data route.
func paramsOf(to search.Route, offers representation.Offers) []parameter.Parameter {
	var list []parameter.Parameter
	for _, p := range search.ParametersOf(to) {
		if p.Name == dryRunName { // the last one
			list = append(list, offers.Parameters()...)
		}
		list = append(list, parameter.Of(p))
	}
	return list
}
