package asking

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
)

// mostValues is the largest number of values of facets.
const mostValues = "80"

// facets returns a question for the values of fields. most is the number of values of each.
func facets(filters, by, most string, byBlocked bool, each func(of answer.FacetResult)) ask {
	order := "requests"
	if byBlocked {
		order = "blocked"
	}
	return ask{
		"facets", map[string]string{"filters": filters, "by": by, "limit": most, "order": order},
		func(results json.RawMessage) error { return eachOf(results, each) },
	}
}

func fieldOf(f answer.FacetResult) incident.Field {
	field := incident.Field{Distinct: f.Distinct}
	for _, v := range f.Values {
		field.Values = append(field.Values, valueOf(v))
	}
	return field
}

func valueOf(v answer.FacetValueResult) incident.Value {
	return incident.Value{
		Text: fmt.Sprint(v.Value), Requests: v.NumOfRequests, Blocked: v.NumOfBlockedRequests, Challenged: v.NumOfChallenges,
	}
}

// everything is a dimension that all requests at a host have, so that its values add up to all requests.
func everything(h incident.Host) string {
	if h.Named {
		return "host"
	}
	return "method"
}

// total adds the values of a field that all requests have.
func total(f answer.FacetResult, to *incident.Value, monitored *int64) {
	for _, v := range f.Values {
		to.Requests += v.NumOfRequests
		to.Blocked += v.NumOfBlockedRequests
		to.Challenged += v.NumOfChallenges
		*monitored += v.NumOfMonitoredRequests
	}
}

// signs returns the questions for the signs of an episode.
func (a *asker) signs(e incident.Episode, into *incident.Signs, addresses *[]incident.Value) []ask {
	at := func(span incident.Span, more ...string) string {
		conditions := []string{span.During(), e.Host.Condition(), a.conditions}
		return filter.Joined(append(append(conditions, e.Signal.Conditions()...), more...)...)
	}
	byBlocked := e.Signal == incident.Stopping
	heavy := at(e.Span)
	if byBlocked {
		heavy = at(e.Span, "blocked is true")
	}
	every := everything(e.Host)
	monitored := int64(0)
	list := []ask{
		facets(at(e.Span), "path,reason,user_agent,human,"+every, mostValues, byBlocked, func(f answer.FacetResult) {
			switch f.By {
			case "path":
				into.Paths = fieldOf(f)
			case "reason":
				into.Reasons = fieldOf(f)
			case "user_agent":
				into.Agents = fieldOf(f)
			case "human":
				for _, v := range f.Values {
					if v.Value == true {
						into.Humans = v.NumOfRequests
					}
				}
			case every:
				total(f, &into.Total, &monitored)
			}
		}),
		facets(at(e.Span, `query~"`+incident.ProbingQueries+`"`), every, mostValues, false, func(f answer.FacetResult) {
			into.Probes = f.NumOfRequests
		}),
		grouped(heavy, "ip", whole, func(r answer.StatsResult) {
			if text, ok := r.Value.(string); ok && !r.ValueTruncated {
				*addresses = append(*addresses, incident.Value{Text: text, Requests: r.NumOfRequests})
			}
		}),
	}
	if e.Ratio < incident.Overwhelming {
		day := incident.Span{From: e.From - 24*incident.Hour, To: e.From}
		list = append(list, facets(at(day), "path", mostValues, byBlocked, func(f answer.FacetResult) {
			into.Usual = fieldOf(f).Values
		}))
	}
	return list
}

// figures returns the questions for the figures of an incident.
func (a *asker) figures(f incident.Found, into *incident.Figures) []ask {
	every := everything(f.Host)
	of := func(facet answer.FacetResult) {
		switch facet.By {
		case "ip":
			into.Addresses = fieldOf(facet)
		case "organization":
			into.Networks, into.HasNetworks = fieldOf(facet), facet.NumOfRequests > 0
		case "reason":
			into.Reasons = fieldOf(facet)
		case "human":
			if facet.NumOfRequests > 0 {
				into.BlockedHumans = blockedOf(facet, "true")
			}
		case every:
			all := incident.Value{}
			total(facet, &all, &into.Monitored)
			into.Requests, into.Blocked, into.Challenges = all.Requests, all.Blocked, all.Challenged
		}
	}
	list := []ask{facets(f.Filter(a.conditions), "ip,organization,reason,human,"+every, mostValues, false, of)}
	others := f.Others(a.conditions)
	if others == "" {
		return list
	}
	when := func(seconds int64) *incident.Others {
		switch {
		case seconds < f.From:
			return &into.Before
		case seconds < f.To:
			return &into.During
		}
		return &into.After
	}
	return append(list,
		ask{
			"timeline", map[string]string{"filters": others, "segment": "1m"},
			func(results json.RawMessage) error {
				return eachOf(results, func(r answer.TimelineResult) {
					when(r.TimePeriod).Add(incident.Others{Requests: r.NumOfRequests, Errors: errorsOf(r)})
				})
			},
		},
		ask{
			"stats", map[string]string{"filters": filter.Joined(others, "request_time>=0"), "segment": "1m"},
			func(results json.RawMessage) error {
				return eachOf(results, func(r answer.StatsResult) {
					if r.AvgLatency != nil {
						when(r.TimePeriod).Add(incident.Others{Timed: r.NumOfRequests, TimeUs: sumOf(r)})
					}
				})
			},
		},
	)
}

// blockedOf returns the number of blocked requests with a value.
func blockedOf(f answer.FacetResult, value string) *int64 {
	n := int64(0)
	for _, v := range f.Values {
		if fmt.Sprint(v.Value) == value {
			n += v.NumOfBlockedRequests
		}
	}
	return &n
}

// errorsOf returns the number of responses with a status of 500 or more.
func errorsOf(r answer.TimelineResult) (n int64) {
	for _, s := range r.ArrayStatusCodes {
		if status, err := strconv.Atoi(s.Key); err == nil && status >= 500 {
			n += s.Value
		}
	}
	return n
}

// sumOf returns the sum of the times of a segment in microseconds.
func sumOf(r answer.StatsResult) int64 {
	return int64(math.Round(*r.AvgLatency * 1e6 * float64(r.NumOfRequests)))
}
