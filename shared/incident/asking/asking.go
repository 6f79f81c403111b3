// Package asking asks the questions of incidents, and finds the incidents in the answers.
package asking

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// Request is a request for the incidents of a period.
type Request struct {
	Filters string        // in either form, with a period
	Syntax  filter.Syntax // 0: determined by the first character
	Zone    string        // IANA name, of times in words, of today and of yesterday; "" for UTC
	Now     time.Time     // of relative times; zero: the filter has none, and the newest record is the present
	AtOnce  int           // questions that are asked at the same time; 0: all

	Kept *Kept       // answers to earlier requests; nil: there are none
	Data search.Data // the caller may read all of it. If it has no name, the answer is not kept.
}

const (
	// mostIncidents is the largest number of incidents of an answer. Those with the largest excess are in it.
	mostIncidents = 50
	// mostDescribed is the largest number of episodes whose signs are asked for, because some are no incidents.
	mostDescribed = 2 * mostIncidents
)

// Incidents are the incidents of a period, and what their answer rests on.
type Incidents struct {
	Results []answer.IncidentResult // by begin, then target
	Meta    answer.Meta
}

// asker asks the questions of one request.
type asker struct {
	from       inquiry.Source
	atOnce     int
	conditions string // canonical, without the period
	period     query.Period
	zone       *time.Location
	now        time.Time
	meta       inquiry.Meta
	truncated  bool // there are more incidents than an answer has
}

// Run returns the incidents of a period. The error is a *query.FilterError, a *search.ParamError, the error of the
// context, or the error of a question.
func Run(ctx context.Context, from inquiry.Source, r Request) (Incidents, error) {
	a, err := newAsker(from, r)
	if err != nil {
		return Incidents{}, err
	}
	key := a.key(r.Data.Name)
	if found, ok := r.Kept.find(key); ok {
		found.Meta.Complete = r.Data.Complete
		return found, nil
	}
	found, err := a.run(ctx)
	if err == nil && a.lasts() {
		r.Kept.add(key, found)
	}
	return found, err
}

// run asks the questions.
func (a *asker) run(ctx context.Context) (Incidents, error) {
	hours, err := a.hours(ctx)
	if err != nil {
		return Incidents{}, err
	}
	episodes, err := a.episodes(ctx, hours)
	if err != nil {
		return Incidents{}, err
	}
	found, err := a.describeLargest(ctx, episodes)
	if err != nil {
		return Incidents{}, err
	}
	single, series := incident.Series(found)
	if len(series) > 0 {
		if found, err = a.describe(ctx, series); err != nil {
			return Incidents{}, err
		}
		found = append(single, found...)
	}
	if found, err = a.withEdges(ctx, found); err != nil {
		return Incidents{}, err
	}
	results, err := a.measure(ctx, found)
	if err != nil {
		return Incidents{}, err
	}
	meta := a.meta.Joined(a.atOnce)
	if a.truncated {
		meta.Truncated = &answer.Truncated{Reason: "limit"}
	}
	return Incidents{results, meta}, nil
}

func newAsker(from inquiry.Source, r Request) (*asker, error) {
	clock, err := search.ClockOf(r.Now, r.Zone)
	if err != nil {
		return nil, err
	}
	f := r.Syntax.Parse(r.Filters)
	q, conditions, err := inquiry.Bind(f, query.WithClock(clock))
	if err != nil {
		return nil, err
	}
	a := &asker{
		from: inquiry.Placing(from, r.Syntax, r.Filters), atOnce: r.AtOnce, conditions: conditions, period: q.Period,
		zone: clock.Zone, now: r.Now, meta: inquiry.Meta{}.About(q, r.Zone),
	}
	if a.zone == nil {
		a.zone = time.UTC
	}
	if q.Period.ToMs-q.Period.FromMs > incident.LongestPeriod.Milliseconds() {
		return nil, &search.ParamError{
			Param: "filters", Message: fmt.Sprintf("incidents are found in periods of at most %d days", incident.MaxDays),
		}
	}
	return a, nil
}

// span returns the seconds of the period.
func (a *asker) span() incident.Span {
	return incident.Span{From: floor(a.period.FromMs), To: floor(a.period.ToMs) + 1}
}

func floor(ms int64) int64 { return query.SegmentStart(ms, 1) }

// all asks questions at the same time.
func (a *asker) all(ctx context.Context, list []inquiry.Question) error {
	err := a.meta.Ask(ctx, a.from, a.atOnce, list...)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("ask the questions of incidents: %w", err)
	}
	return err
}

func eachOf[T any](results json.RawMessage, each func(T)) error {
	var list []T
	if err := json.Unmarshal(results, &list); err != nil {
		return err
	}
	for _, one := range list {
		each(one)
	}
	return nil
}

// longestHost is longer than any name of DNS. A longer host has no incidents, because it would be too long for filters.
const longestHost = 1000

// hostOf returns the host of a result.
func hostOf(r search.CountsResult) (h incident.Host, ok bool) {
	if r.Value == nil {
		return incident.Host{}, true
	}
	return incident.Host{Name: *r.Value, Named: true}, len(*r.Value) <= longestHost
}

// before is the first hour that is read.
func (a *asker) before() int64 {
	return query.SegmentStart(a.period.FromMs, incident.Hour) - incident.Before
}

// firstHours returns the hours of the period and of the time before it.
func (a *asker) firstHours() incident.Span { return incident.Span{From: a.before(), To: a.span().To} }

// within returns the condition for a span, which ends with the period.
func (a *asker) within(s incident.Span) string {
	return filter.During(s.From*1000, min(s.To*1000-1, a.period.ToMs))
}

// hours returns the requests of the hours of the period and of the time before it.
func (a *asker) hours(ctx context.Context) (*incident.Grid, error) {
	g := incident.NewGrid(a.firstHours(), incident.Hour)
	return g, a.countHours(ctx, g, a.firstHours())
}

// countHours adds the requests of hours to a grid. If there are too many hosts for an answer, it asks about half as many
// hours at a time.
func (a *asker) countHours(ctx context.Context, g *incident.Grid, s incident.Span) error {
	err := a.all(ctx, a.counting(g, "1h", a.within(s)))
	hours := (s.To - s.From + incident.Hour - 1) / incident.Hour
	if fault.KindOf(err) != fault.EngineLimit || hours < 2 {
		return err
	}
	middle := s.From + hours/2*incident.Hour
	if err := a.countHours(ctx, g, incident.Span{From: s.From, To: middle}); err != nil {
		return err
	}
	return a.countHours(ctx, g, incident.Span{From: middle, To: s.To})
}

// describeLargest describes the episodes with the largest excess. While some of them are no incidents, it describes the next
// ones.
func (a *asker) describeLargest(ctx context.Context, episodes []incident.Episode) (found []incident.Found, _ error) {
	left := slices.Clone(episodes)
	slices.SortStableFunc(left, func(x, y incident.Episode) int { return cmp.Compare(y.Excess, x.Excess) })
	for described := 0; len(left) > 0; {
		next := min(len(left), mostIncidents-len(found), mostDescribed-described)
		if next == 0 {
			a.truncated = true
			break
		}
		more, err := a.describe(ctx, left[:next])
		if err != nil {
			return nil, err
		}
		found, left, described = append(found, more...), left[next:], described+next
	}
	return found, nil
}

// describe asks for the signs of episodes. It leaves out those that are no incidents.
func (a *asker) describe(ctx context.Context, episodes []incident.Episode) ([]incident.Found, error) {
	answers := make([]signs, len(episodes))
	var list []inquiry.Question
	for i, e := range episodes {
		list = append(list, a.signs(e, &answers[i])...)
	}
	if err := a.all(ctx, list); err != nil {
		return nil, err
	}
	inquiry.Each(len(episodes), runtime.GOMAXPROCS(0), func(i int) { answers[i].list() })
	list = nil
	for i, e := range episodes {
		if s := &answers[i].Signs; s.Paths.Distinct == 0 { // there were too many
			list = append(list, a.paths(e.Span, e, func(f incident.Field) { s.Paths = f }))
		}
	}
	if len(list) > 0 {
		if err := a.all(ctx, list); err != nil {
			return nil, err
		}
	}
	all, are := make([]incident.Found, len(episodes)), make([]bool, len(episodes))
	inquiry.Each(len(episodes), runtime.GOMAXPROCS(0), func(i int) {
		all[i], are[i] = incident.New(episodes[i], answers[i].Signs)
	})
	found := make([]incident.Found, 0, len(episodes))
	for i, f := range all {
		if are[i] {
			found = append(found, f)
		}
	}
	return found, nil
}

// withEdges asks for the requests with the evidence of incidents around them, and returns the incidents with the edges
// that follow.
func (a *asker) withEdges(ctx context.Context, found []incident.Found) ([]incident.Found, error) {
	traces := make([]*incident.Trace, len(found))
	var list []inquiry.Question
	for i, f := range found {
		t := incident.NewTrace(f)
		filters := f.Evidence(t, a.conditions)
		if filters == "" {
			continue
		}
		traces[i] = t
		list = append(list, inquiry.Question{
			Route: string(search.Counts), Params: map[string]string{
				"filters": filters, "by": byHost, "segment": "1m", "of": search.SelectionsText(t.Selections()),
			},
			Into: func(results json.RawMessage) error {
				return search.EachCounts(results, func(r search.CountsResult) { t.Add(r.TimePeriods, r.N) })
			},
		})
	}
	if err := a.all(ctx, list); err != nil {
		return nil, err
	}
	return incident.WithEdges(found, traces, a.span()), nil
}

// measure asks for the figures of incidents.
func (a *asker) measure(ctx context.Context, found []incident.Found) ([]answer.IncidentResult, error) {
	figures := make([]incident.Figures, len(found))
	var list []inquiry.Question
	for i, f := range found {
		list = append(list, a.figures(f, &figures[i])...)
	}
	if err := a.all(ctx, list); err != nil {
		return nil, err
	}
	results := make([]answer.IncidentResult, 0, len(found))
	for i, f := range found {
		r := f.Result(figures[i], a.conditions, a.zone, a.recent())
		if !f.OnlyIfHarmed || r.Held.State == string(incident.NotHeld) {
			results = append(results, r)
		}
	}
	slices.SortStableFunc(results, func(x, y answer.IncidentResult) int {
		return cmp.Or(cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.Target, y.Target))
	})
	return results, nil
}

// freshness is the age of the newest record up to which an incident may be still going on.
const freshness = time.Hour

// recent returns the time of the newest record, or zero if it is an old one.
func (a *asker) recent() time.Time {
	if !a.now.IsZero() && a.now.Sub(a.meta.Last) > freshness {
		return time.Time{}
	}
	return a.meta.Last
}
