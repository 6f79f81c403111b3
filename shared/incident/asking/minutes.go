package asking

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// counting returns questions for the requests of each host and segment, by measure, one with each filter. Their answers are
// added to a grid.
func (a *asker) counting(g *incident.Grid, segment string, filters ...string) []inquiry.Question {
	var adding sync.Mutex
	of := search.SelectionsText(incident.Selections())
	list := make([]inquiry.Question, len(filters))
	for i, f := range filters {
		list[i] = inquiry.Question{
			Route: string(search.Counts), Params: map[string]string{
				"filters": filter.Joined(f, a.conditions), "by": byHost, "segment": segment, "of": of,
			},
			Into: func(results json.RawMessage) error {
				return search.EachCounts(results, func(r search.CountsResult) {
					if host, ok := hostOf(r); ok {
						adding.Lock()
						defer adding.Unlock()
						g.Add(host, r.TimePeriods, r.N)
					}
				})
			},
		}
	}
	return list
}

// Counted are the counts that questions of incidents ask for, whatever their segments are.
func Counted() (query.Counts, error) { return search.BindCounts(byHost, incident.Selections()) }

const byHost = "host"

// mostRows is the number of hosts and minutes of a question, which an answer has room for.
const mostRows = 90_000

// mostParts is the number of parts of the period about which questions are asked, unless they have too many rows. With
// more parts, there are more questions; with fewer, more records are read that no question is about.
const mostParts = 12

// episodes asks for the minutes of the hours that stand out.
func (a *asker) episodes(ctx context.Context, hours *incident.Grid) ([]incident.Episode, error) {
	windows := a.windows(hours)
	if len(windows) == 0 {
		return nil, nil
	}
	span := windows[0].Span
	for _, w := range windows {
		span.From, span.To = min(span.From, w.From), max(span.To, w.To)
	}
	minutes := incident.NewGrid(span, incident.Minute)
	if err := a.all(ctx, a.counting(minutes, "1m", a.filters(windows)...)); err != nil {
		return nil, err
	}
	return incident.Episodes(a.span(), hours, minutes, windows), nil
}

// windows returns the hours that stand out at each host.
func (a *asker) windows(hours *incident.Grid) []incident.Window {
	hosts := hours.Hosts()
	at := make([][]incident.Window, len(hosts))
	inquiry.Each(len(hosts), runtime.GOMAXPROCS(0), func(i int) { at[i] = hours.Windows(hosts[i], a.span()) })
	return slices.Concat(at...)
}

// filters returns the filters for the minutes and hosts of windows.
func (a *asker) filters(windows []incident.Window) []string {
	var list []string
	for _, part := range partsOf(windows, mostParts) {
		for _, named := range []bool{true, false} {
			var hosts []incident.Host
			for _, w := range part {
				if w.Host.Named == named && !slices.Contains(hosts, w.Host) {
					hosts = append(hosts, w.Host)
				}
			}
			if len(hosts) == 0 {
				continue
			}
			most := max(1, mostRows/incident.Hour*incident.Minute/int64(len(hosts))) * incident.Hour
			for _, spans := range divided(part, most) {
				list = append(list, filter.Joined(a.conditionsOf(spans), incident.HostsCondition(hosts)))
			}
		}
	}
	return list
}

// partsOf returns windows in parts, by time. Windows that overlap are in one part, and so are the nearest ones if there
// would be more parts than most.
func partsOf(windows []incident.Window, most int) [][]incident.Window {
	windows = slices.Clone(windows)
	slices.SortStableFunc(windows, func(a, b incident.Window) int { return cmp.Compare(a.From, b.From) })
	type part struct {
		incident.Span
		windows []incident.Window
	}
	var parts []part
	for _, w := range windows {
		if last := len(parts) - 1; last >= 0 && w.From <= parts[last].To {
			parts[last].To = max(parts[last].To, w.To)
			parts[last].windows = append(parts[last].windows, w)
			continue
		}
		parts = append(parts, part{w.Span, []incident.Window{w}})
	}
	for len(parts) > most {
		nearest := 1
		for i := range parts[2:] {
			if i += 2; parts[i].From-parts[i-1].To < parts[nearest].From-parts[nearest-1].To {
				nearest = i
			}
		}
		before := &parts[nearest-1]
		before.To, before.windows = parts[nearest].To, append(before.windows, parts[nearest].windows...)
		parts = slices.Delete(parts, nearest, nearest+1)
	}
	list := make([][]incident.Window, len(parts))
	for i, p := range parts {
		list[i] = p.windows
	}
	return list
}

// longestPart is the longest period of a question for minutes: as many whole hours as an answer has segments for.
const longestPart = query.MaxSegments * incident.Minute / incident.Hour * incident.Hour

// divided returns the hours of windows as lists of spans, each of which has at most so many seconds. From the begin of the
// first span to the end of the last one, a list is not longer than longestPart.
func divided(windows []incident.Window, most int64) [][]incident.Span {
	var hours []int64
	for _, w := range windows {
		for at := w.From; at < w.To; at += incident.Hour {
			hours = append(hours, at)
		}
	}
	slices.SortFunc(hours, cmp.Compare[int64])
	var lists [][]incident.Span
	var list []incident.Span
	length := int64(0)
	for _, at := range slices.Compact(hours) {
		if length == most || length > 0 && at+incident.Hour-list[0].From > longestPart {
			lists, list, length = append(lists, list), nil, 0
		}
		if last := len(list) - 1; last >= 0 && list[last].To == at {
			list[last].To += incident.Hour
		} else {
			list = append(list, incident.Span{From: at, To: at + incident.Hour})
		}
		length += incident.Hour
	}
	return append(lists, list)
}

// conditionsOf returns the conditions for spans: a period, and the gaps that are not in it.
func (a *asker) conditionsOf(spans []incident.Span) string {
	conditions := []string{a.within(incident.Span{From: spans[0].From, To: spans[len(spans)-1].To})}
	for i := 1; i < len(spans); i++ {
		conditions = append(conditions, "not "+incident.Span{From: spans[i-1].To, To: spans[i].From}.During())
	}
	return filter.Joined(conditions...)
}
