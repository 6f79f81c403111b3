package report

import (
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/incident"
)

// Template selects the sections of a report.
type Template string

// The templates. An attack report leaves out what changed.
const (
	Traffic Template = "traffic"
	Attack  Template = "attack"
)

// Templates lists the templates, the default first.
var Templates = []Template{Traffic, Attack}

// Setting describes a report: its period, its filter and its form.
type Setting struct {
	Title      string // "": a title that follows from the template
	Template   Template
	Conditions string // canonical filter without its period, in the query-string form; "" for all requests
	Period     Period
	Previous   *Period // nil: nothing is compared
	Zone       *time.Location
	Link       string // base URL of the console, for links; "": there are none
	Server     string // base URL of the API, for commands, as the operator has set it; "": unknown
	Late       string // why logs of the period may be missing, besides what the answers say; "": they are not

	SameWeekday bool // Previous is the same time of an earlier week
}

// Part names a question of a report.
type Part string

// The parts. Those that end in before are about the previous period.
const (
	Timeline           Part = "timeline"
	TimelineBefore     Part = "timeline before"
	Passed             Part = "passed"
	PassedBefore       Part = "passed before"
	Monitored          Part = "monitored"
	MonitoredBefore    Part = "monitored before"
	Times              Part = "times"
	TimesBefore        Part = "times before"
	Top                Part = "top"
	TopBefore          Part = "top before"
	Blocked            Part = "blocked"
	BlockedBefore      Part = "blocked before"
	MonitorReasons     Part = "monitor reasons"
	PassedBots         Part = "passed bots"
	OriginErrors       Part = "origin errors"
	OriginErrorsBefore Part = "origin errors before"
	OtherErrors        Part = "other errors"
	OtherErrorsBefore  Part = "other errors before"
	Changes            Part = "changes"
	WrongBlocks        Part = "wrong blocks"
	Examples           Part = "examples"
	Incidents          Part = "incidents"
	Marks              Part = "changes of settings"
)

// Several reports whether several questions answer the question of the part.
func (p Part) Several() bool { return p == Incidents || p == Marks }

// LateLogs is the part that fails if a setting is late. It has no question.
const LateLogs Part = "late logs"

// Question is a question to a data route.
type Question struct {
	Part   Part
	Route  string
	Params map[string]string // of the route
}

// listed is the number of rows of each list.
const listed = 5

// passing are the conditions of requests that were neither blocked nor challenged.
var passing = []string{flagIs("blocked", false), flagIs("challenge", false), flagIs("ichallenge", false)}

// The conditions for errors of the origin in requests that passed. They test the status of the origin, or, if the
// request has none, the status of the response. Blocked requests do not count, because a service may answer them with
// 503.
var (
	originFailed = append(slices.Clone(passing), "upstream_status>=500")
	otherFailed  = append(slices.Clone(passing), "not upstream_status>=0", "status>=500")
)

// Questions returns the questions of a report. They do not depend on each other.
func (s Setting) Questions() []Question {
	seconds, _ := stepOf(s.Period).segmentSeconds(s.Period, s.Zone)
	segment := text(seconds)
	period := func(more ...string) map[string]string { return s.asking(s.Period, more...) }
	facets := func(part Part, by string, limit int64, more ...string) Question {
		return Question{part, "facets", with(period(more...), "by", by, "limit", text(limit))}
	}
	list := []Question{
		{Timeline, "timeline", with(period(), "segment", segment)},
		facets(Passed, "blocked", 1, passing...),
		{Monitored, "histogram", with(period(), "segment", segment, "measure", "monitored")},
		{Times, "stats", s.times(s.Period)},
		{Top, "topx", with(period(), "limit", text(listed))},
		facets(Blocked, "ip,organization,country,host,url,reason", mostValues, flagIs("blocked", true)),
		facets(MonitorReasons, "monitor_reasons,"+strings.Join(fieldsOfFigures, ","), listed),
		facets(PassedBots, "organization,user_agent,url", listed, append([]string{flagIs("bot", true)}, passing...)...),
		facets(OriginErrors, "host,url", listed, originFailed...),
		facets(OtherErrors, "host,url", listed, otherFailed...),
		facets(WrongBlocks, "reason,url", listed, flagIs("blocked", true), flagIs("human", true)),
		{Examples, "logs", with(period(flagIs("blocked", true)), "limit", text(listed), "fields", exampleFields)},
	}
	if s.Period.ToMs-s.Period.FromMs <= incident.LongestPeriod.Milliseconds() {
		list = append(list,
			Question{Incidents, "incidents", with(period(), "tz", s.Zone.String())},
			Question{Marks, "histogram", with(period(), "segment", whole, "tz", "UTC", "measure", "requests", "marks", "true")},
		)
	}
	if s.Previous == nil {
		return list
	}
	seconds, _ = stepOf(s.Period).segmentSeconds(*s.Previous, s.Zone)
	segment = text(seconds)
	before := func(more ...string) map[string]string { return s.asking(*s.Previous, more...) }
	number := func(part Part, more ...string) Question {
		return Question{part, "facets", with(before(more...), "by", "blocked", "limit", "1")}
	}
	list = append(list,
		Question{TimelineBefore, "timeline", with(before(), "segment", segment)},
		number(PassedBefore, passing...),
		Question{MonitoredBefore, "histogram", with(before(), "segment", segment, "measure", "monitored")},
		Question{TimesBefore, "stats", s.times(*s.Previous)},
		Question{TopBefore, "topx", with(before(), "limit", text(mostValues))},
		Question{BlockedBefore, "facets", with(before(flagIs("blocked", true)),
			"by", "reason", "limit", text(mostValues))},
		number(OriginErrorsBefore, originFailed...),
		number(OtherErrorsBefore, otherFailed...),
	)
	if s.Template == Traffic {
		list = append(list, Question{Changes, "diff", with(period(), "limit", text(mostValues),
			"against", filter.TimeText(s.Previous.FromMs)+".."+filter.TimeText(s.Previous.ToMs))})
	}
	return list
}

// mostValues is the largest number of values that the data routes list.
const mostValues = 80

// fieldsOfFigures are fields that figures count. Where no record has one, as in an access log, its figures are unknown.
var fieldsOfFigures = []string{"result", "human", "upstream_status"}

// timed is a condition that holds for requests with a time, so that the averages of segments have the right weights.
const timed = "request_time>=0"

// whole is the longest segment of the data routes.
const whole = "4096d"

// times returns the parameters of the question for times. The segment is the longest of the data routes, because
// percentiles of segments cannot be added up. With a zone, the segment begins on the first day of the period and
// contains all of it, unless the period is longer. Without a zone, it could end within the period.
func (s Setting) times(p Period) map[string]string {
	return with(s.asking(p, timed), "segment", whole, "tz", "UTC", "figures", "percentiles")
}

const exampleFields = "timestamp,ip,country,method,host,path,status,reason,request_id"

// asking returns the parameter filters: the conditions of the report and more conditions, within a period.
func (s Setting) asking(p Period, more ...string) map[string]string {
	return map[string]string{"filters": s.Filter(p, more...)}
}

// Filter returns a filter with a period, the conditions of the report and more conditions.
func (s Setting) Filter(p Period, more ...string) string {
	return filter.Joined(append([]string{PeriodText(p), s.Conditions}, more...)...)
}

// PeriodText returns the condition for a period in the query-string form.
func PeriodText(p Period) string {
	return filter.During(p.FromMs, p.ToMs)
}

func with(params map[string]string, pairs ...string) map[string]string {
	for i := 0; i < len(pairs); i += 2 {
		params[pairs[i]] = pairs[i+1]
	}
	return params
}

// flagIs returns the condition that a flag is true, or that it is not.
func flagIs(field string, value bool) string {
	return filter.Condition{
		Field: filter.Word{Text: field}, Op: filter.Is, Negated: !value,
		Values: []filter.Value{{Kind: filter.Bool, Text: "true"}},
	}.String()
}

// equals returns the condition that a field has a value, or "" if no filter can hold the value.
func equals(field, value string) string {
	if !selectable(value) {
		return ""
	}
	return catalog.Equal(field, false, value).String()
}
