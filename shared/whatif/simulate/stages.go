package simulate

import "slices"

// Effect is the rules that act on a record, by their indices in ascending order.
type Effect struct {
	Filters, Limits []int
}

// Stages returns what filters and limits together do to each record. reach says which records the gateway let pass to the
// stage of limits.
//
// Decisions:
//   - All filters are evaluated before all limits. The decisions of Filters and Limits hold.
//   - The tags of the filters that match are on the record when its limits are evaluated. A filter's action changes nothing
//     about its tags.
//   - A record on which a filter acts does not reach limits, so they do not count it, unless the filter only monitors.
//     A challenge is a stop: nobody knows who would have solved it.
//   - Each limit is counted for itself. A record on which one acts is counted by the others.
func Stages(filters []Filter, limits []Limit, records []Record, reach []bool) []Effect {
	effects := make([]Effect, len(records))
	var left []int // the records that reach limits
	for i, matching := range Filters(filters, records) {
		effects[i].Filters = matching
		stops := func(f int) bool { return filters[f].Action != "action-monitor" }
		if reach[i] && !slices.ContainsFunc(matching, stops) {
			left = append(left, i)
		}
	}
	tagged := Tagged(filters, records)
	var reaching []Record
	for _, i := range left {
		reaching = append(reaching, tagged[i])
	}
	for l, limit := range limits {
		for place, acts := range Limits(limit, reaching) {
			if acts {
				effects[left[place]].Limits = append(effects[left[place]].Limits, l)
			}
		}
	}
	return effects
}
