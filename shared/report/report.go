// Package report is a report about the traffic of a period: a model that is built from answers of the data routes, and
// the forms in which it is printed.
//
//	Setting ─Questions→ questions to the data routes ─package asking→ answers ─New→ Report ─HTML, Text, CSV, JSON→ bytes
//
// The package has no clock and no network. The same model is printed as the same bytes. Members that may differ between
// two reports about the same data, such as cost and elapsed time, are apart from the rest, in Run.
package report

import (
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/wording"
)

// Report is a report about a period.
type Report struct {
	Title       string   `json:"title"`
	Template    Template `json:"template" enum:"traffic,attack"`
	Filter      string   `json:"filter" doc:"Canonical filter, with the period"`
	Fingerprint string   `json:"fingerprint,omitempty" doc:"Fingerprint of the filter"`
	Zone        string   `json:"tz" doc:"Time zone of the calendar" example:"Europe/Berlin"`
	Period      Span     `json:"period"`
	Previous    *Span    `json:"previous" doc:"The period that the report compares with; null: none"`
	Gaps        []Span   `json:"gaps" doc:"Hours of the period without any request, although many were to be expected"`
	GapsBefore  []Span   `json:"gaps_before" doc:"Such hours of the previous period"`
	Verdict     Verdict  `json:"verdict"`
	// Incidents are not known if the period is longer than incident.LongestPeriod, or if their questions failed.
	Incidents []Incident    `json:"incidents" nullable:"true" doc:"The incidents, in the order in which they begin, as data/incidents returns them; null if they are not known"`
	Marks     []answer.Mark `json:"marks" nullable:"true" doc:"Changes of settings in the period, in the order of time; null if they are not known"`
	Figures   []Figure      `json:"figures" doc:"The nine figures of the report; pages show p99_time together with average_time"`
	Chart     Chart         `json:"chart"`
	Attackers []List        `json:"attackers"`
	Targets   []List        `json:"targets"`
	Rules     []List        `json:"rules"`
	Passed    []List        `json:"passed" doc:"Requests that were neither blocked nor challenged, from bots or with errors of the origin"`
	Changes   []Change      `json:"changes" doc:"Values that are new, gone, or three times as frequent"`
	Compared  bool          `json:"compared" doc:"Both periods have requests, so changes were looked for"`
	Wrong     []List        `json:"wrong" doc:"Blocked requests of humans"`
	Examples  []Record      `json:"examples" doc:"The newest blocked requests"`
	Failed    []Failed      `json:"failed" doc:"Parts that the report lacks"`
	Link      string        `json:"link,omitempty" doc:"Link to the question in the console"`

	Run Run `json:"-"`

	zone        *time.Location
	server      string // base URL; "": unknown
	sameWeekday bool   // Previous is the same time of an earlier week
	begins      string // when the data begins, if that is after the beginning of Previous
}

// Span is a period. Both ends are included.
type Span struct {
	From string `json:"from" doc:"Beginning, RFC 3339, UTC"`
	To   string `json:"to" doc:"End, RFC 3339, UTC"`
	Text string `json:"text" doc:"The period in words, in the zone of the report"`
}

// Run has the cost of a report and the state of the data when it was made. It may differ between two reports about the same data.
type Run struct {
	Questions int      `json:"questions" doc:"Number of questions of the report; all questions about incidents count as one"`
	Bytes     int64    `json:"bytes_scanned" doc:"Bytes that all queries read"`
	CostUSD   *float64 `json:"cost_usd,omitempty" doc:"Price of all queries; absent if the engine charges nothing"`
	ElapsedMS float64  `json:"elapsed_ms" doc:"Milliseconds that the slowest query took"`
	Complete  *string  `json:"complete_through" nullable:"true" doc:"Every log handed in before this time is in the data; null if unknown"`
	Newest    *string  `json:"newest" nullable:"true" doc:"Time of the newest record"`
	Skipped   []string `json:"skipped,omitempty" doc:"Objects that could not be read, or one text in parentheses instead of their names; their records are missing"`
	Demo      bool     `json:"demo,omitempty" doc:"The records come from the demo"`

	Scheduled *Scheduled `json:"scheduled,omitempty" doc:"The run that made the report; absent if it was not scheduled"`
}

// Scheduled identifies the run of a scheduled report.
type Scheduled struct {
	ID     string `json:"id" doc:"ID of the run, which is the same if the report is delivered again"`
	Config string `json:"config" doc:"Configuration of the report"`
	Report string `json:"report" doc:"Name of the report"`
}

// Figure is a number about the period.
type Figure struct {
	ID       string   `json:"id" enum:"requests,blocked,challenges,monitored,human,origin_blocked,average_time,p99_time,bytes_sent"`
	Label    string   `json:"label"`
	Unit     string   `json:"unit" enum:"requests,seconds,bytes"`
	Value    *float64 `json:"value" nullable:"true" doc:"The figure; null if unknown"`
	Previous *float64 `json:"previous" nullable:"true" doc:"The figure of the previous period; null if unknown or not compared"`
	Absent   bool     `json:"absent,omitempty" doc:"No request of the two periods has what the figure counts, so pages, mails and texts leave the figure out"`
	// Saturated is set if a sum of one of the periods may be beyond the integers of 64 bits.
	Saturated    bool `json:"saturated,omitempty" doc:"The figure is not exact, because a sum has more than 64 bits"`
	Incomparable bool `json:"incomparable,omitempty" doc:"Requests of the previous period are missing, so a change would mislead"`
}

// Chart has the requests and the blocked requests of each bar, for the period and for the previous one.
type Chart struct {
	Step string `json:"step" doc:"Length of a bar" enum:"5 minutes,hour,day,week,month"`
	Bars []Bar  `json:"bars"`
	// Undecided is set if no request of the two periods has a decision, as in an access log.
	Undecided bool `json:"undecided,omitempty" doc:"No request has a decision of a gateway, so the blocked requests are not known, although their number is 0"`
	Coarse    bool `json:"coarse,omitempty" doc:"The bars are made of longer segments of UTC, so their ends are not exact"`
	// LeftOut has the last bars of a previous period that is longer.
	LeftOut []Bar `json:"left_out,omitempty" doc:"Bars of a longer previous period that have no counterpart"`
}

// Bar is a bar of the chart.
type Bar struct {
	From           string `json:"from" doc:"Beginning of the bar, RFC 3339, UTC"`
	Label          string `json:"label" doc:"Time of the bar in the zone of the report"`
	Requests       int64  `json:"requests"`
	Blocked        int64  `json:"blocked"`
	RequestsBefore *int64 `json:"requests_before" nullable:"true" doc:"Requests of the bar at the same place in the previous period; null if there is no such bar, or the data begins later"`
	BlockedBefore  *int64 `json:"blocked_before" nullable:"true"`
}

// List has the most frequent values of a field.
type List struct {
	Title     string `json:"title"`
	Field     string `json:"field"`
	ByBlocked bool   `json:"by_blocked" doc:"Whether the values with the most blocked requests come first; otherwise the values with the most requests do"`
	Rows      []Row  `json:"rows"`
	All       int64  `json:"all" doc:"Number of all requests that the list is about"`
}

// Row is a value of a list.
type Row struct {
	Key           string `json:"key"`
	Requests      int64  `json:"requests"`
	Blocked       int64  `json:"blocked"`
	Challenged    int64  `json:"challenged"`
	Passed        *int64 `json:"passed" nullable:"true" doc:"Requests that were neither blocked nor challenged; null if unknown"`
	BlockedBefore *int64 `json:"blocked_before" nullable:"true" doc:"Blocked requests in the previous period; null if unknown"`
	New           bool   `json:"new,omitempty" doc:"The value is new: the previous period has requests, but none with the value"`
	Condition     string `json:"condition,omitempty" doc:"A condition that selects these requests"`
	Link          string `json:"link,omitempty"`
}

// Change is a value whose share of the requests differs between the two periods.
type Change struct {
	Kind        string  `json:"kind" enum:"new,gone,more,fewer"`
	Field       string  `json:"field"`
	Key         string  `json:"key"`
	Requests    int64   `json:"requests"`
	Before      int64   `json:"before" doc:"Requests in the previous period"`
	Share       float64 `json:"share" doc:"Share of all requests of the period"`
	ShareBefore float64 `json:"share_before"`
	Condition   string  `json:"condition,omitempty"`
	Link        string  `json:"link,omitempty" doc:"Link to the requests with the value, or, if the value is gone, to the requests with it in the previous period"`
}

// Record is an example of a blocked request. Fields that it does not have are empty.
type Record struct {
	Time    string `json:"time" doc:"Time of the request, RFC 3339, UTC"`
	Local   string `json:"local" doc:"Time of the request in the zone of the report"`
	IP      string `json:"ip"`
	Country string `json:"country"`
	Method  string `json:"method"`
	Target  string `json:"target" doc:"Host and path"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Cause   string `json:"cause,omitempty" doc:"The reason in plain words; absent if the reason is written in another grammar"`
	ID      string `json:"request_id"`
	Link    string `json:"link,omitempty"`
}

// Failed is a part of a report that is missing, and the reason.
type Failed struct {
	Part   Part   `json:"part"`
	Reason string `json:"reason"`
}

// Empty reports whether the period is known to have no requests.
func (r Report) Empty() bool {
	requests := r.Figures[0].Value
	return requests != nil && *requests == 0
}

// covered reports whether there is a previous period, and the data has at least a part of it.
func (r Report) covered() bool {
	return r.Previous != nil && (r.begins == "" || before(r.begins, r.Previous.To))
}

// FileName returns a name for files with the report, without an extension. It has the start of the period in the zone of
// the report.
func (r Report) FileName() string {
	from, err := time.Parse(time.RFC3339, r.Period.From)
	if err != nil {
		panic("report: the start of the period: " + err.Error()) // New has printed it
	}
	from = from.In(r.zone)
	if Day.Start(from).Equal(from) && r.End().Sub(from) > 2*time.Hour {
		return "orrery-report-" + from.Format(time.DateOnly)
	}
	return "orrery-report-" + from.Format("2006-01-02-1504")
}

// End returns the end of the period.
func (r Report) End() time.Time {
	end, err := time.Parse(time.RFC3339, r.Period.To)
	if err != nil {
		panic("report: the end of the period: " + err.Error()) // New has printed it
	}
	return end
}

// before reports whether an instant in RFC 3339 format is before another.
func before(a, b string) bool {
	at, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	bt, err := time.Parse(time.RFC3339, b)
	return err == nil && at.Before(bt)
}

// instant returns an instant in RFC 3339 format as people write it, in the zone of the report.
func (r Report) instant(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return wording.Shown(rfc3339, 40)
	}
	return t.In(r.zone).Format("Mon 2 January 2006 15:04:05")
}
