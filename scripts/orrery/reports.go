package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/schedule"
	"github.com/orrery/orrery/shared/zone"
)

// scheduledReports is where scheduled reports are.
type scheduledReports struct{ configuration }

// read returns a report, or one of its versions, with its ETag.
func (s scheduledReports) read(ctx context.Context, c console, name string, version *int) (resource.ScheduledReport, error) {
	answer, _, err := s.do(ctx, c, http.MethodGet, versionPath(reportPath(name), version), nil, nil)
	if err != nil {
		return resource.ScheduledReport{}, err
	}
	return decoded[resource.ScheduledReport](answer)
}

// put writes a report.
func (s scheduledReports) put(
	ctx context.Context, c console, name string, body any, header http.Header,
) (resource.ScheduledReport, error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return resource.ScheduledReport{}, err
	}
	answer, _, err := s.do(ctx, c, http.MethodPut, reportPath(name), sent, header)
	if err != nil {
		return resource.ScheduledReport{}, err
	}
	return decoded[resource.ScheduledReport](answer)
}

type reportPutCommand struct {
	Name   string `arg:"" help:"Name: a-z, 0-9 and -."`
	Filter string `arg:"" optional:"" help:"A filter without a period, in either form; - reads it from standard input. Default: all requests."`
	scheduledReports
	Period   string   `enum:"hour,day,week,month" required:"" help:"What it is about: the last hour, day, week or month."`
	At       string   `help:"Time of day at which it is made. Default: 07:00." placeholder:"HH:MM"`
	Weekday  string   `help:"Day on which a weekly report is made. Default: monday." placeholder:"DAY"`
	TZ       string   `name:"tz" help:"Time zone of the calendar, such as Europe/Berlin." default:"UTC" placeholder:"ZONE"`
	Title    string   `help:"Title of the report."`
	Template string   `enum:"traffic,attack" default:"traffic" help:"traffic, or attack, which leaves out changes."`
	Compare  string   `enum:"previous,same-weekday,none" default:"previous" help:"previous: compare with the period before; same-weekday: with the same day a week before; none."`
	When     string   `enum:"always,attacks" default:"always" help:"attacks: send it only if there was an attack."`
	Mail     []string `help:"Address to send it to; may be repeated." placeholder:"ADDRESS"`
	To       []string `help:"Destination of orrery.toml to send it to; may be repeated." placeholder:"NAME"`
	MaxBytes int64    `help:"Do not make the report if its queries would read more." placeholder:"BYTES"`
	Paused   bool     `help:"Do not make the report until it is resumed."`
	IfMatch  *string  `help:"Replace the report only if it still has this ETag." placeholder:"ETAG"`
}

// Run schedules a report, and prints when it is made and where it goes.
func (r *reportPutCommand) Run(ctx context.Context, c console) error {
	members := map[string]any{
		"period": r.Period, "tz": r.TZ, "template": r.Template, "compare": r.Compare, "when": r.When, "paused": r.Paused,
	}
	var text string
	if r.Filter != "" {
		var err error
		if text, err = filterText(r.Filter, c.in); err != nil {
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
	stored, err := r.put(ctx, c, r.Name, members, ifMatch(r.IfMatch))
	if err != nil {
		return drawRefusal(err, map[string]any{"filters": text}, c.err)
	}
	fmt.Fprintln(c.err, "ETag:", stored.ETag)
	return printScheduled(c.out, stored, time.Now())
}

type reportListCommand struct{ scheduledReports }

// Run prints a line per report.
func (r *reportListCommand) Run(ctx context.Context, c console) error {
	answer, _, err := r.do(ctx, c, http.MethodGet, "/reports", nil, nil)
	if err != nil {
		return err
	}
	list, err := decoded[resource.ScheduledReports](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.out)
	fmt.Fprintln(w, "NAME\tMADE\tTO\tFILTER")
	for _, one := range list.Reports {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", one.Name, madeText(one.Definition), receivers(one.Definition),
			cmp.Or(oneLine(one.Filters), "-"))
	}
	return w.Flush()
}

type reportShowCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
	Version *int `help:"A version; default: the newest." placeholder:"N"`
	JSON    bool `help:"Print it as the API does."`
}

// Run prints a report.
func (r *reportShowCommand) Run(ctx context.Context, c console) error {
	one, err := r.read(ctx, c, r.Name, r.Version)
	if err != nil {
		return err
	}
	if r.JSON {
		text, err := json.MarshalIndent(one, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.shown(), "%s\n", text)
		return err
	}
	fmt.Fprintln(c.err, "ETag:", one.ETag)
	return printScheduled(c.out, one, time.Now())
}

type reportPreviewCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
}

// Run prints when the next report is made, what it is about, and whom it reaches. It sends nothing.
func (r *reportPreviewCommand) Run(ctx context.Context, c console) error {
	one, err := r.read(ctx, c, r.Name, nil)
	if err != nil {
		return err
	}
	if err := printScheduled(c.out, one, time.Now()); err != nil {
		return err
	}
	if r.URL == "" {
		if err := printReach(c.out, string(r.Data), one.Definition); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.err, "nothing was sent")
	return nil
}

type reportPauseCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
	Resume bool `help:"Resume it instead."`
}

// Run pauses or resumes a report, unless somebody else changes it meanwhile.
func (r *reportPauseCommand) Run(ctx context.Context, c console) error {
	one, err := r.read(ctx, c, r.Name, nil)
	if err != nil {
		return err
	}
	one.Paused, one.Reason = !r.Resume, ""
	stored, err := r.put(ctx, c, r.Name, one.Definition, ifMatch(&one.ETag))
	if err != nil {
		return err
	}
	return printScheduled(c.out, stored, time.Now())
}

type reportVersionsCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
}

// Run prints a line per version, newest first.
func (r *reportVersionsCommand) Run(ctx context.Context, c console) error {
	return r.printVersions(ctx, c, reportPath(r.Name))
}

type reportRunsCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
}

// Run prints a line per run, those that were due last first.
func (r *reportRunsCommand) Run(ctx context.Context, c console) error {
	answer, _, err := r.do(ctx, c, http.MethodGet, reportPath(r.Name)+"/runs", nil, nil)
	if err != nil {
		return err
	}
	list, err := decoded[resource.ReportRuns](answer)
	if err != nil {
		return err
	}
	w := terminal.NewTable(c.out)
	fmt.Fprintln(w, "RUN\tFROM\tTO\tSTATE\tVERDICT\tREMARKS")
	for _, run := range list.Runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", run.ID, run.From.Format(time.RFC3339), run.To.Format(time.RFC3339), run.State,
			cmp.Or(run.Verdict, "-"), cmp.Or(oneLine(remarks(run)), "-"))
	}
	return w.Flush()
}

// remarks returns what is to be known about a run.
func remarks(run resource.ReportRun) string {
	var list []string
	if run.Incomplete {
		list = append(list, "incomplete data")
	}
	if run.Partial {
		list = append(list, "parts are missing")
	}
	if run.Reason != "" {
		list = append(list, run.Reason)
	}
	for _, d := range run.Deliveries {
		if d.Reason != "" {
			list = append(list, fmt.Sprintf("%s: %s", d.Destination, d.Reason))
		}
	}
	return strings.Join(list, "; ")
}

type reportDeleteCommand struct {
	Name string `arg:"" help:"Name of the report."`
	scheduledReports
	IfMatch *string `help:"Delete the report only if it still has this ETag." placeholder:"ETAG"`
}

// Run deletes a report.
func (r *reportDeleteCommand) Run(ctx context.Context, c console) error {
	return r.delete(ctx, c, reportPath(r.Name), r.Name, r.IfMatch)
}

// printScheduled prints a report and its next period for people.
func printScheduled(out io.Writer, one resource.ScheduledReport, now time.Time) error {
	d := one.Definition
	w := terminal.NewTable(out)
	fmt.Fprintf(w, "report\t%s\n", strings.TrimRight(one.Name+"  "+oneLine(d.Title), " "))
	fmt.Fprintf(w, "filter\t%s\n", cmp.Or(oneLine(d.Filters), "all requests"))
	fmt.Fprintf(w, "branches\t%s\n", cmp.Or(strings.Join(one.Branches, ", "), "all"))
	fmt.Fprintf(w, "made\t%s\n", madeText(d))
	if d.When == definition.Attacks {
		fmt.Fprintln(w, "sent\tonly if there was an attack")
	}
	switch due, period, err := schedule.Next(d, now); {
	case err != nil:
		return err
	case d.Paused && d.Reason != "":
		fmt.Fprintf(w, "next\tnone: it was paused because %s\n", oneLine(d.Reason))
	case d.Paused:
		fmt.Fprintln(w, "next\tnone: it is paused")
	default:
		location, err := zone.Load(d.TZ)
		if err != nil {
			return err
		}
		const layout = "Mon 2006-01-02 15:04 -0700"
		from, end := time.UnixMilli(period.FromMs).In(location), time.UnixMilli(period.ToMs+1).In(location)
		fmt.Fprintf(w, "next\t%s, about %s to %s\n", due.In(location).Format(layout), from.Format(layout), end.Format(layout))
	}
	for _, to := range d.Deliver {
		if to.To != "" {
			fmt.Fprintf(w, "to\t%s\n", to.To)
		}
		for _, address := range to.Mail {
			fmt.Fprintf(w, "mail\t%s\n", address)
		}
	}
	return w.Flush()
}

// madeText returns when a report is made.
func madeText(d definition.Definition) string {
	var text string
	switch d.Period {
	case definition.Hour:
		text = "every hour"
	case definition.Day:
		text = "every day at " + d.At
	case definition.Week:
		text = "every " + d.Weekday + " at " + d.At
	default:
		text = "on the first of every month at " + d.At
	}
	text += " " + d.TZ
	if d.Paused {
		text += " (paused)"
	}
	return text
}

// receivers returns where a report goes.
func receivers(d definition.Definition) string {
	var list []string
	for _, to := range d.Deliver {
		list = append(list, to.String())
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
