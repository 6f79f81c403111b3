package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/logs"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/logformat"
)

type formatsCommand struct {
	Name    string   `arg:"" optional:"" help:"Format to describe: where each field comes from."`
	Layout  string   `name:"log-format" help:"Format string to describe: LogFormat of Apache or log_format of nginx." placeholder:"STRING"`
	Pattern string   `help:"Regular expression to describe, whose named groups are fields." placeholder:"REGEXP"`
	Map     []string `sep:"none" help:"Mappings of logs in JSON to describe; may be repeated." placeholder:"FIELD=PATH[/N]"`
}

// Run prints the description of one format, or a line for each format.
func (f *formatsCommand) Run(c terminal.Console) error {
	format, err := logs.DefinedFormat("the name of a format", f.Name, f.Layout, f.Pattern, f.Map)
	if err != nil {
		return exit.With(exit.Usage, err.Error())
	}
	if format != nil {
		_, err := fmt.Fprint(c.Out, cmp.Or(logformat.Table(format), logformat.Describe(f.Name)))
		return err
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, name := range logformat.Names() {
		text, _, _ := strings.Cut(logformat.Describe(name), "\n\n")
		first, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), ". ")
		fmt.Fprintf(w, "%s\t%s\n", name, strings.TrimSuffix(first, "."))
	}
	fmt.Fprintln(w, "--log-format STRING\tAny other layout of Apache and nginx")
	fmt.Fprintln(w, "--pattern REGEXP\tAny other text")
	fmt.Fprintln(w, "--map FIELD=PATH\tAny other logs in JSON")
	return w.Flush()
}
