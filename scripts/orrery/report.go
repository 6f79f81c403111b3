package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/mail"
	"github.com/orrery/orrery/shared/search"
)

type reportCommand struct {
	Run reportRunCommand `cmd:"" help:"Report on the traffic of a period: verdict, figures, chart, attackers, changes. With the name of a scheduled report, make and deliver it now."`

	Put      reportPutCommand      `cmd:"" help:"Schedule a report."`
	List     reportListCommand     `cmd:"" help:"List the scheduled reports."`
	Show     reportShowCommand     `cmd:"" help:"Print a scheduled report."`
	Preview  reportPreviewCommand  `cmd:"" help:"Print when a report will be made next and who will receive it, and send nothing."`
	Pause    reportPauseCommand    `cmd:"" help:"Pause or resume a scheduled report."`
	Versions reportVersionsCommand `cmd:"" help:"List the versions of a scheduled report."`
	Runs     reportRunsCommand     `cmd:"" help:"List the runs of a scheduled report."`
	Delete   reportDeleteCommand   `cmd:"" help:"Delete a scheduled report; its versions stay."`
}

type reportRunCommand struct {
	Filter []string `arg:"" optional:"" help:"A filter in either form, - for standard input, and saved filters: @NAME. Or the name of a scheduled report."`
	documents.Configuration
	Last     report.Unit `enum:",hour,day,week,month" default:"" help:"Report on the last hour, day, week or month; without it, the filter needs a period."`
	TZ       string      `name:"tz" help:"Time zone of the calendar, such as Europe/Berlin." default:"UTC" placeholder:"ZONE"`
	Template string      `enum:"traffic,attack" default:"traffic" help:"traffic, or attack, which leaves out changes."`
	Compare  string      `enum:"previous,same-weekday,none" default:"previous" help:"previous: compare with the period before; same-weekday: with the same time a week before; none: compare with nothing."`
	Title    string      `help:"Title of the report."`
	Link     string      `help:"Base URL of the console, for links." placeholder:"URL"`
	Format   string      `enum:"text,html,csv,json,mail" default:"text" help:"text, html, csv, json, or mail, a message with all of them."`
	From     string      `help:"mail: the sender. For a scheduled report: the beginning of the period, such as 2026-11-16." placeholder:"ADDRESS"`
	To       []string    `help:"mail: the receivers; the mail is not sent. For a scheduled report: the end of the period." placeholder:"ADDRESS"`
	Output   string      `short:"o" help:"File to write; default: standard output." placeholder:"FILE"`
	Open     bool        `help:"Write HTML and show it in the browser."`
}

// Run asks the questions of the report and prints it. What is missing in it is also printed to standard error.
func (r *reportRunCommand) Run(ctx context.Context, c terminal.Console) error {
	if name, ok := r.scheduled(); ok {
		return r.makeNow(ctx, c, name)
	}
	if r.Open && r.Format == "text" {
		r.Format = "html"
	}
	if r.Open && r.Format != "html" {
		return exit.With(exit.Usage, "--open shows a page, so it is for --format html")
	}
	if len(r.Filter) == 0 && r.Last == "" {
		return exit.With(exit.Usage, "name a period: --last week, or a filter with one")
	}
	defer memory.Limit(memory.Report)()
	server, done, err := r.Connect(ctx, c.Err)
	if err != nil {
		return err
	}
	text := ""
	if len(r.Filter) > 0 {
		text, err = question.WithSaved(ctx, server, r.Config, r.Filter, c)
	}
	var model report.Report
	if err == nil {
		model, err = r.ask(ctx, server, c.Err, text)
	}
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	if err := r.write(ctx, c, model); err != nil {
		return err
	}
	return reportMissing(c.Err, model)
}

// ask asks the questions of the report, with progress on a terminal.
func (r *reportRunCommand) ask(
	ctx context.Context, server *client.Client, stderr io.Writer, text string,
) (report.Report, error) {
	bar := terminal.NewProgress(stderr, 1, "asking", false)
	model, err := asking.Run(ctx, clientSource{server}, asking.Request{
		Filters: text, Last: r.Last, Now: search.Present(time.Now()), Zone: r.TZ, Template: report.Template(r.Template),
		Compare: r.Compare, Title: r.Title, Link: r.Link, AtOnce: inquiry.Few, // which the server may be
		Done: func(done, all int) { bar.ChangeMax(all); terminal.Show(bar, int64(done)) },
	})
	_ = bar.Exit() // a bar that cannot be drawn must not stop the work
	var mistakes *query.FilterError
	var param *asking.ParamError
	switch {
	case errors.As(err, &mistakes):
		return model, question.Drawn(mistakes, stderr)
	case errors.As(err, &param):
		return model, exit.With(exit.Usage, param.Error())
	}
	return model, err
}

// clientSource asks the questions of a report through the API.
type clientSource struct{ server *client.Client }

// Ask implements asking.Source.
func (s clientSource) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	members := map[string]any{}
	for name, value := range params {
		members[name] = value
	}
	if limit, err := strconv.Atoi(params["limit"]); err == nil {
		members["limit"] = limit
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	answer, err := s.server.Do(ctx, client.Request{Method: http.MethodPost, Path: "/data/" + route, Body: body})
	var wrong *client.Error
	if errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		// The place is in the text of the question, which nobody has written.
		return nil, errors.New(wrong.Errors[0].Message)
	}
	return answer.Body, err
}

// write prints the report, writes it to a file, or shows it.
func (r *reportRunCommand) write(ctx context.Context, c terminal.Console, model report.Report) error {
	text, err := r.print(model)
	if err != nil {
		return err
	}
	file := r.Output
	if r.Open && file == "" {
		folder, err := os.MkdirTemp("", "orrery-report-")
		if err != nil {
			return err
		}
		file = filepath.Join(folder, "report.html") // stays, because the browser reads it later
	}
	if file == "" {
		_, err := c.Shown().Write(text)
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "orrery: the report is in %s\n", terminal.Printable(file))
	if r.Open {
		return showFile(ctx, file)
	}
	return nil
}

// print returns the report in the chosen format. The date of a mail is the end of the period.
func (r *reportRunCommand) print(model report.Report) ([]byte, error) {
	switch r.Format {
	case "html":
		return model.HTML(), nil
	case "csv":
		return model.CSV(), nil
	case "json":
		return model.JSON(), nil
	case "mail":
		return mail.Write(model, mail.Envelope{From: r.From, To: r.To, Date: model.End()})
	}
	return model.Text(), nil
}

// reportMissing prints what is missing in a report. If parts or objects are missing, it returns an error with exit code
// 5.
func reportMissing(stderr io.Writer, model report.Report) error {
	for _, notice := range model.Notices() {
		fmt.Fprintf(stderr, "orrery: %s\n", terminal.Printable(notice))
	}
	if len(model.Failed)+len(model.Run.Skipped) > 0 {
		return exit.With(exit.Incomplete, "the report is incomplete")
	}
	return nil
}

// showFile shows a file in the program that the system has for it.
func showFile(ctx context.Context, file string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	out, err := exec.CommandContext(ctx, command[0], append(command[1:], file)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("show %s in a browser: %w %s", file, err, out)
	}
	return nil
}
