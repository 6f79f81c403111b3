// Package answers prints the answers of data routes for people: as a table, in CSV or a result a line, with what is
// missing from them on standard error.
package answers

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/tabular"
)

// Answer is the part of the API's response that printing needs.
type Answer struct {
	Route string `json:"-"`
	Data  struct {
		Results []json.RawMessage `json:"results"`
	} `json:"data"`
	Meta client.Meta `json:"meta"`
}

// WriteLines prints a result a line.
func (a Answer) WriteLines(w io.Writer) error {
	for _, result := range a.Data.Results {
		if _, err := fmt.Fprintf(w, "%s\n", result); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable prints the results as a table for people.
func (a Answer) WriteTable(c terminal.Console, flags question.ParameterFlags) (err error) {
	if a.Meta.Diff != nil {
		reportSides(c.Err, a.Meta.Diff, a.Meta.Oldest)
	}
	results := a.Data.Results
	if rowsOf, ok := tableRows[a.Route]; ok {
		if results, err = rowsOf(results); err != nil {
			return err
		}
	}
	if len(results) == 0 {
		return nil
	}
	return terminal.WriteTable(c.Out, columnsOf(a.Route, flags), results)
}

// WriteCSV prints the results as the API's answer in CSV does.
func (a Answer) WriteCSV(w io.Writer, flags question.ParameterFlags, raw bool) error {
	table, ok := representation.TableOf(search.Route(a.Route), flags.Fields())
	if !ok {
		return exit.With(exit.Usage, a.Route+" has no table; use another --format")
	}
	if table.Raw = raw; flags.Has("tz") {
		table = representation.WithLocalTimes(table)
	}
	encoder := tabular.NewEncoder(table)
	if _, err := w.Write(encoder.Head()); err != nil {
		return err
	}
	for _, result := range a.Data.Results {
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
