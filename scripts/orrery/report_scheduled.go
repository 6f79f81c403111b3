package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/scheduled"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/report/definition"
)

// scheduledReports is where scheduled reports are.
type scheduledReports struct{ documents.Configuration }

// read returns a report, or one of its versions, with its ETag.
func (s scheduledReports) read(
	ctx context.Context, c terminal.Console, name string, version *int,
) (resource.ScheduledReport, error) {
	answer, _, err := s.Do(ctx, c, http.MethodGet, documents.VersionPath(documents.ReportPath(name), version), nil, nil)
	if err != nil {
		return resource.ScheduledReport{}, err
	}
	return documents.Decoded[resource.ScheduledReport](answer)
}

// put writes a report.
func (s scheduledReports) put(
	ctx context.Context, c terminal.Console, name string, body any, header http.Header,
) (resource.ScheduledReport, error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return resource.ScheduledReport{}, err
	}
	answer, _, err := s.Do(ctx, c, http.MethodPut, documents.ReportPath(name), sent, header)
	if err != nil {
		return resource.ScheduledReport{}, err
	}
	return documents.Decoded[resource.ScheduledReport](answer)
}

type reportPutCommand struct {
	Name   string `arg:"" help:"Name: a-z, 0-9 and -."`
	Filter string `arg:"" optional:"" help:"A filter without a period, in either form; - reads it from standard input. Default: all requests."`
	scheduledReports
	Period   string   `enum:"hour,day,week,month" required:"" help:"Report on the last hour, day, week or month."`
	At       string   `help:"Time of day at which the report is made. Default: 07:00." placeholder:"HH:MM"`
	Weekday  string   `help:"Day on which a weekly report is made. Default: monday." placeholder:"DAY"`
	TZ       string   `name:"tz" help:"Time zone of the calendar, such as Europe/Berlin." default:"UTC" placeholder:"ZONE"`
	Title    string   `help:"Title of the report."`
	Template string   `enum:"traffic,attack" default:"traffic" help:"traffic, or attack, which leaves out changes."`
	Compare  string   `enum:"previous,same-weekday,none" default:"previous" help:"previous: compare with the period before; same-weekday: with the same day a week before; none: compare with nothing."`
	When     string   `enum:"always,attacks" default:"always" help:"always; or attacks: send the report only if there was an attack."`
	Mail     []string `help:"Address to send the report to; may be repeated." placeholder:"ADDRESS"`
	To       []string `help:"Destination in orrery.toml to send the report to; may be repeated." placeholder:"NAME"`
	MaxBytes int64    `help:"Do not make the report if its queries would read more bytes than this." placeholder:"BYTES"`
	Paused   bool     `help:"Do not make the report until it is resumed."`
	IfMatch  *string  `help:"Replace the report only if it still has this ETag." placeholder:"ETAG"`
}

// Run schedules a report, and prints when it is made and where it goes.
func (r *reportPutCommand) Run(ctx context.Context, c terminal.Console) error {
	members := map[string]any{
		"period": r.Period, "tz": r.TZ, "template": r.Template, "compare": r.Compare, "when": r.When,
		"paused": r.Paused,
	}
	var text string
	if r.Filter != "" {
		var err error
		if text, err = question.FilterText(r.Filter, c.In); err != nil {
			return err
		}
		members["filters"] = text
	}
	for name, value := range map[string]string{"at": r.At, "weekday": r.Weekday, "title": r.Title} {
		if value != "" {
			members[name] = value
		}
	}
	if r.MaxBytes != 0 {
		members["max_bytes"] = r.MaxBytes
	}
	deliver := []definition.Destination{}
	if len(r.Mail) > 0 {
		deliver = append(deliver, definition.Destination{Mail: r.Mail})
	}
	for _, name := range r.To {
		deliver = append(deliver, definition.Destination{To: name})
	}
	members["deliver"] = deliver
	stored, err := r.put(ctx, c, r.Name, members, documents.IfMatch(r.IfMatch))
	if err != nil {
		return question.DrawRefusal(err, map[string]any{"filters": text}, c.Err)
	}
	fmt.Fprintln(c.Err, "ETag:", stored.ETag)
	return scheduled.PrintReport(c.Out, stored, time.Now())
}

type reportListCommand struct{ scheduledReports }

// Run prints a line per report.
func (r *reportListCommand) Run(ctx context.Context, c terminal.Console) error {
	answer, _, err := r.Do(ctx, c, http.MethodGet, "/reports", nil, nil)
	if err != nil {
		return err
	}
	list, err := documents.Decoded[resource.ScheduledReports](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.Out)
	fmt.Fprintln(w, "NAME\tMADE\tTO\tFILTER")
	for _, one := range list.Reports {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", one.Name, scheduled.MadeText(one.Definition),
			scheduled.Receivers(one.Definition),
			cmp.Or(terminal.OneLine(one.Filters), "-"))
	}
	return w.Flush()
}

type reportShowCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
	Version *int `help:"Version to print; default: the newest." placeholder:"N"`
	JSON    bool `help:"Print the JSON that the API returns."`
}

// Run prints a report.
func (r *reportShowCommand) Run(ctx context.Context, c terminal.Console) error {
	one, err := r.read(ctx, c, r.Name, r.Version)
	if err != nil {
		return err
	}
	if r.JSON {
		text, err := json.MarshalIndent(one, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Shown(), "%s\n", text)
		return err
	}
	fmt.Fprintln(c.Err, "ETag:", one.ETag)
	return scheduled.PrintReport(c.Out, one, time.Now())
}

type reportPreviewCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
}

// Run prints when the next report is made, what it is about, and whom it reaches. It sends nothing.
func (r *reportPreviewCommand) Run(ctx context.Context, c terminal.Console) error {
	one, err := r.read(ctx, c, r.Name, nil)
	if err != nil {
		return err
	}
	if err := scheduled.PrintReport(c.Out, one, time.Now()); err != nil {
		return err
	}
	if r.URL == "" {
		if err := scheduled.PrintReach(c.Out, string(r.Data), one.Definition); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.Err, "nothing was sent")
	return nil
}

type reportPauseCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
	Resume bool `help:"Resume the report instead."`
}

// Run pauses or resumes a report, unless somebody else changes it meanwhile.
func (r *reportPauseCommand) Run(ctx context.Context, c terminal.Console) error {
	one, err := r.read(ctx, c, r.Name, nil)
	if err != nil {
		return err
	}
	one.Paused, one.Reason = !r.Resume, ""
	stored, err := r.put(ctx, c, r.Name, one.Definition, documents.IfMatch(&one.ETag))
	if err != nil {
		return err
	}
	return scheduled.PrintReport(c.Out, stored, time.Now())
}

type reportVersionsCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
}

// Run prints a line per version, newest first.
func (r *reportVersionsCommand) Run(ctx context.Context, c terminal.Console) error {
	return r.PrintVersions(ctx, c, documents.ReportPath(r.Name))
}

type reportRunsCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
}

// Run prints a line per run, those that were due last first.
func (r *reportRunsCommand) Run(ctx context.Context, c terminal.Console) error {
	answer, _, err := r.Do(ctx, c, http.MethodGet, documents.ReportPath(r.Name)+"/runs", nil, nil)
	if err != nil {
		return err
	}
	list, err := documents.Decoded[resource.ReportRuns](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.Out)
	fmt.Fprintln(w, "RUN\tFROM\tTO\tSTATE\tVERDICT\tREMARKS")
	for _, run := range list.Runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", run.ID, run.From.Format(time.RFC3339), run.To.Format(time.RFC3339),
			run.State,
			cmp.Or(run.Verdict, "-"), cmp.Or(terminal.OneLine(scheduled.Remarks(run)), "-"))
	}
	return w.Flush()
}

type reportDeleteCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
	IfMatch *string `help:"Delete the report only if it still has this ETag." placeholder:"ETAG"`
}

// Run deletes a report.
func (r *reportDeleteCommand) Run(ctx context.Context, c terminal.Console) error {
	return r.Delete(ctx, c, documents.ReportPath(r.Name), r.Name, r.IfMatch)
}
