package resource

import (
	"time"

	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/schedule"
)

// ScheduledReports is the scheduled reports of a configuration, by name, and where the operator allows reports to be
// sent.
type ScheduledReports struct {
	Reports      []ListedReport `json:"reports"`
	Destinations []string       `json:"destinations" doc:"Names of the destinations that the operator has defined"`
	Domains      []string       `json:"domains" doc:"Domains to which mail may be sent"`
}

// ListedReport is the newest version of a scheduled report, with what is known of its runs.
type ListedReport struct {
	ScheduledReport
	Next *NextReport `json:"next" doc:"The next run by the calendar; null if the report is paused, or the server makes no reports"`
	Last *ReportRun  `json:"last_run" doc:"The run that was due last; null if there is none"`
}

// NextReport is a run that the calendar of a report will ask for.
type NextReport struct {
	Due  time.Time `json:"due"`
	From time.Time `json:"from" doc:"Beginning of the period"`
	To   time.Time `json:"to" doc:"End of the period, exclusive"`
}

// listedReport adds what is known of the runs to a report.
func (s *server) listedReport(c *route.Call, config string, report ScheduledReport) (ListedReport, error) {
	v := ListedReport{ScheduledReport: report}
	if s.Runs == nil {
		return v, nil
	}
	if !report.Paused {
		due, period, err := schedule.Next(report.Definition, s.Now())
		if err != nil {
			return v, err
		}
		v.Next = &NextReport{
			Due: due.UTC(), From: time.UnixMilli(period.FromMs).UTC(), To: time.UnixMilli(period.ToMs + 1).UTC(),
		}
	}
	limit := 1
	if c.Caller.Branches != nil {
		limit = mostRuns // the newest ones may be about branches that the caller does not see
	}
	list, err := s.Runs.List(c.Request.Context(), config, report.Name, limit)
	if err != nil {
		return v, err
	}
	for _, run := range list {
		if definition.VisibleTo(c.Caller.Branches, run.Branches) {
			last := runOf(run, run.HasReport)
			v.Last = &last
			break
		}
	}
	return v, nil
}

// orEmpty returns a list that JSON has as [] and not as null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
