package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/wording"
)

type incidentsCommand struct {
	Filter []string `arg:"" optional:"" help:"A filter in either form, - for standard input, and saved filters: @NAME."`
	documents.Configuration
	question.LastFlag
	TZ     string `name:"tz" help:"Time zone of the times in the table, of today and of yesterday." default:"UTC" placeholder:"ZONE"`
	DryRun bool   `help:"Only print what the first questions would read and cost."`
	maxBytesFlag
	Strict bool `help:"Exit with 5 also if there are more incidents than were printed, later logs may be missing, objects of an earlier version lack a column, or this is a demo."`
	formatFlags
}

// Run prints the incidents of a period.
func (i *incidentsCommand) Run(ctx context.Context, c terminal.Console) error {
	if len(i.Filter) == 0 && i.Last == "" {
		return exit.With(exit.Usage, "name a period: --last 24h, or a filter with one")
	}
	if i.DryRun && i.Format == "csv" {
		return exit.With(exit.Usage, "an estimate is no list of incidents: use --dry-run without --format csv")
	}
	server, done, err := i.Connect(ctx, c.Err)
	if err != nil {
		return err
	}
	text, err := question.WithSaved(ctx, server, i.Config, i.Filter, c)
	if err == nil {
		err = i.print(ctx, server, c, i.Before(text))
	}
	return errors.Join(err, done())
}

// print prints the answer, and what is missing from it to standard error.
func (i *incidentsCommand) print(ctx context.Context, server *client.Client, c terminal.Console, text string) error {
	parameters := map[string]any{"filters": text, "tz": i.TZ, "dry_run": i.DryRun}
	i.addTo(parameters)
	a, body, err := askTogether(ctx, server, search.Incidents, parameters, c.Err)
	if err != nil {
		return err
	}
	table := func(results []json.RawMessage) error {
		zone, err := time.LoadLocation(i.TZ) // the server has accepted it
		if err != nil {
			return err
		}
		return writeIncidents(c.Out, results, zone)
	}
	if err := writeTogether(c, body, a, i.formatFlags, table); err != nil {
		return err
	}
	a.ReportUnreadable(c.Err)
	var none question.ParameterFlags
	if !i.DryRun {
		a.ReportNothing(none, formatFor(i.Format, c.Out), c.Err)
	}
	return a.ReportMissing(none, i.Strict, c.Err)
}

// whatWidth is the number of characters of a kind and a target in the table, which has 100.
const whatWidth = 43

// writeIncidents prints the table of incidents. One that is less certain has a question mark.
func writeIncidents(out io.Writer, results []json.RawMessage, zone *time.Location) error {
	if len(results) == 0 {
		return nil
	}
	table, guessed := terminal.NewTable(out), false
	fmt.Fprintln(table, "when\twhat\tblocked\tIPs\theld")
	for _, text := range results {
		var r client.Incident
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		when, err := timesOf(r, zone)
		if err != nil {
			return fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		mark := ""
		if !r.Certain {
			mark, guessed = "?", true
		}
		fmt.Fprintf(table, "%s\t%s%s\t%s of %s\t%s\t%s\n", when,
			shortened(incident.Kind(r.Kind).Of(r.Target), whatWidth-len(mark)), mark,
			wording.Count(r.NumOfBlockedRequests), wording.Count(r.NumOfRequests), wording.Count(r.NumOfIP), r.Held.State)
	}
	if err := table.Flush(); err != nil || !guessed {
		return err
	}
	_, err := fmt.Fprintln(out, "? concluded from what the origin answered; the gateway stopped few of these requests or none")
	return err
}

// timesOf returns the begin and the end of an incident by the clock of a zone, with dots where the period cuts it.
func timesOf(r client.Incident, zone *time.Location) (string, error) {
	begin, err := time.Parse(time.RFC3339, r.Begin)
	if err != nil {
		return "", err
	}
	text := begin.In(zone).Format("2006-01-02 15:04") + "–"
	if r.BeginsEarlier {
		text = begin.In(zone).Format("2006-01-02 …15:04") + "–"
	}
	if r.End == nil {
		return text, nil
	}
	end, err := time.Parse(time.RFC3339, *r.End)
	text += end.In(zone).Format("15:04")
	if r.EndsLater {
		text += "…"
	}
	return text, err
}

// shortened returns the first characters of a text.
func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
