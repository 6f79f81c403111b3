package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/orrery/orrery/shared/search"
)

type queryCommand struct {
	Route  string `arg:"" enum:"logs,stats,timeline,topx,facets,histogram" help:"One of ${enum}."`
	Filter string `arg:"" help:"A filter in either form; - reads it from standard input."`
	target
	Limit   *int    `help:"Number of records (logs), keys (topx), values (facets) or series (histogram)."`
	Segment *string `help:"Length of a segment for stats, timeline and histogram: 60s, 5m, 1h …"`
	GroupBy *string `help:"stats: one result per segment and hostname." placeholder:"hostname"`
	Fields  *string `help:"logs: the fields to return, comma-separated."`
	By      *string `help:"Fields to group by, comma-separated; a member as headers[\"accept\"]; histogram: one field."`
	Measure *string `help:"histogram: requests, blocked, challenges, monitored, human or bytes_sent."`
	Order   *string `help:"facets: requests or blocked, what comes first." placeholder:"blocked"`
	DryRun  bool    `help:"Only print what the query would read and cost."`
	Format  string  `enum:"auto,table,json,ndjson" default:"auto" help:"table, json or ndjson; auto: by terminal."`
}

// Run sends one query to the API's POST route, which accepts filters of any length. The format auto is a table on a
// terminal and JSON elsewhere.
func (q *queryCommand) Run(ctx context.Context, c console) error {
	text, err := filterText(q.Filter, c.in)
	if err != nil {
		return err
	}
	parameters := map[string]any{"filters": text}
	// Every given flag is sent, even 0 and the empty string: the API decides what to refuse.
	if q.Limit != nil {
		parameters["limit"] = *q.Limit
	}
	for name, value := range map[string]*string{
		"segment": q.Segment, "group_by": q.GroupBy, "fields": q.Fields, "by": q.By, "order": q.Order,
		"measure": q.Measure,
	} {
		if value != nil {
			parameters[name] = *value
		}
	}
	if q.DryRun {
		parameters["dry_run"] = true
	}
	body, err := json.Marshal(parameters)
	if err != nil {
		return err
	}
	api, done, err := q.connect(ctx, c.err)
	if err != nil {
		return err
	}
	answerBody, _, err := api.call(ctx, http.MethodPost, "/api/v4.0/data/"+q.Route, body, nil)
	if closing := done(); err == nil {
		err = closing
	}
	if err != nil {
		return drawRefusal(err, text, c.err)
	}
	var a answer
	if err := json.Unmarshal(answerBody, &a); err != nil {
		return fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	if err := q.print(answerBody, a, c); err != nil {
		return err
	}
	if err := a.reportLag(c.err, time.Now()); err != nil {
		return err
	}
	return a.reportGaps(c.err)
}

// answer is the part of the API's response that printing needs.
type answer struct {
	Data struct {
		Results []json.RawMessage `json:"results"`
	} `json:"data"`
	Meta struct {
		Period    search.MetaPeriod `json:"period"`
		Complete  *string           `json:"complete_through"`
		Skipped   []string          `json:"skipped"`
		Truncated *search.Truncated `json:"truncated"`
		Estimate  *search.Estimate  `json:"estimate"`
	} `json:"meta"`
}

// usualLag is the lag that is not reported. The clock of the server may also be slightly different.
const usualLag = time.Minute

// reportLag reports that logs of the period may not be in the data yet: the data is complete through a time before the
// end of the period, or before now if the period ends in the future.
func (a answer) reportLag(stderr io.Writer, now time.Time) error {
	if a.Meta.Complete == nil {
		return nil
	}
	through, err := time.Parse(time.RFC3339, *a.Meta.Complete)
	if err != nil {
		return fmt.Errorf("the answer does not have the API's format: complete_through: %w", err)
	}
	end, err := time.Parse(time.RFC3339, a.Meta.Period.To)
	if err != nil {
		return fmt.Errorf("the answer does not have the API's format: period: %w", err)
	}
	if latest := now.Add(-usualLag); latest.Before(end) {
		end = latest
	}
	if through.Before(end) {
		fmt.Fprintf(stderr, "orrery: the data is complete through %s; later logs may be missing\n", *a.Meta.Complete)
	}
	return nil
}

// reportGaps reports missing records and objects. If objects are missing, it returns an error with exit code 5, in
// every format, so that no script takes the answer for a complete one.
func (a answer) reportGaps(stderr io.Writer) error {
	if t := a.Meta.Truncated; t != nil {
		fmt.Fprintf(stderr, "orrery: %s\n", truncation(t.Reason, len(a.Data.Results)))
	}
	if len(a.Meta.Skipped) == 0 {
		return nil
	}
	for _, name := range a.Meta.Skipped[:min(len(a.Meta.Skipped), maxSkippedNames)] {
		fmt.Fprintln(stderr, "  unreadable:", name)
	}
	return &exitError{code: exitIncomplete, message: fmt.Sprintf(
		"the answer is incomplete: %s could not be read", counted(len(a.Meta.Skipped), "object"))}
}

// maxSkippedNames is the number of unreadable objects that are listed; --format json lists all.
const maxSkippedNames = 10

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func truncation(reason string, results int) string {
	if reason == "limit" {
		return fmt.Sprintf("more records match than the %d printed; raise --limit or narrow the period", results)
	}
	return fmt.Sprintf("more records match than the %d printed: the answer reached its size limit; "+
		"select fewer --fields or a shorter period", results)
}

func (q *queryCommand) print(body []byte, a answer, c console) error {
	format := q.Format
	if format == "auto" {
		format = "json"
		if isTerminal(c.out) {
			format = "table"
		}
	}
	var err error
	if format == "json" {
		_, err = c.out.Write(append(body, '\n'))
		return err
	}
	if q.DryRun && a.Meta.Estimate != nil {
		if format == "ndjson" {
			return json.NewEncoder(c.out).Encode(a.Meta.Estimate)
		}
		return writeEstimate(c.out, *a.Meta.Estimate)
	}
	if format == "ndjson" {
		for _, result := range a.Data.Results {
			if _, err := fmt.Fprintf(c.out, "%s\n", result); err != nil {
				return err
			}
		}
		return nil
	}
	results := a.Data.Results
	if rowsOf, ok := tableRows[q.Route]; ok {
		if results, err = rowsOf(results); err != nil {
			return err
		}
	}
	if len(results) == 0 {
		_, err := fmt.Fprintln(c.err, "no records match")
		return err
	}
	return writeTable(c.out, q.columns(), results)
}

// columns returns the requested fields, or the columns of the route.
func (q *queryCommand) columns() []string {
	if q.Fields == nil {
		return tableColumns[q.Route]
	}
	names := strings.Split(*q.Fields, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
