package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/wording"
)

//go:embed report.html.tmpl
var page string

var pageTemplate = template.Must(template.New("report").Parse(page))

// PagePolicy is the Content-Security-Policy of a report in HTML: it has no script and loads nothing.
const PagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

// keyLength is the number of characters of a value in HTML, detailsLength that of the details of an incident.
const keyLength, detailsLength = 120, 500

// HTML returns the report as a page that needs nothing else: no script, no other file.
func (r Report) HTML() []byte {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, r.page()); err != nil {
		panic("report: the template of the page: " + err.Error()) // it prints only texts and numbers
	}
	return b.Bytes()
}

// pageView is the data of the template of a page.
type pageView struct {
	Title, Period, Zone, Compared string
	Notices                       []string
	Word, Class                   string
	Sentences                     []Sentence
	Incidents                     []incidentView
	MoreIncidents                 string
	Settings                      []changeView
	EarlierSettings               string
	Figures                       []figureView
	Charts                        []chartView
	ChartNotes                    []string
	Table                         []Bar
	Step                          string
	Before, Undecided             bool
	Sections                      []sectionView
	Examples                      []exampleView
	NoExamples                    string
	About, Run                    []fact
	Link                          string
}

// figureView is a figure, and in More a further one that is shown with it.
type figureView struct{ Label, Value, Previous, Change, More string }

// changeView is a change of settings.
type changeView struct{ When, What string }

// incidentView is an incident. Ending says whether it held.
type incidentView struct{ What, Ending, When, Details, Link string }

type sectionView struct {
	Name    string
	Lists   []listView
	Changes []rowView
	None    string
}

type listView struct {
	Title, Class string
	Rows         []rowView
}

// rowView is a row of a list, or a change.
type rowView struct {
	Field, Key, Count, Note, Link string
	Percent                       int
}

type exampleView struct {
	Local, Request, Status, Link string
	Facts                        []string // address, country, reason
}

// chartView is a chart of 600 by 100 units, which is stretched to the width of the page.
type chartView struct {
	Class, Name, Description   string
	Most                       string
	Bars                       []barView
	Before                     string // path of the previous period
	First, Middle, Last, Label string
}

type barView struct{ X, Y, Width, Height string }

func (r Report) page() pageView {
	v := pageView{
		Title: wording.Shown(r.Title, keyLength), Period: r.Period.Text, Zone: r.Zone, Notices: r.Notices(),
		Word: r.Verdict.State.word(), Class: strings.ReplaceAll(string(r.Verdict.State), ", ", "-"),
		Sentences: slices.Clone(r.Verdict.Sentences), Table: r.Chart.Bars, Step: r.Chart.Step, Before: r.covered(),
		Undecided: r.Chart.Undecided,
		Link:      r.Link, NoExamples: r.noRows(Examples, "No request was blocked."),
	}
	if r.Previous != nil {
		v.Compared = r.comparedWith()
	}
	for _, i := range r.printed() {
		v.Incidents = append(v.Incidents, incidentView{
			What: incident.Kind(i.Kind).Of(wording.Shown(i.Target, keyLength)), Ending: i.held().Ending(),
			When: r.when(i.IncidentResult), Details: wording.Shown(i.Details, detailsLength), Link: i.Link,
		})
	}
	v.MoreIncidents = r.furtherIncidents()
	for _, m := range r.latest() {
		when, what := r.change(m)
		v.Settings = append(v.Settings, changeView{when, what})
	}
	v.EarlierSettings = r.earlierChanges()
	for _, f := range r.shown() {
		if f.ID == p99Time {
			v.Figures[len(v.Figures)-1].More = f.text()
			continue
		}
		one := figureView{Label: f.Label, Value: f.value(f.Value), Change: f.change()}
		if r.covered() {
			one.Previous = f.value(f.Previous)
		}
		v.Figures = append(v.Figures, one)
	}
	if len(r.Chart.Bars) > 0 && !r.Empty() {
		for _, s := range r.Chart.series() {
			if s.most(r.Chart.Bars) == 0 {
				continue
			}
			v.Charts = append(v.Charts, chartOf(r.Chart, s))
		}
		v.ChartNotes = r.Chart.notes()
	}
	for _, s := range r.sections() {
		one := sectionView{Name: s.Name, None: s.None}
		for _, l := range s.Lists {
			one.Lists = append(one.Lists, listOf(l))
		}
		for _, c := range s.Changes {
			one.Changes = append(one.Changes, rowView{
				Field: wording.Shown(c.Field, keyLength), Key: wording.Shown(c.Key, keyLength), Note: c.text(), Link: c.Link,
			})
		}
		v.Sections = append(v.Sections, one)
	}
	for _, e := range r.Examples {
		v.Examples = append(v.Examples, exampleView{
			Local: optional(e.Local, 40), Request: e.request(keyLength), Status: optional(e.Status, 20), Link: e.Link,
			Facts: e.facts(),
		})
	}
	v.About, v.Run = r.facts()
	for i := range v.About {
		if !v.About[i].Command {
			v.About[i].Text = wording.Shown(v.About[i].Text, 2000)
		}
	}
	return v
}

func listOf(l List) listView {
	v := listView{Title: l.Title, Class: "requests"}
	if l.ByBlocked {
		v.Class = "blocked"
	}
	for _, row := range l.Rows {
		v.Rows = append(v.Rows, rowView{
			Key: wording.Shown(row.Key, keyLength), Count: wording.Count(l.count(row)), Note: l.note(row), Link: row.Link,
			Percent: share(l.count(row), l.All),
		})
	}
	return v
}

// The size of a chart in its own units.
const chartWidth, chartHeight = 600, 100

// chartOf lays out a series. The previous period is a line of steps.
func chartOf(c Chart, s series) chartView {
	most := s.most(c.Bars)
	v := chartView{
		Class: s.Class, Name: s.Name, Description: c.summary(strings.ToLower(s.Name), s.number, s.before),
		Most: wording.Count(most), Label: "per " + c.Step,
		First: c.Bars[0].Label, Middle: c.Bars[len(c.Bars)/2].Label, Last: c.Bars[len(c.Bars)-1].Label,
	}
	slot := float64(chartWidth) / float64(len(c.Bars))
	height := func(n int64) float64 {
		if most == 0 {
			return 0
		}
		return float64(n) / float64(most) * (chartHeight - 4)
	}
	var before strings.Builder
	for i, bar := range c.Bars {
		x, h := float64(i)*slot, height(s.number(bar))
		if h > 0 {
			h = max(h, 1)
			v.Bars = append(v.Bars, barView{
				unit(x + slot*0.1), unit(chartHeight - h), unit(slot * 0.8), unit(h),
			})
		}
		if n := s.before(bar); n != nil {
			y := unit(chartHeight - height(*n) - 0.5)
			command := "L"
			if before.Len() == 0 {
				command = "M"
			}
			fmt.Fprintf(&before, "%s%s %sL%s %s", command, unit(x), y, unit(x+slot), y)
		}
	}
	v.Before = before.String()
	return v
}

// unit returns a length with one digit after the point.
func unit(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }
