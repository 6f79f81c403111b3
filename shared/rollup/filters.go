package rollup

import (
	"fmt"
	"sync"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// FilterField is the Field of the subsets that conditions of Filters select. Their Value is the text of the conditions.
const FilterField = "filter"

// Filter is a subset of the records of a day that reports ask about.
type Filter struct {
	Text      string // conditions without a period, in the query-string form
	Values    string // the names of the dimensions whose values the rollup lists, if any
	Durations bool   // it has the counts of durations, for percentiles
}

// passed is the condition of requests that were neither blocked nor challenged.
const passed = "blocked not is true, challenge not is true, ichallenge not is true"

// Filters lists the filters for which days are rolled up.
var Filters = []Filter{
	{Text: "blocked is true", Values: "ip,organization,country,host,url,reason"},
	{Text: "blocked is true, human is true", Values: "reason,url"},
	{Text: passed, Values: "blocked"},
	{Text: passed + ", bot is true", Values: "organization,user_agent,url"},
	{Text: passed + ", upstream_status>=500", Values: "host,url,blocked"},
	{Text: passed + ", not upstream_status>=0, status>=500", Values: "host,url,blocked"},
	{Text: "request_time>=0", Durations: true},
}

// FilterOf returns the filter that selects a subset.
func FilterOf(s Subset) (f Filter, ok bool) {
	for _, f := range Filters {
		if s == f.subset() {
			return f, true
		}
	}
	return f, false
}

func (f Filter) subset() Subset { return Subset{FilterField, f.Text} }

func (f Filter) conditions() ([]query.Condition, error) {
	selection, err := query.BindSelection(filter.Parse(f.Text))
	if err != nil {
		return nil, fmt.Errorf("bind the filter %q of rollups: %w", f.Text, err)
	}
	return selection.Conditions, nil
}

// HasDurations reports whether the rollup of a subset of a day has the counts of durations.
func HasDurations(s Subset) bool {
	f, _ := FilterOf(s)
	return s == Subset{} || f.Durations
}

// FilterDivision returns the subsets of every day that Filters select.
func FilterDivision() (by Division) {
	for _, f := range Filters {
		by.Subsets = append(by.Subsets, f.subset())
	}
	return by
}

// filtersByIdentity are the subsets of Filters by query.ConditionsIdentity.
var filtersByIdentity = sync.OnceValue(func() map[string]Subset {
	all := map[string]Subset{}
	for _, f := range Filters {
		conditions, err := f.conditions()
		if err != nil {
			panic(err)
		}
		all[query.ConditionsIdentity(conditions)] = f.subset()
	}
	return all
})
