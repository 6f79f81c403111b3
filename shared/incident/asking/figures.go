package asking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/search"
)

// mostValues is the largest number of values of facets.
const mostValues = "80"

// facets returns a question for the values of fields. most is the number of values of each.
func facets(filters, by, most string, byBlocked bool, each func(of answer.FacetResult)) inquiry.Question {
	order := "requests"
	if byBlocked {
		order = "blocked"
	}
	return inquiry.Question{
		Route: "facets", Params: map[string]string{"filters": filters, "by": by, "limit": most, "order": order},
		Into: func(results json.RawMessage) error { return eachOf(results, each) },
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

// signs are the answers to the questions about the signs of an episode.
type signs struct {
	incident.Signs
	paths, addresses, before values
}

// values has the requests with each value of a field, by value: all, and those that passed if they are no signs.
type values map[string]requests

type requests struct{ all, passed int64 }

func sum(numbers []int64) (n int64) {
	for _, one := range numbers {
		n += one
	}
	return n
}

// counted returns a question for the requests with each value of a field. It is optional: there can be too many values for an
// answer.
func counted(filters, by string, apart []string, into *values) inquiry.Question {
	*into = values{}
	return inquiry.Question{
		Route: string(search.Counts), Params: map[string]string{
			"filters": filters, "by": by, "segment": inquiry.Whole, "of": search.SelectionsText(apart),
		},
		Into: func(results json.RawMessage) error {
			return search.EachCounts(results, func(r search.CountsResult) {
				if r.Value == nil {
					return
				}
				v := requests{all: sum(r.N[0])}
				for _, numbers := range r.N[1:] {
					v.passed += sum(numbers)
				}
				(*into)[*r.Value] = v
			})
		},
		Optional: true,
	}
}

// signsDuring returns the filter for the requests of a span with the signal of an episode, and with further conditions.
func (a *asker) signsDuring(span incident.Span, e incident.Episode, more ...string) string {
	conditions := []string{span.During(), e.Host.Condition(), a.conditions}
	return filter.Joined(append(append(conditions, e.Signal.Conditions()...), more...)...)
}

// signs returns the questions for the signs of an episode. Those that were stopped are all without those that passed.
func (a *asker) signs(e incident.Episode, into *signs) []inquiry.Question {
	during := a.signsDuring(e.Span, e)
	stopping, every, monitored := e.Signal == incident.Stopping, everything(e.Host), int64(0)
	apart := []string{}
	if stopping {
		apart = append(apart, filter.Joined(incident.Passed.Conditions()...))
	}
	list := []inquiry.Question{
		facets(during, "reason,user_agent,human,"+every, mostValues, stopping, func(f answer.FacetResult) {
			switch f.By {
			case "reason":
				into.Reasons = fieldOf(f)
			case "user_agent":
				into.Agents = fieldOf(f)
			case "human":
				into.Humans, into.HumansKnown = signsOf(e, f, true), f.NumOfRequests > 0
			case every:
				total(f, &into.Total, &monitored)
			}
		}),
		counted(during, "path", apart, &into.paths),
		counted(during, "ip", apart, &into.addresses),
	}
	if !stopping {
		probes := a.signsDuring(e.Span, e, `query~"`+incident.ProbingQueries+`"`)
		list = append(list, facets(probes, every, mostValues, false, func(f answer.FacetResult) {
			into.Probes = f.NumOfRequests
		}))
	}
	if e.Signal == incident.Rush || e.Signal == incident.Repeating {
		before := incident.Span{From: 2*e.From - e.To, To: e.From}
		list = append(list, counted(a.signsDuring(before, e), "ip", apart, &into.before))
	}
	if e.Ratio < incident.Overwhelming {
		day := incident.Span{From: e.From - 24*incident.Hour, To: e.From}
		list = append(list, a.paths(day, e, func(f incident.Field) { into.Usual = f.Values }))
	}
	return list
}

// paths returns a question for the most frequent paths of the requests of a span with the signal of an episode.
func (a *asker) paths(span incident.Span, e incident.Episode, into func(incident.Field)) inquiry.Question {
	return facets(a.signsDuring(span, e), "path", mostValues, e.Signal == incident.Stopping, func(f answer.FacetResult) {
		into(fieldOf(f))
	})
}

// listed returns the signs among the requests with each value of a field, the most frequent first.
func (v values) listed() (f incident.Field) {
	for text, of := range v {
		if n := of.all - of.passed; n > 0 {
			f.Values = append(f.Values, incident.Value{Text: text, Requests: n, Blocked: n})
		}
	}
	slices.SortFunc(f.Values, func(a, b incident.Value) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Text, b.Text))
	})
	f.Distinct = int64(len(f.Values))
	return f
}

// list lists the values that were counted.
func (s *signs) list() {
	s.Paths, s.Addresses, s.Before = s.paths.listed(), s.addresses.listed().Values, s.before.listed().Values
}

// signsOf returns the number of signs with a value.
func signsOf(e incident.Episode, f answer.FacetResult, value any) (n int64) {
	for _, v := range f.Values {
		if v.Value == value {
			n += e.Weight(valueOf(v))
		}
	}
	return n
}

// timed is the condition for requests whose times are compared. Timeouts are errors, and one of them would raise the mean
// of many others.
const timed = "request_time between 0 and 10"

// failed is the condition for requests that are errors.
const failed = "status>=500"

// figures returns the questions for the figures of an incident. They are answered at the same time, so each sets members
// of its own.
func (a *asker) figures(f incident.Found, into *incident.Figures) []inquiry.Question {
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
				into.BlockedHumans = blockedOf(facet, true)
			}
		case every:
			all := incident.Value{}
			total(facet, &all, &into.Monitored)
			into.Requests, into.Blocked, into.Challenges = all.Requests, all.Blocked, all.Challenged
		}
	}
	list := []inquiry.Question{facets(f.Filter(a.conditions), "ip,organization,reason,human,"+every, mostValues, false, of)}
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
		inquiry.Question{
			Route: string(search.Counts), Params: map[string]string{
				"filters": others, "by": byHost, "segment": "1m", "of": search.SelectionsText([]string{failed}),
			},
			Into: func(results json.RawMessage) error {
				return search.EachCounts(results, func(r search.CountsResult) {
					for i, at := range r.TimePeriods {
						o := when(at)
						o.Requests, o.Errors = o.Requests+r.N[0][i], o.Errors+r.N[1][i]
					}
				})
			},
		},
		inquiry.Question{
			Route: "stats", Params: map[string]string{"filters": filter.Joined(others, timed), "segment": "1m"},
			Into: func(results json.RawMessage) error {
				return eachOf(results, func(r answer.StatsResult) {
					if o := when(r.TimePeriod); r.AvgLatency != nil {
						o.Timed, o.TimeUs = o.Timed+r.NumOfRequests, o.TimeUs+sumOf(r)
					}
				})
			},
		},
	)
}

// blockedOf returns the number of blocked requests with a value.
func blockedOf(f answer.FacetResult, value any) *int64 {
	n := int64(0)
	for _, v := range f.Values {
		if v.Value == value {
			n += v.NumOfBlockedRequests
		}
	}
	return &n
}

// sumOf returns the sum of the times of a segment in microseconds.
func sumOf(r answer.StatsResult) int64 {
	return int64(math.Round(*r.AvgLatency * 1e6 * float64(r.NumOfRequests)))
}
