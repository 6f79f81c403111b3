package main

import (
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/search"
)

// periodFlag is the flag of query and explain for the period of values.
type periodFlag struct {
	Period *string `help:"values: a filter that is only a period; default: the newest 24 hours." placeholder:"FILTER"`
}

// misuse returns what is wrong with the flags of a question that also has the flag --last, or "".
func misuse(route, last string, v periodFlag, flags parameterFlags) string {
	switch {
	case v.Period != nil && last != "":
		return "--last is a period, and so is --period; use one of them"
	case v.Period != nil && route != string(search.Values):
		return "--period is for values; in other queries the period is part of the filter"
	case route != string(search.Values) && (flags.has("prefix") || flags.has("contains") || flags.has("counts")):
		return "--prefix, --contains and --counts are for values"
	}
	return ""
}

// setValues replaces the filter by the parameters that only values have.
func (q *queryCommand) setValues(parameters map[string]any) {
	if q.Route != string(search.Values) {
		return
	}
	parameters["field"] = q.Filter[0]
	delete(parameters, "filters")
	if period := q.condition(); period != "" {
		parameters["filters"] = period
	}
	if q.Period != nil {
		parameters["filters"] = *q.Period
	}
}

// countedColumns are the columns of a table of values with their counts.
var countedColumns = []string{"value", "num_of_requests", "num_of_blocked_requests", "condition"}

// reportLook reports that values may be missing because only a part of the data, or none, was looked at.
func (a answer) reportLook(stderr io.Writer) (partial bool) {
	m := a.Meta
	switch {
	case m.Unavailable != "":
		fmt.Fprintf(stderr, "orrery: there are no values: %s\n", terminal.Printable(m.Unavailable))
	case a.route != string(search.Values) || m.Exact == nil || *m.Exact:
		return false
	case m.Scope == nil:
		fmt.Fprintln(stderr, "orrery: only the newest data was looked at; there may be more values")
	default:
		fmt.Fprintf(stderr, "orrery: %d of %s looked at, the newest first; there may be more values\n",
			m.Scope.Objects, terminal.Counted(m.Scope.Of, "object"))
	}
	return true
}
