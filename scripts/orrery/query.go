package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/term"
)

type queryCommand struct {
	Route  string `arg:"" enum:"logs,stats,timeline,topx" help:"logs, stats, timeline or topx."`
	Filter string `arg:"" help:"A filter in either form; - reads it from standard input."`
	target
	Limit   int    `help:"How many records (logs) or keys per label (topx)."`
	Segment string `help:"Length of a segment for stats and timeline: 60s, 5m, 1h …"`
	GroupBy string `help:"stats: one result per segment and hostname." placeholder:"hostname"`
	Fields  string `help:"logs: the fields to return, comma-separated."`
	Format  string `enum:"auto,table,json,ndjson" default:"auto" help:"table, json or ndjson; auto is a table on a terminal and json elsewhere."`
}

// Run asks one question through the API's POST twin, which takes filters of any length.
func (q *queryCommand) Run(ctx context.Context, c console) error {
	text, err := filterText(q.Filter, c.in)
	if err != nil {
		return err
	}
	ask := map[string]any{"filters": text}
	if q.Limit != 0 {
		ask["limit"] = q.Limit
	}
	for name, value := range map[string]string{"segment": q.Segment, "group_by": q.GroupBy, "fields": q.Fields} {
		if value != "" {
			ask[name] = value
		}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	api, done, err := q.connect(ctx, c.err)
	if err != nil {
		return err
	}
	answer, _, err := api.call(ctx, http.MethodPost, "/api/v4.0/data/"+q.Route, body, nil)
	if closing := done(); err == nil {
		err = closing
	}
	if err != nil {
		return drawRefusal(err, text, c.err)
	}
	return q.print(answer, c)
}

// answer is the part of the API's container that printing needs.
type answer struct {
	Data struct {
		Results []json.RawMessage `json:"results"`
	} `json:"data"`
	Meta json.RawMessage `json:"meta"`
}

func (q *queryCommand) print(body []byte, c console) error {
	format := q.Format
	if format == "auto" {
		format = "json"
		if isTerminal(c.out) {
			format = "table"
		}
	}
	if format == "json" {
		_, err := c.out.Write(append(body, '\n'))
		return err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("the answer is not of the API's shape: %w", err)
	}
	if format == "ndjson" {
		for _, result := range a.Data.Results {
			if _, err := fmt.Fprintf(c.out, "%s\n", result); err != nil {
				return err
			}
		}
		return nil
	}
	if len(a.Data.Results) == 0 {
		_, err := fmt.Fprintln(c.err, "no records match")
		return err
	}
	return writeTable(c.out, q.columns(), a.Data.Results)
}

// columns are those of the route, or the fields that were asked for.
func (q *queryCommand) columns() []string {
	if q.Fields == "" {
		return tableColumns[q.Route]
	}
	names := strings.Split(q.Fields, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
