package querytest

import (
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Dimensions parses a list of dimensions. It panics if the list has a mistake.
func Dimensions(text string) []query.Dimension {
	list, err := query.ParseDimensions(text)
	if err != nil {
		panic("querytest: " + err.Error())
	}
	return list
}

// MixedDimensions are dimensions of every type and layout: single values, lists, members of structures, of lists of
// structures and of name/value fields.
const MixedDimensions = `status,blocked,bytes_sent,processing_stage,url,tags,upstream_status,svcid,` +
	`headers["x-case"],cookies["lang"],arguments["n"],security_config["acl_active"],security_config["cf_rules"],` +
	`trigger_counters["rl"],upstream_data["addr"],upstream_data["status"]`

// Selection parses and binds conditions without a period. It panics if there is a mistake.
func Selection(text string) query.Selection {
	s, err := query.BindSelection(filter.Parse(text))
	if err != nil {
		panic("querytest: " + err.Error())
	}
	return s
}
