package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/wording"
)

type effectCommand struct {
	At     string   `arg:"" name:"moment" help:"The moment of the change, as filters write a time: '2026-01-01 10:30', now-2h."`
	Filter []string `arg:"" optional:"" help:"Conditions without a period, - for standard input, and saved filters: @NAME."`
	documents.Configuration
	Length  string `help:"Length of each of the two periods, from 1m to 7d." default:"1h" placeholder:"1h"`
	Against string `help:"The period before: previous, or the same time a number of days earlier, such as 7d." default:"previous" placeholder:"7d"`
	TZ      string `name:"tz" help:"Time zone of the times in the sentence, of today and of yesterday." default:"UTC" placeholder:"ZONE"`
	DryRun  bool   `help:"Only print what the questions would read and cost."`
	maxBytesFlag
	Strict bool `help:"Exit with 5 also if later logs may be missing, objects of an earlier version lack a column, or this is a demo."`
	formatFlags
}

// Run prints what a change did.
func (e *effectCommand) Run(ctx context.Context, c terminal.Console) error {
	if e.DryRun && e.Format == "csv" {
		return exit.With(exit.Usage, "an estimate is no effect: use --dry-run without --format csv")
	}
	server, done, err := e.Connect(ctx, c.Err)
	if err != nil {
		return err
	}
	text, err := question.WithSaved(ctx, server, e.Config, e.Filter, c)
	if err == nil {
		err = e.print(ctx, server, c, text)
	}
	return errors.Join(err, done())
}

// print prints the answer, and what is missing from it to standard error.
func (e *effectCommand) print(ctx context.Context, server *client.Client, c terminal.Console, text string) error {
	parameters := map[string]any{"at": e.At, "length": e.Length, "against": e.Against, "tz": e.TZ, "dry_run": e.DryRun}
	e.addTo(parameters)
	if text != "" {
		parameters["filters"] = text
	}
	a, body, err := askTogether(ctx, server, search.Effect, parameters, c.Err)
	if err != nil {
		return err
	}
	table := func(results []json.RawMessage) error { return writeEffect(c.Shown(), results) }
	if err := writeTogether(c, body, a, e.formatFlags, table); err != nil {
		return err
	}
	if m := a.Meta.Effect; m != nil && m.Shortened {
		fmt.Fprintf(c.Err, "orrery: there is no later data, so each period has only %s\n",
			terminal.Counted(m.LengthSeconds/60, "minute"))
	}
	a.ReportUnreadable(c.Err)
	return a.ReportMissing(question.ParameterFlags{}, e.Strict, c.Err)
}

// The table has at most 100 columns if there are fewer than a million requests.
const (
	effectWidth = 100 // characters of a line of the sentence
	ruleWidth   = 27  // characters of a rule
	otherRules  = 5   // rules that explain nothing
)

// writeEffect prints the sentence about all requests, and a table with a row for each rule. The other formats also have
// reasons.
func writeEffect(out io.Writer, results []json.RawMessage) error {
	table, others := terminal.NewTable(out), 0
	for _, text := range results {
		var r client.Effect
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		what := "all"
		switch r.By {
		case "all":
			if _, err := fmt.Fprintln(out, wording.Wrapped(effectWidth, "", r.Sentence)); err != nil {
				return err
			}
			fmt.Fprintln(table, "rule\tbefore\tafter\tdifference\trequests\trules\trest\thumans")
		case "rule":
			if r.FromRules == 0 {
				if others++; others > otherRules {
					continue
				}
			}
			what = shortened(valueOr(r.Value, "–"), ruleWidth)
		default:
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", what,
			wording.Count(r.Before.NumOfBlockedRequests), wording.Count(r.After.NumOfBlockedRequests),
			signed(r.Difference), signed(r.FromRequests), signed(r.FromRules), signed(r.Rest), humansOf(r))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if others > otherRules {
		fmt.Fprintf(out, "further rules that explain nothing: %d\n", others-otherRules)
	}
	_, err := fmt.Fprintln(out, "requests, rules: what they explain of the difference; rest: the part that nothing explains")
	return err
}

func valueOr(text *string, other string) string {
	if text == nil {
		return other
	}
	return *text
}

// signed returns a difference with its sign.
func signed(n int64) string {
	switch {
	case n > 0:
		return "+" + wording.Count(n)
	case n < 0:
		return "-" + wording.Count(-n)
	}
	return "0"
}

// humansOf returns the blocked requests of humans before and after the moment. An en dash stands for an unknown number.
func humansOf(r client.Effect) string {
	before, after := numberOr(r.Before.NumOfBlockedHumans), numberOr(r.After.NumOfBlockedHumans)
	if before == after {
		return after
	}
	return before + " → " + after
}
