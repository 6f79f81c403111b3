// Package reporting asks the questions of a report, all at the same time, and builds the report from the answers.
package reporting

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zones must be known where the system has no database of them

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report"
)

// Source answers questions, with all limits and permissions of other questions of the same caller.
type Source interface {
	// Ask returns the answer of a data route in JSON. The error says to a reader why there is none.
	Ask(ctx context.Context, route string, params map[string]string) ([]byte, error)
}

// Request is a request for a report.
type Request struct {
	Filters  string      // in either form; with a period, unless Last is set
	Form     filter.Form // 0: determined by the first character
	Last     report.Unit // the last hour, day, week or month before Now; "": the period is in the filter
	Now      time.Time
	Zone     string // IANA name; "" for UTC
	Template report.Template
	Compare  string // Previous, or None; "" is Previous
	Title    string
	Link     string
	Done     func(done, all int) // is called after each answer; nil: nothing is
}

// The values of Request.Compare.
const (
	Previous = "previous"
	None     = "none"
)

// MaxTitle is the maximum length of a title in characters.
const MaxTitle = 120

// atOnce is the number of questions that are asked at the same time. The limits of queries still apply.
const atOnce = 4

// Run returns a report. A question that fails is a part that is missing in the report. The error is a
// *query.FilterError for the filter, a *ParamError for another part of the request, that of the context, or, if no
// question could be answered, that of the first one.
func Run(ctx context.Context, from Source, r Request) (report.Report, error) {
	s, err := SettingOf(r)
	if err != nil {
		return report.Report{}, err
	}
	questions := s.Questions()
	answers := make([]report.Answer, len(questions))
	errs := make([]error, len(questions))
	var progress sync.Mutex
	done := 0
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, q := range questions {
		group.Go(func() error {
			body, err := from.Ask(ctx, q.Route, q.Params)
			answers[i].Body, errs[i] = body, err
			if err != nil {
				answers[i].Reason = err.Error()
			}
			progress.Lock()
			defer progress.Unlock()
			if done++; r.Done != nil {
				r.Done(done, len(questions))
			}
			return nil
		})
	}
	_ = group.Wait() // the questions report their errors in errs
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
	return report.New(s, byPart), nil
}

// SettingOf returns the setting of the report that a request asks for.
func SettingOf(r Request) (report.Setting, error) {
	s := report.Setting{Title: r.Title, Template: r.Template, Link: r.Link}
	if s.Template == "" {
		s.Template = report.Traffic
	}
	zone, err := zoneOf(r.Zone)
	if err != nil {
		return s, err
	}
	s.Zone = zone
	if err := check(r, s); err != nil {
		return s, err
	}
	f := filter.Parse(r.Filters)
	if r.Form == filter.QueryString {
		f = filter.ParseQueryString(r.Filters)
	}
	if r.Last == "" {
		s.Conditions, s.Period, err = bindWithPeriod(f)
	} else {
		s.Conditions, err = bindConditions(f, r.Last)
		s.Period = r.Last.Last(r.Now.In(zone))
	}
	if err != nil {
		return s, err
	}
	if r.Compare != None {
		previous := s.Period.Previous(zone)
		s.Previous = &previous
	}
	return s, nil
}

// bindWithPeriod returns the conditions and the period of a filter that has both.
func bindWithPeriod(f filter.Filter) (string, report.Period, error) {
	q, err := query.Bind(f, query.Timeline{})
	if err != nil {
		return "", report.Period{}, err
	}
	p := report.Period{FromMs: q.Period.FromMs, ToMs: q.Period.ToMs}
	rest := q.Filter
	rest.Conditions = rest.Conditions[1:] // the canonical form begins with the period
	return filter.Format(rest), p, nil
}

// bindConditions returns the conditions of a filter without a period.
func bindConditions(f filter.Filter, last report.Unit) (string, error) {
	if strings.TrimSpace(f.Text) == "" {
		return "", nil
	}
	bound, err := query.BindConditions(f)
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
	case r.Compare != "" && r.Compare != Previous && r.Compare != None:
		return &ParamError{"compare", fmt.Sprintf("%q is neither previous nor none", r.Compare)}
	case len([]rune(r.Title)) > MaxTitle:
		return &ParamError{"title", fmt.Sprintf("it has more than %d characters", MaxTitle)}
	}
	if wrong := report.CheckLink(r.Link); wrong != "" {
		return &ParamError{"link", wrong}
	}
	return nil
}

// zoneOf returns a zone of the IANA database. Local, which time.LoadLocation also knows, is none.
func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, &ParamError{"tz", fmt.Sprintf("unknown zone %q; write one such as Europe/Berlin", name)}
	}
	return zone, nil
}

// ParamError reports a part of a request that is invalid.
type ParamError struct {
	Param   string // "tz"
	Message string
}

func (e *ParamError) Error() string { return e.Param + ": " + e.Message }
