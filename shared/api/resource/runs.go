package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
)

// ReportRuns is the runs of a scheduled report, those that were due last first.
type ReportRuns struct {
	Runs []ReportRun `json:"runs"`
}

// ReportRun is a run of a scheduled report: one report about one period.
type ReportRun struct {
	ID         string           `json:"id" doc:"ID of the run; mails have it in the header X-Orrery-Run"`
	Report     string           `json:"report" example:"weekly"`
	Version    int              `json:"version" doc:"Version of the report's definition"`
	From       time.Time        `json:"from" doc:"Beginning of the period"`
	To         time.Time        `json:"to" doc:"End of the period, exclusive"`
	Due        time.Time        `json:"due" doc:"When the run was due or requested"`
	By         string           `json:"by,omitempty" doc:"Name of the API key that requested the run; absent: the run was scheduled"`
	State      runs.State       `json:"state" enum:"queued,running,rendered,delivered,kept,quiet,missed,failed"`
	Reason     string           `json:"reason,omitempty" doc:"Why the run waits, or failed, or why the report was not sent"`
	Verdict    string           `json:"verdict,omitempty" doc:"Verdict of the report"`
	Incomplete bool             `json:"incomplete" doc:"The report was made before its data was complete"`
	Partial    bool             `json:"partial" doc:"Parts of the report are missing"`
	Ended      *time.Time       `json:"ended" nullable:"true"`
	Deliveries []ReportDelivery `json:"deliveries"`
	Branches   []string         `json:"branches,omitempty" doc:"Branches that the report covers; absent: all"`
	Kept       bool             `json:"kept" doc:"The report of the run can be read, because the run is one of the newest 30"`
}

// ReportRunRead is a run with its report.
type ReportRunRead struct {
	ReportRun
	// Content is text of JSON, because the code that makes reports would double the size of a function.
	Content json.RawMessage `json:"content,omitempty" doc:"The report in JSON; absent if it is not kept, or the key lacks data:read"`
}

// ReportDelivery is the delivery of a run to a destination.
type ReportDelivery struct {
	definition.Destination
	State    runs.DeliveryState `json:"state" enum:"waiting,delivered,failed"`
	Attempts int                `json:"attempts"`
	At       *time.Time         `json:"at" nullable:"true" doc:"When the report was delivered, or when delivery was last tried"`
	Reason   string             `json:"reason,omitempty" doc:"Why the delivery failed, or which addresses were refused"`
}

// onePath is the path of a scheduled report.
const onePath = "/conf/{config}/reports/{report}"

// mostRuns is the maximum number of runs in an answer.
const mostRuns = 200

// mostDays is the maximum length of a period that a report is requested about.
const mostDays = 366

// runRoutes returns the routes of runs, if there are any.
func (s *server) runRoutes() []route.Route {
	if s.Definitions == nil || s.Runs == nil {
		return nil
	}
	reading := []int{http.StatusNotFound, http.StatusUnprocessableEntity}
	return []route.Route{
		{
			ID:      "report-run",
			Method:  http.MethodPost,
			Path:    onePath + "/run",
			Tag:     route.ReportsTag,
			Summary: "Make a scheduled report now",
			Doc: "Makes and delivers the report about a period of any length. The key also needs the scope " +
				"`data:read`. A version of a report has one run per period, so repeating the request has no effect " +
				"unless the run failed or was missed, or a destination refused the report. Then the server tries " +
				"again, but does not deliver the report twice to the same destination.",
			Scope:  keys.ReportWrite,
			Offers: content.Offers,
			Params: []parameter.Parameter{
				timeParam("from", "Beginning of the period, RFC 3339.", "2026-11-09T00:00:00Z"),
				timeParam("to", "End of the period, exclusive. Not in the future.", "2026-11-16T00:00:00Z"),
			},
			Body: &route.RequestBody{Doc: "The period.", Types: []string{content.JSON}},
			Answers: []route.Response{
				{Status: http.StatusOK, Doc: "There is a run about this period.", Value: ReportRun{}},
				{Status: http.StatusAccepted, Doc: "The run was queued.", Value: ReportRun{}},
			},
			Errors: slices.Concat(route.BodyErrors, reading, []int{http.StatusInsufficientStorage}),
			Handle: s.runReport,
		},
		{
			ID:      "report-runs",
			Method:  http.MethodGet,
			Path:    onePath + "/runs",
			Tag:     route.ReportsTag,
			Summary: "Runs of a scheduled report",
			Doc:     fmt.Sprintf("Lists the newest %d runs, even if the report is deleted.", mostRuns),
			Scope:   keys.ReportRead,
			Offers:  content.Offers,
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The runs. The run that was due last comes first.", Value: ReportRuns{}}},
			Errors:  reading,
			Handle:  s.listRuns,
		},
		{
			ID:      "report-run-get",
			Method:  http.MethodGet,
			Path:    onePath + "/runs/{run}",
			Tag:     route.ReportsTag,
			Summary: "Read a run and its report",
			Doc: fmt.Sprintf("Returns a run. The reports of the newest %d runs of each scheduled report are kept. To "+
				"read one, a key also needs the scope `data:read` and access to all branches that the report "+
				"covers.", runs.KeptReports),
			Scope:   keys.ReportRead,
			Offers:  content.Offers,
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The run.", Value: ReportRunRead{}}},
			Errors:  reading,
			Handle:  s.getRun,
		},
	}
}

func timeParam(name, doc, example string) parameter.Parameter {
	return parameter.Parameter{
		Name: name, Doc: doc, Example: example, Required: true, Read: parameter.ReadText,
		Schema: &huma.Schema{Type: "string", Format: "date-time"},
	}
}

// runReport queues a run about a period.
func (s *server) runReport(c *route.Call) error {
	id, v, err := s.scheduledReports().current(c)
	if err != nil {
		return err
	}
	if s.Maintenance() {
		return errMaintenance()
	}
	if err := c.Caller.Require(keys.DataRead); err != nil {
		return err
	}
	sent, err := c.Body(definition.MaxBody, content.JSON)
	if err != nil {
		return err
	}
	args, err := parameter.ReadBody(sent.Text, c.Route.Params)
	if err != nil {
		return err
	}
	from, to, err := s.periodOf(args)
	if err != nil {
		return err
	}
	stored, err := definition.Read(v.Text)
	if err != nil {
		return err
	}
	run := runs.New(id.Config, id.Name, v.Number, stored, from, to, s.Now())
	run.By = c.Caller.Name
	run, queued, err := s.request(c.Request.Context(), run)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if queued {
		status = http.StatusAccepted
	}
	c.SendJSON(status, runOf(run, run.HasReport))
	return nil
}

// request stores a run, or queues it again if it has failed or was missed, or if a destination has refused it.
func (s *server) request(ctx context.Context, run runs.Run) (_ runs.Run, queued bool, err error) {
	err = s.Runs.Create(ctx, run)
	if fault.KindOf(err) != fault.Conflict {
		return run, true, err
	}
	there, err := s.Runs.Run(ctx, run.ID)
	if err != nil || !incomplete(there) {
		return there, false, err
	}
	again := there.Again(run.By, run.Due)
	err = s.Runs.Update(ctx, again)
	if fault.KindOf(err) == fault.Conflict { // somebody else has queued it
		there, err = s.Runs.Run(ctx, run.ID)
		return there, false, err
	}
	return again, true, err
}

// incomplete reports whether a run has ended without having reached all of its destinations.
func incomplete(r runs.Run) bool {
	refused := slices.ContainsFunc(r.Deliveries, func(d runs.Delivery) bool { return d.State == runs.Refused })
	return r.State == runs.Failed || r.State == runs.Missed || r.State == runs.Delivered && refused
}

// periodOf reads the period of a request.
func (s *server) periodOf(args parameter.Arguments) (from, to time.Time, err error) {
	var wrong problem.Details
	if from, err = time.Parse(time.RFC3339, args["from"]); err != nil {
		wrong = append(wrong, badTimeOf(args["from"], "from"))
	}
	if to, err = time.Parse(time.RFC3339, args["to"]); err != nil {
		wrong = append(wrong, badTimeOf(args["to"], "to"))
	}
	switch {
	case len(wrong) > 0:
	case !from.Before(to):
		wrong = problem.Details{badPeriod("must be after from", "to")}
	case to.After(s.Now()):
		wrong = problem.Details{badPeriod("is in the future; the period must have ended", "to")}
	case to.Sub(from) > mostDays*24*time.Hour:
		wrong = problem.Details{badPeriod(fmt.Sprintf("the period may have at most %d days", mostDays), "from")}
	case from.Nanosecond()%1e6 != 0 || to.Nanosecond()%1e6 != 0:
		wrong = problem.Details{badPeriod("times are in whole milliseconds", "from")}
	}
	if len(wrong) > 0 {
		return from, to, wrong
	}
	return from, to, nil
}

// listRuns sends the runs of a report that the caller may see.
func (s *server) listRuns(c *route.Call) error {
	id, _, err := s.scheduledReports().newest(c)
	if err != nil {
		return err
	}
	list, err := s.Runs.List(c.Request.Context(), id.Config, id.Name, mostRuns)
	if err != nil {
		return err
	}
	v := ReportRuns{Runs: []ReportRun{}}
	readable := runs.Readable(list)
	for i, run := range list {
		if definition.VisibleTo(c.Caller.Branches, run.Branches) {
			v.Runs = append(v.Runs, runOf(run, readable[i]))
		}
	}
	c.SendJSON(http.StatusOK, v)
	return nil
}

// getRun sends a run.
func (s *server) getRun(c *route.Call) error {
	id, _, err := s.scheduledReports().newest(c)
	if err != nil {
		return err
	}
	run, err := s.Runs.Run(c.Request.Context(), c.Request.PathValue("run"))
	if err != nil {
		return err
	}
	if run.Config != id.Config || run.Report != id.Name || !definition.VisibleTo(c.Caller.Branches, run.Branches) {
		return runs.NotFound(run.ID)
	}
	text, err := s.keptReport(c.Request.Context(), run)
	if err != nil {
		return err
	}
	v := ReportRunRead{ReportRun: runOf(run, text != nil)}
	if c.Caller.Require(keys.DataRead) == nil {
		v.Content = text
	}
	c.SendJSON(http.StatusOK, v)
	return nil
}

// keptReport returns the report of a run in JSON, or nil if it is not kept.
func (s *server) keptReport(ctx context.Context, run runs.Run) ([]byte, error) {
	packed, err := s.Runs.Report(ctx, run.ID)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := runs.Unpacked(packed)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run.ID, err)
	}
	return text, nil
}

// runOf returns a run as the API shows it. kept reports whether its report can be read.
func runOf(r runs.Run, kept bool) ReportRun {
	v := ReportRun{
		ID: r.ID, Report: r.Report, Version: r.Version, From: r.From, To: r.To, Due: r.Due, By: r.By, State: r.State,
		Reason: r.Reason, Verdict: r.Verdict, Incomplete: r.Incomplete, Partial: r.Partial, Ended: orNever(r.Ended),
		Deliveries: make([]ReportDelivery, len(r.Deliveries)), Branches: r.Branches, Kept: kept,
	}
	for i, d := range r.Deliveries {
		v.Deliveries[i] = ReportDelivery{
			Destination: d.Destination, State: d.State, Attempts: d.Attempts, At: orNever(d.At), Reason: d.Reason,
		}
	}
	return v
}

// orNever returns nil for the zero time.
func orNever(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
