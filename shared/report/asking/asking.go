// Package asking asks the questions of a report, and builds the report from the answers.
package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/link"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/zone"
)

// Source answers the questions of reports.
type Source = inquiry.Source

// Request is a request for a report.
type Request struct {
	Filters  string        // in either form; with a period, unless Last is set
	Syntax   filter.Syntax // 0: determined by the first character
	Last     report.Unit   // the last hour, day, week or month before Now; "": the period is in the filter
	Now      time.Time     // relative times are relative to it, too; if it is zero, the filter has none
	Zone     string        // IANA name, also of today and yesterday; "" for UTC
	Template report.Template
	Compare  string // Previous, SameWeekday or None; "" is Previous
	Title    string
	Link     string              // base URL of the console, for links; "": there are none
	Server   string              // base URL of the API, for commands, as the operator has set it; "": unknown
	AtOnce   int                 // questions that are asked at the same time; 0: all
	Done     func(done, all int) // is called after each answer; nil: nothing is
}

// The values of Request.Compare.
const (
	Previous    = "previous"
	SameWeekday = "same-weekday" // the same time a week before, or as many weeks before as the period is long
	None        = "none"
)

// MaxTitle is the maximum length of a title in characters.
const MaxTitle = 120

// Run returns a report. A question that fails is a part that is missing in the report. The error is a
// *query.FilterError for the filter, a *ParamError for another part of the request, the error of the context, or,
// if no question could be answered, the error of the first one.
func Run(ctx context.Context, from Source, r Request) (report.Report, error) {
	s, err := SettingOf(r)
	if err != nil {
		return report.Report{}, err
	}
	return Make(ctx, inquiry.Placing(from, r.Syntax, r.Filters), s, r.AtOnce, r.Done)
}

// Make returns the report of a setting. It asks atOnce questions at the same time; 0: all. It returns the errors of
// Run, except errors about the request. done may be nil.
func Make(
	ctx context.Context, from Source, s report.Setting, atOnce int, done func(done, all int),
) (report.Report, error) {
	questions := s.Questions()
	answers := make([]report.Answer, len(questions))
	errs := make([]error, len(questions))
	var progress sync.Mutex
	answered := 0
	each(questions, atOnce, func(i int, q report.Question) {
		body, err := from.Ask(ctx, q.Route, q.Params)
		answers[i].Body, errs[i] = body, err
		if err != nil {
			answers[i].Reason = err.Error()
		}
		progress.Lock()
		defer progress.Unlock()
		if answered++; done != nil {
			done(answered, len(questions))
		}
	})
	if err := ctx.Err(); err != nil {
		return report.Report{}, err
	}
	byPart := map[report.Part]report.Answer{}
	failed := 0
	for i, q := range questions {
		byPart[q.Part] = answers[i]
		if errs[i] != nil {
			failed++
		}
	}
	if failed == len(questions) {
		return report.Report{}, fmt.Errorf("ask the questions of a report: %w", errs[0])
	}
	model := report.New(s, byPart)
	roundOnce(&model, answers)
	return model, nil
}

// roundOnce sets what a report has read, if the bytes of its answers are rounded up for a caller who is limited to
// branches: they are rounded up once. The price stays the sum, because each query is charged for 10 MB at least.
func roundOnce(model *report.Report, answers []report.Answer) {
	var read []*search.Estimate
	rounded := false
	for _, a := range answers {
		if answer, err := inquiry.Read(a.Body); err == nil { // otherwise it is a part that is missing
			read, rounded = append(read, answer.Scanned()), rounded || answer.Unrounded != nil
		}
	}
	if rounded {
		model.Run.Bytes = search.Sum(read, 0).Bytes.High
	}
}

// each calls a function with each question in the order of askingOrder, for atOnce questions at the same time; 0: for
// all. Those that several questions answer come last, one by one.
func each(list []report.Question, atOnce int, ask func(i int, q report.Question)) {
	order := askingOrder(list)
	together := slices.IndexFunc(order, func(i int) bool { return list[i].Part.Several() })
	if together < 0 {
		together = len(order)
	}
	inquiry.Each(together, atOnce, func(i int) { ask(order[i], list[order[i]]) })
	for _, i := range order[together:] {
		ask(i, list[i])
	}
}

// longest lists the routes by the time that their questions take, longest first.
var longest = []string{"topx", "diff", "facets", "timeline", "stats", "histogram", "logs", "incidents"}

// askingOrder returns the indexes of the questions in the order in which they are asked: first those about the period
// itself, because queries that run at the same time share what they read, and the longest first, so that none of them
// runs alone at the end. Those that several questions answer come last.
func askingOrder(questions []report.Question) []int {
	order := make([]int, len(questions))
	for i := range order {
		order[i] = i
	}
	stage := func(q report.Question) int {
		switch {
		case q.Part.Several():
			return 2
		case strings.HasSuffix(string(q.Part), " before"):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		first, second := questions[a], questions[b]
		return cmp.Or(
			cmp.Compare(stage(first), stage(second)),
			cmp.Compare(slices.Index(longest, first.Route), slices.Index(longest, second.Route)),
		)
	})
	return order
}

// SettingOf returns the setting of the report that a request asks for.
func SettingOf(r Request) (report.Setting, error) {
	s := report.Setting{Title: r.Title, Template: r.Template, Link: r.Link, Server: r.Server}
	if s.Template == "" {
		s.Template = report.Traffic
	}
	location, err := zoneOf(r.Zone)
	if err != nil {
		return s, err
	}
	s.Zone = location
	if err := check(r, s); err != nil {
		return s, err
	}
	f := r.Syntax.Parse(r.Filters)
	clock := query.WithClock(query.Clock{Now: r.Now, Zone: location})
	if r.Last == "" {
		var q query.Query
		q, s.Conditions, err = inquiry.Bind(f, clock)
		s.Period = report.Period{FromMs: q.Period.FromMs, ToMs: q.Period.ToMs}
	} else {
		s.Conditions, err = bindConditions(f, r.Last, clock)
		s.Period = r.Last.Last(r.Now.In(location))
	}
	if err != nil {
		return s, err
	}
	switch r.Compare {
	case None:
	case SameWeekday:
		before := s.Period.WeekBefore(location)
		s.Previous, s.SameWeekday = &before, true
	default:
		before := s.Period.Previous(location)
		s.Previous = &before
	}
	return s, nil
}

// bindConditions returns the conditions of a filter without a period.
func bindConditions(f filter.Filter, last report.Unit, clock query.Option) (string, error) {
	if strings.TrimSpace(f.Text) == "" {
		return "", nil
	}
	bound, err := query.BindConditions(f, clock)
	if err != nil {
		return "", err
	}
	if first := bound.Conditions[0]; first.Field.Text == "timestamp" && first.Op == filter.Between && !first.Negated {
		return "", &ParamError{"filters", fmt.Sprintf(
			"it has a period, and the last %s is one, too; give one of them", last)}
	}
	return filter.Format(bound), nil
}

func check(r Request, s report.Setting) error {
	known := false
	for _, t := range report.Templates {
		known = known || s.Template == t
	}
	switch {
	case !known:
		return &ParamError{"template", fmt.Sprintf("unknown template %q; the templates are traffic and attack", r.Template)}
	case !slices.Contains([]string{"", Previous, SameWeekday, None}, r.Compare):
		return &ParamError{"compare", fmt.Sprintf("%q is none of previous, same-weekday and none", r.Compare)}
	case len([]rune(r.Title)) > MaxTitle:
		return &ParamError{"title", fmt.Sprintf("it has more than %d characters", MaxTitle)}
	case strings.ContainsFunc(r.Title, unicode.IsControl):
		return &ParamError{"title", "it has control characters, such as line ends"}
	}
	if wrong := link.Check(r.Link); wrong != "" {
		return &ParamError{"link", wrong}
	}
	return nil
}

// zoneOf returns the zone with a name, UTC for "".
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	location, err := zone.Load(name)
	var unknown *zone.UnknownError
	if errors.As(err, &unknown) {
		return nil, &ParamError{"tz", unknown.Error()}
	}
	return location, err
}

// ParamError reports a part of a request that is invalid.
type ParamError struct {
	Param   string // "tz"
	Message string
}

func (e *ParamError) Error() string { return e.Param + ": " + e.Message }
