package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
)

// formatFlags choose the form in which an answer of askTogether is printed.
type formatFlags struct {
	Format string `enum:"auto,table,json,csv" default:"auto" help:"table, json or csv; auto: table on a terminal, json elsewhere."`
	Raw    bool   `help:"csv: do not put an apostrophe before cells that a spreadsheet may take for formulas."`
}

// askTogether asks a route that several questions answer. It prints the mistakes in a filter to stderr.
func askTogether(
	ctx context.Context, server *client.Client, to search.Route, parameters map[string]any, stderr io.Writer,
) (answers.Answer, []byte, error) {
	a := answers.Answer{Route: string(to)}
	body, err := json.Marshal(parameters)
	if err != nil {
		return a, nil, err
	}
	response, err := server.Do(ctx, client.Request{Method: http.MethodPost, Path: "/data/" + string(to), Body: body})
	if err != nil {
		return a, nil, question.DrawRefusal(err, parameters, stderr)
	}
	if err := json.Unmarshal(response.Body, &a); err != nil {
		return a, nil, fmt.Errorf("the answer does not have the API's format: %w", err)
	}
	return a, response.Body, nil
}

// formatFor returns the format of what is printed to w.
func formatFor(format string, w io.Writer) string {
	switch {
	case format != "auto":
		return format
	case terminal.Is(w):
		return "table"
	}
	return "json"
}

// writeTogether prints an answer of askTogether. table prints results as a table.
func writeTogether(
	c terminal.Console, body []byte, a answers.Answer, as formatFlags, table func(results []json.RawMessage) error,
) error {
	out := c.Shown()
	switch format := formatFor(as.Format, c.Out); {
	case format == "json":
		_, err := out.Write(append(body, '\n'))
		return err
	case format == "csv":
		return a.WriteCSV(out, question.ParameterFlags{}, as.Raw)
	case a.Meta.Estimate != nil && a.Meta.DryRun:
		return answers.WriteEstimate(c.Out, *a.Meta.Estimate)
	}
	return table(a.Data.Results)
}

// maxBytesFlag is the flag of a limit for what the questions of an answer read.
type maxBytesFlag struct {
	MaxBytes int64 `help:"Maximum number of bytes that all questions may read together; a question that may exceed it is not asked." placeholder:"BYTES"`
}

// addTo adds the limit to the parameters of a request.
func (m maxBytesFlag) addTo(parameters map[string]any) {
	if m.MaxBytes != 0 {
		parameters[search.MaxBytesParam] = m.MaxBytes
	}
}
