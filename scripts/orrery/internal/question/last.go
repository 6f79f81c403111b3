package question

import (
	"regexp"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// LastFlag is the flag of commands whose question may be about the time until now.
type LastFlag struct {
	Last string `help:"Length of the period, which ends now, such as 15m, 1h or 7d; -1h for short." placeholder:"1h"`
}

var shortLast = regexp.MustCompile(`\A-[0-9]+[smhdw]\z`)

// WithLongLast replaces the short form of the flag of some commands, as in "query logs -1h".
func WithLongLast(args []string) []string {
	if len(args) == 0 || !slices.Contains([]string{"query", "incidents", "whatif", "explain", "files", "sql"}, args[0]) {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case shortLast.MatchString(arg):
			args[i] = "--last=" + arg[1:]
		}
	}
	return args
}

// Condition returns the period as a condition, or "" without the flag.
func (l LastFlag) Condition() string {
	if l.Last == "" {
		return ""
	}
	return "timestamp between now-" + l.Last + " and now"
}

// Before returns the filter with the period of the flag in front of its conditions.
func (l LastFlag) Before(text string) string {
	period := l.Condition()
	switch {
	case period == "":
		return text
	case strings.TrimSpace(text) == "":
		return period
	}
	asked := filter.Parse(text)
	if asked.Syntax != filter.JSON {
		return period + ", " + text
	}
	conditions := filter.ParseQueryString(period).Conditions
	if len(asked.Problems) > 0 { // the filter stays as it is, so that the mistakes are found in the same text
		inJSON := filter.FormatJSON(filter.Filter{Syntax: filter.JSON, Conditions: conditions})
		one := strings.TrimSuffix(strings.TrimPrefix(inJSON, `{"AND":[`), "]}")
		if list, isList := strings.CutPrefix(strings.TrimSpace(text), "["); isList {
			return "[" + one + ", " + list
		}
		return one + ", " + text
	}
	conditions = append(conditions, asked.Conditions...)
	return filter.FormatJSON(filter.Filter{Syntax: filter.JSON, Conditions: conditions})
}
