package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

type queryCommand struct {
	Route  string   `arg:"" enum:"${routes}" help:"One of ${enum}."`
	Filter []string `arg:"" optional:"" help:"A filter in either form, - for standard input, and saved filters: @NAME. For values: a field."`
	configuration
	lastFlag
	parameterFlags
	All    bool   `help:"logs: print all records, not only the newest ones, as ndjson, csv or json."`
	Strict bool   `help:"Exit with 5 also if more records match than were printed, later logs may be missing, records arrived too late for --since, a sum has more than 64 bits, objects of an earlier version lack a column, or this is a demo."`
	Format string `enum:"auto,table,json,ndjson,csv" default:"auto" help:"table, json, ndjson, csv; auto: by terminal."`
	Raw    bool   `help:"csv: do not put an apostrophe before cells that a spreadsheet may take for formulas."`
	periodFlag
}

// Run sends one query to the API's POST route, which accepts filters of any length. The format auto is a table on a
// terminal and JSON elsewhere.
func (q *queryCommand) Run(ctx context.Context, c console) error {
	if wrong := q.misuse(); wrong != "" {
		return &exitError{code: exitUsage, message: wrong}
	}
	server, product, done, err := q.open(ctx, c.err)
	if err != nil {
		return err
	}
	text := ""
	if q.Route != valuesRoute {
		text, err = withSaved(ctx, server, q.Config, q.Filter, c)
		text = q.before(text)
	}
	switch {
	case err != nil:
	case q.All:
		err = q.printAll(ctx, q.allRecords(server, product, text), c, q.parameters(text))
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
	case len(q.Filter) == 0 && (q.Last == "" || q.Route == valuesRoute):
		return "expected a filter, such as \"timestamp between now-1h and now\", or --last 1h; for values a field"
	case q.Raw && q.Format != "csv":
		return "--raw is an option of --format csv"
	case q.has("dry_run") && (q.All || q.Format == "csv"):
		return "an estimate is no list of records: use --dry-run without --all and --format csv"
	case q.Route == valuesRoute && len(q.Filter) != 1:
		return "name one field, such as country; the period of values is --period"
	}
	return misuse(q.Route, q.Last, q.periodFlag, q.parameterFlags)
}

// parameters returns the parameters of the request. Every given flag is sent, even 0 and the empty string: the API
// decides what to refuse.
func (q *queryCommand) parameters(text string) map[string]any {
	parameters := q.given()
	parameters["filters"] = text
	q.setValues(parameters)
	return parameters
}

// printOne prints the answer to one request.
func (q *queryCommand) printOne(ctx context.Context, server *client.Client, c console, parameters map[string]any) error {
	body, err := json.Marshal(parameters)
	if err != nil {
		return err
	}
	response, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: "/data/" + q.Route, Body: body})
	if err != nil {
		return drawRefusal(err, parameters, c.err)
	}
	var a answer
	if err := json.Unmarshal(response.Body, &a); err != nil {
		return fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	a.route = q.Route
	if err := q.print(response.Body, a, c); err != nil {
		return err
	}
	a.reportUnreadable(c.err)
	if !q.has("dry_run") {
		q.reportNothing(a, q.formatFor(c.out), c.err)
	}
	return q.reportMissing(a, c.err)
}

// reportMissing reports everything that the answer lacks, in every format. If objects are missing, or with --strict
// anything else, it returns an error with exit code 5, so that no script takes the answer for a complete one.
func (q *queryCommand) reportMissing(a answer, stderr io.Writer) error {
	partial := a.reportLook(stderr)
	late, err := a.reportLag(stderr, time.Now())
	if err != nil {
		return err
	}
	a.reportDemo(stderr)
	if err := a.reportGaps(stderr); err != nil {
		return err
	}
	late = a.reportLate(stderr) || late
	lacks := !q.has("dry_run") && a.reportLacking(stderr)
	if q.Strict && (partial || late || lacks || a.Meta.Truncated != nil || a.Meta.Saturated != nil || a.Meta.Demo) {
		return &exitError{code: exitIncomplete, message: "the answer may be incomplete, and --strict is set"}
	}
	return nil
}

// answer is the part of the API's response that printing needs.
type answer struct {
	route string
	Data  struct {
		Results []json.RawMessage `json:"results"`
	} `json:"data"`
	Meta client.Meta `json:"meta"`
}

// usualLag is the lag that is not reported. The clock of the server may also be slightly different.
const usualLag = time.Minute

// reportLag reports that logs of the period may not be in the data yet: the data is complete through a time before the
// end of the period, or before now if the period ends in the future.
func (a answer) reportLag(stderr io.Writer, now time.Time) (late bool, _ error) {
	if a.Meta.Complete == nil {
		return false, nil
	}
	through, err := time.Parse(time.RFC3339, *a.Meta.Complete)
	if err != nil {
		return false, fmt.Errorf("the answer does not have the API's format: complete_through: %w", err)
	}
	end, err := time.Parse(time.RFC3339, a.Meta.Period.To)
	if err != nil {
		return false, fmt.Errorf("the answer does not have the API's format: period: %w", err)
	}
	if latest := now.Add(-usualLag); latest.Before(end) {
		end = latest
	}
	if late = through.Before(end); late {
		fmt.Fprintf(stderr, "orrery: the data is complete through %s; later logs may be missing\n",
			terminal.Printable(*a.Meta.Complete))
	}
	return late, nil
}

// reportLate reports records that have arrived since the token of --since, and that the answer lacks because their times
// are before it.
func (a answer) reportLate(stderr io.Writer) bool {
	if a.Meta.Late == nil || *a.Meta.Late == 0 {
		return false
	}
	fmt.Fprintf(stderr, "orrery: %s arrived late and are not in the answer, because they are older than --since; "+
		"a query without --since finds them\n",
		terminal.Counted(*a.Meta.Late, "record"))
	return true
}

// reportLacking reports columns that some objects do not have, because an earlier version wrote them.
func (a answer) reportLacking(stderr io.Writer) bool {
	if a.Meta.Estimate == nil {
		return false
	}
	for _, column := range a.Meta.Estimate.Lacking {
		fmt.Fprintln(stderr, "orrery:", terminal.Printable(column.String()))
	}
	return len(a.Meta.Estimate.Lacking) > 0
}

// reportDemo reports that the answer is not about real requests.
func (a answer) reportDemo(stderr io.Writer) {
	if a.Meta.Demo {
		fmt.Fprintln(stderr, "orrery: these are generated records of a demo day, because there are no others; "+
			"the first import removes them")
	}
}

// reportGaps reports missing records and objects. If objects are missing, it returns an error with exit code 5.
func (a answer) reportGaps(stderr io.Writer) error {
	if t := a.Meta.Truncated; t != nil {
		fmt.Fprintf(stderr, "orrery: %s\n", a.truncation(t.Reason))
	}
	if names := a.Meta.Saturated; names != nil {
		fmt.Fprintf(stderr, "orrery: some sums have more than 64 bits; the nearest integer of 64 bits is printed: %s\n",
			terminal.Printable(strings.Join(names, ", ")))
	}
	if len(a.Meta.Skipped) == 0 {
		return nil
	}
	return &exitError{code: exitIncomplete, message: fmt.Sprintf(
		"the answer is incomplete: %s could not be read", terminal.Counted(len(a.Meta.Skipped), "object"))}
}

// reportUnreadable lists the objects that could not be read. It comes before the report that nothing was found, which is
// only about the others.
func (a answer) reportUnreadable(stderr io.Writer) {
	for _, name := range a.Meta.Skipped[:min(len(a.Meta.Skipped), maxSkippedNames)] {
		fmt.Fprintln(stderr, "  unreadable:", terminal.Printable(name))
	}
}

// maxSkippedNames is the number of unreadable objects that are listed; --format json lists all.
const maxSkippedNames = 10

func (a answer) truncation(reason string) string {
	results := len(a.Data.Results)
	switch {
	case a.route == valuesRoute:
		return fmt.Sprintf("more values match than the %d printed; raise --limit or give a longer --prefix", results)
	case reason == "limit":
		return fmt.Sprintf("more records match than the %d printed; raise --limit or narrow the period", results)
	}
	return fmt.Sprintf("more records match than the %d printed: the answer reached its size limit; "+
		"select fewer --fields or a shorter period", results)
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

func (q *queryCommand) print(body []byte, a answer, c console) error {
	format, out := q.formatFor(c.out), c.shown()
	var err error
	if format == "json" {
		_, err = out.Write(append(body, '\n'))
		return err
	}
	if q.has("dry_run") && a.Meta.Estimate != nil {
		if format == "ndjson" {
			return json.NewEncoder(out).Encode(a.Meta.Estimate)
		}
		return writeEstimate(c.out, *a.Meta.Estimate)
	}
	if format == "ndjson" {
		for _, result := range a.Data.Results {
			if _, err := fmt.Fprintf(out, "%s\n", result); err != nil {
				return err
			}
		}
		return nil
	}
	if format == "csv" {
		return q.writeCSV(out, a.Data.Results)
	}
	if a.Meta.Diff != nil {
		reportSides(c.err, a.Meta.Diff, a.Meta.Oldest)
	}
	results := a.Data.Results
	if rowsOf, ok := tableRows[q.Route]; ok {
		if results, err = rowsOf(results); err != nil {
			return err
		}
	}
	if len(results) == 0 {
		return nil
	}
	return terminal.WriteTable(c.out, q.columns(), results)
}

// columns returns the columns of a table: the requested fields, or those of the route.
func (q *queryCommand) columns() []string {
	if fields := q.fields(); fields != nil {
		return fields
	}
	return q.figureColumns()
}

// writeCSV prints the results as the API's answer in CSV does.
func (q *queryCommand) writeCSV(w io.Writer, results []json.RawMessage) error {
	table, ok := representation.TableOf(search.Route(q.Route), q.fields())
	if !ok {
		return &exitError{code: exitUsage, message: q.Route + " has no table; use another --format"}
	}
	if table.Raw = q.Raw; q.has("tz") {
		table = representation.WithLocalTimes(table)
	}
	encoder := tabular.NewEncoder(table)
	if _, err := w.Write(encoder.Head()); err != nil {
		return err
	}
	for _, result := range results {
		rows, err := encoder.Rows(result)
		if err != nil {
			return fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		if _, err := w.Write(rows); err != nil {
			return err
		}
	}
	return nil
}

// fields returns the requested fields, or nil for all.
func (q *queryCommand) fields() []string {
	if !q.has("fields") {
		return nil
	}
	names := strings.Split(q.text("fields"), ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}
