package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/documents"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/client"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/wording"
)

type whatIfCommand struct {
	Rule   string   `arg:"" help:"The rule: 'limit 60 per 1m by ip', 'block where path~\"^/wp-\"', 'enforce NAME', or JSON of the gateway; @FILE reads it from a file. Its conditions may begin with saved filters: 'block where @NAME'."`
	Filter []string `arg:"" optional:"" help:"A filter with a period, - for standard input, and saved filters: @NAME."`
	documents.Configuration
	question.LastFlag
	Further []string `name:"rule" sep:"none" help:"A further rule, in the same forms; may be repeated. The rules are tried together, in the order of stages: filters, then limits." placeholder:"RULE"`
	Attack  string   `help:"Conditions of the attack that a limit is to stop: also print how much of it and how many others each threshold stops, and the best threshold." placeholder:"FILTER"`
	TZ      string   `name:"tz" help:"Time zone of the times in the sentence, of today and of yesterday." default:"UTC" placeholder:"ZONE"`
	As      string   `enum:",json,terraform,curl" default:"" help:"Only print the rule for the gateway: as json, as terraform, or as a curl command. If --attack finds a best threshold, the rule has that threshold." placeholder:"FORM"`
	DryRun  bool     `help:"Only print what the first question would read and cost."`
	maxBytesFlag
	Strict bool `help:"Exit with 5 also if later logs may be missing, objects of an earlier version lack a column, or this is a demo."`
	formatFlags
}

// Run prints what a rule would have done.
func (w *whatIfCommand) Run(ctx context.Context, c terminal.Console) error {
	if w.DryRun && w.Format == "csv" {
		return exit.With(exit.Usage, "an estimate is no outcome: use --dry-run without --format csv")
	}
	if w.As != "" && (w.DryRun || w.Format != "auto") {
		return exit.With(exit.Usage, "--as prints only the rule: use it without --dry-run and --format")
	}
	if len(w.Filter) == 0 && w.Last == "" {
		return exit.With(exit.Usage, "name a period: --last 24h, or a filter with one")
	}
	rules := append([]string{w.Rule}, w.Further...)
	for i, rule := range rules {
		if name, isFile := strings.CutPrefix(rule, "@"); isFile {
			text, err := os.ReadFile(name)
			if err != nil {
				return exit.With(exit.Usage, "read the rule: "+err.Error())
			}
			rules[i] = string(text)
		}
	}
	server, done, err := w.Connect(ctx, c.Err)
	if err != nil {
		return err
	}
	for i, rule := range rules {
		if err == nil {
			rules[i], err = w.withConditions(ctx, server, rule, c)
		}
	}
	text := ""
	if err == nil {
		text, err = question.WithSaved(ctx, server, w.Config, w.Filter, c)
	}
	if err == nil {
		err = w.print(ctx, server, c, rules, w.Before(text))
	}
	return errors.Join(err, done())
}

// print prints the answer, and what is missing from it to standard error.
func (w *whatIfCommand) print(
	ctx context.Context, server *client.Client, c terminal.Console, rules []string, text string,
) error {
	parameters := map[string]any{"filters": text, "tz": w.TZ, "dry_run": w.DryRun}
	w.addTo(parameters)
	if len(rules) == 1 {
		parameters["rule"] = rules[0]
	} else {
		parameters["rules"] = rules
	}
	if w.Attack != "" {
		parameters["attack"] = w.Attack
	}
	a, body, err := askTogether(ctx, server, search.WhatIf, parameters, c.Err)
	if err != nil {
		return err
	}
	if w.As != "" {
		return writeForms(c.Shown(), w.As, a.Data.Results)
	}
	table := func(results []json.RawMessage) error { return writeWhatIf(c.Shown(), results) }
	if err := writeTogether(c, body, a, w.formatFlags, table); err != nil {
		return err
	}
	a.ReportUnreadable(c.Err)
	return a.ReportMissing(question.ParameterFlags{}, w.Strict, c.Err)
}

// writeForms prints the rules as the gateway has them: one part after the other, with empty lines between them.
func writeForms(out io.Writer, form string, results []json.RawMessage) error {
	var parts []string
	for _, text := range results {
		var r client.WhatIf
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		forms := r.Forms
		if r.Attack != nil && r.Attack.Knee != nil {
			forms = r.Attack.Knee.Forms
		}
		if len(forms) == 0 && (len(results) == 1 || r.Place != nil) { // all rules together have none
			return exit.With(exit.Usage, "the gateway cannot have the rule "+r.Rule+": it has only conditions on "+
				"addresses, countries, networks, hosts, paths, headers, cookies and tags that all hold")
		}
		for _, part := range forms {
			parts = append(parts, map[string]string{"json": part.JSON, "terraform": part.Terraform, "curl": part.Curl}[form])
		}
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if _, err := fmt.Fprintln(out, strings.TrimSuffix(part, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// The tables have at most 100 columns if there are fewer than a million requests.
const (
	whatIfWidth   = 100 // characters of a line of the sentence
	keyWidth      = 50  // characters of a key
	affectedRows  = 10
	curveRows     = 12
	commonestRows = 3 // values of a facet
)

// writeWhatIf prints the sentence, those who are affected most, what their requests have in common, and some thresholds.
// Of several rules, these are about all together; then each rule follows with its sentence and, with an attack,
// thresholds.
func writeWhatIf(out io.Writer, results []json.RawMessage) error {
	var unknown []string
	for i, text := range results {
		var r client.WhatIf
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("the answer does not have the API's format: %w", err)
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, r.Rule)
		fmt.Fprint(out, wording.Wrapped(whatIfWidth, "", r.Sentence))
		if r.Attack != nil {
			fmt.Fprint(out, wording.Wrapped(whatIfWidth, "", r.Attack.Sentence))
		}
		if r.Place == nil {
			if err := errors.Join(writeAffected(out, r), writeCommon(out, r)); err != nil {
				return err
			}
		}
		if r.Place == nil || r.Attack != nil {
			if err := writeCurve(out, r); err != nil {
				return err
			}
		}
		for _, one := range r.Unknown {
			if !slices.Contains(unknown, one) {
				unknown = append(unknown, one)
			}
		}
	}
	if len(results) > 1 && unknown != nil {
		fmt.Fprintln(out)
	}
	for _, one := range unknown {
		fmt.Fprint(out, wording.Wrapped(whatIfWidth, "", one))
	}
	return nil
}

func writeAffected(out io.Writer, r client.WhatIf) error {
	if len(r.Affected) == 0 {
		return nil
	}
	table := terminal.NewTable(out)
	var fields []string
	for _, part := range r.Affected[0].Key {
		fields = append(fields, part.Field)
	}
	fmt.Fprintf(table, "\n%s\tnew requests\thumans\tfrom\tto\n", strings.Join(fields, ", "))
	for i, one := range r.Affected {
		if i == affectedRows {
			break
		}
		var values []string
		for _, part := range one.Key {
			values = append(values, part.Value)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", shortened(strings.Join(values, ", "), keyWidth), wording.Count(one.NumOfNewRequests),
			numberOr(one.NumOfHumans), clockOf(one.First), clockOf(one.Last))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if n := len(r.Affected); n > affectedRows {
		fmt.Fprintf(out, "--format json has %s more\n", wording.Count(int64(n-affectedRows)))
	}
	return nil
}

// writeCommon prints the most frequent values in the new requests.
func writeCommon(out io.Writer, r client.WhatIf) error {
	table := terminal.NewTable(out)
	for _, f := range r.Facets {
		var values []string
		for _, v := range f.Values[:min(len(f.Values), commonestRows)] {
			values = append(values, fmt.Sprintf("%s (%s)", shortened(v.Value, keyWidth/2), wording.Count(v.NumOfNewRequests)))
		}
		if values != nil {
			fmt.Fprintf(table, "\n%s\t%s", f.Field, strings.Join(values, ", "))
		}
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// writeCurve prints the threshold of the rule and some others.
func writeCurve(out io.Writer, r client.WhatIf) error {
	if len(r.Curve) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	table := terminal.NewTable(out)
	head, knee := "threshold\trequests\tnew requests\tof humans\taddresses\tof humans", int64(-1)
	if r.Attack != nil {
		head += "\tattack\tothers"
		if r.Attack.Knee != nil {
			knee = r.Attack.Knee.Threshold
		}
	}
	fmt.Fprintln(table, head)
	step := max(1, (len(r.Curve)+curveRows-1)/curveRows)
	for i, p := range r.Curve {
		if i%step != 0 && i != len(r.Curve)-1 && p.Threshold != *r.Threshold && p.Threshold != knee {
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s", wording.Count(p.Threshold), wording.Count(p.NumOfRequests),
			wording.Count(p.NumOfNewRequests), numberOr(p.NumOfHumans), wording.Count(p.NumOfIP), numberOr(p.NumOfHumanIP))
		if r.Attack != nil {
			fmt.Fprintf(table, "\t%s\t%s", numberOr(p.NumOfAttack), numberOr(p.NumOfOtherIP))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil || knee < 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", r.Attack.Knee.Sentence)
	return err
}

// numberOr returns a number, or an en dash for an unknown one.
func numberOr(n *int64) string {
	if n == nil {
		return "–"
	}
	return wording.Count(*n)
}

// clockOf returns the seconds of a time of an answer.
func clockOf(rfc3339 string) string {
	text, _, _ := strings.Cut(strings.TrimSuffix(rfc3339, "Z"), ".")
	return strings.Replace(text, "T", " ", 1)
}
