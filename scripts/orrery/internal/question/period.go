package question

import "github.com/orrery/orrery/shared/search"

// PeriodFlag is the flag of query and explain for the period of values.
type PeriodFlag struct {
	Period *string `help:"values: a filter that is only a period; default: the newest 24 hours." placeholder:"FILTER"`
}

// Misuse returns what is wrong with the flags of a question that also has the flag --last, or "".
func Misuse(route, last string, v PeriodFlag, flags ParameterFlags) string {
	switch {
	case v.Period != nil && last != "":
		return "--last is a period, and so is --period; use one of them"
	case v.Period != nil && route != string(search.Values):
		return "--period is for values; in other queries the period is part of the filter"
	case route != string(search.Values) && (flags.Has("prefix") || flags.Has("contains") || flags.Has("counts")):
		return "--prefix, --contains and --counts are for values"
	}
	return ""
}
