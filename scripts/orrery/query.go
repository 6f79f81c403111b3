package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/export"
	"github.com/orrery/orrery/scripts/orrery/internal/memory"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
)

type queryCommand struct {
	Route  string   `arg:"" enum:"${routes}" help:"One of ${enum}."`
	Filter []string `arg:"" optional:"" help:"A filter in either form, - for standard input, and saved filters: @NAME. For values: a field."`
	documents.Configuration
	question.LastFlag
	question.ParameterFlags
	All    bool   `help:"logs: print all records, not only the newest ones, as ndjson, csv or json."`
	Strict bool   `help:"Exit with 5 also if more records match than were printed, later logs may be missing, records arrived too late for --since, a sum has more than 64 bits, objects of an earlier version lack a column, or this is a demo."`
	Format string `enum:"auto,table,json,ndjson,csv" default:"auto" help:"table, json, ndjson or csv; auto: table on a terminal, json elsewhere."`
	Raw    bool   `help:"csv: do not put an apostrophe before cells that a spreadsheet may take for formulas."`
	question.PeriodFlag
}

// Run sends one query to the API's POST route, which accepts filters of any length. The format auto is a table on a
// terminal and JSON elsewhere.
func (q *queryCommand) Run(ctx context.Context, c terminal.Console) error {
	if wrong := q.misuse(); wrong != "" {
		return exit.With(exit.Usage, wrong)
	}
	server, product, done, err := q.OpenProduct(ctx, c.Err)
	if err != nil {
		return err
	}
	text := ""
	if q.Route != string(search.Values) {
		text, err = question.WithSaved(ctx, server, q.Config, q.Filter, c)
		text = q.Before(text)
	}
	switch {
	case err != nil:
	case q.All:
		records := export.Records(
			server, product, func(cursor string) search.Request { return q.request(text, cursor) },
		)
		err = q.printAll(ctx, records, c, q.parameters(text))
	default:
		err = q.printOne(ctx, server, c, q.parameters(text))
	}
	if closing := done(); err == nil {
		err = closing
	}
	return err
}

// misuse returns what is wrong with flags that only the command itself has, or "".
func (q *queryCommand) misuse() string {
	switch {
	case len(q.Filter) == 0 && (q.Last == "" || q.Route == string(search.Values)):
		return "expected a filter, such as \"timestamp between now-1h and now\", or --last 1h; for values a field"
	case q.Raw && q.Format != "csv":
		return "--raw is an option of --format csv"
	case q.Has("dry_run") && (q.All || q.Format == "csv"):
		return "an estimate is no list of records: use --dry-run without --all and --format csv"
	case q.Route == string(search.Values) && len(q.Filter) != 1:
		return "name one field, such as country; the period of values is --period"
	}
	return question.Misuse(q.Route, q.Last, q.PeriodFlag, q.ParameterFlags)
}

// parameters returns the parameters of the request. Every given flag is sent, even 0 and the empty string: the API
// decides what to refuse.
func (q *queryCommand) parameters(text string) map[string]any {
	parameters := q.Given()
	parameters["filters"] = text
	q.setValues(parameters)
	return parameters
}

// request returns the request for the records after a cursor.
func (q *queryCommand) request(filters, cursor string) search.Request {
	r := search.Request{Route: search.Logs}
	q.SetIn(&r)
	r.Filters, r.Cursor = filters, cursor
	return r
}

// printOne prints the answer to one request.
func (q *queryCommand) printOne(
	ctx context.Context, server *client.Client, c terminal.Console, parameters map[string]any,
) error {
	body, err := json.Marshal(parameters)
	if err != nil {
		return err
	}
	response, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: "/data/" + q.Route, Body: body})
	if err != nil {
		return question.DrawRefusal(err, parameters, c.Err)
	}
	var a answers.Answer
	if err := json.Unmarshal(response.Body, &a); err != nil {
		return fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	a.Route = q.Route
	if err := q.print(response.Body, a, c); err != nil {
		return err
	}
	a.ReportMarks(q.formatFor(c.Out), c.Err)
	a.ReportUnreadable(c.Err)
	if !q.Has("dry_run") {
		a.ReportNothing(q.ParameterFlags, q.formatFor(c.Out), c.Err)
	}
	return a.ReportMissing(q.ParameterFlags, q.Strict, c.Err)
}

// formatFor returns the format of what is printed to w.
func (q *queryCommand) formatFor(w io.Writer) string {
	switch {
	case q.Format != "auto":
		return q.Format
	case terminal.Is(w):
		return "table"
	}
	return "json"
}

// print prints an answer in the command's format.
func (q *queryCommand) print(body []byte, a answers.Answer, c terminal.Console) error {
	format, out := q.formatFor(c.Out), c.Shown()
	switch {
	case format == "json":
		_, err := out.Write(append(body, '\n'))
		return err
	case q.Has("dry_run") && a.Meta.Estimate != nil && format == "ndjson":
		return json.NewEncoder(out).Encode(a.Meta.Estimate)
	case q.Has("dry_run") && a.Meta.Estimate != nil:
		return answers.WriteEstimate(c.Out, *a.Meta.Estimate)
	case format == "ndjson":
		return a.WriteLines(out)
	case format == "csv":
		return a.WriteCSV(out, q.ParameterFlags, q.Raw)
	}
	return a.WriteTable(c, q.ParameterFlags)
}

// setValues replaces the filter by the parameters that only values have.
func (q *queryCommand) setValues(parameters map[string]any) {
	if q.Route != string(search.Values) {
		return
	}
	parameters["field"] = q.Filter[0]
	delete(parameters, "filters")
	if period := q.Condition(); period != "" {
		parameters["filters"] = period
	}
	if q.Period != nil {
		parameters["filters"] = *q.Period
	}
}

// printAll prints all records of a query for logs, and what is missing from them.
func (q *queryCommand) printAll(
	ctx context.Context, from export.Source, c terminal.Console, parameters map[string]any,
) error {
	defer memory.Limit(memory.Export)()
	printer, err := q.allPrinter()
	if err != nil {
		return err
	}
	a, printed, err := export.Print(ctx, c, from, parameters, printer)
	if err != nil {
		return err
	}
	a.ReportUnreadable(c.Err)
	if printed == 0 {
		a.ReportNothing(q.ParameterFlags, q.Format, c.Err)
	}
	return a.ReportMissing(q.ParameterFlags, q.Strict, c.Err)
}

// allPrinter returns the printer of the command's format.
func (q *queryCommand) allPrinter() (export.Printer, error) {
	switch {
	case q.Route != string(search.Logs):
		return nil, exit.With(exit.Usage, "--all is for logs only; other answers are always complete")
	case q.Has("limit"):
		return nil, exit.With(exit.Usage, "--all and --limit exclude each other")
	case q.Format == "json":
		return export.JSON{}, nil
	case q.Format == "auto" || q.Format == "ndjson":
		return export.Lines{}, nil
	case q.Format == "csv":
		table, _ := representation.TableOf(search.Logs, q.Fields())
		table.Raw = q.Raw
		return export.CSV{Table: table, Continues: q.Has("cursor")}, nil
	}
	return nil, exit.With(exit.Usage, "--all prints ndjson, csv or json, not "+q.Format)
}
